/// The inner loops of the CPU backend: one table of functions per instruction set, all computing the same bits.
/// Arrays are FP32, of n elements, without alignment needs; an output may be one of its own inputs.
/// Functions of more than one rounding compute in FP64 and round to FP32 once, apart from gelu in its exact form and
/// the exponentials of softmax, which would cost too much (see float_math_body.h); nothing contracts to FMA.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mantissa {

/// Sixteen FP64 accumulators: element i of a tensor always joins lane i % 16, whatever the vector width.
inline constexpr std::size_t sumLanes = 16;

struct LaneSums
{
    double lane[sumLanes] = {};
};

/// What one pass over gradients learns.
struct GradientLanes
{
    LaneSums squares; ///< of the outgoing values
    float maxAbs[sumLanes] = {}; ///< of the outgoing values, NaN ignored
    bool nonFinite = false; ///< an incoming value was infinite or NaN
};

struct UpdateLanes
{
    LaneSums update; ///< (w_new - w_old)^2
    LaneSums weight; ///< w_new^2
};

struct SgdStep
{
    float learningRate;
    float momentum;
    float weightDecay;
    bool nesterov;
};

/// Scalars of one Adam step, bias corrections included: w' = w keep, m = beta1 m + (1 - beta1) g,
/// v = beta2 v + (1 - beta2) g^2, w = w' - stepSize m / (sqrt(v) rootScale + epsilon), after g += weightDecay w.
struct AdamStep
{
    float beta1;
    float oneMinusBeta1;
    float beta2;
    float oneMinusBeta2;
    float epsilon;
    float weightDecay; ///< 0 when decoupled
    float keep; ///< 1 - lr weightDecay when decoupled, else 1
    float stepSize;
    float rootScale;
};

/// The probabilities that cross-entropy wants: `others` everywhere, and `label` more at the label.
struct LabelTarget
{
    double others;
    double label;
};

/// What normalisation does to one row, and what its gradient needs: means over the row of g d and g d normal, where g
/// is gamma and normal = (x - mean) rstd.
struct NormRow
{
    double mean;
    double rstd;
    double meanScaled = 0;
    double meanProduct = 0;
};

/// The same per element, for statistics that belong to columns.
struct NormColumns
{
    const double* mean;
    const double* rstd;
    const double* gamma;
    const double* constant;
    const double* perDeviation;
};

struct SimdKernels
{
    using Unary = void (*)(float* y, const float* x, std::size_t n);
    using Binary = void (*)(float* y, const float* a, const float* b, std::size_t n);
    using Sgd
        = void (*)(UpdateLanes* lanes, float* w, float* velocity, const float* g, const SgdStep& step, std::size_t n);
    using Adam = void (*)(
        UpdateLanes* lanes, float* w, float* m, float* v, const float* g, const AdamStep& step, std::size_t n);

    const char* name;

    Unary relu;
    Unary gelu;
    Unary geluTanh;
    Unary silu;
    Unary tanh;
    Unary sigmoid;
    Binary add;
    Binary mul;
    Binary reluGrad; ///< d, y
    Binary geluGrad; ///< d, x
    Binary geluTanhGrad; ///< d, x
    Binary siluGrad; ///< d, x
    Binary tanhGrad; ///< d, y
    Binary sigmoidGrad; ///< d, y
    void (*scale)(float* y, const float* x, float factor, std::size_t n);
    void (*clamp)(float* y, const float* x, float limit, std::size_t n);

    /// Uniform numbers in [0, 1) of Philox 4x32-10, as toUnitFloat() gives them: counters first, first + 1, ...
    void (*philoxUniform)(float* u, std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::size_t n);
    /// mask = u >= probability; y = x mask factor
    void (*dropout)(
        float* y, std::uint8_t* mask, const float* x, const float* u, float probability, float factor, std::size_t n);
    void (*dropoutGrad)(float* y, const float* d, const std::uint8_t* mask, float factor, std::size_t n);

