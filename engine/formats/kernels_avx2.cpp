/// The kernels with AVX2 and F16C, 16 elements at a time. Built with flags of its own: see kernels.h.
#include "engine/formats/kernels.h"

#include <immintrin.h>

#include <cstring>

namespace mantissa::kernels {

namespace {

constexpr std::size_t lanes = 16;
constexpr unsigned binsAtOnce = 4;
constexpr short magnitude16 = 0x7fff;
constexpr short canonicalNan16 = 0x7fff;

/// Packing works within each 128 bits; this permutation of 64-bit words puts the result in order.
constexpr int packedOrder = 0xd8;

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
    /// Right but for NaN.
    static __m256i roundNumbers(Source source)
    {
        const __m128i low = _mm256_cvtps_ph(source.low, _MM_FROUND_TO_NEAREST_INT);
        const __m128i high = _mm256_cvtps_ph(source.high, _MM_FROUND_TO_NEAREST_INT);
        return _mm256_set_m128i(high, low);
    }

    static __m256i round(Source source)
    {
        const __m256i halves = roundNumbers(source);
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

    /// Right but for NaN.
    static __m256i roundNumbers(Source source)
    {
        const __m256i halves = _mm256_packus_epi32(roundEight(source.low), roundEight(source.high));
        return _mm256_permute4x64_epi64(halves, packedOrder);
    }

    static __m256i round(Source source)
    {
        const __m256 lowIsNan = _mm256_cmp_ps(source.low, source.low, _CMP_UNORD_Q);
        const __m256 highIsNan = _mm256_cmp_ps(source.high, source.high, _CMP_UNORD_Q);
        const __m256i isNan = _mm256_packs_epi32(_mm256_castps_si256(lowIsNan), _mm256_castps_si256(highIsNan));
        return _mm256_blendv_epi8(
            roundNumbers(source), _mm256_set1_epi16(canonicalNan16), _mm256_permute4x64_epi64(isNan, packedOrder));
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

__m256i above(__m256i magnitude, std::uint32_t bound)
{
    return _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(static_cast<int>(bound)));
}

/// Counts by the source alone, whatever it holds. A true comparison is -1; zeros after a tail lie above no bound.
template <typename Bounds> struct AllCounters
{
    __m256i sourceNonzero = _mm256_setzero_si256();
    __m256i resultNonzero = _mm256_setzero_si256();
    __m256i atLeastNormal = _mm256_setzero_si256();
    __m256i resultSpecial = _mm256_setzero_si256();
    __m256i sourceSpecial = _mm256_setzero_si256();
    __m256i nan = _mm256_setzero_si256();

    void add(__m256 values)
    {
        const __m256i magnitude = magnitudeOf(values);
        sourceNonzero = _mm256_sub_epi32(sourceNonzero, above(magnitude, 0));
        resultNonzero = _mm256_sub_epi32(resultNonzero, above(magnitude, Bounds::largestToZero));
        atLeastNormal = _mm256_sub_epi32(atLeastNormal, above(magnitude, Bounds::largestToSubnormal));
        resultSpecial = _mm256_sub_epi32(resultSpecial, above(magnitude, Bounds::largestToFinite));
        sourceSpecial = _mm256_sub_epi32(sourceSpecial, above(magnitude, Float32Bounds::largestToFinite));
        nan = _mm256_sub_epi32(nan, above(magnitude, Float32Bounds::infinity));
    }
};

template <typename Bounds> void countAll(const float* src, std::size_t n, BoundaryCounts* counts)
{
    AllCounters<Bounds> counters;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        counters.add(load(src + i).low);
        counters.add(load(src + i).high);
    }
    if (i < n) {
        const Tail tail(src + i, n - i);
        counters.add(load(tail.values).low);
        counters.add(load(tail.values).high);
    }
    counts->sourceNonzero += sumOf32(counters.sourceNonzero);
    counts->resultNonzero += sumOf32(counters.resultNonzero);
    counts->atLeastNormal += sumOf32(counters.atLeastNormal);
    counts->resultSpecial += sumOf32(counters.resultSpecial);
    counts->sourceSpecial += sumOf32(counters.sourceSpecial);
    counts->nan += sumOf32(counters.nan);
}

/// Counts by the rounded result, in 16 bits per lane; right as long as everything stays finite.
template <typename Bounds> struct FiniteCounters
{
    __m256i sourceNonzero = _mm256_setzero_si256();
    __m256i resultNonzero = _mm256_setzero_si256();
    __m256i atLeastNormal = _mm256_setzero_si256();
    __m256i largest = _mm256_setzero_si256();

    void add(Source source, __m256i halves)
    {
        const __m256i zero = _mm256_setzero_si256();
        const __m256i low = magnitudeOf(source.low);
        const __m256i high = magnitudeOf(source.high);
        const __m256i packed = _mm256_packs_epi32(low, high); // saturates, so what is above zero stays so
        const __m256i result = _mm256_and_si256(halves, _mm256_set1_epi16(magnitude16));
        sourceNonzero = _mm256_sub_epi16(sourceNonzero, _mm256_cmpgt_epi16(packed, zero));
        resultNonzero = _mm256_sub_epi16(resultNonzero, _mm256_cmpgt_epi16(result, zero));
        atLeastNormal
            = _mm256_sub_epi16(atLeastNormal, _mm256_cmpgt_epi16(result, _mm256_set1_epi16(Bounds::minNormal - 1)));
        largest = _mm256_max_epi32(largest, _mm256_max_epi32(low, high));
    }

    [[nodiscard]] bool stayedFinite() const
    {
        const __m256i special = above(largest, Bounds::largestToFinite);
        return _mm256_testz_si256(special, special) != 0;
    }
};

template <typename Format>
void roundCounting(const float* src, std::uint16_t* dst, std::size_t n, BoundaryCounts* counts)
{
    FiniteCounters<Format> counters;
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const Source source = load(src + i);
        const __m256i halves = Format::roundNumbers(source);
        store(dst + i, halves);
        counters.add(source, halves);
    }
    if (i < n) {
        const Tail tail(src + i, n - i);
        const Source source = load(tail.values);
        const __m256i halves = Format::roundNumbers(source);
        storeTail(dst + i, halves, n - i);
        counters.add(source, halves);
    }
    if (counters.stayedFinite()) {
        counts->sourceNonzero += sumOf16(counters.sourceNonzero);
        counts->resultNonzero += sumOf16(counters.resultNonzero);
        counts->atLeastNormal += sumOf16(counters.atLeastNormal);
    } else {
        roundAll<Format>(src, dst, n);
        countAll<Format>(src, n, counts);
    }
}

/// As FiniteCounters, for FP32 values that nothing rounds.
struct Float32Counters
{
    __m256i nonzero = _mm256_setzero_si256();
    __m256i atLeastNormal = _mm256_setzero_si256();
    __m256i largest = _mm256_setzero_si256();

