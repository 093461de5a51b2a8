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

__m256i withCanonicalNan(__m256i halves, __m512 source)
{
    const __mmask16 isNan = _mm512_cmp_ps_mask(source, source, _CMP_UNORD_Q);
    return _mm256_mask_mov_epi16(halves, isNan, _mm256_set1_epi16(canonicalNan16));
}

struct Float16Format : Float16Bounds
{
    static __m256i round(__m512 source)
    {
        return withCanonicalNan(_mm512_cvtps_ph(source, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), source);
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
    static __m256i round(__m512 source)
    {
        const __m512i bits = _mm512_castps_si512(source);
        const __m512i lastKept = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        const __m512i rounding = _mm512_add_epi32(lastKept, _mm512_set1_epi32(0x7fff));
        const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, rounding), 16);
        return withCanonicalNan(_mm512_cvtepi32_epi16(rounded), source);
    }

    static __m512 widen(__m256i halves)
    {
        return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
    }
};

template <typename Format> void roundAll(const float* src, std::uint16_t* dst, std::size_t n)
{
    for (std::size_t i = 0; i < n; i += lanes) {
        const __mmask16 mask = maskOf(n - i);
        _mm256_mask_storeu_epi16(dst + i, mask, Format::round(_mm512_maskz_loadu_ps(mask, src + i)));
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

/// Counts of the common classes, per lane, and the largest result seen.
template <typename Format> struct Counters
{
    __m512i sourceZero = _mm512_setzero_si512();
    __m256i resultZero = _mm256_setzero_si256();
    __m256i belowNormal = _mm256_setzero_si256();
    __m256i largest = _mm256_setzero_si256();

    void add(__m512 source, __m256i halves)
    {
        const __m512i sourceBits = _mm512_castps_si512(source);
        const __m256i magnitude = _mm256_and_si256(halves, _mm256_set1_epi16(magnitude16));
        sourceZero = increased(sourceZero, _mm512_testn_epi32_mask(sourceBits, _mm512_set1_epi32(0x7fffffff)));
        resultZero = increased(resultZero, _mm256_testn_epi16_mask(magnitude, magnitude));
        belowNormal = increased(belowNormal, _mm256_cmpgt_epi16_mask(_mm256_set1_epi16(Format::minNormal), magnitude));
        largest = _mm256_max_epi16(largest, magnitude);
    }

    [[nodiscard]] bool sawSpecial() const
    {
        return _mm256_cmpgt_epi16_mask(largest, _mm256_set1_epi16(Format::infinity - 1)) != 0;
    }
};

/// The second look at a piece that holds infinities or NaN.
template <typename Bounds> void countSpecial(const float* src, std::size_t n, BoundaryCounts* counts)
{
    __m512i result = _mm512_setzero_si512();
    __m512i source = _mm512_setzero_si512();
    __m512i nan = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; i += lanes) {
        const __m512i magnitude = magnitudeOf(_mm512_maskz_loadu_ps(maskOf(n - i), src + i));
        const auto above = [magnitude](std::uint32_t bound) {
            return _mm512_cmpgt_epi32_mask(magnitude, _mm512_set1_epi32(static_cast<int>(bound)));
        };
        result = increased(result, above(Bounds::largestToFinite));
        source = increased(source, above(Float32Bounds::largestToFinite));
        nan = increased(nan, above(Float32Bounds::infinity));
    }
    counts->resultSpecial += sumOf32(result);
    counts->sourceSpecial += sumOf32(source);
    counts->nan += sumOf32(nan);
}

/// Elements that the last masked load adds as zeros.
std::size_t paddingOf(std::size_t n)
{
    return (lanes - n % lanes) % lanes;
}

template <typename Format>
void roundCounting(const float* src, std::uint16_t* dst, std::size_t n, BoundaryCounts* counts)
{
    Counters<Format> counters;
    for (std::size_t i = 0; i < n; i += lanes) {
        const __mmask16 mask = maskOf(n - i);
        const __m512 source = _mm512_maskz_loadu_ps(mask, src + i);
        const __m256i halves = Format::round(source);
        _mm256_mask_storeu_epi16(dst + i, mask, halves);
        counters.add(source, halves);
    }
    const std::size_t padding = paddingOf(n);
    counts->sourceZero += sumOf32(counters.sourceZero) - padding;
    counts->resultZero += sumOf16(counters.resultZero) - padding;
    counts->belowNormal += sumOf16(counters.belowNormal) - padding;
    if (counters.sawSpecial()) {
        countSpecial<Format>(src, n, counts);
    }
}

void countFloat32(const float* src, std::size_t n, BoundaryCounts* counts)
{
    __m512i zeros = _mm512_setzero_si512();
    __m512i belowNormal = _mm512_setzero_si512();
    __m512i largest = _mm512_setzero_si512();
    for (std::size_t i = 0; i < n; i += lanes) {
        const __m512i magnitude = magnitudeOf(_mm512_maskz_loadu_ps(maskOf(n - i), src + i));
        const __m512i minNormal = _mm512_set1_epi32(static_cast<int>(Float32Bounds::minNormal));
        zeros = increased(zeros, _mm512_testn_epi32_mask(magnitude, magnitude));
        belowNormal = increased(belowNormal, _mm512_cmpgt_epi32_mask(minNormal, magnitude));
        largest = _mm512_max_epi32(largest, magnitude);
    }
    const std::uint64_t zero = sumOf32(zeros) - paddingOf(n);
    counts->sourceZero += zero;
    counts->resultZero += zero;
    counts->belowNormal += sumOf32(belowNormal) - paddingOf(n);
    const __m512i largestFinite = _mm512_set1_epi32(static_cast<int>(Float32Bounds::largestToFinite));
    if (_mm512_cmpgt_epi32_mask(largest, largestFinite) != 0) {
        countSpecial<Float32Bounds>(src, n, counts);
    }
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
};

} // namespace mantissa::kernels
