/// Small calculations in a format, every result rounded to it, beside the exact ones: what it does to sums.
#pragma once

#include "engine/formats/float_format.h"

#include <cstdint>
#include <optional>

namespace mantissa {

struct RunningSum
{
    double result = 0;
    double exact = 0; ///< n times the term as the format holds it
    std::optional<std::int64_t> stuckAfter {}; ///< terms after which no further one changed the sum
};

/// term + term + ..., n times, rounded after each addition.
RunningSum runningSum(const FloatFormat& format, double term, std::int64_t n);

/// Both operands rounded to the format, then the operation, then its result.
double addIn(const FloatFormat& format, double a, double b);
double multiplyIn(const FloatFormat& format, double a, double b);
/// a b + c with one rounding (fused) or two.
double multiplyAddIn(const FloatFormat& format, double a, double b, double c, bool isFused);

} // namespace mantissa
