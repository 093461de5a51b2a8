/// The functions of SimdKernels on the vectors of vector_body.h; included once per instruction set, inside that set's
/// namespace (see there for what must not appear here).

template <typename F> MANTISSA_INLINE void mapWide(float* y, const float* x, std::size_t n, F f)
{
    for (std::size_t i = 0; i < n; i += wideLanes) {
        storeNarrow(y + i, f(loadWide(x + i, n - i)), n - i);
    }
}

template <typename F> MANTISSA_INLINE void mapWide(float* y, const float* a, const float* b, std::size_t n, F f)
{
    for (std::size_t i = 0; i < n; i += wideLanes) {
        storeNarrow(y + i, f(loadWide(a + i, n - i), loadWide(b + i, n - i)), n - i);
    }
}

template <typename F> MANTISSA_INLINE void mapFloat(float* y, const float* x, std::size_t n, F f)
{
    for (std::size_t i = 0; i < n; i += floatLanes) {
        store(y + i, f(load<Floats>(x + i, n - i)), n - i);
    }
}

template <typename F> MANTISSA_INLINE void mapFloat(float* y, const float* a, const float* b, std::size_t n, F f)
{
    for (std::size_t i = 0; i < n; i += floatLanes) {
        store(y + i, f(load<Floats>(a + i, n - i), load<Floats>(b + i, n - i)), n - i);
    }
}

// --- elementwise ---

void relu(float* y, const float* x, std::size_t n)
{
    mapFloat(y, x, n, [](Floats v) { return v <= 0.0F ? splat(0.0F) : v; });
}

/// 0.5 (1 + tanh u) = sigmoid(2u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
MANTISSA_INLINE Doubles geluTanhArgument(Doubles x)
{
    return 1.59576912160573071176 * (x + 0.044715 * x * x * x);
}

void geluTanh(float* y, const float* x, std::size_t n)
{
    mapWide(y, x, n, [](Doubles v) { return v * sigmoids(geluTanhArgument(v)).value; });
}

void silu(float* y, const float* x, std::size_t n)
{
    mapWide(y, x, n, [](Doubles v) { return v * sigmoids(v).value; });
}

void tanh(float* y, const float* x, std::size_t n)
{
    mapWide(y, x, n, [](Doubles v) { return hyperbolicTangent(v); });
}

void sigmoid(float* y, const float* x, std::size_t n)
{
    mapWide(y, x, n, [](Doubles v) { return sigmoids(v).value; });
}

void add(float* y, const float* a, const float* b, std::size_t n)
{
    mapFloat(y, a, b, n, [](Floats u, Floats v) { return u + v; });
}

void mul(float* y, const float* a, const float* b, std::size_t n)
{
    mapFloat(y, a, b, n, [](Floats u, Floats v) { return u * v; });
}

void reluGrad(float* y, const float* d, const float* output, std::size_t n)
{
    mapFloat(y, d, output, n, [](Floats u, Floats v) { return v > 0.0F ? u : splat(0.0F); });
}

void geluTanhGrad(float* y, const float* d, const float* x, std::size_t n)
{
    mapWide(y, d, x, n, [](Doubles u, Doubles v) {
        const Sigmoids s = sigmoids(geluTanhArgument(v));
        const Doubles slope = 1.59576912160573071176 * (1.0 + 3.0 * 0.044715 * v * v);
        return u * (s.value + v * (s.value * s.complement) * slope);
    });
}

void siluGrad(float* y, const float* d, const float* x, std::size_t n)
{
    mapWide(y, d, x, n, [](Doubles u, Doubles v) {
        const Sigmoids s = sigmoids(v);
        return u * (s.value * (1.0 + v * s.complement));
    });
}

void tanhGrad(float* y, const float* d, const float* output, std::size_t n)
{
    mapWide(y, d, output, n, [](Doubles u, Doubles v) { return u * (1.0 - v * v); });
}

void sigmoidGrad(float* y, const float* d, const float* output, std::size_t n)
{
    mapWide(y, d, output, n, [](Doubles u, Doubles v) { return u * (v * (1.0 - v)); });
}

void scale(float* y, const float* x, float factor, std::size_t n)
{
    mapFloat(y, x, n, [factor](Floats v) { return v * factor; });
}

void clamp(float* y, const float* x, float limit, std::size_t n)
{
    mapFloat(y, x, n, [limit](Floats v) {
        v = v > limit ? splat(limit) : v;
        return v < -limit ? splat(-limit) : v;
    });
}

// --- dropout ---

