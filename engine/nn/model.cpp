#include "engine/nn/model.h"

#include "engine/core/error.h"
#include "engine/graph/op_def.h"
#include "engine/nn/layer_builder.h"
#include "engine/nn/presets.h"

#include <fmt/format.h>

namespace mantissa {

namespace {

Op lossOp(const std::string& loss)
{
    if (loss == "cross_entropy") {
        return Op::SoftmaxCrossEntropy;
    }
    if (loss == "mse") {
        return Op::MseLoss;
    }
    if (loss == "bce_with_logits") {
        return Op::BceWithLogits;
    }
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("loss: there is no \"{}\"; choose cross_entropy, mse or bce_with_logits.", loss));
}

/// The named op on x, "loss.softmax" and the like; returns its result.
ValueId appendRowwise(Graph& graph, Op op, Attributes attributes, ValueId x)
{
    const std::string name = "loss." + std::string(opDef(op).name);
    return graph.append({.op = op, .name = name, .attributes = std::move(attributes), .inputs = {x}, .outputs = {}},
        {name + ".out"})[0];
}

/// Cross entropy in parts: what the last of them, nll_loss, reads.
ValueId appendLogProbabilities(Graph& graph, const std::string& form, ValueId logits)
{
    if (form == "log_softmax") {
        return appendRowwise(graph, Op::LogSoftmax, SoftmaxAttributes {}, logits);
    }
    if (form == "log_of_softmax") {
        return appendRowwise(graph, Op::Log, {}, appendRowwise(graph, Op::Softmax, SoftmaxAttributes {}, logits));
    }
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("loss_form: there is no \"{}\"; choose fused, log_softmax or log_of_softmax.", form));
}

void appendLoss(Model& model, Op loss, const ModelTask& task)
{
    ValueId prediction = model.output;
    std::vector<std::string> outputs {"loss"};
    Attributes attributes;
    if (loss == Op::SoftmaxCrossEntropy) {
        attributes = CrossEntropyAttributes {
            .labelSmoothing = static_cast<float>(task.labelSmoothing), .ignoreIndex = task.ignoreIndex};
        if (task.lossForm == "fused") {
            outputs.emplace_back("log_probabilities");
        } else {
            loss = Op::NllLoss;
            prediction = appendLogProbabilities(model.graph, task.lossForm, model.output);
        }
    }
    model.loss = model.graph.append(
        {.op = loss, .name = "loss", .attributes = attributes, .inputs = {prediction, model.target}, .outputs = {}},
        outputs)[0];
}

Shape withBatch(std::int64_t batch, const Shape& sample)
{
    std::vector<std::int64_t> dims {batch};
    dims.insert(dims.end(), sample.dims().begin(), sample.dims().end());
    return Shape(std::move(dims));
}

} // namespace

std::vector<std::string> lossForms()
{
    return {"fused", "log_softmax", "log_of_softmax"};
}

Model buildModel(const ModelConfig& config, const ModelTask& task)
{
    const bool isList = config.kind == "layers";
    const nlohmann::json layers = isList ? config.layers : presetLayers(config, task);
    if (const std::string problem = layersProblem(layers); !problem.empty()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{}{}{}", isList ? "model.layers" : "model", problem.starts_with('[') ? "" : " ", problem));
    }
    Model model;
    model.input = model.graph.addValue(
        {"input", {task.sample.dtype, withBatch(task.batch, task.sample.shape)}, ValueKind::Input});
    const Op loss = lossOp(task.loss);
    Shape targets = task.perToken ? Shape {task.batch, task.sample.shape[0]} : Shape {task.batch};
    if (loss != Op::SoftmaxCrossEntropy) {
        targets = Shape([&] {
            std::vector<std::int64_t> dims = targets.dims();
            dims.push_back(task.outputs);
            return dims;
        }());
    }
    const DType targetType = loss == Op::SoftmaxCrossEntropy ? DType::Int32 : DType::Float32;
    model.target = model.graph.addValue({"target", {targetType, targets}, ValueKind::Input});
    LayerBuilder builder(model, task, config.initGain, isList ? "model.layers" : "model");
    model.output = builder.appendModel(layers, model.input);
    appendLoss(model, loss, task);
    return model;
}

} // namespace mantissa
