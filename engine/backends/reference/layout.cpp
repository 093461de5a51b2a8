/// Ops that only move elements.
#include "engine/backends/reference/kernels.h"

namespace mantissa::reference {

namespace {

/// A tensor seen along one axis: outer x size x inner.
struct AxisView
{
    std::int64_t size;
    std::int64_t inner;

    AxisView(const Shape& shape, std::int64_t axis)
        : size(shape[static_cast<std::size_t>(axis)])
        , inner(1)
    {
        for (auto i = static_cast<std::size_t>(axis) + 1; i < shape.rank(); ++i) {
            inner *= shape[i];
        }
    }

    [[nodiscard]] std::int64_t along(std::int64_t i) const { return i / inner % size; }

    /// The element of this tensor at the same outer and inner place as element i of `other`, at `position`.
    [[nodiscard]] std::int64_t at(const AxisView& other, std::int64_t i, std::int64_t position) const
    {
        return (i / inner / other.size * size + position) * inner + i % inner;
    }
};

} // namespace

void reshape(const Operands& operands)
{
    operands.out(0).copyFrom(operands.in(0));
}

void permute(const Operands& operands)
{
    const auto axes = operands.attributes<PermuteAttributes>().axes;
    const Input x = operands.in(0);
    const Output y = operands.out(0);
    std::vector<std::int64_t> strides(axes.size(), 1); // of x
    for (std::size_t axis = axes.size(); axis-- > 1;) {
        strides[axis - 1] = strides[axis] * x.shape()[axis];
    }
    for (std::int64_t i = 0; i < y.size(); ++i) {
        std::int64_t rest = i;
        std::int64_t source = 0;
        for (std::size_t axis = axes.size(); axis-- > 0;) {
            source += rest % y.shape()[axis] * strides[static_cast<std::size_t>(axes[axis])];
            rest /= y.shape()[axis];
        }
        y.set(i, x[source]);
    }
}

void concat(const Operands& operands)
{
    const std::int64_t axis = operands.attributes<ConcatAttributes>().axis;
    const Output y = operands.out(0);
    const AxisView whole(y.shape(), axis);
    std::int64_t begin = 0;
    for (std::size_t operand = 0; operand < operands.inputCount(); ++operand) {
        const Input x = operands.in(operand);
        const AxisView view(x.shape(), axis);
        for (std::int64_t i = 0; i < x.size(); ++i) {
            y.set(whole.at(view, i, begin + view.along(i)), x[i]);
        }
        begin += view.size;
    }
}

void slice(const Operands& operands)
{
    const auto attributes = operands.attributes<SliceAttributes>();
    const Input x = operands.in(0);
    const Output y = operands.out(0);
    const AxisView whole(x.shape(), attributes.axis);
    const AxisView view(y.shape(), attributes.axis);
    for (std::int64_t i = 0; i < y.size(); ++i) {
        y.set(i, x[whole.at(view, i, attributes.begin + view.along(i))]);
    }
}

void sliceGrad(const Operands& operands)
{
    const auto attributes = operands.attributes<SliceAttributes>();
    const Input d = operands.in(0);
    const Output dx = operands.out(0);
    const AxisView whole(dx.shape(), attributes.axis);
    const AxisView view(d.shape(), attributes.axis);
    for (std::int64_t i = 0; i < dx.size(); ++i) {
        const std::int64_t position = whole.along(i) - attributes.begin;
        const bool isInside = position >= 0 && position < attributes.length;
        dx.set(i, isInside ? d[view.at(whole, i, position)] : 0);
    }
}

} // namespace mantissa::reference
