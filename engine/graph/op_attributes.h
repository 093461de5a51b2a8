/// The parameters of the ops, one plain struct per kind. Lengths of two are (height, width).
#pragma once

#include "engine/formats/dtype.h"
#include "engine/tensor/shape.h"

#include <array>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

namespace mantissa {

struct MatMulAttributes
{
    bool transposeA = false;
    bool transposeB = false;
    bool joinRows = false; ///< with transposeA only: every dimension of a and b but the last counts rows of one matrix
};

struct GeluAttributes
{
    bool tanhForm = false;
};

struct DropoutAttributes
{
    float probability = 0.5F;
    std::uint64_t seed = 0;
    std::uint64_t stream = 0;
    std::uint64_t first = 0; ///< element i draws as element first + i: a rank's share of a larger batch
};

/// torch.nn.Conv2d with zero padding.
struct Conv2dAttributes
{
    std::array<std::int64_t, 2> stride {1, 1};
    std::array<std::int64_t, 2> padding {0, 0};
    std::array<std::int64_t, 2> dilation {1, 1};
    std::int64_t groups = 1;
};

/// torch.nn.MaxPool2d and AvgPool2d without ceil_mode.
struct Pool2dAttributes
{
    std::array<std::int64_t, 2> kernel {2, 2};
    std::array<std::int64_t, 2> stride {2, 2};
    std::array<std::int64_t, 2> padding {0, 0};
    bool countPadding = true; ///< averages divide by the whole window (count_include_pad)
};

/// `accumulate` is the format of statistics and sums. Float32: sums in FP32 or better. A 16-bit format is a pitfall to
/// show: each operand, and each result of each addition, subtraction, product, quotient, root, exponential and
/// logarithm on the way to the statistic, is rounded to it, and sums run from the first element to the last. Where
/// squares overflow, the saved rstd is 0: its census shows it. Backward ops sum in FP32 all the same.
struct BatchNormAttributes
{
    float epsilon = 1e-5F;
    float momentum = 0.1F; ///< running = (1 - momentum) running + momentum batch
    bool training = true; ///< false: normalise by the running statistics and leave them alone
    DType accumulate = DType::Float32;
};

/// Group, layer and RMS normalisation.
struct NormAttributes
{
    float epsilon = 1e-5F;
    std::int64_t groups = 1; ///< GroupNorm's
    DType accumulate = DType::Float32;
};

struct SoftmaxAttributes
{
    DType accumulate = DType::Float32;
};

struct AttentionAttributes
{
    std::int64_t heads = 1;
    bool causal = false; ///< query i sees keys 0 .. i
    float scale = 0; ///< of the scores; 0: 1 / sqrt(width of a head)
};

struct ScaleMaskAttributes
{
    float factor = 1;
    bool causal = false;
    float maskValue = -std::numeric_limits<float>::infinity();
};

/// The axes firstAxis .. firstAxis + axes - 1; axes = -1: all from firstAxis on.
struct ReduceAttributes
{
    std::int64_t firstAxis = 0;
    std::int64_t axes = -1;
    DType accumulate = DType::Float32;
};

struct ExpandAttributes
{
    std::int64_t firstAxis = 0; ///< where the new axes go
    Shape sizes {};
    std::int64_t divisor = 1;
};

struct ConcatAttributes
{
    std::int64_t axis = 0;
};

struct SliceAttributes
{
    std::int64_t axis = 0;
    std::int64_t begin = 0;
    std::int64_t length = 1;
};

struct ReshapeAttributes
{
    Shape shape {};
};

struct PermuteAttributes
{
    std::vector<std::int64_t> axes {}; ///< axis i of the result is axis axes[i] of the operand
};

/// torch.nn.CrossEntropyLoss and NLLLoss with reduction "mean". NllLoss smooths as functional.cross_entropy
/// does in parts: (1 - labelSmoothing) of the label's term, labelSmoothing of the mean over the classes.
struct CrossEntropyAttributes
{
    float labelSmoothing = 0;
    std::int32_t ignoreIndex = -100; ///< rows of this label count neither in the sum nor in the mean
};

/// How new weights become 16-bit ones. FP32 weights are always Nearest.
enum class WeightRounding : std::uint8_t {
    Nearest,
    Stochastic, ///< roundStochastic(); element i of weight t draws word i % 4 of
                ///< Philox(seed, randomStream(Rounding) + t)(counter << 32 | i / 4), as toUnitFloat()
    Compensated, ///< w + c is what the optimizer updates: w = r(new), c = r(new - w), both 16-bit. Kahan's summation;
                 ///< Zamirai, Zhang, Aberger, De Sa, "Revisiting BFloat16 training", 2020
};

// `arithmetic` of the optimizers. Float32: one rounding per stored tensor, as PyTorch's fused optimizers do. A 16-bit
// format, that of weights and states: r() below rounds to it, once per tensor op of torch.optim with foreach=False;
// within an op, and of scalars, arithmetic is FP32. The pitfalls to show: an update below half an ulp of w is lost, an
// Adam epsilon of at most half the smallest subnormal is 0, and in BF16 v does not decay if beta2 is 0.999.

/// torch.optim.SGD: g = r(g + weightDecay w); v = r(r(momentum v) + g); d = nesterov ? r(g + momentum v) : v;
/// w = r(w - lr d).
struct SgdAttributes
{
    float momentum = 0;
    float weightDecay = 0;
    bool nesterov = false;
    bool skipOnNonFinite = false;
    DType arithmetic = DType::Float32;
    WeightRounding rounding = WeightRounding::Nearest; ///< others need the arithmetic Float32
    std::uint64_t seed = 0; ///< of Stochastic
};

/// torch.optim.Adam: g = r(g + weightDecay w), or AdamW (decoupled): w = r(w (1 - lr weightDecay)). Then
/// m = r(beta1 m + (1 - beta1) g); v = r(r(beta2 v) + (1 - beta2) g^2); d = r(r(r(sqrt v) / sqrt(1 - beta2^t)) +
/// epsilon); w = r(w - lr / (1 - beta1^t) m / d), where t counts the steps taken.
struct AdamAttributes
{
    double beta1 = 0.9; ///< double, as in PyTorch: 1 - beta2 from a float is off by 1e-5
    double beta2 = 0.999;
    float epsilon = 1e-8F;
    float weightDecay = 0;
    bool decoupled = false;
    bool skipOnNonFinite = false;
    DType arithmetic = DType::Float32;
    WeightRounding rounding = WeightRounding::Nearest; ///< as in SgdAttributes
    std::uint64_t seed = 0;
};

/// Exponential moving averages: average = r(average + (1 - decay) (w - average)) in FP32, as torch.lerp.
struct EmaAttributes
{
    bool skipOnNonFinite = false;
};

using Attributes = std::variant<std::monostate, MatMulAttributes, GeluAttributes, DropoutAttributes, Conv2dAttributes,
    Pool2dAttributes, BatchNormAttributes, NormAttributes, SoftmaxAttributes, AttentionAttributes, ScaleMaskAttributes,
    ReduceAttributes, ExpandAttributes, ConcatAttributes, SliceAttributes, ReshapeAttributes, PermuteAttributes,
    CrossEntropyAttributes, SgdAttributes, AdamAttributes, EmaAttributes>;

/// The attributes of kind T, or their defaults where none were given.
template <typename T> T attributesOf(const Attributes& attributes)
{
    const T* const given = std::get_if<T>(&attributes);
    return given != nullptr ? *given : T {};
}

} // namespace mantissa
