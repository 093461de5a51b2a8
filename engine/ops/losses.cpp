// Losses: a scalar FP32 mean, and the gradient of the prediction.
#include "engine/ops/rules.h"

namespace mantissa::ops {

Types softmaxCrossEntropyTypes(const Node& node, InputTypes inputs)
{
    const Shape& logits = inputs[0].shape;
    if (logits.rank() < 2 || inputs[1].shape != leading(logits)) {
        failShapes(node, inputs, "logits [..., n], labels [...]");
    }
    return {{DType::Float32, {}}, {DType::Float32, logits}};
}

void softmaxCrossEntropyGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "logits", Op::SoftmaxCrossEntropyGrad, node.attributes,
        {builder.gradientOf(node.outputs[0]), node.outputs[1], node.inputs[1]});
}

Types nllLossTypes(const Node& node, InputTypes inputs)
{
    const Shape& logProbabilities = inputs[0].shape;
    if (logProbabilities.rank() < 2 || inputs[1].shape != leading(logProbabilities)) {
        failShapes(node, inputs, "log-probabilities [..., n], labels [...]");
    }
    return {{DType::Float32, {}}};
}

void nllLossGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "log_probabilities", Op::NllLossGrad, node.attributes,
        {builder.gradientOf(node.outputs[0]), node.inputs[1]});
}

Types elementLossTypes(const Node& node, InputTypes inputs)
{
    if (inputs[0].shape != inputs[1].shape) {
        failShapes(node, inputs, "prediction and target of equal shape");
    }
    return {{DType::Float32, {}}};
}

Types lossGradTypes(const Node& node, InputTypes inputs)
{
    if (inputs[0].shape != Shape {}) {
        failShapes(node, inputs, "a scalar gradient first");
    }
    return {inputs[1]};
}

} // namespace mantissa::ops
