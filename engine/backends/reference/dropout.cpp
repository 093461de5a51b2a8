/// Dropout by counter-based random numbers.
#include "engine/backends/reference/kernels.h"
#include "engine/core/philox.h"

namespace mantissa::reference {

namespace {

/// 0 where nothing is kept, as in PyTorch.
double keepFactor(const DropoutAttributes& attributes)
{
    return attributes.probability >= 1 ? 0 : 1 / (1 - static_cast<double>(attributes.probability));
}

} // namespace

void dropout(const Operands& operands)
{
    const auto attributes = operands.attributes<DropoutAttributes>();
    const Input x = operands.in(0);
    const auto counter = std::uint64_t {static_cast<std::uint32_t>(operands.in(1).integer(0))} << 32;
    const Output y = operands.out(0);
    const Output mask = operands.out(1);
    const Philox random(attributes.seed, attributes.stream);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::uint64_t index = attributes.first + static_cast<std::uint64_t>(i);
        const bool kept = toUnitFloat(random(counter | index / 4).at(index % 4)) >= attributes.probability;
        mask.setByte(i, kept ? 1 : 0);
        y.set(i, x[i] * (kept ? 1 : 0) * keepFactor(attributes));
    }
}

void dropoutGrad(const Operands& operands)
{
    const auto attributes = operands.attributes<DropoutAttributes>();
    const Input d = operands.in(0);
    const Input mask = operands.in(1);
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < d.size(); ++i) {
        y.set(i, d[i] * mask[i] * keepFactor(attributes));
    }
}

} // namespace mantissa::reference
