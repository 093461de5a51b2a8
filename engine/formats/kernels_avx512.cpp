/// The kernels with AVX-512 F, BW, VL and DQ, 16 elements at a time; the structure is that of kernels_avx2.cpp, with
/// masks in place of tail buffers. Built with flags of its own: see kernels.h.
#include "engine/formats/kernels.h"

#include <immintrin.h>

namespace mantissa::kernels {

namespace {

constexpr std::size_t lanes = 16;
constexpr short magnitude16 = 0x7fff;
constexpr short canonicalNan16 = 0x7fff;

/// A bit for each of the next n elements, at most 16.
__mmask16 maskOf(std::size_t n)
{
    return static_cast<__mmask16>(n >= lanes ? 0xffffU : (1U << n) - 1U);
}

__m512i magnitudeOf(__m512 values)
{
    return _mm512_and_si512(_mm512_castps_si512(values), _mm512_set1_epi32(0x7fffffff));
}

struct Float16Format : Float16Bounds
{
    /// Right but for NaN.
    static __m256i roundNumbers(__m512 source)
    {
        return _mm512_cvtps_ph(source, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }

    static __m512 widen(__m256i halves)
    {
        const __m512 values = _mm512_cvtph_ps(halves);
        const __mmask16 isNan = _mm512_cmp_ps_mask(values, values, _CMP_UNORD_Q);
        return _mm512_mask_mov_ps(values, isNan, _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff)));
    }
};

/// In integers: the CPU's own conversion to BF16 flushes FP32 subnormals to zero.
struct BFloat16Format : BFloat16Bounds
{
    /// Right but for NaN.
    static __m256i roundNumbers(__m512 source)
    {
        const __m512i bits = _mm512_castps_si512(source);
        const __m512i lastKept = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        const __m512i rounding = _mm512_add_epi32(lastKept, _mm512_set1_epi32(0x7fff));
        const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, rounding), 16);
        return _mm512_cvtepi32_epi16(rounded);
    }

    static __m512 widen(__m256i halves)
    {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
    }
};

template <typename Format> __m256i roundAny(__m512 source)
{
    const __mmask16 isNan = _mm512_cmp_ps_mask(source, source, _CMP_UNORD_Q);
    return _mm256_mask_mov_epi16(Format::roundNumbers(source), isNan, _mm256_set1_epi16(canonicalNan16));
}

template <typename Format> void roundAll(const float* src, std::uint16_t* dst, std::size_t n)
{
    for (std::size_t i = 0; i < n; i += lanes) {
        const __mmask16 mask = maskOf(n - i);
        _mm256_mask_storeu_epi16(dst + i, mask, roundAny<Format>(_mm512_maskz_loadu_ps(mask, src + i)));
    }
}

template <typename Format> void widenAll(const std::uint16_t* src, float* dst, std::size_t n)
{
    for (std::size_t i = 0; i < n; i += lanes) {
        const __mmask16 mask = maskOf(n - i);
        _mm512_mask_storeu_ps(dst + i, mask, Format::widen(_mm256_maskz_loadu_epi16(mask, src + i)));
    }
}

std::uint64_t sumOf32(__m512i counts)
{
    return static_cast<std::uint64_t>(_mm512_reduce_add_epi32(counts));
}

std::uint64_t sumOf16(__m256i counts)
{
    return sumOf32(_mm512_cvtepu16_epi32(counts));
}

__m512i increased(__m512i counts, __mmask16 where)
{
    return _mm512_mask_add_epi32(counts, where, counts, _mm512_set1_epi32(1));
}

__m256i increased(__m256i counts, __mmask16 where)
{
    return _mm256_mask_add_epi16(counts, where, counts, _mm256_set1_epi16(1));
}

__mmask16 above(__m512i magnitude, std::uint32_t bound)
{
    return _mm512_cmpgt_epi32_mask(magnitude, _mm512_set1_epi32(static_cast<int>(bound)));
}

