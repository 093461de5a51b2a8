/// FP32 vectors rounded to a 16-bit format and widened again (nearest, ties to even, subnormals kept; NaN stays NaN):
/// what a result stored in that format would be. Included once per instruction set, as vector_body.h is.

typedef std::uint32_t UInts __attribute__((vector_size(4 * MANTISSA_SIMD_LANES)));

struct KeepFloat32
{
    MANTISSA_INLINE Floats of(Floats x) { return x; }
};

struct ToFloat16
{
    MANTISSA_INLINE Floats of(Floats x)
    {
#if defined(__AVX512F__)
        return (Floats)_mm512_maskz_cvtph_ps(
            0xFFFF, _mm512_maskz_cvtps_ph(0xFFFF, (__m512)x, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
        return (Floats)_mm256_cvtph_ps(_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT));
#else
        // Adding and taking away 2^13 times the exponent's power of two leaves ten bits behind the first. Below the
        // smallest normal number, 2^-14, the last place stays where it is.
        const UInts bits = (UInts)x;
        const UInts exponent = bits & 0x7F800000U;
        const Floats shifter = (Floats)((exponent > 0x38800000U ? exponent : UInts {} + 0x38800000U) + (13U << 23U));
        const Floats rounded = (absolute(x) + shifter) - shifter;
        const Floats finite = rounded > 65504.0F ? splat(__builtin_inff()) : rounded;
        // From 2^16 on everything is infinite, and the shifter of large exponents is no number.
        const Floats magnitude = absolute(x) < 65536.0F ? finite : splat(__builtin_inff());
        return x == x ? (Floats)((UInts)magnitude | (bits & 0x80000000U)) : x;
#endif
    }
};

struct ToBFloat16
{
    MANTISSA_INLINE Floats of(Floats x)
    {
        // The carry into the exponent is the rounding up to the next power of two, and of the largest to infinity.
        const UInts bits = (UInts)x;
        const UInts rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U;
        return x == x ? (Floats)rounded : x;
    }
};