    void add(__m256 values)
    {
        const __m256i magnitude = magnitudeOf(values);
        nonzero = _mm256_sub_epi32(nonzero, above(magnitude, 0));
        atLeastNormal = _mm256_sub_epi32(atLeastNormal, above(magnitude, Float32Bounds::largestToSubnormal));
        largest = _mm256_max_epi32(largest, magnitude);
    }

    [[nodiscard]] bool stayedFinite() const
    {
        const __m256i special = above(largest, Float32Bounds::largestToFinite);
        return _mm256_testz_si256(special, special) != 0;
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
    if (i < n) {
        const Tail tail(src + i, n - i);
        counters.add(load(tail.values).low);
        counters.add(load(tail.values).high);
    }
    if (counters.stayedFinite()) {
        counts->sourceNonzero += sumOf32(counters.nonzero);
        counts->resultNonzero += sumOf32(counters.nonzero);
        counts->atLeastNormal += sumOf32(counters.atLeastNormal);
    } else {
        countAll<Float32Bounds>(src, n, counts);
    }
}

__m256i exponentsOf(__m256 values)
{
    return _mm256_srli_epi32(magnitudeOf(values), 23);
}

/// The exponents of 32 values as bytes, in no particular order.
__m256i exponentBytes(const float* src)
{
    const Source first = load(src);
    const Source second = load(src + lanes);
    return _mm256_packus_epi16(_mm256_packs_epi32(exponentsOf(first.low), exponentsOf(first.high)),
        _mm256_packs_epi32(exponentsOf(second.low), exponentsOf(second.high)));
}

/// Adds how often each of `wanted` consecutive values (up to four at once) occurs among n bytes.
void countBytes(const std::uint8_t* bytes, std::size_t n, unsigned first, unsigned wanted, std::uint64_t* bins)
{
    __m256i values[binsAtOnce];
    __m256i counts[binsAtOnce]; // a byte of these counts at most 4096 / 32
    for (unsigned k = 0; k < binsAtOnce; ++k) {
        values[k] = _mm256_set1_epi8(static_cast<char>(first + k));
        counts[k] = _mm256_setzero_si256();
    }
    for (std::size_t i = 0; i < n; i += sizeof(__m256i)) {
        const __m256i some = _mm256_load_si256(reinterpret_cast<const __m256i*>(bytes + i));
        for (unsigned k = 0; k < binsAtOnce; ++k) {
            counts[k] = _mm256_sub_epi8(counts[k], _mm256_cmpeq_epi8(some, values[k]));
        }
    }
    for (unsigned k = 0; k < binsAtOnce && k < wanted; ++k) {
        bins[first + k] += sumOf32(_mm256_sad_epu8(counts[k], _mm256_setzero_si256()));
    }
}

/// The values of a tensor lie in few powers of two, and comparing all exponents with each of these is several times
/// faster than incrementing bins one by one.
void countExponents(const float* src, std::size_t n, std::uint64_t* bins)
{
    constexpr unsigned mostBinsToCompare = 96;
    constexpr std::size_t step = 2 * lanes;
    alignas(32) std::uint8_t exponents[maxCountedAtOnce];
    const __m256i one = _mm256_set1_epi8(1);
    __m256i largest = _mm256_setzero_si256();
    __m256i smallestLessOne = _mm256_set1_epi8(-1); // wrapped, so that zeros do not count as small
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        const __m256i bytes = exponentBytes(src + i);
        _mm256_store_si256(reinterpret_cast<__m256i*>(exponents + i), bytes);
        largest = _mm256_max_epu8(largest, bytes);
        smallestLessOne = _mm256_min_epu8(smallestLessOne, _mm256_sub_epi8(bytes, one));
    }
    alignas(32) std::uint8_t ends[2][step];
    _mm256_store_si256(reinterpret_cast<__m256i*>(ends[0]), largest);
    _mm256_store_si256(reinterpret_cast<__m256i*>(ends[1]), smallestLessOne);
    unsigned last = 0;
    unsigned first = 256;
    for (std::size_t lane = 0; lane < step; ++lane) {
        last = ends[0][lane] > last ? ends[0][lane] : last;
        first = ends[1][lane] + 1U < first ? ends[1][lane] + 1U : first;
    }
    if (last >= first + mostBinsToCompare) {
        portable.countExponents(src, n, bins);
        return;
    }
    countBytes(exponents, i, 0, 1, bins);
    for (unsigned bin = first; bin <= last; bin += binsAtOnce) {
        countBytes(exponents, i, bin, last - bin + 1, bins);
    }
    portable.countExponents(src + i, n - i, bins);
}

struct ExtentLanes
{
    __m256 largest = _mm256_setzero_ps();
    __m256 smallest = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(Float32Bounds::infinity)));
    __m256i belowNormal = _mm256_setzero_si256();
    __m256d firstSquares = _mm256_setzero_pd();
    __m256d lastSquares = _mm256_setzero_pd();

    void add(__m256 values, __m256 minNormal)
    {
        const __m256i bits = magnitudeOf(values);
        const __m256i infinity = _mm256_set1_epi32(static_cast<int>(Float32Bounds::infinity));
        const __m256i isFinite = _mm256_cmpgt_epi32(infinity, bits);
        const __m256 finite = _mm256_castsi256_ps(_mm256_and_si256(bits, isFinite));
        const __m256 isZero = _mm256_cmp_ps(finite, _mm256_setzero_ps(), _CMP_EQ_OQ);
        const __m256 positive = _mm256_blendv_ps(finite, _mm256_castsi256_ps(infinity), isZero);
        largest = _mm256_max_ps(largest, finite);
        smallest = _mm256_min_ps(smallest, positive);
        const __m256i isBelow = _mm256_castps_si256(_mm256_cmp_ps(positive, minNormal, _CMP_LT_OQ));
        belowNormal = _mm256_sub_epi32(belowNormal, isBelow);
        // The square of a float is exact in double, so that whether the addition is fused makes no difference.
        const __m256d first = _mm256_cvtps_pd(_mm256_castps256_ps128(finite));
        const __m256d last = _mm256_cvtps_pd(_mm256_extractf128_ps(finite, 1));
        firstSquares = _mm256_fmadd_pd(first, first, firstSquares);
        lastSquares = _mm256_fmadd_pd(last, last, lastSquares);
    }
};

