/// The kernel tables behind convert.h and round_census.h, one per instruction set.
///
/// The files that implement the wider tables are compiled with flags that not every CPU understands. They include
/// nothing with inline functions but the intrinsics, since the linker could keep their copy of such a function for
/// the whole program. That is also why this header has only plain types.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mantissa::kernels {

/// Counts as a kernel takes them: at or above a class boundary rather than between two. Boundaries are on the
/// magnitude of the source, since rounding is monotonic.
struct BoundaryCounts
{
    std::uint64_t sourceZero; ///< source is zero
    std::uint64_t resultZero; ///< result is zero
    std::uint64_t belowNormal; ///< result is zero or subnormal
    std::uint64_t resultSpecial; ///< result is infinite or NaN
    std::uint64_t sourceSpecial; ///< source is infinite or NaN
    std::uint64_t nan;
};

/// n elements from src to dst. 16-bit values are passed by their bits.
using FloatToHalf = void (*)(const float* src, std::uint16_t* dst, std::size_t n);
using HalfToFloat = void (*)(const std::uint16_t* src, float* dst, std::size_t n);
/// Rounds and adds to *counts.
using RoundCounting = void (*)(const float* src, std::uint16_t* dst, std::size_t n, BoundaryCounts* counts);
/// Counts without rounding: the result is the source.
using Counting = void (*)(const float* src, std::size_t n, BoundaryCounts* counts);

struct Table
{
    FloatToHalf floatToFloat16;
    HalfToFloat float16ToFloat;
    FloatToHalf floatToBFloat16;
    HalfToFloat bfloat16ToFloat;
    RoundCounting roundFloat16;
    RoundCounting roundBFloat16;
    Counting countFloat32;
};

extern const Table portable;
#if defined(MANTISSA_X86_KERNELS)
extern const Table avx2;
extern const Table avx512;
#endif

/// The table of the level that cpuIsa() reports now.
const Table& active();

/// The largest n that the counting kernels take at once; callers walk longer spans in such pieces.
inline constexpr std::size_t maxCountedAtOnce = std::size_t {1} << 16U;

} // namespace mantissa::kernels
