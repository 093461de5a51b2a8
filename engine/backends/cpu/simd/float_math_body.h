/// Functions that are computed in FP32, twice as many at once as in FP64; included once per instruction set after
/// kernels_body.h. They are off by a few units of 2^-24, as every FP32 library's are.

typedef std::uint32_t UnsignedInts __attribute__((vector_size(4 * MANTISSA_SIMD_LANES)));

/// e^(x + small) for x in [-154 ln 2, 128 ln 2] and a |small| that FP32 would lose in the sum: n ln 2 + r with ln 2 in
/// two parts (Cody and Waite), then the minimax polynomial of Cephes' expf; 2^n in two factors, so that results below
/// 2^-126 round once more. NaN gives NaN.
MANTISSA_INLINE Floats scaledExponential(Floats x, Floats small)
{
    constexpr float shifter = 0x1.8p23F; // adding it leaves the rounded integer in the low bits
    const Floats shifted = x * 1.44269504088896341F + shifter;
    const Floats n = shifted - shifter;
    const Floats r = (x - n * 0.693359375F) + n * 2.12194440e-4F + small;
    Floats p = splat(1.9875691500e-4F);
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    const Floats e = (p * r * r + r) + 1.0F;
    const Ints exponent = (Ints)shifted - 0x4B400000;
    const Ints half = exponent >> 1;
    return e * (Floats)((UnsignedInts)(half + 127) << 23) * (Floats)((UnsignedInts)(exponent - half + 127) << 23);
}

/// e^x within 3 units of 2^-24.
MANTISSA_INLINE Floats exponentialFloat(Floats x)
{
    const Ints vanishes = x < -104.0F;
    const Floats clamped = x > 88.8F ? splat(88.8F) : vanishes ? splat(-104.0F) : x; // e^88.8 is infinite in FP32
    const Floats result = scaledExponential(clamped, splat(0.0F));
    return vanishes ? splat(0.0F) : x != x ? x : result;
}

struct Normal
{
    Floats cumulative; ///< Phi(x), within 6 units in the last place in both tails, and 0 below -14.6
    Floats density; ///< phi(x)
};

/// Phi(-a) = erfc(z) / 2 with z = a / sqrt 2, and erfc(z) = e^(-z^2) P(y) / (z + 3/2) with y = (z - 3/2) / (z + 3/2). P
/// is the polynomial of degree 10 nearest to e^(z^2) erfc(z) (z + 3/2) on this range, relative error 2^-26; the form is
/// that of Shepherd and Laframboise, Mathematics of Computation 36 (1981). a^2 is split so that no digit of it is lost.
MANTISSA_INLINE Normal normal(Floats x)
{
    constexpr float coefficients[] = {-0.00014060360263101757F, -0.0001730745134409517F, 0.0007354933768510818F,
        0.0018290220759809017F, -0.0007379123708233237F, -0.00947428960353136F, -0.008134736679494381F,
        0.047769803553819656F, 0.07562290132045746F, -0.5078500509262085F, 0.9647562503814697F};
    Floats a = absolute(x);
    a = a > 14.6F ? splat(14.6F) : a;
    const Floats t = 1.0F / (a * 0.70710678118654752F + 1.5F);
    const Floats y = 1.0F - 3.0F * t;
    Floats p = splat(coefficients[0]);
    for (std::size_t i = 1; i < sizeof(coefficients) / sizeof(float); ++i) {
        p = p * y + coefficients[i];
    }
    const Floats high = (Floats)((Ints)a & static_cast<std::int32_t>(0xFFFFF000U)); // its square is exact
    const Floats e = scaledExponential(high * high * -0.5F, (a - high) * (a + high) * -0.5F);
    const Floats tail = 0.5F * t * p * e;
    return {x < 0.0F ? tail : 1.0F - tail, e * 0.39894228040143267794F};
}

void gelu(float* y, const float* x, std::size_t n)
{
    mapFloat(y, x, n, [](Floats v) { return v * normal(v).cumulative; });
}

void geluGrad(float* y, const float* d, const float* x, std::size_t n)
{
    mapFloat(y, d, x, n, [](Floats u, Floats v) {
        const Normal p = normal(v);
        return u * (p.cumulative + v * p.density);
    });
}
