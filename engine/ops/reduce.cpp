// Sums and means over neighbouring axes, and the repetition along new axes that undoes them.
#include "engine/ops/rules.h"

#include <algorithm>

namespace mantissa::ops {

namespace {

struct Axes
{
    std::size_t begin;
    std::size_t end;
};

Axes axesOf(const Node& node, InputTypes inputs)
{
    const auto attributes = attributesOf<ReduceAttributes>(node.attributes);
    const auto rank = static_cast<std::int64_t>(inputs[0].shape.rank());
    const std::int64_t count = attributes.axes < 0 ? rank - attributes.firstAxis : attributes.axes;
    if (attributes.firstAxis < 0 || count < 0 || attributes.firstAxis + count > rank) {
        failAttributes(node, inputs, "axes that exist");
    }
    return {static_cast<std::size_t>(attributes.firstAxis), static_cast<std::size_t>(attributes.firstAxis + count)};
}

void reduceGradient(const Node& node, GradientBuilder& builder, bool isMean)
{
    const TensorType x = builder.graph().value(node.inputs[0]).type;
    const Axes axes = axesOf(node, std::span(&x, 1));
    ExpandAttributes back {
        .firstAxis = static_cast<std::int64_t>(axes.begin), .sizes = part(x.shape, axes.begin, axes.end)};
    back.divisor = isMean ? back.sizes.elements() : 1;
    builder.contribute(node.inputs[0], "input", Op::Expand, back, {builder.gradientOf(node.outputs[0])});
}

} // namespace

Types reduceTypes(const Node& node, InputTypes inputs)
{
    const Shape& x = inputs[0].shape;
    const Axes axes = axesOf(node, inputs);
    if (x.elements() == 0) {
        failShapes(node, inputs, "x with elements");
    }
    return {{inputs[0].dtype, joined(part(x, 0, axes.begin), part(x, axes.end, x.rank()))}};
}

void sumGradient(const Node& node, GradientBuilder& builder)
{
    reduceGradient(node, builder, false);
}

void meanGradient(const Node& node, GradientBuilder& builder)
{
    reduceGradient(node, builder, true);
}

Types expandTypes(const Node& node, InputTypes inputs)
{
    const auto attributes = attributesOf<ExpandAttributes>(node.attributes);
    const Shape& x = inputs[0].shape;
    const bool areAxes = attributes.firstAxis >= 0 && attributes.firstAxis <= static_cast<std::int64_t>(x.rank())
        && std::ranges::all_of(attributes.sizes.dims(), [](std::int64_t size) { return size > 0; });
    if (!areAxes || attributes.divisor < 1) {
        failAttributes(node, inputs, "new axes of at least 1 next to existing ones, and a divisor of at least 1");
    }
    const auto at = static_cast<std::size_t>(attributes.firstAxis);
    return {{inputs[0].dtype, joined(joined(part(x, 0, at), attributes.sizes), part(x, at, x.rank()))}};
}

void expandGradient(const Node& node, GradientBuilder& builder)
{
    const auto attributes = attributesOf<ExpandAttributes>(node.attributes);
    const ReduceAttributes overNew {
        .firstAxis = attributes.firstAxis, .axes = static_cast<std::int64_t>(attributes.sizes.rank())};
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    if (attributes.divisor == 1) {
        builder.contribute(node.inputs[0], "input", Op::Sum, overNew, {dy});
    } else {
        const ValueId sum = builder.compute("input.sum", Op::Sum, overNew, {dy});
        builder.contribute(
            node.inputs[0], "input", Op::Expand, ExpandAttributes {.sizes = {}, .divisor = attributes.divisor}, {sum});
    }
}

} // namespace mantissa::ops
