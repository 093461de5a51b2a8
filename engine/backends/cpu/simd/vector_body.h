/// Vectors of MANTISSA_SIMD_LANES floats and the mathematics on them; included once per instruction set, inside that
/// set's namespace. Nothing here may have external linkage or call a library template: the linker would keep one copy,
/// perhaps the one whose instructions this CPU lacks.
// No include guard and no includes by design: the including source brings what is needed.

constexpr std::size_t floatLanes = MANTISSA_SIMD_LANES;
constexpr std::size_t wideLanes = floatLanes / 2;
static_assert(sumLanes % floatLanes == 0);

typedef float Floats __attribute__((vector_size(4 * MANTISSA_SIMD_LANES)));
typedef std::int32_t Ints __attribute__((vector_size(4 * MANTISSA_SIMD_LANES)));
typedef float HalfFloats __attribute__((vector_size(2 * MANTISSA_SIMD_LANES)));
typedef double Doubles __attribute__((vector_size(4 * MANTISSA_SIMD_LANES)));
typedef std::int64_t Longs __attribute__((vector_size(4 * MANTISSA_SIMD_LANES)));
typedef std::uint64_t Words __attribute__((vector_size(4 * MANTISSA_SIMD_LANES)));

#define MANTISSA_INLINE static inline __attribute__((always_inline))

/// Reads `count` lanes, the missing ones as `fill`.
template <typename Vector> MANTISSA_INLINE Vector load(const float* p, std::size_t count, float fill = 0.0F)
{
    if (count * sizeof(float) >= sizeof(Vector)) {
        Vector v;
        __builtin_memcpy(&v, p, sizeof v);
        return v;
    }
    Vector part = Vector {} + fill;
    __builtin_memcpy(&part, p, count * sizeof(float));
    return part;
}

template <typename Vector> MANTISSA_INLINE void store(float* p, Vector v, std::size_t count)
{
    if (count * sizeof(float) >= sizeof(Vector)) {
        __builtin_memcpy(p, &v, sizeof v);
        return;
    }
    const Vector part = v;
    __builtin_memcpy(p, &part, count * sizeof(float));
}

// The masked AVX-512 forms below stand for the plain ones, whose undefined operand GCC 12 warns about.

MANTISSA_INLINE Doubles widen(HalfFloats v)
{
#if defined(__AVX512F__)
    return (Doubles)_mm512_maskz_cvtps_pd(0xFF, (__m256)v);
#elif defined(__AVX__)
    return (Doubles)_mm256_cvtps_pd((__m128)v);
#else
    return __builtin_convertvector(v, Doubles);
#endif
}

MANTISSA_INLINE Doubles loadWide(const float* p, std::size_t count, float fill = 0.0F)
{
    return widen(load<HalfFloats>(p, count, fill));
}

MANTISSA_INLINE void storeNarrow(float* p, Doubles v, std::size_t count)
{
    store(p, __builtin_convertvector(v, HalfFloats), count);
}

MANTISSA_INLINE Doubles splat(double x)
{
    return Doubles {} + x;
}

MANTISSA_INLINE Floats splat(float x)
{
    return Floats {} + x;
}

MANTISSA_INLINE Doubles absolute(Doubles x)
{
    return (Doubles)((Longs)x & std::int64_t {0x7FFFFFFFFFFFFFFF});
}

MANTISSA_INLINE Floats absolute(Floats x)
{
    return (Floats)((Ints)x & 0x7FFFFFFF);
}

MANTISSA_INLINE Floats squareRoot(Floats x)
{
#if defined(__AVX512F__)
    return (Floats)_mm512_maskz_sqrt_ps(0xFFFF, (__m512)x);
#elif defined(__AVX__)
    return (Floats)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE2__)
    return (Floats)_mm_sqrt_ps((__m128)x);
#else
    Floats y = x;
    for (std::size_t i = 0; i < floatLanes; ++i) {
        y[i] = __builtin_sqrtf(x[i]);
    }
    return y;
#endif
}

/// Products of the low 32 bits of each word.
MANTISSA_INLINE Words multiplyLow(Words a, Words b)
{
#if defined(__AVX512F__)
    return (Words)_mm512_maskz_mul_epu32(0xFF, (__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (Words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (Words)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xFFFFFFFFU) * (b & 0xFFFFFFFFU);
#endif
}

/// x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite; one constant suffices in FP64): e^x = 2^n (1 + q(r)).
struct ReducedExp
{
    Doubles power; ///< 2^n
    Doubles q; ///< e^r - 1: the Taylor series to r^9, relative error below 2^-36
};

/// |x| at most 700. NaN gives NaN in q.
MANTISSA_INLINE ReducedExp reduceExp(Doubles x)
{
    constexpr double shifter = 0x1.8p52; // adding it leaves the rounded integer in the low bits
    const Doubles shifted = x * 0x1.71547652b82fep+0 + shifter;
    const Doubles n = shifted - shifter;
    const Doubles r = x - n * 0x1.62e42fefa39efp-1;
    Doubles p = splat(1.0 / 362880);
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    return {(Doubles)(((Words)shifted + 1023) << 52), r + r * r * p};
}

/// e^x for a result that will be rounded to FP32: 0 below e^-128, FP32's infinity above e^128.
MANTISSA_INLINE Doubles exponential(Doubles x)
{
    const Longs vanishes = x < -128.0;
    x = vanishes ? splat(-128.0) : x;
    x = x > 128.0 ? splat(128.0) : x;
    const ReducedExp e = reduceExp(x);
    return vanishes ? splat(0.0) : e.power + e.power * e.q;
}

/// tanh x = (e^2|x| - 1) / (e^2|x| + 1) with the sign of x; keeps its relative accuracy at 0.
MANTISSA_INLINE Doubles hyperbolicTangent(Doubles x)
{
    Doubles twice = absolute(x) * 2.0;
    twice = twice > 64.0 ? splat(64.0) : twice;
    const ReducedExp e = reduceExp(twice);
    const Doubles minusOne = e.power * e.q + (e.power - 1.0);
    const Doubles magnitude = minusOne / (minusOne + 2.0);
    const Longs sign = (Longs)x & static_cast<std::int64_t>(0x8000000000000000U);
    return (Doubles)((Longs)magnitude | sign);
}

struct Sigmoids
{
    Doubles value; ///< sigmoid(x)
    Doubles complement; ///< sigmoid(-x) = 1 - sigmoid(x), without cancellation
};

MANTISSA_INLINE Sigmoids sigmoids(Doubles x)
{
    const Doubles e = exponential(-absolute(x));
    const Doubles large = 1.0 / (e + 1.0);
    const Doubles small = e * large;
    const Longs negative = x < 0.0;
    return {negative ? small : large, negative ? large : small};
}

/// log(1 + e) for e in [0, 1]: 2 atanh(s), s = e / (2 + e) <= 1/3, by its series to s^21; relative error below 2^-37.
MANTISSA_INLINE Doubles logOnePlus(Doubles e)
{
    const Doubles s = e / (e + 2.0);
    const Doubles square = s * s;
    Doubles p = splat(1.0 / 21);
    for (int odd = 19; odd >= 1; odd -= 2) {
        p = p * square + 1.0 / odd;
    }
    return 2.0 * s * p;
}
