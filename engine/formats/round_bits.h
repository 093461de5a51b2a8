/// Exact conversions between IEEE 754 binary encodings, in integers only: the definition of truth for every faster
/// path. Source: IEEE 754-2019, sections 3.4 (encodings) and 4.3.1 (roundTiesToEven).
#pragma once

#include <bit>
#include <cstdint>

namespace mantissa {

/// The encoding of a binary format, held in the low bits of a 64-bit word.
template <int ExponentBits, int FractionBits> struct BinaryEncoding
{
    static constexpr int exponentBits = ExponentBits;
    static constexpr int fractionBits = FractionBits;
    static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    static constexpr std::uint64_t signBit = std::uint64_t {1} << (ExponentBits + FractionBits);
    static constexpr std::uint64_t implicitBit = std::uint64_t {1} << FractionBits;
    static constexpr std::uint64_t infinity = signBit - implicitBit;
    static constexpr std::uint64_t canonicalNan = signBit - 1;
};

using Float16Encoding = BinaryEncoding<5, 10>;
using BFloat16Encoding = BinaryEncoding<8, 7>;
using Float32Encoding = BinaryEncoding<8, 23>;
using Float64Encoding = BinaryEncoding<11, 52>;

/// Rounds once, to nearest, ties to even, subnormals kept. Every NaN becomes the positive NaN with all fraction bits
/// set, as NVIDIA's conversions give it.
template <typename Source, typename Target> constexpr std::uint64_t roundEncoding(std::uint64_t bits)
{
    constexpr int droppedBits = Source::fractionBits - Target::fractionBits;
    static_assert(droppedBits > 0 && Source::bias >= Target::bias);

    const std::uint64_t magnitude = bits & (Source::signBit - 1);
    if (magnitude > Source::infinity) {
        return Target::canonicalNan;
    }
    const std::uint64_t sign = (bits & Source::signBit) != 0 ? Target::signBit : 0;
    if (magnitude == Source::infinity) {
        return sign | Target::infinity;
    }

    int exponent = static_cast<int>(magnitude >> Source::fractionBits);
    std::uint64_t significand = magnitude & (Source::implicitBit - 1);
    if (exponent == 0) {
        exponent = 1;
    } else {
        significand |= Source::implicitBit;
    }

    // Below the target's smallest normal number each step of the exponent costs one more bit.
    int targetExponent = exponent - Source::bias + Target::bias;
    int shift = droppedBits;
    if (targetExponent < 1) {
        shift += 1 - targetExponent;
        targetExponent = 1;
    }
    if (shift > Source::fractionBits + 1) {
        return sign; // less than half of the smallest subnormal
    }
    const std::uint64_t half = std::uint64_t {1} << (shift - 1);
    const std::uint64_t remainder = significand & (2 * half - 1);
    std::uint64_t quotient = significand >> shift;
    if (remainder > half || (remainder == half && (quotient & 1U) != 0)) {
        ++quotient;
    }
    // The implicit bit of a normal quotient adds the last step of the exponent, and a carry the one after it.
    const std::uint64_t rounded = quotient + (static_cast<std::uint64_t>(targetExponent - 1) << Target::fractionBits);
    return sign | (rounded < Target::infinity ? rounded : Target::infinity);
}

/// Widens to an encoding with more exponent and fraction bits; always exact. NaN becomes canonical.
template <typename Source, typename Target> constexpr std::uint64_t widenEncoding(std::uint64_t bits)
{
    constexpr int addedBits = Target::fractionBits - Source::fractionBits;
    static_assert(addedBits > 0 && Target::exponentBits > Source::exponentBits);

    const std::uint64_t magnitude = bits & (Source::signBit - 1);
    if (magnitude > Source::infinity) {
        return Target::canonicalNan;
    }
    const std::uint64_t sign = (bits & Source::signBit) != 0 ? Target::signBit : 0;
    if (magnitude == 0 || magnitude == Source::infinity) {
        return sign | (magnitude == 0 ? 0 : Target::infinity);
    }

    int exponent = static_cast<int>(magnitude >> Source::fractionBits);
    std::uint64_t fraction = magnitude & (Source::implicitBit - 1);
    if (exponent == 0) {
        const int missing = Source::fractionBits + 1 - static_cast<int>(std::bit_width(fraction));
        exponent = 1 - missing;
        fraction = (fraction << missing) & (Source::implicitBit - 1);
    }
    const auto targetExponent = static_cast<std::uint64_t>(exponent - Source::bias + Target::bias);
    return sign | (targetExponent << Target::fractionBits) | (fraction << addedBits);
}

/// The least encoding above `bits` in value (IEEE 754-2019, 5.3.1, nextUp): -0 and +0 give the smallest positive
/// number, +infinity and NaN stay.
template <typename Format> constexpr std::uint64_t nextUpEncoding(std::uint64_t bits)
{
    const std::uint64_t magnitude = bits & (Format::signBit - 1);
    if (magnitude > Format::infinity || bits == Format::infinity) {
        return bits;
    }
    if (magnitude == 0) {
        return 1;
    }
    return (bits & Format::signBit) != 0 ? bits - 1 : bits + 1;
}

/// The greatest encoding below `bits` in value: the mirror image of nextUpEncoding().
template <typename Format> constexpr std::uint64_t nextDownEncoding(std::uint64_t bits)
{
    return nextUpEncoding<Format>(bits ^ Format::signBit) ^ Format::signBit;
}

} // namespace mantissa