/// Salmon et al., SC 2011; wideLanes counters at a time, each 32-bit word in the low half of a 64-bit one.
void philoxUniform(float* u, std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t n)
{
    constexpr std::uint64_t low = 0xFFFFFFFFU;
    const Words multiplier0 = Words {} + 0xD2511F53U;
    const Words multiplier1 = Words {} + 0xCD9E8D57U;
    Words index {};
    for (std::size_t i = 0; i < wideLanes; ++i) {
        index[i] = i;
    }
    for (std::size_t begin = 0; begin < n; begin += 4 * wideLanes) {
        const Words counter = index + (first + begin / 4);
        Words c0 = counter & low;
        Words c1 = counter >> 32;
        Words c2 = Words {} + (stream & low);
        Words c3 = Words {} + (stream >> 32);
        std::uint64_t key0 = seed & low;
        std::uint64_t key1 = seed >> 32;
        for (int round = 0; round < 10; ++round) {
            const Words product0 = multiplyLow(multiplier0, c0);
            const Words product1 = multiplyLow(multiplier1, c2);
            c0 = (product1 >> 32) ^ c1 ^ key0;
            c1 = product1 & low;
            c2 = (product0 >> 32) ^ c3 ^ key1;
            c3 = product0 & low;
            key0 = (key0 + 0x9E3779B9U) & low;
            key1 = (key1 + 0xBB67AE85U) & low;
        }
        float block[4 * wideLanes];
        for (std::size_t i = 0; i < wideLanes; ++i) {
            block[4 * i] = static_cast<float>(static_cast<std::int32_t>(c0[i] >> 8)) * 0x1p-24F;
            block[4 * i + 1] = static_cast<float>(static_cast<std::int32_t>(c1[i] >> 8)) * 0x1p-24F;
            block[4 * i + 2] = static_cast<float>(static_cast<std::int32_t>(c2[i] >> 8)) * 0x1p-24F;
            block[4 * i + 3] = static_cast<float>(static_cast<std::int32_t>(c3[i] >> 8)) * 0x1p-24F;
        }
        const std::size_t count = n - begin < 4 * wideLanes ? n - begin : 4 * wideLanes;
        __builtin_memcpy(u + begin, block, count * sizeof(float));
    }
}

void dropout(
    float* y, std::uint8_t* mask, const float* x, const float* u, float probability, float factor, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        mask[i] = u[i] >= probability ? 1 : 0;
    }
    mapFloat(y, x, u, n, [probability, factor](Floats v, Floats uniform) {
        return v * (uniform >= probability ? splat(factor) : splat(0.0F));
    });
}

void dropoutGrad(float* y, const float* d, const std::uint8_t* mask, float factor, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        y[i] = d[i] * (static_cast<float>(mask[i]) * factor);
    }
}

// --- losses and reductions ---

/// Calls f(element offset, accumulator) so that element i always meets accumulator lane i % sumLanes.
template <typename F> MANTISSA_INLINE void forLanes(LaneSums* sums, std::size_t n, F f)
{
    constexpr std::size_t parts = sumLanes / wideLanes;
    Doubles lanes[parts];
    __builtin_memcpy(lanes, sums, sizeof lanes);
    std::size_t i = 0;
    for (; i + sumLanes <= n; i += sumLanes) {
        for (std::size_t part = 0; part < parts; ++part) {
            lanes[part] += f(i + part * wideLanes, wideLanes);
        }
    }
    for (std::size_t part = 0; part < parts && i < n; ++part, i += wideLanes) {
        lanes[part] += f(i, n - i);
    }
    __builtin_memcpy(sums, lanes, sizeof lanes);
}

double sumExp(const float* x, float max, std::size_t n)
{
    LaneSums sums;
    const double offset = max;
    forLanes(&sums, n, [x, offset](std::size_t i, std::size_t count) {
        return exponential(loadWide(x + i, count, -__builtin_inff()) - offset);
    });
    // The tail's missing elements are e^(-inf) = 0, unless the maximum is infinite: then the sum is NaN anyway.
    return total(sums);
}

void logSoftmax(float* y, const float* x, float max, double logSum, std::size_t n)
{
    const double offset = max;
    mapWide(y, x, n, [offset, logSum](Doubles v) { return (v - offset) - logSum; });
}

void crossEntropyGrad(
    float* y, const float* x, const LabelTarget& target, std::size_t label, double factor, std::size_t n)
{
    const double others = target.others;
    const double hit = target.others + target.label;
    const bool isHere = label < n;
    const float atLabel = isHere ? x[label] : 0.0F;
    mapWide(y, x, n, [others, factor](Doubles v) { return (exponential(v) - others) * factor; });
    if (isHere) {
        mapWide(y + label, &atLabel, 1, [hit, factor](Doubles v) { return (exponential(v) - hit) * factor; });
    }
}

