/// Binary floating formats by their parameters, bit by bit: to look at numbers with, not to compute with.
/// Sources: IEEE 754-2019, section 3.4; for FP8 the Open Compute Project's OFP8 specification, revision 1.0; TF32 is
/// NVIDIA's: FP32's exponent and FP16's fraction.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mantissa {

struct FloatFormat
{
    std::string_view name; ///< "fp16", "e4m3"
    std::string_view title; ///< "FP16", "FP8 E4M3"
    int exponentBits;
    int fractionBits;
    bool hasInfinity; ///< E4M3 has none: its largest exponent holds numbers, and one NaN of either sign

    [[nodiscard]] constexpr int bits() const { return 1 + exponentBits + fractionBits; }

    [[nodiscard]] constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }

    [[nodiscard]] double value(std::uint32_t bits) const; ///< exact
    /// The nearest number's bits, ties to even. Beyond the range: infinity, or NaN where there is none.
    [[nodiscard]] std::uint32_t nearest(double value) const;
    /// The next number towards +infinity or -infinity; that itself at the end of the range.
    [[nodiscard]] double neighbour(double value, bool upwards) const;
    /// From this number to the next farther from zero.
    [[nodiscard]] double spacing(double value) const;

    [[nodiscard]] double largest() const;
    [[nodiscard]] double smallestNormal() const;
    [[nodiscard]] double smallest() const; ///< subnormal
};

/// FP32, TF32, BF16, FP16, FP8 E5M2, FP8 E4M3.
std::span<const FloatFormat> floatFormats();

} // namespace mantissa
