/// What the kernels do, one function per launch: raw operands, sizes and a stream, no engine types. Each enqueues and
/// returns; the formulas are those of engine/graph/op.h. `n` counts elements. C++17, shared by .cu and .cpp files.
#pragma once

#include "engine/backends/cuda/kernels/views.h"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace mantissa::cuda {

// --- elementwise.cu ---

enum class Map : int {
    Copy, ///< a
    Scale, ///< a b, where b is an FP32 scalar
    Add, ///< a + b
    Mul, ///< a b
    Divide, ///< a / p
    Relu,
    ReluGrad,
    Gelu,
    GeluGrad,
    GeluTanh,
    GeluTanhGrad,
    Silu,
    SiluGrad,
    Tanh,
    TanhGrad,
    Sigmoid,
    SigmoidGrad,
    Exp,
    Log,
    LogGrad,
    DropoutGrad, ///< a b p, where b is the mask and p the factor of what is kept
};

struct MapOperands
{
    In a;
    In b; ///< repeated every `period` elements
    std::int64_t period;
    float p;
};

void runMap(Map map, const MapOperands& operands, const Out& y, std::int64_t n, cudaStream_t stream);

/// In place: acc = (keep ? acc : 0) + (guard is finite ? g : 0).
void runAccumulate(
    const In& g, const float* keep, const float* guard, const Out& acc, std::int64_t n, cudaStream_t stream);

struct DropoutSetting
{
    float probability;
    float factor; ///< of what is kept
    std::uint64_t seed;
    std::uint64_t stream;
    std::int64_t first; ///< element of the whole that the first one is
};

void runDropout(const DropoutSetting& setting, const In& x, const std::int32_t* counter, const Out& y,
    std::uint8_t* mask, std::int64_t n, cudaStream_t stream);

struct ScaleMaskSetting
{
    float factor;
    float maskValue;
    std::int64_t rows;
    std::int64_t columns;
    bool causal;
};

void runScaleMask(const ScaleMaskSetting& setting, const In& x, const Out& y, std::int64_t n, cudaStream_t stream);

// --- layout.cu ---

constexpr int maxAxes = 8;

struct PermuteSetting
{
    int axes;
    std::int64_t sizes[maxAxes]; ///< of the result
    std::int64_t strides[maxAxes]; ///< in the operand, by the result's axes
};

void runPermute(const PermuteSetting& setting, const In& x, const Out& y, std::int64_t n, cudaStream_t stream);

/// A tensor seen along one axis: outer x size x inner.
struct AxisView
{
    std::int64_t size;
    std::int64_t inner;
};

/// Puts x at `begin` of the axis of y.
void runConcat(const AxisView& part, const AxisView& whole, std::int64_t begin, const In& x, const Out& y,
    std::int64_t n, cudaStream_t stream);
void runSlice(const AxisView& part, const AxisView& whole, std::int64_t begin, const In& x, const Out& y,
    std::int64_t n, cudaStream_t stream);
/// d in its part of the axis of dx, 0 elsewhere.
void runSliceGrad(const AxisView& part, const AxisView& whole, std::int64_t begin, const In& d, const Out& dx,
    std::int64_t n, cudaStream_t stream);
/// x / divisor, each run of `inner` elements `copies` times.
void runExpand(std::int64_t inner, std::int64_t copies, float divisor, const In& x, const Out& y, std::int64_t n,
    cudaStream_t stream);
/// Rows of w; an index outside gives NaN.
void runEmbedding(const In& w, std::int64_t rows, std::int64_t channels, const std::int32_t* indices, const Out& y,
    std::int64_t n, cudaStream_t stream);
void runEmbeddingGrad(const In& d, std::int64_t channels, const std::int32_t* indices, std::int64_t count,
    const Out& dw, std::int64_t n, cudaStream_t stream);

// --- reduce.cu ---

/// x [outer, count, inner] -> y [outer, inner], sums over the middle, divided by `divisor`.
struct ReduceSetting
{
    std::int64_t outer;
    std::int64_t count;
    std::int64_t inner;
    float divisor;
    bool isMean;
    Format accumulate; ///< of a 16-bit format: every step is rounded to it, from the first element to the last
};

void runReduce(const ReduceSetting& setting, const In& x, const Out& y, cudaStream_t stream);

// --- losses.cu ---

enum class ElementLoss : int { Mse, BceWithLogits };