void squaredErrors(LaneSums* sums, const float* prediction, const float* target, std::size_t n)
{
    forLanes(sums, n, [prediction, target](std::size_t i, std::size_t count) {
        const Doubles error = loadWide(prediction + i, count) - loadWide(target + i, count);
        return error * error;
    });
}

void bceTerms(LaneSums* sums, const float* logits, const float* target, std::size_t n)
{
    forLanes(sums, n, [logits, target](std::size_t i, std::size_t count) {
        const Doubles x = loadWide(logits + i, count);
        const Doubles positive = x < 0.0 ? splat(0.0) : x;
        Doubles term = positive - x * loadWide(target + i, count) + logOnePlus(exponential(-absolute(x)));
        for (std::size_t lane = count; lane < wideLanes; ++lane) {
            term[lane] = 0.0;
        }
        return term;
    });
}

void mseGrad(float* y, const float* prediction, const float* target, double factor, std::size_t n)
{
    mapWide(y, prediction, target, n, [factor](Doubles p, Doubles t) { return 2.0 * (p - t) * factor; });
}

void bceGrad(float* y, const float* logits, const float* target, double factor, std::size_t n)
{
    mapWide(y, logits, target, n, [factor](Doubles x, Doubles t) { return (sigmoids(x).value - t) * factor; });
}

void addToSums(double* sums, const float* row, std::size_t n)
{
    std::size_t i = 0;
    for (; i + wideLanes <= n; i += wideLanes) {
        Doubles sum;
        __builtin_memcpy(&sum, sums + i, sizeof sum);
        sum += loadWide(row + i, wideLanes);
        __builtin_memcpy(sums + i, &sum, sizeof sum);
    }
    for (; i < n; ++i) {
        sums[i] += static_cast<double>(row[i]);
    }
}

// --- update ---

/// Sixteen elements' worth of what a gradient pass keeps in registers.
struct GradientAccumulator
{
    Doubles squares[sumLanes / wideLanes];
    Floats maxAbs[sumLanes / floatLanes];
    Ints nonFinite;
};

MANTISSA_INLINE void note(GradientAccumulator& a, Floats incoming, Floats outgoing, std::size_t part)
{
    a.nonFinite |= ((Ints)incoming & 0x7F800000) == 0x7F800000;
    const Floats magnitude = absolute(outgoing);
    a.maxAbs[part] = magnitude > a.maxAbs[part] ? magnitude : a.maxAbs[part];
    float values[floatLanes];
    store(values, outgoing, floatLanes);
    for (std::size_t half = 0; half < 2; ++half) {
        const Doubles wide = loadWide(values + half * wideLanes, wideLanes);
        a.squares[2 * part + half] += wide * wide;
    }
}

template <typename F> MANTISSA_INLINE void passGradients(GradientLanes* lanes, const float* g, std::size_t n, F f)
{
    GradientAccumulator a;
    __builtin_memcpy(a.squares, &lanes->squares, sizeof a.squares);
    __builtin_memcpy(a.maxAbs, lanes->maxAbs, sizeof a.maxAbs);
    a.nonFinite = Ints {};
    constexpr std::size_t parts = sumLanes / floatLanes;
    std::size_t i = 0;
    for (; i + sumLanes <= n; i += sumLanes) { // apart from the tail, so that the sums stay in registers
        for (std::size_t part = 0; part < parts; ++part) {
            const Floats incoming = load<Floats>(g + i + part * floatLanes, floatLanes);
            note(a, incoming, f(incoming, i + part * floatLanes, floatLanes), part);
        }
    }
    for (std::size_t part = 0; part < parts && i < n; ++part, i += floatLanes) {
        const Floats incoming = load<Floats>(g + i, n - i);
        note(a, incoming, f(incoming, i, n - i), part);
    }
    __builtin_memcpy(&lanes->squares, a.squares, sizeof a.squares);
    __builtin_memcpy(lanes->maxAbs, a.maxAbs, sizeof a.maxAbs);
    for (std::size_t lane = 0; lane < floatLanes; ++lane) {
        lanes->nonFinite = lanes->nonFinite || a.nonFinite[lane] != 0;
    }
}

void measure(GradientLanes* lanes, const float* g, std::size_t n)
{
    passGradients(lanes, g, n, [](Floats incoming, std::size_t, std::size_t) { return incoming; });
}

