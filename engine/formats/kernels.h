/// The kernel tables behind convert.h and round_census.h, one per instruction set.
///
/// The files that implement the wider tables are compiled with flags that not every CPU understands. They include
/// nothing with inline functions but the intrinsics, since the linker could keep their copy of such a function for
/// the whole program. That is also why this header has only plain types.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mantissa::kernels {

/// Counts as a kernel takes them: how many elements lie beyond each boundary between two classes of census.h.
struct BoundaryCounts
{
    std::uint64_t sourceNonzero;
    std::uint64_t resultNonzero;
    std::uint64_t atLeastNormal; ///< the result
    std::uint64_t resultSpecial; ///< infinite or NaN
    std::uint64_t sourceSpecial;
    std::uint64_t nan;
};

/// Of elements that are finite and not zero, by their magnitudes.
struct Extent
{
    static constexpr std::size_t parts = 8;

    double squares[parts]; ///< summed over every eighth element: the same in every table
    float largest;
    float smallest;
    std::uint64_t belowNormal;
};

/// Where the classes of census.h part: on the magnitude bits of the FP32 source (rounding is monotonic) ...
struct Float16Bounds
{
    static constexpr std::uint32_t largestToZero = 0x33000000U; ///< 2^-25, a tie that goes to even
    static constexpr std::uint32_t largestToSubnormal = 0x387fdfffU; ///< just below 2^-14 - 2^-25
    static constexpr std::uint32_t largestToFinite = 0x477fefffU; ///< just below 65520
    static constexpr std::uint16_t minNormal = 0x0400U; ///< ... and on those of the rounded result
    static constexpr std::uint16_t infinity = 0x7c00U;
};

struct BFloat16Bounds
{
    static constexpr std::uint32_t largestToZero = 0x00008000U; ///< 2^-134, a tie that goes to even
    static constexpr std::uint32_t largestToSubnormal = 0x007f7fffU; ///< just below 2^-126 - 2^-134
    static constexpr std::uint32_t largestToFinite = 0x7f7f7fffU; ///< just below the tie that goes to infinity
    static constexpr std::uint16_t minNormal = 0x0080U;
};

struct Float32Bounds
{
    static constexpr std::uint32_t largestToZero = 0;
    static constexpr std::uint32_t largestToSubnormal = 0x007fffffU;
    static constexpr std::uint32_t largestToFinite = 0x7f7fffffU;
    static constexpr std::uint32_t infinity = 0x7f800000U;
};

/// n elements from src to dst. 16-bit values are passed by their bits.
using FloatToHalf = void (*)(const float* src, std::uint16_t* dst, std::size_t n);
using HalfToFloat = void (*)(const std::uint16_t* src, float* dst, std::size_t n);
/// Rounds and adds to *counts.
using RoundCounting = void (*)(const float* src, std::uint16_t* dst, std::size_t n, BoundaryCounts* counts);
/// Counts without rounding: the result is the source.
using Counting = void (*)(const float* src, std::size_t n, BoundaryCounts* counts);

/// Adds the biased exponents of n sources to the 256 bins.
using CountingExponents = void (*)(const float* src, std::size_t n, std::uint64_t* bins);

/// Takes n elements into *extent, which starts at 0, and an infinite `smallest`.
using Measuring = void (*)(const float* src, std::size_t n, float minNormal, Extent* extent);

struct Table
{
    FloatToHalf floatToFloat16;
    HalfToFloat float16ToFloat;
    FloatToHalf floatToBFloat16;
    HalfToFloat bfloat16ToFloat;
    RoundCounting roundFloat16;
    RoundCounting roundBFloat16;
    Counting countFloat32;
    CountingExponents countExponents;
    Measuring measureExtent;
};

extern const Table portable;
#if defined(MANTISSA_X86_KERNELS)
extern const Table avx2;
extern const Table avx512;
#endif

/// The table of the level that cpuIsa() reports now.
const Table& active();

/// The largest n that a counting kernel takes: its counters are narrow, and source and result together stay in the
/// nearest cache for a second look. Callers walk longer spans in such pieces.
inline constexpr std::size_t maxCountedAtOnce = 4096;

} // namespace mantissa::kernels
