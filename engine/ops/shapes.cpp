// What the shape rules share: messages and pieces of shapes.
#include "engine/core/error.h"
#include "engine/ops/rules.h"

#include <fmt/format.h>

namespace mantissa::ops {

namespace {

[[noreturn]] void fail(ErrorCode code, const Node& node, InputTypes inputs, std::string_view expected)
{
    std::string got;
    for (const TensorType& type : inputs) {
        got += (got.empty() ? "" : ", ") + type.shape.text();
    }
    throw Error(code, fmt::format("[{}] {} expects {}, got {}", node.name, opDef(node.op).name, expected, got));
}

} // namespace

void failShapes(const Node& node, InputTypes inputs, std::string_view expected)
{
    fail(ErrorCode::ShapeMismatch, node, inputs, expected);
}

void failAttributes(const Node& node, InputTypes inputs, std::string_view expected)
{
    fail(ErrorCode::InvalidArgument, node, inputs, expected);
}

std::int64_t rowsOf(const Shape& shape)
{
    return leading(shape).elements();
}

Shape part(const Shape& shape, std::size_t begin, std::size_t end)
{
    const auto first = shape.dims().begin();
    return Shape(std::vector(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end)));
}

Shape leading(const Shape& shape)
{
    return part(shape, 0, shape.rank() - (shape.rank() == 0 ? 0 : 1));
}

Shape joined(const Shape& a, const Shape& b)
{
    std::vector<std::int64_t> dims = a.dims();
    dims.insert(dims.end(), b.dims().begin(), b.dims().end());
    return Shape(std::move(dims));
}

Types likeFirst(const Node& /*node*/, InputTypes inputs)
{
    return {inputs[0]};
}

Types likeBoth(const Node& node, InputTypes inputs)
{
    if (inputs[0].shape != inputs[1].shape) {
        failShapes(node, inputs, "two equal shapes");
    }
    return {inputs[0]};
}

Types rowwiseTypes(const Node& node, InputTypes inputs)
{
    if (inputs[0].shape.rank() == 0 || inputs[0].shape.elements() == 0) {
        failShapes(node, inputs, "x [..., n] with elements");
    }
    return {inputs[0]};
}

} // namespace mantissa::ops
