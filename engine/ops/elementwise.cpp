// Pointwise ops: activations, dropout, casts.
#include "engine/ops/rules.h"

namespace mantissa::ops {

void castGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "cast", Op::Cast, {}, {builder.gradientOf(node.outputs[0])});
}

void scaleGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "input", Op::Scale, {}, {builder.gradientOf(node.outputs[0]), node.inputs[1]});
}

Types dropoutTypes(const Node& node, InputTypes inputs)
{
    if (inputs[1].shape != Shape {}) {
        failShapes(node, inputs, "x and a scalar counter");
    }
    return {inputs[0], {DType::UInt8, inputs[0].shape}};
}

void dropoutGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "input", Op::DropoutGrad, node.attributes,
        {builder.gradientOf(node.outputs[0]), node.outputs[1]});
}

Types accumulateTypes(const Node& node, InputTypes inputs)
{
    if (inputs[1].shape != Shape {} || inputs[2].shape != Shape {}) {
        failShapes(node, inputs, "g and two scalars");
    }
    return {inputs[0]};
}

} // namespace mantissa::ops