    float (*rowMax)(const float* x, std::size_t n); ///< NaN if there is one
    double (*sumExp)(const float* x, float max, std::size_t n); ///< sum of exp(x - max)
    void (*logSoftmax)(float* y, const float* x, float max, double logSum, std::size_t n);
    /// y = (exp(x) - target of element i) factor; the label may lie outside
    void (*crossEntropyGrad)(
        float* y, const float* x, const LabelTarget& target, std::size_t label, double factor, std::size_t n);
    void (*squaredErrors)(LaneSums* sums, const float* prediction, const float* target, std::size_t n);
    void (*bceTerms)(LaneSums* sums, const float* logits, const float* target, std::size_t n);
    void (*mseGrad)(float* y, const float* prediction, const float* target, double factor, std::size_t n);
    void (*bceGrad)(float* y, const float* logits, const float* target, double factor, std::size_t n);
    void (*addToSums)(double* sums, const float* row, std::size_t n);

    // Rows: sums by lanes, as LaneSums says.
    void (*sumRow)(LaneSums* sums, const float* x, std::size_t n);
    void (*squaresRow)(LaneSums* sums, const float* x, double mean, std::size_t n); ///< of (x - mean)^2
    void (*dotRow)(LaneSums* sums, const float* a, const float* b, std::size_t n);
    /// y = normal gamma + beta; beta may be null
    void (*normaliseRow)(
        float* y, const float* x, const NormRow& row, const float* gamma, const float* beta, std::size_t n);
    void (*normGradSums)(LaneSums* scaled, LaneSums* products, const float* d, const float* x, const float* gamma,
        const NormRow& row, std::size_t n);
    /// dx = (g d - meanScaled - normal meanProduct) rstd
    void (*normGradRow)(
        float* dx, const float* d, const float* x, const float* gamma, const NormRow& row, std::size_t n);

    // Columns: every element has a sum, factor or shift of its own.
    void (*normGradColumns)(
        double* gammaSums, double* betaSums, const float* d, const float* x, const NormRow& row, std::size_t n);
    /// sums += a, products += a (b - offset)
    void (*columnProducts)(
        double* sums, double* products, const float* a, const float* b, const double* offset, std::size_t n);
    void (*affine)(float* y, const float* x, const double* scale, const double* shift, std::size_t n);
    /// dx = (d gamma - constant - (x - mean) perDeviation) rstd
    void (*columnNormGrad)(float* dx, const float* d, const float* x, const NormColumns& columns, std::size_t n);
    void (*scaleSums)(float* y, const double* sums, double factor, std::size_t n);
    void (*addScaled)(float* y, const float* x, float factor, std::size_t n); ///< y += x factor

    // Windows of pooling: rows[k] points to the n channels at places[k].
    void (*maxOfWindow)(float* y, std::uint8_t* place, const float* const* rows, const std::uint8_t* places,
        std::size_t window, std::size_t n);
    /// Adds d to the row at `place`.
    void (*scatterToWindow)(float* const* rows, const float* d, const std::uint8_t* place, const std::uint8_t* places,
        std::size_t window, std::size_t n);

    /// y = e^(factor x - offset), within 3 units of 2^-24 and the rounding of its operand; returns the sum of y
    double (*expRow)(float* y, const float* x, float factor, float offset, std::size_t n);
    void (*softmaxGradRow)(float* y, const float* p, const float* d, double mean, double factor, std::size_t n);
    void (*logSoftmaxGradRow)(float* y, const float* d, const float* x, double sum, std::size_t n);
    Unary exponentials;
    Unary logarithms;
    Binary divide;

    void (*measure)(GradientLanes* lanes, const float* g, std::size_t n);
    void (*unscale)(GradientLanes* lanes, float* y, const float* g, float factor, std::size_t n);
    // Updates, by the format of their arithmetic (op_attributes.h). The states are left rounded to it, w is not.
    Sgd sgd;
    Sgd sgdFloat16;
    Sgd sgdBFloat16;
    Adam adam;
    Adam adamFloat16;
    Adam adamBFloat16;
    void (*measureUpdate)(UpdateLanes* lanes, const float* after, const float* before, std::size_t n);
};

extern const SimdKernels baselineKernels;
extern const SimdKernels avx2Kernels;
extern const SimdKernels avx512Kernels;

/// The table for cpuIsa().
const SimdKernels& simdKernels();

/// Sum and maximum of the lanes in a fixed order.
double total(const LaneSums& sums);
float maximum(const GradientLanes& lanes);

} // namespace mantissa
