/// The kernels with AVX2 and F16C, 16 elements at a time. Built with flags of its own: see kernels.h.
#include "engine/formats/kernels.h"

#include <immintrin.h>

#include <cstring>

namespace mantissa::kernels {

namespace {

constexpr std::size_t lanes = 16;
constexpr short magnitude16 = 0x7fff;
constexpr short canonicalNan16 = 0x7fff;

/// 16 source values.
struct Source
{
    __m256 low;
    __m256 high;
};

Source load(const float* src)
{
    return Source {_mm256_loadu_ps(src), _mm256_loadu_ps(src + 8)};
}

void store(std::uint16_t* dst, __m256i halves)
{
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst), halves);
}

__m256i magnitudeOf(__m256 values)
{
    return _mm256_and_si256(_mm256_castps_si256(values), _mm256_set1_epi32(0x7fffffff));
}

struct Float16Format : Float16Bounds
{
    static __m256i round(Source source)
    {
        const __m128i low = _mm256_cvtps_ph(source.low, _MM_FROUND_TO_NEAREST_INT);
        const __m128i high = _mm256_cvtps_ph(source.high, _MM_FROUND_TO_NEAREST_INT);
        const __m256i halves = _mm256_set_m128i(high, low);
        const __m256i magnitude = _mm256_and_si256(halves, _mm256_set1_epi16(magnitude16));
        const __m256i isNan = _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(infinity));
        return _mm256_blendv_epi8(halves, _mm256_set1_epi16(canonicalNan16), isNan);
    }

    static __m256 widen(__m128i halves)
    {
        const __m256 values = _mm256_cvtph_ps(halves);
        const __m256 isNan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
        return _mm256_blendv_ps(values, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff)), isNan);
    }
};

struct BFloat16Format : BFloat16Bounds
{
    static __m256i roundEight(__m256 values)
    {
        const __m256i bits = _mm256_castps_si256(values);
        const __m256i lastKept = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        const __m256i rounding = _mm256_add_epi32(lastKept, _mm256_set1_epi32(0x7fff));
        return _mm256_srli_epi32(_mm256_add_epi32(bits, rounding), 16);
    }

    static __m256i round(Source source)
    {
        const __m256i rounded = _mm256_packus_epi32(roundEight(source.low), roundEight(source.high));
        const __m256 lowIsNan = _mm256_cmp_ps(source.low, source.low, _CMP_UNORD_Q);
        const __m256 highIsNan = _mm256_cmp_ps(source.high, source.high, _CMP_UNORD_Q);
        const __m256i isNan = _mm256_packs_epi32(_mm256_castps_si256(lowIsNan), _mm256_castps_si256(highIsNan));
        const __m256i halves = _mm256_blendv_epi8(rounded, _mm256_set1_epi16(canonicalNan16), isNan);
        return _mm256_permute4x64_epi64(halves, 0xd8); // packing works within each 128 bits
    }

    static __m256 widen(__m128i halves)
    {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
    }
};

/// The last n < 16 elements, followed by zeros.
struct Tail
{
    Tail(const float* src, std::size_t n) { std::memcpy(values, src, n * sizeof(float)); }

    alignas(32) float values[lanes] = {};
};

void storeTail(std::uint16_t* dst, __m256i halves, std::size_t n)
{
    alignas(32) std::uint16_t values[lanes];
    store(values, halves);
    std::memcpy(dst, values, n * sizeof(std::uint16_t));
}

template <typename Format> void roundAll(const float* src, std::uint16_t* dst, std::size_t n)
{
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        store(dst + i, Format::round(load(src + i)));
    }
    if (i < n) {
        const Tail tail(src + i, n - i);
        storeTail(dst + i, Format::round(load(tail.values)), n - i);
    }
}

template <typename Format> void widenAll(const std::uint16_t* src, float* dst, std::size_t n)
{
    constexpr std::size_t step = 8;
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i));
        _mm256_storeu_ps(dst + i, Format::widen(halves));
    }
    if (i < n) {
        alignas(16) std::uint16_t halves[step] = {};
        alignas(32) float values[step];
        std::memcpy(halves, src + i, (n - i) * sizeof(std::uint16_t));
        _mm256_store_ps(values, Format::widen(_mm_load_si128(reinterpret_cast<const __m128i*>(halves))));
        std::memcpy(dst + i, values, (n - i) * sizeof(float));
    }
}

std::uint64_t sumOf32(__m256i counts)
{
    alignas(32) std::uint32_t values[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(values), counts);
    std::uint64_t sum = 0;
    for (const std::uint32_t value : values) {
        sum += value;
    }
    return sum;
}

std::uint64_t sumOf16(__m256i counts)
{
    return sumOf32(_mm256_madd_epi16(counts, _mm256_set1_epi16(1)));
}

