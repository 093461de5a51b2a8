/// The kinds of operation a graph may hold, with their parameters.
/// Operands are named in the order of Node::inputs -> Node::outputs. m rows, n features. "half" is FP16 or BF16.
/// Unless said otherwise an op's floating operands share one dtype, arithmetic is FP32, and each output is rounded
/// once to its dtype (round to nearest, ties to even). NaN and infinity propagate as in IEEE 754.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace mantissa {

enum class Op : std::uint8_t {
    // --- forward ---
    Linear,              ///< x[m,k], w[n,k], (b[n]) -> y[m,n] = x w^T + b; the bias joins before the one rounding
    MatMul,              ///< a, b -> op(a) op(b); MatMulAttributes. a is [m,k] ([k,m] if transposed)
    BiasAdd,             ///< x[m,n], b[n] -> y[m,n]
    Add,                 ///< a, b of equal shape -> a + b
    Relu,                ///< x -> max(x, 0); NaN stays NaN, as in PyTorch
    Gelu,                ///< x -> x Phi(x); GeluAttributes: exact (erf) or the tanh form
    Silu,                ///< x -> x sigmoid(x)
    Tanh,                ///< x -> tanh(x)
    Sigmoid,             ///< x -> 1 / (1 + exp(-x))
    Dropout,             ///< x, counter(int32 scalar) -> y = x * mask / (1 - p), mask(uint8); DropoutAttributes.
                         ///< Element i draws word i % 4 of Philox(seed, stream)(counter << 32 | i / 4) and is kept
                         ///< (mask 1) if toUnitFloat(word) >= p
    SoftmaxCrossEntropy, ///< logits[m,n], labels(int32)[m] -> loss scalar (mean over rows), logProbabilities[m,n] fp32
    MseLoss,             ///< prediction, target(fp32) of equal shape -> loss scalar (mean over elements)
    BceWithLogits,       ///< logits, target(fp32) of equal shape -> loss scalar (mean over elements)
    Cast,                ///< x -> x in the output's dtype
    Scale,               ///< x, s(fp32 scalar) -> x * s

    // --- backward (d is the gradient of the forward output) ---
    SumRows,                 ///< d[m,n] -> [n], accumulated in FP32
    ReluGrad,                ///< d, y -> d where y > 0 else 0
    GeluGrad,                ///< d, x -> d * gelu'(x); GeluAttributes
    SiluGrad,                ///< d, x -> d * silu'(x)
    TanhGrad,                ///< d, y -> d * (1 - y^2)
    SigmoidGrad,             ///< d, y -> d * y * (1 - y)
    DropoutGrad,             ///< d, mask -> d * mask / (1 - p); DropoutAttributes
    SoftmaxCrossEntropyGrad, ///< d(fp32 scalar), logProbabilities, labels -> (exp(logP) - onehot) * d / m
    MseLossGrad,             ///< d(fp32 scalar), prediction, target -> 2 (prediction - target) * d / elements
    BceWithLogitsGrad,       ///< d(fp32 scalar), logits, target -> (sigmoid(logits) - target) * d / elements
    Accumulate,              ///< g, keep(fp32 scalar 0/1), guard(fp32 scalar) -> acc (in place): (keep ? acc : 0) + g,
                             ///< where g is dropped (treated as 0) if guard is not finite. acc has its own dtype

    // --- update; g... are all gradients of one dtype group, changed in place ---
    GradientNorm, ///< g... -> foundInf, sumSquares, maxAbs (scalars, see below); reads only
    Unscale,      ///< inverseScale(fp32 scalar), g... -> g..., foundInf, sumSquares, maxAbs: multiplies each gradient
                  ///< (bit-exact no-op for 1), testing the *incoming* value as PyTorch does; the statistics are of the
                  ///< unscaled values
    ClipByNorm,   ///< maxNorm(fp32), sumSquares(fp64), g... -> g..., coefficient(fp32) = min(1, maxNorm / (norm + 1e-6))
    ClipByValue,  ///< limit(fp32), g... -> g...: clamps to [-limit, limit]; NaN stays
    SgdUpdate,    ///< lr, foundInf, g..., w..., (v...) -> w..., (v...), updateSquares, weightSquares; SgdAttributes
    AdamUpdate,   ///< lr, foundInf, g..., w..., m..., v..., taken -> w..., m..., v..., taken, updateSquares,
                  ///< weightSquares; AdamAttributes. taken (fp32 scalar) counts the steps not skipped
};
// Scalars: foundInf is fp32, 0 or 1; sumSquares, updateSquares and weightSquares are fp64; maxAbs is fp32 and ignores
// NaN. updateSquares sums (w_new - w_old)^2, weightSquares sums w_new^2. Update ops with skipOnNonFinite leave weights
// and state untouched when foundInf != 0 and report updateSquares = 0.

struct MatMulAttributes
{
    bool transposeA = false;
    bool transposeB = false;
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
};

/// torch.optim.SGD: g += weightDecay w; v = momentum v + g; step by nesterov ? g + momentum v : v.
struct SgdAttributes
{
    float momentum = 0;
    float weightDecay = 0;
    bool nesterov = false;
    bool skipOnNonFinite = false;
};

/// torch.optim.Adam / AdamW (decoupled): w -= lr weightDecay w first; bias corrections from the count of taken steps.
struct AdamAttributes
{
    double beta1 = 0.9; ///< double, as in PyTorch: 1 - beta2 from a float is off by 1e-5
    double beta2 = 0.999;
    float epsilon = 1e-8F;
    float weightDecay = 0;
    bool decoupled = false;
    bool skipOnNonFinite = false;
};

using Attributes = std::variant<std::monostate, MatMulAttributes, GeluAttributes, DropoutAttributes, SgdAttributes,
    AdamAttributes>;

} // namespace mantissa
