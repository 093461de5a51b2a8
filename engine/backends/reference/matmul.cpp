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
    const auto [transposeA, transposeB, joinRows] = operands.attributes<MatMulAttributes>();
    const Input a = operands.in(0);
    const Input b = operands.in(1);
    const Output y = operands.out(0);
    const std::int64_t m = joinRows ? y.shape()[0] : y.shape()[y.shape().rank() - 2];
    const std::int64_t n = y.shape().back();
    const std::int64_t k = joinRows ? a.size() / m : a.shape()[a.shape().rank() - (transposeA ? 2 : 1)];
    // b has fewer matrices where the leading dimensions of a are rows: then they follow each other.
    const std::int64_t sizeOfB = b.shape().rank() == 2 ? 0 : k * n;
    for (std::int64_t matrix = 0; matrix < y.size() / (m * n); ++matrix) {
        for (std::int64_t i = 0; i < m * n; ++i) {
            const std::int64_t row = i / n;
            const std::int64_t column = i % n;
            double sum = 0;
            for (std::int64_t j = 0; j < k; ++j) {
                const double left = a[matrix * m * k + (transposeA ? j * m + row : row * k + j)];
                const double right = b[matrix * sizeOfB + (transposeB ? column * k + j : j * n + column)];
                sum += left * right;
            }
            y.set(matrix * m * n + i, sum);
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