/// Counts of the common classes, in 16 bits per lane, and the largest result seen. A true comparison is -1.
template <typename Format> struct Counters
{
    __m256i sourceZero = _mm256_setzero_si256();
    __m256i resultZero = _mm256_setzero_si256();
    __m256i belowNormal = _mm256_setzero_si256();
    __m256i largest = _mm256_setzero_si256();

    void add(Source source, __m256i halves)
    {
        const __m256i zero = _mm256_setzero_si256();
        // Packing saturates, which keeps non-zero magnitudes non-zero.
        const __m256i packed = _mm256_packus_epi32(magnitudeOf(source.low), magnitudeOf(source.high));
        const __m256i magnitude = _mm256_and_si256(halves, _mm256_set1_epi16(magnitude16));
        sourceZero = _mm256_sub_epi16(sourceZero, _mm256_cmpeq_epi16(packed, zero));
        resultZero = _mm256_sub_epi16(resultZero, _mm256_cmpeq_epi16(magnitude, zero));
        belowNormal
            = _mm256_sub_epi16(belowNormal, _mm256_cmpgt_epi16(_mm256_set1_epi16(Format::minNormal), magnitude));
        largest = _mm256_max_epi16(largest, magnitude);
    }

    [[nodiscard]] bool sawSpecial() const
    {
        const __m256i special = _mm256_cmpgt_epi16(largest, _mm256_set1_epi16(Format::infinity - 1));
        return _mm256_testz_si256(special, special) == 0;
    }
};

template <typename Bounds> void countSpecialEight(__m256 values, __m256i& result, __m256i& source, __m256i& nan)
{
    const __m256i magnitude = magnitudeOf(values);
    const auto above = [magnitude](std::uint32_t bound) {
        return _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(static_cast<int>(bound)));
    };
    result = _mm256_sub_epi32(result, above(Bounds::largestToFinite));
    source = _mm256_sub_epi32(source, above(Float32Bounds::largestToFinite));
    nan = _mm256_sub_epi32(nan, above(Float32Bounds::infinity));
}

/// The second look at a piece that holds infinities or NaN.
template <typename Bounds> void countSpecial(const float* src, std::size_t n, BoundaryCounts* counts)
{
    __m256i result = _mm256_setzero_si256();
    __m256i source = _mm256_setzero_si256();
    __m256i nan = _mm256_setzero_si256();
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        countSpecialEight<Bounds>(load(src + i).low, result, source, nan);
        countSpecialEight<Bounds>(load(src + i).high, result, source, nan);
    }
    if (i < n) {
        const Tail tail(src + i, n - i);
        countSpecialEight<Bounds>(load(tail.values).low, result, source, nan);
        countSpecialEight<Bounds>(load(tail.values).high, result, source, nan);
    }
    counts->resultSpecial += sumOf32(result);
    counts->sourceSpecial += sumOf32(source);
    counts->nan += sumOf32(nan);
}

template <typename Format>
void roundCounting(const float* src, std::uint16_t* dst, std::size_t n, BoundaryCounts* counts)
{
    Counters<Format> counters;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const Source source = load(src + i);
        const __m256i halves = Format::round(source);
        store(dst + i, halves);
        counters.add(source, halves);
    }
    std::size_t padding = 0;
    if (i < n) {
        const Tail tail(src + i, n - i);
        const Source source = load(tail.values);
        const __m256i halves = Format::round(source);
        storeTail(dst + i, halves, n - i);
        counters.add(source, halves);
        padding = lanes - (n - i);
    }
    counts->sourceZero += sumOf16(counters.sourceZero) - padding;
    counts->resultZero += sumOf16(counters.resultZero) - padding;
    counts->belowNormal += sumOf16(counters.belowNormal) - padding;
    if (counters.sawSpecial()) {
        countSpecial<Format>(src, n, counts);
    }
}

/// As Counters, for eight FP32 values that nothing rounds.
struct Float32Counters
{
    __m256i zero = _mm256_setzero_si256();
    __m256i belowNormal = _mm256_setzero_si256();
    __m256i largest = _mm256_setzero_si256();

    void add(__m256 values)
    {
        const __m256i magnitude = magnitudeOf(values);
        zero = _mm256_sub_epi32(zero, _mm256_cmpeq_epi32(magnitude, _mm256_setzero_si256()));
        belowNormal = _mm256_sub_epi32(
            belowNormal, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(Float32Bounds::minNormal)), magnitude));
        largest = _mm256_max_epi32(largest, magnitude);
    }

    [[nodiscard]] bool sawSpecial() const
    {
        const __m256i special
            = _mm256_cmpgt_epi32(largest, _mm256_set1_epi32(static_cast<int>(Float32Bounds::largestToFinite)));
        return _mm256_testz_si256(special, special) == 0;
    }
};

void countFloat32(const float* src, std::size_t n, BoundaryCounts* counts)
{
    Float32Counters counters;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        counters.add(load(src + i).low);
        counters.add(load(src + i).high);
    }
    std::size_t padding = 0;
    if (i < n) {
        const Tail tail(src + i, n - i);
        counters.add(load(tail.values).low);
        counters.add(load(tail.values).high);
        padding = lanes - (n - i);
    }
    const std::uint64_t zero = sumOf32(counters.zero) - padding;
    counts->sourceZero += zero;
    counts->resultZero += zero;
    counts->belowNormal += sumOf32(counters.belowNormal) - padding;
    if (counters.sawSpecial()) {
        countSpecial<Float32Bounds>(src, n, counts);
    }
}

} // namespace

const Table avx2 {
    .floatToFloat16 = roundAll<Float16Format>,
    .float16ToFloat = widenAll<Float16Format>,
    .floatToBFloat16 = roundAll<BFloat16Format>,
    .bfloat16ToFloat = widenAll<BFloat16Format>,
    .roundFloat16 = roundCounting<Float16Format>,
    .roundBFloat16 = roundCounting<BFloat16Format>,
    .countFloat32 = countFloat32,
};

} // namespace mantissa::kernels