void unscale(GradientLanes* lanes, float* y, const float* g, float factor, std::size_t n)
{
    passGradients(
        lanes, g, n, [ y, factor ](Floats incoming, std::size_t at, std::size_t count) __attribute__((always_inline)) {
            const Floats outgoing = incoming * factor;
            store(y + at, outgoing, count);
            return outgoing;
        });
}

struct UpdateAccumulator
{
    Doubles update[sumLanes / wideLanes];
    Doubles weight[sumLanes / wideLanes];
};

/// Updates w[at ...] by f(offset, count), which returns the new weights, and sums up the change.
template <typename F>
MANTISSA_INLINE void stepWeights(
    UpdateAccumulator& a, const float* w, std::size_t at, std::size_t count, std::size_t part, F f)
{
    float before[floatLanes];
    float after[floatLanes];
    store(before, load<Floats>(w + at, count), floatLanes);
    store(after, f(at, count), floatLanes);
    for (std::size_t half = 0; half < 2; ++half) {
        const Doubles now = loadWide(after + half * wideLanes, wideLanes);
        const Doubles change = now - loadWide(before + half * wideLanes, wideLanes);
        a.update[2 * part + half] += change * change;
        a.weight[2 * part + half] += now * now;
    }
}

template <typename F> MANTISSA_INLINE void passWeights(UpdateLanes* lanes, const float* w, std::size_t n, F f)
{
    constexpr std::size_t parts = sumLanes / floatLanes;
    UpdateAccumulator a;
    __builtin_memcpy(a.update, &lanes->update, sizeof a.update);
    __builtin_memcpy(a.weight, &lanes->weight, sizeof a.weight);
    std::size_t i = 0;
    for (; i + sumLanes <= n; i += sumLanes) {
        for (std::size_t part = 0; part < parts; ++part) {
            stepWeights(a, w, i + part * floatLanes, floatLanes, part, f);
        }
    }
    for (std::size_t part = 0; part < parts && i < n; ++part, i += floatLanes) {
        stepWeights(a, w, i, n - i, part, f);
    }
    __builtin_memcpy(&lanes->update, a.update, sizeof a.update);
    __builtin_memcpy(&lanes->weight, a.weight, sizeof a.weight);
}

/// Round: what each result is rounded to on the way, see rounding_body.h.
template <typename Round>
void sgd(UpdateLanes* lanes, float* w, float* velocity, const float* g, const SgdStep& step, std::size_t n)
{
    passWeights(
        lanes, w, n, [&step, w, velocity, g ](std::size_t at, std::size_t count) __attribute__((always_inline)) {
            const Floats old = load<Floats>(w + at, count);
            Floats direction = load<Floats>(g + at, count);
            if (step.weightDecay != 0.0F) {
                direction = Round::of(direction + step.weightDecay * old);
            }
            if (velocity != nullptr) {
                const Floats moved
                    = Round::of(Round::of(step.momentum * load<Floats>(velocity + at, count)) + direction);
                store(velocity + at, moved, count);
                direction = step.nesterov ? Round::of(direction + step.momentum * moved) : moved;
            }
            const Floats updated = old - step.learningRate * direction;
            store(w + at, updated, count);
            return updated;
        });
}

template <typename Round>
void adam(UpdateLanes* lanes, float* w, float* m, float* v, const float* g, const AdamStep& step, std::size_t n)
{
    passWeights(
        lanes, w, n, [&step, w, m, v, g ](std::size_t at, std::size_t count) __attribute__((always_inline)) {
            Floats old = load<Floats>(w + at, count);
            Floats gradient = load<Floats>(g + at, count);
            if (step.weightDecay != 0.0F) {
                gradient = Round::of(gradient + step.weightDecay * old);
            }
            old = Round::of(old * step.keep);
            const Floats first = Round::of(step.beta1 * load<Floats>(m + at, count) + step.oneMinusBeta1 * gradient);
            const Floats decayed = Round::of(step.beta2 * load<Floats>(v + at, count));
            const Floats second = Round::of(decayed + step.oneMinusBeta2 * (gradient * gradient));
            store(m + at, first, count);
            store(v + at, second, count);
            const Floats root = Round::of(Round::of(squareRoot(second)) * step.rootScale);
            const Floats updated = old - step.stepSize * (first / Round::of(root + step.epsilon));
            store(w + at, updated, count);
            return updated;
        });
}

void measureUpdate(UpdateLanes* lanes, const float* after, const float* before, std::size_t n)
{
    passWeights(
        lanes, before, n, [after](std::size_t at, std::size_t count) { return load<Floats>(after + at, count); });
}
