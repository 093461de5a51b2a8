/// Stochastic rounding: to one of a number's two neighbours in a format, to the farther from zero with the share of the
/// distance between them that lies below the number. The mean over many roundings is the number itself.
/// Source: Gupta, Agrawal, Gopalakrishnan, Narayanan, "Deep learning with limited numerical precision", ICML 2015.
#pragma once

#include "engine/formats/dtype.h"
#include "engine/formats/round_value.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

/// `dtype` is FP16 or BF16; `uniform` is in [0, 1). What the format holds exactly stays as it is; what lies beyond its
/// largest number is rounded to nearest, as are infinity and NaN.
inline double roundStochastic(DType dtype, double value, double uniform)
{
    const FormatLimits& limits = limitsOf(dtype);
    if (!(std::abs(value) <= limits.maxFinite)) {
        return roundValue(dtype, value);
    }
    const int lowest = 1 - limits.bias;
    const int exponent = value == 0 ? lowest : std::max(std::ilogb(value), lowest);
    const double inSteps = std::ldexp(value, limits.fractionBits - exponent);
    const double truncated = std::trunc(inSteps);
    const bool isFarther = uniform < std::abs(inSteps - truncated);
    return std::ldexp(isFarther ? truncated + std::copysign(1.0, value) : truncated, exponent - limits.fractionBits);
}

} // namespace mantissa