void measureExtent(const float* src, std::size_t n, float minNormal, Extent* extent)
{
    constexpr std::size_t width = Extent::parts;
    ExtentLanes sums;
    sums.firstSquares = _mm256_loadu_pd(extent->squares);
    sums.lastSquares = _mm256_loadu_pd(extent->squares + width / 2);
    const __m256 bound = _mm256_set1_ps(minNormal);
    std::size_t i = 0;
    for (; i + width <= n; i += width) {
        sums.add(_mm256_loadu_ps(src + i), bound);
    }
    if (i < n) {
        float tail[width] = {};
        std::memcpy(tail, src + i, (n - i) * sizeof(float));
        sums.add(_mm256_loadu_ps(tail), bound);
    }
    _mm256_storeu_pd(extent->squares, sums.firstSquares);
    _mm256_storeu_pd(extent->squares + width / 2, sums.lastSquares);
    float largest[width];
    float smallest[width];
    std::uint32_t belowNormal[width];
    _mm256_storeu_ps(largest, sums.largest);
    _mm256_storeu_ps(smallest, sums.smallest);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(belowNormal), sums.belowNormal);
    for (std::size_t k = 0; k < width; ++k) {
        extent->largest = largest[k] > extent->largest ? largest[k] : extent->largest;
        extent->smallest = smallest[k] < extent->smallest ? smallest[k] : extent->smallest;
        extent->belowNormal += belowNormal[k];
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
    .countExponents = countExponents,
    .measureExtent = measureExtent,
};

} // namespace mantissa::kernels
