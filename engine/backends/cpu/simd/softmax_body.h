/// Exponentials, logarithms and softmax; included once per instruction set after float_math_body.h.

/// The largest of a row, NaN if there is one.
float rowMax(const float* x, std::size_t n)
{
    Floats max = splat(-__builtin_inff());
    Ints isNan {};
    for (std::size_t i = 0; i < n; i += floatLanes) {
        const Floats v = load<Floats>(x + i, n - i, -__builtin_inff());
        max = v > max ? v : max;
        isNan |= v != v;
    }
    float largest = -__builtin_inff();
    for (std::size_t lane = 0; lane < floatLanes; ++lane) {
        if (isNan[lane] != 0) {
            return __builtin_nanf("");
        }
        largest = max[lane] > largest ? max[lane] : largest;
    }
    return largest;
}

/// y = e^(factor x - offset); the sum of y in FP64.
double expRow(float* y, const float* x, float factor, float offset, std::size_t n)
{
    LaneSums sums;
    constexpr std::size_t parts = sumLanes / wideLanes;
    Doubles lanes[parts] {};
    std::size_t i = 0;
    for (; i + sumLanes <= n; i += sumLanes) {
        for (std::size_t at = i; at < i + sumLanes; at += floatLanes) {
            store(y + at, exponentialFloat(load<Floats>(x + at, floatLanes) * factor - offset), floatLanes);
        }
        for (std::size_t part = 0; part < parts; ++part) {
            lanes[part] += loadWide(y + i + part * wideLanes, wideLanes);
        }
    }
    __builtin_memcpy(&sums, lanes, sizeof lanes);
    for (std::size_t at = i; at < n; at += floatLanes) {
        store(y + at, exponentialFloat(load<Floats>(x + at, n - at) * factor - offset), n - at);
    }
    for (; i < n; ++i) {
        sums.lane[i % sumLanes] += static_cast<double>(y[i]);
    }
    return total(sums);
}

/// y = p (d - mean) factor
void softmaxGradRow(float* y, const float* p, const float* d, double mean, double factor, std::size_t n)
{
    mapWide(y, p, d, n, [mean, factor](Doubles u, Doubles v) { return u * (v - mean) * factor; });
}

/// y = d - e^x sum
void logSoftmaxGradRow(float* y, const float* d, const float* x, double sum, std::size_t n)
{
    mapWide(y, d, x, n, [sum](Doubles u, Doubles v) { return u - exponential(v) * sum; });
}

void exponentials(float* y, const float* x, std::size_t n)
{
    mapWide(y, x, n, [](Doubles v) { return exponential(v); });
}

/// x = 2^n m with m in [sqrt(1/2), sqrt(2)): n ln 2 + 2 atanh(s), s = (m - 1) / (m + 1) < 0.1716, by its series to
/// s^15; relative error below 2^-39.
MANTISSA_INLINE Doubles logarithm(Doubles x)
{
    constexpr std::uint64_t rootHalf = 0x3FE6A09E667F3BCD;
    const Words bits = (Words)x;
    const Longs n = (Longs)(bits - rootHalf) >> 52;
    const Doubles m = (Doubles)(bits - ((Words)n << 52));
    const Doubles s = (m - 1.0) / (m + 1.0);
    const Doubles square = s * s;
    Doubles p = splat(1.0 / 15);
    for (int odd = 13; odd >= 1; odd -= 2) {
        p = p * square + 1.0 / odd;
    }
    const Doubles result = __builtin_convertvector(n, Doubles) * 0x1.62e42fefa39efp-1 + 2.0 * s * p;
    const double infinity = __builtin_inf();
    const Doubles ordinary = x == infinity ? x : result;
    const Doubles positive = x == 0.0 ? splat(-infinity) : ordinary;
    return ((x < 0.0) | (x != x)) ? splat(__builtin_nan("")) : positive;
}

void logarithms(float* y, const float* x, std::size_t n)
{
    mapWide(y, x, n, [](Doubles v) { return logarithm(v); });
}

void divide(float* y, const float* a, const float* b, std::size_t n)
{
    mapFloat(y, a, b, n, [](Floats u, Floats v) { return u / v; });
}
