/// The kinds of operation a graph may hold.
/// Operands are named in the order of Node::inputs -> Node::outputs. m rows, n features; "..." stands for any leading
/// dimensions, whose product counts rows. Images are [n, h, w, c]: batch, height, width, channels. "half" is FP16 or
/// BF16. Unless said otherwise an op's floating operands share one dtype, arithmetic is FP32, and each output is
/// rounded once to its dtype (round to nearest, ties to even). NaN and infinity propagate as in IEEE 754.
#pragma once

#include "engine/graph/op_attributes.h"

#include <cstdint>
#include <string_view>

namespace mantissa {

// clang-format off
enum class Op : std::uint8_t {
    // --- forward ---
    Linear,              ///< x[...,k], w[n,k], (b[n]) -> y[...,n] = x w^T + b; the bias joins before the one rounding
    MatMul,              ///< a, b -> op(a) op(b); MatMulAttributes. a is [m,k] ([k,m] if transposed). With equal leading
                         ///< dimensions of both: one product each; where only a has some, they count rows
    Conv2d,              ///< x[n,h,w,c], w[o,c/groups,kh,kw], (b[o]) -> y[n,h',w',o]; Conv2dAttributes, the bias as above
    MaxPool2d,           ///< x[n,h,w,c] -> y, place(uint8) of the maximum in its window, counted row by row (the first of
                         ///< equals; the last NaN); Pool2dAttributes, windows of at most 256 elements
    AvgPool2d,           ///< x[n,h,w,c] -> y; Pool2dAttributes
    GlobalAvgPool,       ///< x[n,h,w,c] -> y[n,c]; ReduceAttributes, of which only accumulate counts
    BatchNorm2d,         ///< x[...,c], gamma[c], beta[c], runningMean[c], runningVar[c] -> y, mean[c], rstd[c], and both
                         ///< running statistics in place; BatchNormAttributes. gamma, beta and the running statistics
                         ///< have dtypes of their own (FP32); mean and rstd have the accumulate format.
                         ///< y = (x - mean) rstd gamma + beta, rstd = 1 / sqrt(variance + epsilon); the running variance
                         ///< takes the unbiased one, as in PyTorch
    GroupNorm,           ///< x[n,...,c], gamma[c], beta[c] -> y, mean[n,groups], rstd[n,groups]; NormAttributes. gamma and
                         ///< beta have dtypes of their own; mean and rstd have the accumulate format. Channels are cut
                         ///< into groups of neighbours
    LayerNorm,           ///< x[...,c], gamma[c], beta[c] -> y, mean[...], rstd[...]; as GroupNorm, over the last axis
    RmsNorm,             ///< x[...,c], gamma[c] -> y = x rstd gamma, rstd[...]; rstd = 1 / sqrt(mean of x^2 + epsilon)
    Embedding,           ///< w[v,c], index(int32)[...] -> y[...,c]: rows of w. An index outside 0 .. v-1 is an error on the
                         ///< reference backend and gives a row of NaN on the others
    Attention,           ///< q[b,t,c], k[b,s,c], v[b,s,c] or all three side by side in one [b,t,3c] -> y[b,t,c],
                         ///< logSumExp(fp32)[b,heads,t]; AttentionAttributes. A head is c / heads neighbouring channels:
                         ///< softmax(scale q k^T) v, with scores, softmax and sums in FP32 and one rounding at the end
    ScaleMask,           ///< x[...,t,s] -> x * factor, and maskValue where causal and column > row; ScaleMaskAttributes
    Softmax,             ///< x[...,n] -> exp(x) / sum of exp(x) over the last axis; SoftmaxAttributes. y may have another
                         ///< dtype than x: half is read as it is
    LogSoftmax,          ///< x[...,n] -> x - log(sum of exp(x)); as Softmax
    BiasAdd,             ///< x[...,n], b[n] -> y[...,n]
    Add,                 ///< a, b -> a + b. The shape of b, without leading 1s, ends that of a: b is repeated over the rest
    Mul,                 ///< a, b -> a * b; shapes as in Add
    Relu,                ///< x -> max(x, 0); NaN stays NaN, as in PyTorch
    Gelu,                ///< x -> x Phi(x); GeluAttributes: exact (erf) or the tanh form
    Silu,                ///< x -> x sigmoid(x)
    Tanh,                ///< x -> tanh(x)
    Sigmoid,             ///< x -> 1 / (1 + exp(-x))
    Exp,                 ///< x -> exp(x)
    Log,                 ///< x -> log(x)
    Dropout,             ///< x, counter(int32 scalar) -> y = x * mask / (1 - p), mask(uint8); DropoutAttributes.
                         ///< Element i draws word j % 4 of Philox(seed, stream)(counter << 32 | j / 4), j = first + i,
                         ///< and is kept (mask 1) if toUnitFloat(word) >= p
    Sum,                 ///< x -> sum over neighbouring axes, which vanish; ReduceAttributes. y may have another dtype
    Mean,                ///< x -> mean over neighbouring axes; as Sum
    Expand,              ///< x -> x / divisor, repeated along new axes; ExpandAttributes
    Reshape,             ///< x -> the same elements in another shape; ReshapeAttributes. A view where memory allows it
    Permute,             ///< x -> axes in another order; PermuteAttributes
    Concat,              ///< x, ... -> side by side along an axis; ConcatAttributes
    Slice,               ///< x -> part of an axis; SliceAttributes
    SoftmaxCrossEntropy, ///< logits[...,n], labels(int32)[...] -> loss scalar (mean over rows), logProbabilities fp32;
                         ///< CrossEntropyAttributes. Smoothing s: (1 - s) of the label's term, s of the mean of all n
    NllLoss,             ///< logProbabilities[...,n], labels(int32)[...] -> loss scalar; CrossEntropyAttributes
    MseLoss,             ///< prediction, target(fp32) of equal shape -> loss scalar (mean over elements)
    BceWithLogits,       ///< logits, target(fp32) of equal shape -> loss scalar (mean over elements)
    Cast,                ///< x -> x in the output's dtype
    Scale,               ///< x, s(fp32 scalar) -> x * s