constexpr std::int64_t lossPartials = 512;
constexpr std::size_t lossWorkspace = sizeof(double) * 2 * lossPartials;

/// The mean over all elements.
void runElementLoss(ElementLoss loss, const In& prediction, const In& target, const Out& y, std::int64_t n,
    void* workspace, cudaStream_t stream);
void runElementLossGrad(ElementLoss loss, const In& d, const In& prediction, const In& target, const Out& y,
    std::int64_t n, cudaStream_t stream);

struct LabelSetting
{
    std::int64_t rows;
    std::int64_t classes;
    float smoothing;
    std::int32_t ignoreIndex;
};

/// The workspace holds rows floats besides lossWorkspace.
void runCrossEntropy(const LabelSetting& setting, const In& logits, const std::int32_t* labels, const Out& loss,
    const Out& logProbabilities, void* workspace, cudaStream_t stream);
void runCrossEntropyGrad(const LabelSetting& setting, const In& d, const In& logProbabilities,
    const std::int32_t* labels, const Out& y, void* workspace, cudaStream_t stream);
void runNll(const LabelSetting& setting, const In& logProbabilities, const std::int32_t* labels, const Out& loss,
    void* workspace, cudaStream_t stream);
void runNllGrad(const LabelSetting& setting, const In& d, const std::int32_t* labels, const Out& y, void* workspace,
    cudaStream_t stream);

// --- softmax.cu: rows of n elements ---

void runSoftmax(
    bool isLog, Format accumulate, const In& x, const Out& y, std::int64_t rows, std::int64_t n, cudaStream_t stream);
void runSoftmaxGrad(
    bool isLog, const In& d, const In& y, const Out& dx, std::int64_t rows, std::int64_t n, cudaStream_t stream);

// --- norm.cu ---

/// The elements that share their statistics: of an image `spatial` times `channels`, those of one group of channels.
struct NormBlocks
{
    std::int64_t count;
    std::int64_t spatial;
    std::int64_t channels;
    std::int64_t groups;
};

struct NormSetting
{
    NormBlocks blocks;
    float epsilon;
    Format accumulate;
    bool isCentred; ///< false: RMS normalisation
};

/// beta and mean may have no data.
struct NormOperands
{
    In x;
    In gamma;
    In beta;
    Out y;
    Out mean;
    Out rstd;
};

void runNorm(const NormSetting& setting, const NormOperands& operands, cudaStream_t stream);

struct NormGradOperands
{
    In d;
    In x;
    In gamma;
    In rstd;
    In mean;
    Out dx;
    Out dgamma;
    Out dbeta;
};

void runNormGrad(const NormSetting& setting, const NormGradOperands& operands, cudaStream_t stream);

struct BatchNormSetting
{
    std::int64_t rows;
    std::int64_t channels;
    float epsilon;
    float momentum;
    Format accumulate;
    bool training;
};

struct BatchNormOperands
{
    In x;
    In gamma;
    In beta;
    In oldMean;
    In oldVar;
    Out y;
    Out mean;
    Out rstd;
    Out newMean;
    Out newVar;
};

void runBatchNorm(const BatchNormSetting& setting, const BatchNormOperands& operands, cudaStream_t stream);
void runBatchNormGrad(const BatchNormSetting& setting, const NormGradOperands& operands, cudaStream_t stream);

// --- windows.cu: images [n, h, w, c] ---

struct Image
{
    std::int64_t height;
    std::int64_t width;
    std::int64_t channels;
};

struct PoolSetting
{
    Image x;
    Image y;
    std::int64_t kernel[2];
    std::int64_t stride[2];
    std::int64_t padding[2];
    bool countPadding;
};

void runMaxPool(
    const PoolSetting& setting, const In& x, const Out& y, std::uint8_t* places, std::int64_t n, cudaStream_t stream);
void runMaxPoolGrad(const PoolSetting& setting, const In& d, const std::uint8_t* places, const Out& dx, std::int64_t n,
    cudaStream_t stream);
void runAvgPool(const PoolSetting& setting, const In& x, const Out& y, std::int64_t n, cudaStream_t stream);
void runAvgPoolGrad(const PoolSetting& setting, const In& d, const Out& dx, std::int64_t n, cudaStream_t stream);

struct ConvSetting
{
    std::int64_t images;
    Image x;
    Image y;
    std::int64_t kernel[2];
    std::int64_t stride[2];
    std::int64_t padding[2];
    std::int64_t dilation[2];
    std::int64_t groups;
};

