#include "engine/nn/model.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/nn/mlp.h"

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

} // namespace

Model buildModel(const ModelConfig& config, const ModelTask& task)
{
    if (config.kind != "mlp") {
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("model.kind: there is no \"{}\"; choose mlp.", config.kind));
    }
    Model model;
    model.input = model.graph.addValue({"input", {DType::Float32, {task.batch, task.features}}, ValueKind::Input});
    const Op loss = lossOp(task.loss);
    const TensorType targetType = loss == Op::SoftmaxCrossEntropy
        ? TensorType {DType::Int32, {task.batch}}
        : TensorType {DType::Float32, {task.batch, task.outputs}};
    model.target = model.graph.addValue({"target", targetType, ValueKind::Input});
    model.output = appendMlp(model, config, task);
    std::vector<std::string> lossOutputs {"loss"};
    if (loss == Op::SoftmaxCrossEntropy) {
        lossOutputs.emplace_back("log_probabilities");
    }
    model.loss = model.graph.append(
        {.op = loss, .name = "loss", .attributes = {}, .inputs = {model.output, model.target}, .outputs = {}},
        lossOutputs)[0];
    return model;
}

std::vector<float> initialValues(const Graph& graph, const Parameter& parameter, std::uint64_t seed)
{
    const Value& value = graph.value(parameter.value);
    std::vector<float> values(static_cast<std::size_t>(value.type.shape.elements()));
    fillUniform(values, -parameter.bound, parameter.bound, Philox(seed, randomStream(RandomPurpose::Init, value.name)));
    return values;
}

} // namespace mantissa