/// Counts by the source alone, whatever it holds; zeros after a tail lie above no bound.
template <typename Bounds> void countAll(const float* src, std::size_t n, BoundaryCounts* counts)
{
    __m512i sourceNonzero = _mm512_setzero_si512();
    __m512i resultNonzero = _mm512_setzero_si512();
    __m512i atLeastNormal = _mm512_setzero_si512();
    __m512i resultSpecial = _mm512_setzero_si512();
    __m512i sourceSpecial = _mm512_setzero_si512();
    __m512i nan = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; i += lanes) {
        const __m512i magnitude = magnitudeOf(_mm512_maskz_loadu_ps(maskOf(n - i), src + i));
        sourceNonzero = increased(sourceNonzero, above(magnitude, 0));
        resultNonzero = increased(resultNonzero, above(magnitude, Bounds::largestToZero));
        atLeastNormal = increased(atLeastNormal, above(magnitude, Bounds::largestToSubnormal));
        resultSpecial = increased(resultSpecial, above(magnitude, Bounds::largestToFinite));
        sourceSpecial = increased(sourceSpecial, above(magnitude, Float32Bounds::largestToFinite));
        nan = increased(nan, above(magnitude, Float32Bounds::infinity));
    }
    counts->sourceNonzero += sumOf32(sourceNonzero);
    counts->resultNonzero += sumOf32(resultNonzero);
    counts->atLeastNormal += sumOf32(atLeastNormal);
    counts->resultSpecial += sumOf32(resultSpecial);
    counts->sourceSpecial += sumOf32(sourceSpecial);
    counts->nan += sumOf32(nan);
}

/// Counts by the rounded result; right as long as everything stays finite.
template <typename Bounds> struct FiniteCounters
{
    __m512i sourceNonzero = _mm512_setzero_si512();
    __m256i resultNonzero = _mm256_setzero_si256();
    __m256i atLeastNormal = _mm256_setzero_si256();
    __m512i largest = _mm512_setzero_si512();

    void add(__m512 source, __m256i halves)
    {
        const __m512i magnitude = magnitudeOf(source);
        const __m256i result = _mm256_and_si256(halves, _mm256_set1_epi16(magnitude16));
        sourceNonzero = increased(sourceNonzero, above(magnitude, 0));
        resultNonzero = increased(resultNonzero, _mm256_cmpgt_epi16_mask(result, _mm256_setzero_si256()));
        atLeastNormal
            = increased(atLeastNormal, _mm256_cmpgt_epi16_mask(result, _mm256_set1_epi16(Bounds::minNormal - 1)));
        largest = _mm512_max_epi32(largest, magnitude);
    }

    [[nodiscard]] bool stayedFinite() const { return above(largest, Bounds::largestToFinite) == 0; }
};

template <typename Format>
void roundCounting(const float* src, std::uint16_t* dst, std::size_t n, BoundaryCounts* counts)
{
    FiniteCounters<Format> counters;
    for (std::size_t i = 0; i < n; i += lanes) {
        const __mmask16 mask = maskOf(n - i);
        const __m512 source = _mm512_maskz_loadu_ps(mask, src + i);
        const __m256i halves = Format::roundNumbers(source);
        _mm256_mask_storeu_epi16(dst + i, mask, halves);
        counters.add(source, halves);
    }
    if (counters.stayedFinite()) {
        counts->sourceNonzero += sumOf32(counters.sourceNonzero);
        counts->resultNonzero += sumOf16(counters.resultNonzero);
        counts->atLeastNormal += sumOf16(counters.atLeastNormal);
    } else {
        roundAll<Format>(src, dst, n);
        countAll<Format>(src, n, counts);
    }
}

void countFloat32(const float* src, std::size_t n, BoundaryCounts* counts)
{
    __m512i nonzero = _mm512_setzero_si512();
    __m512i atLeastNormal = _mm512_setzero_si512();
    __m512i largest = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; i += lanes) {
        const __m512i magnitude = magnitudeOf(_mm512_maskz_loadu_ps(maskOf(n - i), src + i));
        nonzero = increased(nonzero, above(magnitude, 0));
        atLeastNormal = increased(atLeastNormal, above(magnitude, Float32Bounds::largestToSubnormal));
        largest = _mm512_max_epi32(largest, magnitude);
    }
    if (above(largest, Float32Bounds::largestToFinite) == 0) {
        counts->sourceNonzero += sumOf32(nonzero);
        counts->resultNonzero += sumOf32(nonzero);
        counts->atLeastNormal += sumOf32(atLeastNormal);
    } else {
        countAll<Float32Bounds>(src, n, counts);
    }
}

void countExponents(const float* src, std::size_t n, std::uint64_t* bins)
{
    avx2.countExponents(src, n, bins);
}

void measureExtent(const float* src, std::size_t n, float minNormal, Extent* extent)
{
    avx2.measureExtent(src, n, minNormal, extent);
}

} // namespace

const Table avx512 {
    .floatToFloat16 = roundAll<Float16Format>,
    .float16ToFloat = widenAll<Float16Format>,
    .floatToBFloat16 = roundAll<BFloat16Format>,
    .bfloat16ToFloat = widenAll<BFloat16Format>,
    .roundFloat16 = roundCounting<Float16Format>,
    .roundBFloat16 = roundCounting<BFloat16Format>,
    .countFloat32 = countFloat32,
    .countExponents = countExponents,
    .measureExtent = measureExtent,
};

} // namespace mantissa::kernels