    // --- backward (d is the gradient of the forward output). Gradients have the shapes of what they belong to, where
    // the inputs do not tell them ---
    SumRows,                 ///< d[...,n] -> [n], accumulated in FP32
    Conv2dInputGrad,         ///< d, w -> dx; Conv2dAttributes
    Conv2dWeightGrad,        ///< d, x -> dw; Conv2dAttributes
    MaxPool2dGrad,           ///< d, place(uint8) -> dx; Pool2dAttributes. Windows that overlap add up in FP32
    AvgPool2dGrad,           ///< d -> dx; Pool2dAttributes
    BatchNorm2dGrad,         ///< d, x, gamma, mean, rstd -> dx, dgamma, dbeta; BatchNormAttributes
    NormGrad,                ///< d, x, gamma, rstd, (mean) -> dx, dgamma, (dbeta); NormAttributes; no mean: RmsNorm
    EmbeddingGrad,           ///< d[...,c], index(int32)[...] -> dw[v,c]: rows added up in FP32 in the order of the indices
    AttentionGrad,           ///< d, logSumExp, then q, k, v (or qkv) -> dq, dk, dv (or dqkv); AttentionAttributes
    SoftmaxGrad,             ///< d, y -> y (d - sum of d y); all three dtypes may differ
    LogSoftmaxGrad,          ///< d, y -> d - exp(y) sum of d; all three dtypes may differ
    LogGrad,                 ///< d, x -> d / x
    SliceGrad,               ///< d -> d in its part of the axis, 0 elsewhere; SliceAttributes
    NllLossGrad,             ///< d(fp32 scalar), labels -> -d / rows at the label, else 0; CrossEntropyAttributes
    ReluGrad,                ///< d, y -> d where y > 0 else 0
    GeluGrad,                ///< d, x -> d * gelu'(x); GeluAttributes
    SiluGrad,                ///< d, x -> d * silu'(x)
    TanhGrad,                ///< d, y -> d * (1 - y^2)
    SigmoidGrad,             ///< d, y -> d * y * (1 - y)
    DropoutGrad,             ///< d, mask -> d * mask / (1 - p); DropoutAttributes
    SoftmaxCrossEntropyGrad, ///< d(fp32 scalar), logProbabilities, labels -> (exp(logP) - target) * d / rows, where the
                             ///< target is 1 - s + s/n at the label and s/n elsewhere; CrossEntropyAttributes
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
    EmaUpdate,    ///< decay(fp32), foundInf, w..., average... -> average...; EmaAttributes. Averages have dtypes of
                  ///< their own
    ScalerUpdate, ///< foundInf, growthFactor, backoffFactor, growthInterval, isFrozen, scale, tracker, lossScale,
                  ///< inverseScale -> the last four; scalars, see pytorch_rule.h. The rule's numbers and the tracker
                  ///< are fp64, all else fp32
};
// clang-format on
// Scalars: foundInf is fp32, 0 or 1; sumSquares, updateSquares and weightSquares are fp64; maxAbs is fp32 and ignores
// NaN. updateSquares sums (w_new - w_old)^2, weightSquares sums w_new^2. Update ops with skipOnNonFinite leave weights
// and state untouched when foundInf != 0 and report updateSquares = 0. Weights that are rounded Compensated have c...
// behind the states, in and out; Stochastic ones have a counter (int32 scalar) as the last input.

} // namespace mantissa
