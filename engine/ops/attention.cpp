// Scaled dot-product attention in one op, and the scaling and masking of scores where they are to be seen.
#include "engine/ops/rules.h"

namespace mantissa::ops {

Types attentionTypes(const Node& node, InputTypes inputs)
{
    const std::int64_t heads = attributesOf<AttentionAttributes>(node.attributes).heads;
    const Shape& q = inputs[0].shape;
    const bool isPacked = inputs.size() == 1;
    const bool fits = q.rank() == 3 && q.elements() > 0
        && (isPacked ? q[2] % 3 == 0
                     : inputs.size() == 3 && inputs[1].shape == inputs[2].shape && inputs[1].shape.rank() == 3
                    && inputs[1].shape[0] == q[0] && inputs[1].shape[1] > 0 && inputs[1].shape[2] == q[2]);
    if (!fits) {
        failShapes(node, inputs, "q [b, t, c], k [b, s, c], v [b, s, c], or one [b, t, 3c]");
    }
    const std::int64_t channels = isPacked ? q[2] / 3 : q[2];
    if (heads < 1 || channels % heads != 0) {
        failAttributes(node, inputs, "a number of heads that divides the channels");
    }
    return {{inputs[0].dtype, {q[0], q[1], channels}}, {DType::Float32, {q[0], heads, q[1]}}};
}

void attentionGradient(const Node& node, GradientBuilder& builder)
{
    std::vector<ValueId> operands {builder.gradientOf(node.outputs[0]), node.outputs[1]};
    operands.insert(operands.end(), node.inputs.begin(), node.inputs.end());
    builder.contribute(node.inputs, "input", Op::AttentionGrad, node.attributes, std::move(operands));
}

Types scaleMaskTypes(const Node& node, InputTypes inputs)
{
    if (inputs[0].shape.rank() < 2) {
        failShapes(node, inputs, "x [..., t, s]");
    }
    return {inputs[0]};
}

void scaleMaskGradient(const Node& node, GradientBuilder& builder)
{
    ScaleMaskAttributes attributes = attributesOf<ScaleMaskAttributes>(node.attributes);
    attributes.maskValue = 0; // a masked score is a constant
    builder.contribute(node.inputs[0], "input", Op::ScaleMask, attributes, {builder.gradientOf(node.outputs[0])});
}

} // namespace mantissa::ops
