// Normalisations: each saves its statistics for the backward pass.
#include "engine/ops/rules.h"

namespace mantissa::ops {

namespace {

void requireVectors(const Node& node, InputTypes inputs, std::string_view expected)
{
    const Shape& x = inputs[0].shape;
    bool fits = x.rank() >= 2 && x.elements() > 0;
    for (std::size_t i = 1; fits && i < inputs.size(); ++i) {
        fits = inputs[i].shape == Shape {x.back()};
    }
    if (!fits) {
        failShapes(node, inputs, expected);
    }
}

DType statisticsType(const Node& node)
{
    return attributesOf<NormAttributes>(node.attributes).accumulate;
}

} // namespace

Types batchNorm2dTypes(const Node& node, InputTypes inputs)
{
    requireVectors(node, inputs, "x [..., c] and four vectors [c]");
    const auto attributes = attributesOf<BatchNormAttributes>(node.attributes);
    const Shape& x = inputs[0].shape;
    if (attributes.training && rowsOf(x) == 1) {
        failShapes(node, inputs, "more than one value per channel when training");
    }
    const TensorType statistics {attributes.accumulate, {x.back()}};
    return {inputs[0], statistics, statistics, inputs[3], inputs[4]};
}

void batchNorm2dGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute({node.inputs[0], node.inputs[1], node.inputs[2]}, "input", Op::BatchNorm2dGrad, node.attributes,
        {builder.gradientOf(node.outputs[0]), node.inputs[0], node.inputs[1], node.outputs[1], node.outputs[2]});
}

Types groupNormTypes(const Node& node, InputTypes inputs)
{
    requireVectors(node, inputs, "x [n, ..., c] with elements, gamma [c], beta [c]");
    const Shape& x = inputs[0].shape;
    const std::int64_t groups = attributesOf<NormAttributes>(node.attributes).groups;
    if (groups < 1 || x.back() % groups != 0) {
        failAttributes(node, inputs, "a number of groups that divides the channels");
    }
    const TensorType statistics {statisticsType(node), {x[0], groups}};
    return {inputs[0], statistics, statistics};
}

Types layerNormTypes(const Node& node, InputTypes inputs)
{
    requireVectors(node, inputs, "x [..., c] with elements, gamma [c], beta [c]");
    const TensorType statistics {statisticsType(node), leading(inputs[0].shape)};
    return {inputs[0], statistics, statistics};
}

Types rmsNormTypes(const Node& node, InputTypes inputs)
{
    requireVectors(node, inputs, "x [..., c] with elements, gamma [c]");
    return {inputs[0], {statisticsType(node), leading(inputs[0].shape)}};
}

void normGradient(const Node& node, GradientBuilder& builder)
{
    // Outputs are y, (mean), rstd.
    std::vector<ValueId> operands {
        builder.gradientOf(node.outputs[0]), node.inputs[0], node.inputs[1], node.outputs.back()};
    if (node.op != Op::RmsNorm) {
        operands.push_back(node.outputs[1]);
    }
    NormAttributes attributes = attributesOf<NormAttributes>(node.attributes);
    if (node.op != Op::GroupNorm) {
        attributes.groups = 1;
    }
    builder.contribute(node.inputs, "input", Op::NormGrad, attributes, std::move(operands));
}

} // namespace mantissa::ops
