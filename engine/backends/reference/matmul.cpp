/// Matrix products and the sums that go with a bias.
#include "engine/backends/reference/kernels.h"

namespace mantissa::reference {

void linear(const Operands& operands)
{
    const Input x = operands.in(0);
    const Input w = operands.in(1);
    const bool hasBias = operands.inputCount() > 2;
    const Output y = operands.out(0);
    const std::int64_t n = w.shape()[0];
    const std::int64_t k = w.shape()[1];
    const std::int64_t m = y.size() / n;
    for (std::int64_t row = 0; row < m; ++row) {
        for (std::int64_t column = 0; column < n; ++column) {
            double sum = 0;
            for (std::int64_t i = 0; i < k; ++i) {
                sum += x[row * k + i] * w[column * k + i];
            }
            if (hasBias) {
                sum += operands.in(2)[column];
            }
            y.set(row * n + column, sum);
        }
    }
}

void matMul(const Operands& operands)
{
    const auto [transposeA, transposeB] = operands.attributes<MatMulAttributes>();
    const Input a = operands.in(0);
    const Input b = operands.in(1);
    const Output y = operands.out(0);
    const std::int64_t m = a.shape()[transposeA ? 1 : 0];
    const std::int64_t k = a.shape()[transposeA ? 0 : 1];
    const std::int64_t n = b.shape()[transposeB ? 0 : 1];
    for (std::int64_t row = 0; row < m; ++row) {
        for (std::int64_t column = 0; column < n; ++column) {
            double sum = 0;
            for (std::int64_t i = 0; i < k; ++i) {
                const double left = a[transposeA ? i * m + row : row * k + i];
                const double right = b[transposeB ? column * k + i : i * n + column];
                sum += left * right;
            }
            y.set(row * n + column, sum);
        }
    }
}

void biasAdd(const Operands& operands)
{
    const Input x = operands.in(0);
    const Input bias = operands.in(1);
    const Output y = operands.out(0);
    for (std::int64_t i = 0; i < x.size(); ++i) {
        y.set(i, x[i] + bias[i % bias.size()]);
    }
}

void sumRows(const Operands& operands)
{
    const Input d = operands.in(0);
    const Output sums = operands.out(0);
    const std::int64_t n = sums.size();
    for (std::int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (std::int64_t i = column; i < d.size(); i += n) {
            sum += d[i];
        }
        sums.set(column, sum);
    }
}

} // namespace mantissa::reference