/// bias may have no data.
void runConv(const ConvSetting& setting, const In& x, const In& w, const In& bias, const Out& y, std::int64_t n,
    cudaStream_t stream);
void runConvInputGrad(
    const ConvSetting& setting, const In& d, const In& w, const Out& dx, std::int64_t n, cudaStream_t stream);
void runConvWeightGrad(
    const ConvSetting& setting, const In& d, const In& x, const Out& dw, std::int64_t n, cudaStream_t stream);

// --- attention.cu ---

/// One of q, k, v (or of their gradients): its rows lie `stride` apart, its channels begin at `offset`.
struct Strided
{
    void* data;
    std::int64_t stride;
    std::int64_t offset;
};

struct AttentionSetting
{
    std::int64_t batches;
    std::int64_t heads;
    std::int64_t queries;
    std::int64_t keys;
    std::int64_t width; ///< of a head
    float scale;
    bool causal;
    Format format;
};

/// Keys, or queries, whose scores a block can keep.
constexpr std::int64_t maxScores = 5632;

void runAttention(
    const AttentionSetting& setting, const Strided (&qkv)[3], const Out& y, const Out& logSumExp, cudaStream_t stream);
/// `places` says where gradients lie in `gradients`, of which packed ones share one tensor. The workspace holds as many
/// floats as logSumExp.
void runAttentionGrad(const AttentionSetting& setting, const In& d, const In& logSumExp, const Strided (&qkv)[3],
    const Strided (&places)[3], const Out (&gradients)[3], float* workspace, cudaStream_t stream);

// --- group.cu: all gradients of a group at once ---

/// One tensor of a group. What an op does not have is null.
struct GroupTensor
{
    std::int64_t elements;
    In gradient;
    In weight;
    Out next; ///< the new gradient or weight
    In stateIn[3]; ///< the optimizer's own, then the compensation
    Out stateOut[3];
};

/// What one block does.
struct GroupChunk
{
    std::int64_t begin;
    std::int64_t tensor;
};

constexpr std::int64_t chunkElements = 4096;

/// Tables in device memory.
struct Group
{
    const GroupTensor* tensors;
    const GroupChunk* chunks;
    std::int64_t chunkCount;
};

/// What a block found, for a second kernel to add up in order.
struct GroupPartial
{
    double squares;
    double moreSquares;
    float largest;
    float found;
};

struct GradientStatistics
{
    float* foundInf;
    double* sumSquares;
    float* maxAbs;
};

/// inverseScale null: only measures.
void runUnscale(const Group& group, const float* inverseScale, const GradientStatistics& statistics,
    GroupPartial* partials, cudaStream_t stream);
void runClipByNorm(
    const Group& group, const float* maxNorm, const double* sumSquares, float* coefficient, cudaStream_t stream);
void runClipByValue(const Group& group, const float* limit, cudaStream_t stream);

enum class Rounding : int { Nearest, Stochastic, Compensated };

/// What SGD and Adam have in common.
struct UpdateSetting
{
    int states; ///< the optimizer's own per weight
    bool skipOnNonFinite;
    Format arithmetic;
    Rounding rounding;
    std::uint64_t seed;
    std::uint64_t randomStream; ///< of tensor 0
    float weightDecay;
};

struct UpdateScalars
{
    const float* learningRate;
    const float* foundInf;
    const std::int32_t* counter; ///< of stochastic rounding
    const float* takenIn; ///< Adam's
    float* takenOut;
    double* updateSquares;
    double* weightSquares;
};

struct SgdSetting
{
    UpdateSetting common;
    float momentum;
    bool nesterov;
};

struct AdamSetting
{
    UpdateSetting common;
    double beta1;
    double beta2;
    float epsilon;
    bool decoupled;
};

void runSgd(const SgdSetting& setting, const Group& group, const UpdateScalars& scalars, GroupPartial* partials,
    cudaStream_t stream);
void runAdam(const AdamSetting& setting, const Group& group, const UpdateScalars& scalars, GroupPartial* partials,
    cudaStream_t stream);
/// weight: the weights; stateIn[0] and next: the averages.
void runEma(const Group& group, const float* decay, const float* foundInf, bool skipOnNonFinite, cudaStream_t stream);

} // namespace mantissa::cuda
