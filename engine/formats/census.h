/// Exact counts of what rounding to a format did to a tensor.
#pragma once

#include <array>
#include <cstdint>

namespace mantissa {

/// Counts at the moment of rounding: the source is the FP32 value, the class is that of the rounded result.
/// zero: the source itself was zero. flushed: a non-zero source became zero. overflowed: a finite source became
/// infinite. infinite: the source was already infinite. The classes are disjoint and sum to the element count.
struct Census
{
    std::uint64_t zero = 0;
    std::uint64_t flushed = 0;
    std::uint64_t subnormal = 0;
    std::uint64_t normal = 0;
    std::uint64_t overflowed = 0;
    std::uint64_t infinite = 0;
    std::uint64_t nan = 0;

    [[nodiscard]] std::uint64_t total() const
    {
        return zero + flushed + subnormal + normal + overflowed + infinite + nan;
    }

    Census& operator+=(const Census& other);
    bool operator==(const Census&) const = default;
};

/// Elements by the biased FP32 exponent of the source (0: zeros and FP32 subnormals; 255: inf and NaN).
/// Bin e holds magnitudes in [2^(e-127), 2^(e-126)).
using ExponentHistogram = std::array<std::uint64_t, 256>;

} // namespace mantissa
