#include "engine/nn/model.h"

#include "engine/core/error.h"
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

Shape withBatch(std::int64_t batch, const Shape& sample)
{
    std::vector<std::int64_t> dims {batch};
    dims.insert(dims.end(), sample.dims().begin(), sample.dims().end());
    return Shape(std::move(dims));
}

} // namespace

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
    std::vector<std::string> lossOutputs {"loss"};
    Attributes attributes;
    if (loss == Op::SoftmaxCrossEntropy) {
        lossOutputs.emplace_back("log_probabilities");
        attributes = CrossEntropyAttributes {.labelSmoothing = 0, .ignoreIndex = task.ignoreIndex};
    }
    model.loss = model.graph.append(
        {.op = loss, .name = "loss", .attributes = attributes, .inputs = {model.output, model.target}, .outputs = {}},
        lossOutputs)[0];
    return model;
}

} // namespace mantissa
