#include "engine/formats/format_play.h"

#include <bit>
#include <cmath>

namespace mantissa {

namespace {

double rounded(const FloatFormat& format, double value)
{
    return format.value(format.nearest(value));
}

} // namespace

RunningSum runningSum(const FloatFormat& format, double term, std::int64_t n)
{
    const double x = rounded(format, term);
    RunningSum sum {.exact = x * static_cast<double>(n)};
    for (std::int64_t i = 0; i < n; ++i) {
        const double next = rounded(format, sum.result + x);
        if (next == sum.result || std::isnan(next)) {
            // It would add the same to the same for ever.
            sum.stuckAfter = i;
            sum.result = next;
            break;
        }
        sum.result = next;
    }
    return sum;
}

double addIn(const FloatFormat& format, double a, double b)
{
    return rounded(format, rounded(format, a) + rounded(format, b));
}

double multiplyIn(const FloatFormat& format, double a, double b)
{
    return rounded(format, rounded(format, a) * rounded(format, b));
}

double multiplyAddIn(const FloatFormat& format, double a, double b, double c, bool isFused)
{
    const double product = rounded(format, a) * rounded(format, b);
    const double addend = rounded(format, c);
    if (!isFused) {
        return rounded(format, rounded(format, product) + addend);
    }
    // The product of two such numbers is exact in double. Their sum is rounded to odd, which a second rounding, to the
    // format, leaves no trace of. Source: Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
    // algorithms using rounding to odd", IEEE Transactions on Computers 57 (2008).
    double sum = product + addend;
    if (std::isfinite(sum)) {
        const double back = sum - addend;
        const double error = (product - back) + (addend - (sum - back));
        const bool isEven = (std::bit_cast<std::uint64_t>(sum) & 1U) == 0;
        if (error != 0 && isEven) {
            sum = std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
        }
    }
    return rounded(format, sum);
}

} // namespace mantissa
