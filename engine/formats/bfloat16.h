/// BF16: the upper half of an FP32 word (1 sign, 8 exponent and 7 fraction bits), as storage with exact conversions.
#pragma once

#include "engine/formats/round_bits.h"

#include <bit>
#include <cstdint>

namespace mantissa {

/// A 16-bit value held by its bits; arithmetic is done in FP32 and rounded back. It has no operator==, since equal
/// bits and equal values differ at zeros and NaN: compare .bits or toFloat().
/// Conversions are bit-identical to NVIDIA's host functions: nearest even, subnormals kept, NaN to 0x7fff; widening
/// is a plain shift, so a NaN keeps its sign and payload.
struct BFloat16
{
    using Encoding = BFloat16Encoding;

    std::uint16_t bits = 0;

    static constexpr BFloat16 fromBits(std::uint16_t bits) { return BFloat16 {bits}; }

    static constexpr BFloat16 fromFloat(float value)
    {
        const auto source = std::bit_cast<std::uint32_t>(value);
        return BFloat16 {static_cast<std::uint16_t>(roundEncoding<Float32Encoding, Encoding>(source))};
    }

    /// Rounded once: going through float would round 1 + 2^-8 + 2^-30 down instead of up.
    static constexpr BFloat16 fromDouble(double value)
    {
        const auto source = std::bit_cast<std::uint64_t>(value);
        return BFloat16 {static_cast<std::uint16_t>(roundEncoding<Float64Encoding, Encoding>(source))};
    }

    [[nodiscard]] constexpr float toFloat() const
    {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
    }

    [[nodiscard]] constexpr double toDouble() const { return static_cast<double>(toFloat()); }

    [[nodiscard]] constexpr bool isNan() const { return (bits & 0x7fffU) > 0x7f80U; }

    [[nodiscard]] constexpr bool isInfinite() const { return (bits & 0x7fffU) == 0x7f80U; }

    [[nodiscard]] constexpr bool isFinite() const { return (bits & 0x7fffU) < 0x7f80U; }

    [[nodiscard]] constexpr bool isZero() const { return (bits & 0x7fffU) == 0; }

    [[nodiscard]] constexpr bool isSubnormal() const { return !isZero() && (bits & 0x7f80U) == 0; }

    [[nodiscard]] constexpr bool isNegative() const { return (bits & 0x8000U) != 0; }
};

/// The neighbour above (nextUp) or below (nextDown) in value; infinity at the end and NaN stay as they are.
constexpr BFloat16 nextUp(BFloat16 value)
{
    return BFloat16 {static_cast<std::uint16_t>(nextUpEncoding<BFloat16Encoding>(value.bits))};
}

constexpr BFloat16 nextDown(BFloat16 value)
{
    return BFloat16 {static_cast<std::uint16_t>(nextDownEncoding<BFloat16Encoding>(value.bits))};
}

static_assert(sizeof(BFloat16) == 2);

} // namespace mantissa
