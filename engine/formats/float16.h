/// FP16 (IEEE 754 binary16): 1 sign, 5 exponent and 10 fraction bits, as storage with exact conversions.
#pragma once

#include "engine/formats/round_bits.h"

#include <bit>
#include <cstdint>

namespace mantissa {

/// A 16-bit value held by its bits; arithmetic is done in FP32 and rounded back. It has no operator==, since equal
/// bits and equal values differ at zeros and NaN: compare .bits or toFloat().
/// Conversions are bit-identical to NVIDIA's host functions: nearest even, subnormals kept, NaN to 0x7fff, and NaN
/// back to FP32 as 0x7fffffff.
struct Float16
{
    using Encoding = Float16Encoding;

    std::uint16_t bits = 0;

    static constexpr Float16 fromBits(std::uint16_t bits) { return Float16 {bits}; }

    static constexpr Float16 fromFloat(float value)
    {
        const auto source = std::bit_cast<std::uint32_t>(value);
        return Float16 {static_cast<std::uint16_t>(roundEncoding<Float32Encoding, Encoding>(source))};
    }

    /// Rounded once: going through float would round 1 + 2^-11 + 2^-30 down instead of up.
    static constexpr Float16 fromDouble(double value)
    {
        const auto source = std::bit_cast<std::uint64_t>(value);
        return Float16 {static_cast<std::uint16_t>(roundEncoding<Float64Encoding, Encoding>(source))};
    }

    [[nodiscard]] constexpr float toFloat() const
    {
        return std::bit_cast<float>(static_cast<std::uint32_t>(widenEncoding<Encoding, Float32Encoding>(bits)));
    }

    [[nodiscard]] constexpr double toDouble() const { return static_cast<double>(toFloat()); }

    [[nodiscard]] constexpr bool isNan() const { return (bits & 0x7fffU) > 0x7c00U; }

    [[nodiscard]] constexpr bool isInfinite() const { return (bits & 0x7fffU) == 0x7c00U; }

    [[nodiscard]] constexpr bool isFinite() const { return (bits & 0x7fffU) < 0x7c00U; }

    [[nodiscard]] constexpr bool isZero() const { return (bits & 0x7fffU) == 0; }

    [[nodiscard]] constexpr bool isSubnormal() const { return !isZero() && (bits & 0x7c00U) == 0; }

    [[nodiscard]] constexpr bool isNegative() const { return (bits & 0x8000U) != 0; }
};

/// The neighbour above (nextUp) or below (nextDown) in value; infinity at the end and NaN stay as they are.
constexpr Float16 nextUp(Float16 value)
{
    return Float16 {static_cast<std::uint16_t>(nextUpEncoding<Float16Encoding>(value.bits))};
}

constexpr Float16 nextDown(Float16 value)
{
    return Float16 {static_cast<std::uint16_t>(nextDownEncoding<Float16Encoding>(value.bits))};
}

static_assert(sizeof(Float16) == 2);

} // namespace mantissa
