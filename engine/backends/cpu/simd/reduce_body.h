/// Sums over rows and columns, and what normalisations do with them; included once per instruction set after
/// kernels_body.h. Everything is computed in FP64 and rounded once.

/// The first `count` lanes, the rest 0.
MANTISSA_INLINE Doubles firstLanes(Doubles v, std::size_t count)
{
    if (count >= wideLanes) {
        return v;
    }
    Doubles kept {};
    __builtin_memcpy(&kept, &v, count * sizeof(double));
    return kept;
}

MANTISSA_INLINE Doubles loadDoubles(const double* p, std::size_t count)
{
    Doubles v {};
    __builtin_memcpy(&v, p, (count < wideLanes ? count : wideLanes) * sizeof(double));
    return v;
}

MANTISSA_INLINE void storeDoubles(double* p, Doubles v, std::size_t count)
{
    __builtin_memcpy(p, &v, (count < wideLanes ? count : wideLanes) * sizeof(double));
}

/// Whole vectors apart from the tail, so that their loads and stores need no length.
template <typename F> MANTISSA_INLINE void forWide(std::size_t n, F f)
{
    std::size_t i = 0;
    for (; i + wideLanes <= n; i += wideLanes) {
        f(i, wideLanes);
    }
    if (i < n) {
        f(i, n - i);
    }
}

// --- rows: element i joins lane i % sumLanes ---

void sumRow(LaneSums* sums, const float* x, std::size_t n)
{
    forLanes(sums, n, [x](std::size_t i, std::size_t count) { return loadWide(x + i, count); });
}

void squaresRow(LaneSums* sums, const float* x, double mean, std::size_t n)
{
    forLanes(sums, n, [x, mean](std::size_t i, std::size_t count) {
        const Doubles deviation = firstLanes(loadWide(x + i, count) - mean, count);
        return deviation * deviation;
    });
}

void dotRow(LaneSums* sums, const float* a, const float* b, std::size_t n)
{
    forLanes(
        sums, n, [a, b](std::size_t i, std::size_t count) { return loadWide(a + i, count) * loadWide(b + i, count); });
}

void normaliseRow(float* y, const float* x, const NormRow& row, const float* gamma, const float* beta, std::size_t n)
{
    const double mean = row.mean;
    const double rstd = row.rstd;
    forWide(n, [=](std::size_t i, std::size_t count) {
        Doubles v = (loadWide(x + i, count) - mean) * rstd * loadWide(gamma + i, count);
        if (beta != nullptr) {
            v += loadWide(beta + i, count);
        }
        storeNarrow(y + i, v, count);
    });
}

void normGradSums(LaneSums* scaled, LaneSums* products, const float* d, const float* x, const float* gamma,
    const NormRow& row, std::size_t n)
{
    const double mean = row.mean;
    const double rstd = row.rstd;
    forLanes(scaled, n,
        [d, gamma](std::size_t i, std::size_t count) { return loadWide(d + i, count) * loadWide(gamma + i, count); });
    forLanes(products, n, [=](std::size_t i, std::size_t count) {
        return loadWide(d + i, count) * loadWide(gamma + i, count) * ((loadWide(x + i, count) - mean) * rstd);
    });
}

void normGradRow(float* dx, const float* d, const float* x, const float* gamma, const NormRow& row, std::size_t n)
{
    const NormRow r = row;
    forWide(n, [=](std::size_t i, std::size_t count) {
        const Doubles normal = (loadWide(x + i, count) - r.mean) * r.rstd;
        const Doubles scaled = loadWide(d + i, count) * loadWide(gamma + i, count);
        storeNarrow(dx + i, (scaled - r.meanScaled - normal * r.meanProduct) * r.rstd, count);
    });
}

// --- columns: each element has a sum of its own ---

void normGradColumns(
    double* gammaSums, double* betaSums, const float* d, const float* x, const NormRow& row, std::size_t n)
{
    const double mean = row.mean;
    const double rstd = row.rstd;
    forWide(n, [=](std::size_t i, std::size_t count) {
        const Doubles gradient = loadWide(d + i, count);
        const Doubles normal = (loadWide(x + i, count) - mean) * rstd;
        storeDoubles(gammaSums + i, loadDoubles(gammaSums + i, count) + gradient * normal, count);
        storeDoubles(betaSums + i, loadDoubles(betaSums + i, count) + gradient, count);
    });
}

