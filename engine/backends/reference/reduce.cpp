/// Sums and means over neighbouring axes, and repetition along new ones.
#include "engine/backends/reference/kernels.h"
#include "engine/formats/round_value.h"

namespace mantissa::reference {

namespace {

std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end)
{
    std::int64_t n = 1;
    for (std::size_t i = begin; i < end; ++i) {
        n *= shape[i];
    }
    return n;
}

/// y[o, i] = sum over j of x[o, j, i], divided by their number if it is to be a mean.
void reduce(const Operands& operands, std::size_t begin, std::size_t end, bool isMean)
{
    const Storage round(operands.attributes<ReduceAttributes>().accumulate);
    const Input x = operands.in(0);
    const std::int64_t count = product(x.shape(), begin, end);
    const std::int64_t inner = product(x.shape(), end, x.shape().rank());
    const Output y = operands.out(0);
    for (std::int64_t at = 0; at < y.size(); ++at) {
        double sum = 0;
        for (std::int64_t j = 0; j < count; ++j) {
            sum = round(sum + round(x[(at / inner * count + j) * inner + at % inner]));
        }
        y.set(at, isMean ? round(sum / static_cast<double>(count)) : sum);
    }
}

void reduceByAttributes(const Operands& operands, bool isMean)
{
    const auto attributes = operands.attributes<ReduceAttributes>();
    const auto begin = static_cast<std::size_t>(attributes.firstAxis);
    const std::size_t end
        = attributes.axes < 0 ? operands.in(0).shape().rank() : begin + static_cast<std::size_t>(attributes.axes);
    reduce(operands, begin, end, isMean);
}

} // namespace

void sum(const Operands& operands)
{
    reduceByAttributes(operands, false);
}

void mean(const Operands& operands)
{
    reduceByAttributes(operands, true);
}

void globalAvgPool(const Operands& operands)
{
    reduce(operands, 1, 3, true);
}

void expandAxes(const Operands& operands)
{
    const auto attributes = operands.attributes<ExpandAttributes>();
    const Input x = operands.in(0);
    const Output y = operands.out(0);
    const std::int64_t inner = product(x.shape(), static_cast<std::size_t>(attributes.firstAxis), x.shape().rank());
    const std::int64_t copies = attributes.sizes.elements();
    for (std::int64_t i = 0; i < y.size(); ++i) {
        y.set(i, x[i / inner / copies * inner + i % inner] / static_cast<double>(attributes.divisor));
    }
}

} // namespace mantissa::reference
