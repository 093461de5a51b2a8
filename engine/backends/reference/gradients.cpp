/// Norm, unscaling and clipping of all gradients of one dtype group.
#include "engine/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa::reference {

namespace {

struct Statistics
{
    bool foundNonFinite = false;
    double sumSquares = 0;
    double maxAbs = 0;

    void add(double g)
    {
        sumSquares += g * g;
        if (std::abs(g) > maxAbs) {
            maxAbs = std::abs(g);
        }
    }

    void store(const Operands& operands, std::size_t firstOutput) const
    {
        operands.out(firstOutput).set(0, foundNonFinite ? 1 : 0);
        operands.out(firstOutput + 1).set(0, sumSquares);
        operands.out(firstOutput + 2).set(0, maxAbs);
    }
};

} // namespace

void gradientNorm(const Operands& operands)
{
    Statistics statistics;
    for (std::size_t tensor = 0; tensor < operands.inputCount(); ++tensor) {
        const Input g = operands.in(tensor);
        for (std::int64_t i = 0; i < g.size(); ++i) {
            statistics.foundNonFinite = statistics.foundNonFinite || !std::isfinite(g[i]);
            statistics.add(g[i]);
        }
    }
    statistics.store(operands, 0);
}

void unscale(const Operands& operands)
{
    const double inverseScale = operands.in(0)[0];
    const std::size_t tensors = operands.inputCount() - 1;
    Statistics statistics;
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        const Input g = operands.in(tensor + 1);
        const Output unscaled = operands.out(tensor);
        for (std::int64_t i = 0; i < g.size(); ++i) {
            statistics.foundNonFinite = statistics.foundNonFinite || !std::isfinite(g[i]);
        }
        if (inverseScale == 1) {
            unscaled.copyFrom(g);
        } else {
            for (std::int64_t i = 0; i < g.size(); ++i) {
                unscaled.set(i, g[i] * inverseScale);
            }
        }
        for (std::int64_t i = 0; i < g.size(); ++i) {
            statistics.add(unscaled.get(i));
        }
    }
    statistics.store(operands, tensors);
}

void clipByNorm(const Operands& operands)
{
    const double maxNorm = operands.in(0)[0];
    const double norm = std::sqrt(operands.in(1)[0]);
    const std::size_t tensors = operands.inputCount() - 2;
    const double wanted = maxNorm / (norm + 1e-6);
    // A NaN norm makes every gradient NaN, as torch.nn.utils.clip_grad_norm_ does: std::min would hide it.
    const double coefficient = static_cast<float>(wanted > 1 ? 1 : wanted);
    operands.out(tensors).set(0, coefficient);
    for (std::size_t tensor = 0; tensor < tensors; ++tensor) {
        const Input g = operands.in(tensor + 2);
        const Output clipped = operands.out(tensor);
        for (std::int64_t i = 0; i < g.size(); ++i) {
            clipped.set(i, g[i] * coefficient);
        }
    }
}

void clipByValue(const Operands& operands)
{
    const double limit = operands.in(0)[0];
    for (std::size_t tensor = 0; tensor + 1 < operands.inputCount(); ++tensor) {
        const Input g = operands.in(tensor + 1);
        const Output clipped = operands.out(tensor);
        for (std::int64_t i = 0; i < g.size(); ++i) {
            clipped.set(i, std::isnan(g[i]) ? g[i] : std::clamp(g[i], -limit, limit));
        }
    }
}

} // namespace mantissa::reference