void columnProducts(double* sums, double* products, const float* a, const float* b, const double* offset, std::size_t n)
{
    forWide(n, [=](std::size_t i, std::size_t count) {
        const Doubles v = loadWide(a + i, count);
        const Doubles product = v * (loadWide(b + i, count) - loadDoubles(offset + i, count));
        storeDoubles(sums + i, loadDoubles(sums + i, count) + v, count);
        storeDoubles(products + i, loadDoubles(products + i, count) + product, count);
    });
}

void affine(float* y, const float* x, const double* scale, const double* shift, std::size_t n)
{
    forWide(n, [=](std::size_t i, std::size_t count) {
        storeNarrow(
            y + i, loadWide(x + i, count) * loadDoubles(scale + i, count) + loadDoubles(shift + i, count), count);
    });
}

void columnNormGrad(float* dx, const float* d, const float* x, const NormColumns& columns, std::size_t n)
{
    const NormColumns c = columns;
    forWide(n, [=](std::size_t i, std::size_t count) {
        const Doubles through
            = (loadWide(x + i, count) - loadDoubles(c.mean + i, count)) * loadDoubles(c.perDeviation + i, count);
        const Doubles rest
            = loadWide(d + i, count) * loadDoubles(c.gamma + i, count) - loadDoubles(c.constant + i, count) - through;
        storeNarrow(dx + i, rest * loadDoubles(c.rstd + i, count), count);
    });
}

void scaleSums(float* y, const double* sums, double factor, std::size_t n)
{
    forWide(
        n, [=](std::size_t i, std::size_t count) { storeNarrow(y + i, loadDoubles(sums + i, count) * factor, count); });
}

void addScaled(float* y, const float* x, float factor, std::size_t n)
{
    mapFloat(y, y, x, n, [factor](Floats sum, Floats v) { return sum + v * factor; });
}

// --- windows of pooling: rows[k] holds the n channels at places[k] ---

typedef std::uint8_t Bytes __attribute__((vector_size(MANTISSA_SIMD_LANES)));

MANTISSA_INLINE Bytes loadBytes(const std::uint8_t* p, std::size_t count)
{
    Bytes v {};
    __builtin_memcpy(&v, p, count < floatLanes ? count : floatLanes);
    return v;
}

void maxOfWindow(float* y, std::uint8_t* place, const float* const* rows, const std::uint8_t* places,
    std::size_t window, std::size_t n)
{
    for (std::size_t i = 0; i < n; i += floatLanes) {
        const std::size_t count = n - i;
        Floats best = load<Floats>(rows[0] + i, count);
        Ints where = Ints {} + static_cast<std::int32_t>(places[0]);
        for (std::size_t k = 1; k < window; ++k) {
            const Floats v = load<Floats>(rows[k] + i, count);
            const Ints isBetter = (v > best) | (v != v);
            best = isBetter ? v : best;
            where = isBetter ? Ints {} + static_cast<std::int32_t>(places[k]) : where;
        }
        store(y + i, best, count);
        const Bytes narrow = __builtin_convertvector(where, Bytes);
        __builtin_memcpy(place + i, &narrow, count < floatLanes ? count : floatLanes);
    }
}

void scatterToWindow(float* const* rows, const float* d, const std::uint8_t* place, const std::uint8_t* places,
    std::size_t window, std::size_t n)
{
    for (std::size_t i = 0; i < n; i += floatLanes) {
        const std::size_t count = n - i;
        const Floats gradient = load<Floats>(d + i, count);
        const Ints where = __builtin_convertvector(loadBytes(place + i, count), Ints);
        for (std::size_t k = 0; k < window; ++k) {
            const Ints isHere = where == static_cast<std::int32_t>(places[k]);
            const Floats sum = load<Floats>(rows[k] + i, count);
            store(rows[k] + i, isHere ? sum + gradient : sum, count);
        }
    }
}
