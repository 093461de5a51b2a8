/// Softmax and its logarithm over the last axis.
#include "engine/backends/reference/kernels.h"
#include "engine/formats/round_value.h"

#include <cmath>

namespace mantissa::reference {

namespace {

/// Calls f(first element) for each row of n.
template <typename F> void forRows(std::int64_t elements, std::int64_t n, F f)
{
    for (std::int64_t first = 0; first < elements; first += n) {
        f(first);
    }
}

/// The maximum of a row, NaN if there is one, and the sum of exp(x - maximum).
struct RowSum
{
    double largest = 0;
    double sum = 0;
};

RowSum rowSum(const Input& x, std::int64_t first, std::int64_t n, const Storage& round)
{
    RowSum out {round(x[first]), 0};
    for (std::int64_t i = 0; i < n; ++i) {
        const double value = round(x[first + i]);
        out.largest = value > out.largest || std::isnan(value) ? value : out.largest;
    }
    for (std::int64_t i = 0; i < n; ++i) {
        out.sum = round(out.sum + round(std::exp(round(round(x[first + i]) - out.largest))));
    }
    return out;
}

} // namespace

void softmax(const Operands& operands)
{
    const Storage round(operands.attributes<SoftmaxAttributes>().accumulate);
    const Input x = operands.in(0);
    const std::int64_t n = x.shape().back();
    forRows(x.size(), n, [&](std::int64_t first) {
        const RowSum row = rowSum(x, first, n, round);
        for (std::int64_t i = first; i < first + n; ++i) {
            operands.out(0).set(i, round(round(std::exp(round(round(x[i]) - row.largest))) / row.sum));
        }
    });
}

void logSoftmax(const Operands& operands)
{
    const Storage round(operands.attributes<SoftmaxAttributes>().accumulate);
    const Input x = operands.in(0);
    const std::int64_t n = x.shape().back();
    forRows(x.size(), n, [&](std::int64_t first) {
        const RowSum row = rowSum(x, first, n, round);
        const double logSum = round(std::log(row.sum));
        for (std::int64_t i = first; i < first + n; ++i) {
            operands.out(0).set(i, round(round(round(x[i]) - row.largest) - logSum));
        }
    });
}

void softmaxGrad(const Operands& operands)
{
    const Input d = operands.in(0);
    const Input y = operands.in(1);
    const std::int64_t n = y.shape().back();
    forRows(y.size(), n, [&](std::int64_t first) {
        double sum = 0;
        for (std::int64_t i = first; i < first + n; ++i) {
            sum += d[i] * y[i];
        }
        for (std::int64_t i = first; i < first + n; ++i) {
            operands.out(0).set(i, y[i] * (d[i] - sum));
        }
    });
}

void logSoftmaxGrad(const Operands& operands)
{
    const Input d = operands.in(0);
    const Input y = operands.in(1);
    const std::int64_t n = y.shape().back();
    forRows(y.size(), n, [&](std::int64_t first) {
        double sum = 0;
        for (std::int64_t i = first; i < first + n; ++i) {
            sum += d[i];
        }
        for (std::int64_t i = first; i < first + n; ++i) {
            operands.out(0).set(i, d[i] - std::exp(y[i]) * sum);
        }
    });
}

} // namespace mantissa::reference
