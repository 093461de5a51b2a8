// Sums and products whose second operand may be repeated over leading dimensions of the first.
#include "engine/ops/rules.h"

namespace mantissa::ops {

namespace {

/// Without leading 1s.
Shape trimmed(const Shape& shape)
{
    std::size_t ones = 0;
    while (ones < shape.rank() && shape[ones] == 1) {
        ++ones;
    }
    return part(shape, ones, shape.rank());
}

/// The gradient of input 1 from that of its repetitions.
void contributeSum(ValueId target, ValueId gradient, GradientBuilder& builder)
{
    const Shape full = builder.graph().value(gradient).type.shape;
    const Shape wanted = builder.graph().value(target).type.shape;
    if (full == wanted) {
        builder.contribute(target, "input", Op::Cast, {}, {gradient});
        return;
    }
    const Shape kept = trimmed(wanted);
    const ReduceAttributes overLeading {.firstAxis = 0, .axes = static_cast<std::int64_t>(full.rank() - kept.rank())};
    if (kept == wanted) {
        builder.contribute(target, "input", Op::Sum, overLeading, {gradient});
    } else {
        const ValueId sum = builder.compute("input.sum", Op::Sum, overLeading, {gradient});
        builder.contribute(target, "input", Op::Reshape, ReshapeAttributes {wanted}, {sum});
    }
}

} // namespace

Types broadcastTypes(const Node& node, InputTypes inputs)
{
    const Shape& a = inputs[0].shape;
    const Shape b = trimmed(inputs[1].shape);
    const bool fits = a == inputs[1].shape
        || (b.rank() <= a.rank() && inputs[1].shape.rank() <= a.rank() && part(a, a.rank() - b.rank(), a.rank()) == b);
    if (!fits) {
        failShapes(node, inputs, "a, and b whose shape is or ends that of a");
    }
    return {inputs[0]};
}

void addGradient(const Node& node, GradientBuilder& builder)
{
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    if (builder.wantsGradient(node.inputs[0])) {
        builder.contribute(node.inputs[0], "input", Op::Cast, {}, {dy});
    }
    if (builder.wantsGradient(node.inputs[1])) {
        contributeSum(node.inputs[1], dy, builder);
    }
}

void mulGradient(const Node& node, GradientBuilder& builder)
{
    const ValueId a = node.inputs[0];
    const ValueId b = node.inputs[1];
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    if (builder.wantsGradient(a)) {
        builder.contribute(a, "a", Op::Mul, {}, {dy, b});
    }
    if (!builder.wantsGradient(b)) {
        return;
    }
    if (builder.graph().value(a).type.shape == builder.graph().value(b).type.shape) {
        builder.contribute(b, "b", Op::Mul, {}, {dy, a});
    } else {
        contributeSum(b, builder.compute("b.product", Op::Mul, {}, {dy, a}), builder);
    }
}

} // namespace mantissa::ops
