#include "engine/formats/float_format.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr std::array table {
    FloatFormat {"fp32", "FP32", 8, 23, true},
    FloatFormat {"tf32", "TF32", 8, 10, true},
    FloatFormat {"bf16", "BF16", 8, 7, true},
    FloatFormat {"fp16", "FP16", 5, 10, true},
    FloatFormat {"e5m2", "FP8 E5M2", 5, 2, true},
    FloatFormat {"e4m3", "FP8 E4M3", 4, 3, false},
};

/// The bits behind the sign.
std::uint32_t magnitudeMask(const FloatFormat& format)
{
    return (std::uint32_t {1} << (format.bits() - 1)) - 1;
}

std::uint32_t infinityBits(const FloatFormat& format)
{
    return ((std::uint32_t {1} << format.exponentBits) - 1) << format.fractionBits;
}

/// The magnitude bits of the largest finite number.
std::uint32_t largestBits(const FloatFormat& format)
{
    return format.hasInfinity ? infinityBits(format) - 1 : magnitudeMask(format) - 1;
}

} // namespace

std::span<const FloatFormat> floatFormats()
{
    return table;
}

double FloatFormat::value(std::uint32_t bits) const
{
    const std::uint32_t magnitude = bits & magnitudeMask(*this);
    const double sign = (bits >> (this->bits() - 1) & 1U) != 0 ? -1.0 : 1.0;
    if (magnitude > largestBits(*this)) {
        const bool isInfinity = hasInfinity && magnitude == infinityBits(*this);
        return sign * (isInfinity ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN());
    }
    const auto exponent = static_cast<int>(magnitude >> fractionBits);
    const auto fraction = static_cast<double>(magnitude & ((std::uint32_t {1} << fractionBits) - 1));
    const double significand = exponent == 0 ? fraction : fraction + std::ldexp(1.0, fractionBits);
    return sign * std::ldexp(significand, std::max(exponent, 1) - bias() - fractionBits);
}

std::uint32_t FloatFormat::nearest(double value) const
{
    const std::uint32_t sign = std::signbit(value) ? std::uint32_t {1} << (bits() - 1) : 0;
    if (std::isnan(value)) {
        return sign | magnitudeMask(*this);
    }
    const std::uint32_t overflow = hasInfinity ? infinityBits(*this) : magnitudeMask(*this);
    const double magnitude = std::abs(value);
    if (magnitude == 0) {
        return sign;
    }
    if (std::isinf(magnitude) || magnitude >= std::ldexp(1.0, bias() + 3)) {
        return sign | overflow;
    }
    const int exponent = std::max(std::ilogb(magnitude), 1 - bias());
    // Exact but for the rounding to an integer, ties to even. A carry into the next exponent is an addition.
    const double significand = std::nearbyint(std::ldexp(magnitude, fractionBits - exponent));
    const auto result
        = (static_cast<std::uint32_t>(exponent + bias() - 1) << fractionBits) + static_cast<std::uint32_t>(significand);
    return sign | (result > largestBits(*this) ? overflow : result);
}

double FloatFormat::neighbour(double value, bool upwards) const
{
    const double here = this->value(nearest(value));
    if (std::isnan(here) || (std::isinf(here) && (here > 0) == upwards)) {
        return here;
    }
    if (here == 0) {
        return upwards ? smallest() : -smallest();
    }
    const std::uint32_t bits = nearest(here);
    return this->value((here > 0) == upwards ? bits + 1 : bits - 1);
}

double FloatFormat::spacing(double value) const
{
    const double here = std::abs(this->value(nearest(value)));
    if (!std::isfinite(here)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const int exponent = here == 0 ? 1 - bias() : std::max(std::ilogb(here), 1 - bias());
    return std::ldexp(1.0, exponent - fractionBits);
}

double FloatFormat::largest() const
{
    return value(largestBits(*this));
}

double FloatFormat::smallestNormal() const
{
    return std::ldexp(1.0, 1 - bias());
}

double FloatFormat::smallest() const
{
    return std::ldexp(1.0, 1 - bias() - fractionBits);
}

} // namespace mantissa
