// Ops that only move elements: reshape, permute, concatenate, cut.
#include "engine/ops/rules.h"

#include <algorithm>

namespace mantissa::ops {

namespace {

bool isAxis(const Shape& shape, std::int64_t axis)
{
    return axis >= 0 && axis < static_cast<std::int64_t>(shape.rank());
}

Shape withAxis(const Shape& shape, std::int64_t axis, std::int64_t size)
{
    std::vector<std::int64_t> dims = shape.dims();
    dims.at(static_cast<std::size_t>(axis)) = size;
    return Shape(std::move(dims));
}

std::int64_t sizeOf(const Shape& shape, std::int64_t axis)
{
    return shape[static_cast<std::size_t>(axis)];
}

} // namespace

Types reshapeTypes(const Node& node, InputTypes inputs)
{
    const Shape shape = attributesOf<ReshapeAttributes>(node.attributes).shape;
    if (shape.elements() != inputs[0].shape.elements()) {
        failShapes(node, inputs, "as many elements as " + shape.text());
    }
    return {{inputs[0].dtype, shape}};
}

void reshapeGradient(const Node& node, GradientBuilder& builder)
{
    const Shape x = builder.graph().value(node.inputs[0]).type.shape;
    builder.contribute(
        node.inputs[0], "input", Op::Reshape, ReshapeAttributes {x}, {builder.gradientOf(node.outputs[0])});
}

Types permuteTypes(const Node& node, InputTypes inputs)
{
    const auto axes = attributesOf<PermuteAttributes>(node.attributes).axes;
    const Shape& x = inputs[0].shape;
    std::vector<std::int64_t> sorted = axes;
    std::ranges::sort(sorted);
    bool isPermutation = axes.size() == x.rank();
    for (std::size_t i = 0; isPermutation && i < sorted.size(); ++i) {
        isPermutation = sorted[i] == static_cast<std::int64_t>(i);
    }
    if (!isPermutation) {
        failAttributes(node, inputs, "each axis once in the new order");
    }
    std::vector<std::int64_t> dims;
    dims.reserve(axes.size());
    for (const std::int64_t axis : axes) {
        dims.push_back(sizeOf(x, axis));
    }
    return {{inputs[0].dtype, Shape(std::move(dims))}};
}

void permuteGradient(const Node& node, GradientBuilder& builder)
{
    const auto axes = attributesOf<PermuteAttributes>(node.attributes).axes;
    PermuteAttributes inverse {std::vector<std::int64_t>(axes.size())};
    for (std::size_t i = 0; i < axes.size(); ++i) {
        inverse.axes.at(static_cast<std::size_t>(axes[i])) = static_cast<std::int64_t>(i);
    }
    builder.contribute(node.inputs[0], "input", Op::Permute, std::move(inverse), {builder.gradientOf(node.outputs[0])});
}

Types concatTypes(const Node& node, InputTypes inputs)
{
    const std::int64_t axis = attributesOf<ConcatAttributes>(node.attributes).axis;
    const Shape& first = inputs[0].shape;
    if (!isAxis(first, axis)) {
        failAttributes(node, inputs, "an axis that exists");
    }
    std::int64_t total = 0;
    for (const TensorType& type : inputs) {
        if (type.shape.rank() != first.rank() || withAxis(type.shape, axis, 0) != withAxis(first, axis, 0)) {
            failShapes(node, inputs, "shapes that differ along the axis only");
        }
        total += sizeOf(type.shape, axis);
    }
    return {{inputs[0].dtype, withAxis(first, axis, total)}};
}

void concatGradient(const Node& node, GradientBuilder& builder)
{
    const std::int64_t axis = attributesOf<ConcatAttributes>(node.attributes).axis;
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const std::int64_t length = sizeOf(builder.graph().value(node.inputs[i]).type.shape, axis);
        if (builder.wantsGradient(node.inputs[i])) {
            builder.contribute(node.inputs[i], "input" + std::to_string(i), Op::Slice,
                SliceAttributes {axis, begin, length}, {builder.gradientOf(node.outputs[0])});
        }
        begin += length;
    }
}

Types sliceTypes(const Node& node, InputTypes inputs)
{
    const auto [axis, begin, length] = attributesOf<SliceAttributes>(node.attributes);
    const Shape& x = inputs[0].shape;
    if (!isAxis(x, axis) || begin < 0 || length < 1 || begin + length > sizeOf(x, axis)) {
        failAttributes(node, inputs, "a part of an axis that exists");
    }
    return {{inputs[0].dtype, withAxis(x, axis, length)}};
}

void sliceGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "input", Op::SliceGrad, node.attributes, {builder.gradientOf(node.outputs[0])});
}

} // namespace mantissa::ops
