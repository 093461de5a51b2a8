/// Ops that move, add or scale elements.
#include "engine/backends/reference/kernels.h"

#include <cmath>

namespace mantissa::reference {

void add(const Operands& operands)
{
    const Input a = operands.in(0);
    const Input b = operands.in(1);
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < a.size(); ++i) {
        y.set(i, a[i] + b[i % b.size()]);
    }
}

void mul(const Operands& operands)
{
    const Input a = operands.in(0);
    const Input b = operands.in(1);
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < a.size(); ++i) {
        y.set(i, a[i] * b[i % b.size()]);
    }
}

void cast(const Operands& operands)
{
    const Input x = operands.in(0);
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        y.set(i, x[i]);
    }
}

void scale(const Operands& operands)
{
    const Input x = operands.in(0);
    const double factor = operands.in(1)[0];
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        y.set(i, x[i] * factor);
    }
}

void accumulate(const Operands& operands)
{
    const Input g = operands.in(0);
    const bool keep = operands.in(1)[0] != 0;
    const bool drop = !std::isfinite(operands.in(2)[0]);
    const Output sum = operands.out(0);
    for (std::int64_t i = 0; i < g.size(); ++i) {
        sum.set(i, (keep ? sum.get(i) : 0) + (drop ? 0 : g[i]));
    }
}

} // namespace mantissa::reference
