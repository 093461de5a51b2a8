// The passes over all gradients of a group: measure, unscale and check, clip, update. Blocks take chunks of tensors,
// which a table names; what they find is added up in order by a second kernel, so a sum depends on the shapes alone.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

/// The elements of this block.
struct Part
{
    std::int64_t begin;
    std::int64_t end;
};

__device__ Part partOf(const GroupChunk& chunk, const GroupTensor& tensor)
{
    const std::int64_t end = chunk.begin + chunkElements;
    return {chunk.begin, end < tensor.elements ? end : tensor.elements};
}

/// Bit for bit, where the places differ.
__device__ void keep(const In& from, const Out& to, std::int64_t i)
{
    if (from.data == to.data) {
        return;
    }
    if (from.format == Format::Float32) {
        static_cast<float*>(to.data)[i] = static_cast<const float*>(from.data)[i];
    } else {
        static_cast<unsigned short*>(to.data)[i] = static_cast<const unsigned short*>(from.data)[i];
    }
}

/// The larger magnitude; NaN is passed over.
__device__ float largerMagnitude(float largest, float value)
{
    return fabsf(value) > largest ? fabsf(value) : largest;
}

__global__ void __launch_bounds__(blockSize)
    unscaleKernel(Group group, const float* inverseScale, GroupPartial* partials)
{
    const GroupChunk chunk = group.chunks[blockInGrid()];
    const GroupTensor tensor = group.tensors[chunk.tensor];
    const Part part = partOf(chunk, tensor);
    const float factor = inverseScale != nullptr ? *inverseScale : 1.0F;
    Tally tally;
    double squares = 0;
    float largest = 0.0F;
    float found = 0.0F;
    for (std::int64_t i = part.begin + threadInBlock(); i < part.end; i += threadsInBlock()) {
        const float incoming = load(tensor.gradient, i);
        float outgoing = incoming;
        if (factor != 1.0F) {
            outgoing = store(tensor.next, i, incoming * factor, tally);
        } else if (inverseScale != nullptr) {
            keep(tensor.gradient, tensor.next, i);
        }
        found = isFinite(incoming) ? found : 1.0F;
        squares += static_cast<double>(outgoing) * static_cast<double>(outgoing);
        largest = largerMagnitude(largest, outgoing);
    }
    squares = blockSum(squares);
    largest = blockMax(largest);
    found = blockMax(found);
    if (threadInBlock() == 0) {
        partials[blockInGrid()] = {squares, 0, largest, found};
    }
    flush(tensor.next, tally);
}

__global__ void __launch_bounds__(blockSize)
    finishStatisticsKernel(const GroupPartial* partials, std::int64_t count, GradientStatistics statistics)
{
    double squares = 0;
    float largest = 0.0F;
    float found = 0.0F;
    for (std::int64_t i = threadInBlock(); i < count; i += threadsInBlock()) {
        squares += partials[i].squares;
        largest = largerMagnitude(largest, partials[i].largest);
        found = largerMagnitude(found, partials[i].found);
    }
    squares = blockSum(squares);
    largest = blockMax(largest);
    found = blockMax(found);
    if (threadInBlock() == 0) {
        *statistics.sumSquares = squares;
        *statistics.maxAbs = largest;
        *statistics.foundInf = found;
    }
}

/// min(1, maxNorm / (norm + 1e-6)); a NaN norm gives NaN, as in torch.nn.utils.clip_grad_norm_.
__device__ float clipCoefficient(float maxNorm, double sumSquares)
{
    const double wanted = static_cast<double>(maxNorm) / (sqrt(sumSquares) + 1e-6);
    return wanted > 1.0 ? 1.0F : static_cast<float>(wanted);
}

__global__ void __launch_bounds__(blockSize)
    clipByNormKernel(Group group, const float* maxNorm, const double* sumSquares, float* coefficient)
{
    SHARED_ARRAY(float, shared, 1);
    if (threadInBlock() == 0) {
        shared[0] = clipCoefficient(*maxNorm, *sumSquares);
        if (blockInGrid() == 0) {
            *coefficient = shared[0];
        }
    }
    __syncthreads();
    const float factor = shared[0];
    const GroupChunk chunk = group.chunks[blockInGrid()];
    const GroupTensor tensor = group.tensors[chunk.tensor];
    const Part part = partOf(chunk, tensor);
    Tally tally;
    for (std::int64_t i = part.begin + threadInBlock(); i < part.end; i += threadsInBlock()) {
        if (factor == 1.0F) {
            keep(tensor.gradient, tensor.next, i);
        } else {
            store(tensor.next, i, load(tensor.gradient, i) * factor, tally);
        }
    }
    flush(tensor.next, tally);
}

__global__ void __launch_bounds__(blockSize) clipByValueKernel(Group group, const float* limit)
{
    const GroupChunk chunk = group.chunks[blockInGrid()];
    const GroupTensor tensor = group.tensors[chunk.tensor];
    const Part part = partOf(chunk, tensor);
    Tally tally;
    for (std::int64_t i = part.begin + threadInBlock(); i < part.end; i += threadsInBlock()) {
        const float g = load(tensor.gradient, i);
        store(tensor.next, i, g < -*limit ? -*limit : g > *limit ? *limit : g, tally);
    }
    flush(tensor.next, tally);
}

// --- updates ---

/// To one of the value's neighbours in the format, to the farther from zero with the share of the distance between
/// them that lies below the value: engine/formats/round_stochastic.h. In FP32 every step of it is exact.
__device__ float roundStochastic(Format format, float value, float uniform)
{
    const float maxFinite = format == Format::Float16 ? 65504.0F : 3.3895313892515355e38F;
    const int fractionBits = format == Format::Float16 ? 10 : 7;
    const int lowest = format == Format::Float16 ? -14 : -126;
    if (!(fabsf(value) <= maxFinite)) {
        return value; // rounded to nearest when it is stored
    }
    int exponent = value == 0.0F ? lowest : ilogbf(value);
    exponent = exponent < lowest ? lowest : exponent;
    const float inSteps = ldexpf(value, fractionBits - exponent);
    const float truncated = truncf(inSteps);
    const bool isFarther = uniform < fabsf(inSteps - truncated);
    return ldexpf(isFarther ? truncated + copysignf(1.0F, value) : truncated, exponent - fractionBits);
}

/// One weight on its way through an update: read and written as its rounding asks.
struct WeightUpdate
{
    const UpdateSetting& setting;
    const GroupTensor& tensor;
    std::int64_t tensorIndex;
    std::uint64_t counter;
    Tally& tally;
    double& updateSquares;
    double& weightSquares;

    /// With what an earlier rounding dropped.
    __device__ float read(std::int64_t i) const
    {
        const float stored = load(tensor.weight, i);
        return setting.rounding == Rounding::Compensated ? stored + load(tensor.stateIn[setting.states], i) : stored;
    }

    __device__ void write(std::int64_t i, float value, Tally& unused) const
    {
        const float before = load(tensor.weight, i);
        float wanted = value;
        if (setting.rounding == Rounding::Stochastic) {
            const auto at = static_cast<std::uint64_t>(i);
            const RandomWords random = philox(
                setting.seed, setting.randomStream + static_cast<std::uint64_t>(tensorIndex), counter | at / 4);
            wanted = roundStochastic(tensor.next.format, value, toUnitFloat(random.word[at % 4]));
        }
        const float stored = store(tensor.next, i, wanted, tally);
        if (setting.rounding == Rounding::Compensated) {
            store(tensor.stateOut[setting.states], i, value - stored, unused);
        }
        add(before, stored);
    }

    __device__ void add(float before, float after) const
    {
        const double change = static_cast<double>(after) - static_cast<double>(before);
        updateSquares += change * change;
        weightSquares += static_cast<double>(after) * static_cast<double>(after);
    }

    /// A skipped step: everything keeps its bits.
    __device__ void skip(std::int64_t i) const
    {
        keep(tensor.weight, tensor.next, i);
        const int states = setting.states + (setting.rounding == Rounding::Compensated ? 1 : 0);
        for (int state = 0; state < states; ++state) {
            keep(tensor.stateIn[state], tensor.stateOut[state], i);
        }
        const auto weight = static_cast<double>(load(tensor.weight, i));
        weightSquares += weight * weight;
    }
};

/// g + weightDecay w, left out at 0 as PyTorch does: 0 times an infinite weight would be NaN.
__device__ float withDecay(float g, float weightDecay, float weight, Format format)
{
    return weightDecay == 0.0F ? g : roundTo(format, g + weightDecay * weight);
}

struct SgdRule
{
    SgdSetting setting;
    float learningRate;

    __device__ void prepare(const UpdateScalars& scalars) { learningRate = *scalars.learningRate; }

    __device__ float operator()(const GroupTensor& tensor, std::int64_t i, float weight, Tally& tally) const
    {
        const Format format = setting.common.arithmetic;
        float step = withDecay(load(tensor.gradient, i), setting.common.weightDecay, weight, format);
        if (setting.common.states > 0) {
            const float kept = roundTo(format, setting.momentum * load(tensor.stateIn[0], i));
            const float velocity = roundTo(format, kept + step);
            store(tensor.stateOut[0], i, velocity, tally);
            step = setting.nesterov ? roundTo(format, step + setting.momentum * velocity) : velocity;
        }
        return weight - learningRate * step;
    }
};

struct AdamRule
{
    AdamSetting setting;
    float keepShare; ///< of the weight, where decay is decoupled
    float stepSize;
    float rootScale;

    /// By one thread of a block: powers in FP64 cost time.
    __device__ void prepare(const UpdateScalars& scalars)
    {
        const double learningRate = static_cast<double>(*scalars.learningRate);
        const double taken = static_cast<double>(*scalars.takenIn) + 1.0;
        keepShare = setting.decoupled
            ? static_cast<float>(1.0 - learningRate * static_cast<double>(setting.common.weightDecay))
            : 1.0F;
        stepSize = static_cast<float>(learningRate / (1.0 - pow(setting.beta1, taken)));
        rootScale = static_cast<float>(1.0 / sqrt(1.0 - pow(setting.beta2, taken)));
    }

    __device__ float operator()(const GroupTensor& tensor, std::int64_t i, float weight, Tally& tally) const
    {
        const Format format = setting.common.arithmetic;
        const auto beta1 = static_cast<float>(setting.beta1);
        const auto beta2 = static_cast<float>(setting.beta2);
        const auto share1 = static_cast<float>(1.0 - setting.beta1);
        const auto share2 = static_cast<float>(1.0 - setting.beta2);
        const float decay = setting.decoupled ? 0.0F : setting.common.weightDecay;
        const float g = withDecay(load(tensor.gradient, i), decay, weight, format);
        const float decayed
            = setting.decoupled && setting.common.weightDecay != 0.0F ? roundTo(format, weight * keepShare) : weight;
        const float first = roundTo(format, beta1 * load(tensor.stateIn[0], i) + share1 * g);
        const float second = roundTo(format, roundTo(format, beta2 * load(tensor.stateIn[1], i)) + share2 * (g * g));
        const float root = roundTo(format, roundTo(format, sqrtf(second)) * rootScale);
        const float divisor = roundTo(format, root + setting.epsilon);
        store(tensor.stateOut[0], i, first, tally);
        store(tensor.stateOut[1], i, second, tally);
        return decayed - stepSize * (first / divisor);
    }
};

template <typename Rule>
__global__ void __launch_bounds__(blockSize)
    updateKernel(Rule given, UpdateSetting setting, Group group, UpdateScalars scalars, GroupPartial* partials)
{
    SHARED_ARRAY(Rule, rules, 1);
    if (threadInBlock() == 0) {
        rules[0] = given;
        rules[0].prepare(scalars);
    }
    __syncthreads();
    const Rule rule = rules[0];
    const GroupChunk chunk = group.chunks[blockInGrid()];
    const GroupTensor tensor = group.tensors[chunk.tensor];
    const Part part = partOf(chunk, tensor);
    const bool skips = setting.skipOnNonFinite && *scalars.foundInf != 0.0F;
    Tally tally;
    Tally unused;
    double updateSquares = 0;
    double weightSquares = 0;
    const std::uint64_t counter
        = scalars.counter != nullptr ? std::uint64_t {static_cast<std::uint32_t>(*scalars.counter)} << 32U : 0;
    const WeightUpdate update {setting, tensor, chunk.tensor, counter, tally, updateSquares, weightSquares};
    for (std::int64_t i = part.begin + threadInBlock(); i < part.end; i += threadsInBlock()) {
        if (skips) {
            update.skip(i);
        } else {
            update.write(i, rule(tensor, i, update.read(i), unused), unused);
        }
    }
    updateSquares = blockSum(updateSquares);
    weightSquares = blockSum(weightSquares);
    if (threadInBlock() == 0) {
        partials[blockInGrid()] = {updateSquares, weightSquares, 0.0F, 0.0F};
    }
    flush(tensor.next, tally);
}

/// The sums, and Adam's count of steps, which other blocks of the update still read.
__global__ void __launch_bounds__(blockSize)
    finishUpdateKernel(const GroupPartial* partials, std::int64_t count, UpdateScalars scalars, bool skipOnNonFinite)
{
    double updateSquares = 0;
    double weightSquares = 0;
    for (std::int64_t i = threadInBlock(); i < count; i += threadsInBlock()) {
        updateSquares += partials[i].squares;
        weightSquares += partials[i].moreSquares;
    }
    updateSquares = blockSum(updateSquares);
    weightSquares = blockSum(weightSquares);
    if (threadInBlock() == 0) {
        *scalars.updateSquares = updateSquares;
        *scalars.weightSquares = weightSquares;
        if (scalars.takenOut != nullptr) {
            *scalars.takenOut = *scalars.takenIn + (skipOnNonFinite && *scalars.foundInf != 0.0F ? 0.0F : 1.0F);
        }
    }
}

__global__ void __launch_bounds__(blockSize)
    emaKernel(Group group, const float* decay, const float* foundInf, bool skipOnNonFinite)
{
    const GroupChunk chunk = group.chunks[blockInGrid()];
    const GroupTensor tensor = group.tensors[chunk.tensor];
    const Part part = partOf(chunk, tensor);
    const bool skips = skipOnNonFinite && *foundInf != 0.0F;
    const auto share = static_cast<float>(1.0 - static_cast<double>(*decay));
    Tally tally;
    for (std::int64_t i = part.begin + threadInBlock(); i < part.end; i += threadsInBlock()) {
        if (skips) {
            keep(tensor.stateIn[0], tensor.next, i);
        } else {
            const float average = load(tensor.stateIn[0], i);
            store(tensor.next, i, average + share * (load(tensor.weight, i) - average), tally);
        }
    }
    flush(tensor.next, tally);
}

template <typename Rule>
void runUpdate(const Rule& rule, const UpdateSetting& setting, const Group& group, const UpdateScalars& scalars,
    GroupPartial* partials, cudaStream_t stream)
{
    launch(updateKernel<Rule>, group.chunkCount, blockSize, 0, stream, rule, setting, group, scalars, partials);
    launch(finishUpdateKernel, 1, blockSize, 0, stream, partials, group.chunkCount, scalars, setting.skipOnNonFinite);
}

} // namespace

void runUnscale(const Group& group, const float* inverseScale, const GradientStatistics& statistics,
    GroupPartial* partials, cudaStream_t stream)
{
    launch(unscaleKernel, group.chunkCount, blockSize, 0, stream, group, inverseScale, partials);
    launch(finishStatisticsKernel, 1, blockSize, 0, stream, partials, group.chunkCount, statistics);
}

void runClipByNorm(
    const Group& group, const float* maxNorm, const double* sumSquares, float* coefficient, cudaStream_t stream)
{
    launch(clipByNormKernel, group.chunkCount, blockSize, 0, stream, group, maxNorm, sumSquares, coefficient);
}

void runClipByValue(const Group& group, const float* limit, cudaStream_t stream)
{
    launch(clipByValueKernel, group.chunkCount, blockSize, 0, stream, group, limit);
}

void runSgd(const SgdSetting& setting, const Group& group, const UpdateScalars& scalars, GroupPartial* partials,
    cudaStream_t stream)
{
    runUpdate(SgdRule {setting, 0.0F}, setting.common, group, scalars, partials, stream);
}

void runAdam(const AdamSetting& setting, const Group& group, const UpdateScalars& scalars, GroupPartial* partials,
    cudaStream_t stream)
{
    runUpdate(AdamRule {setting, 0.0F, 0.0F, 0.0F}, setting.common, group, scalars, partials, stream);
}

void runEma(const Group& group, const float* decay, const float* foundInf, bool skipOnNonFinite, cudaStream_t stream)
{
    launch(emaKernel, group.chunkCount, blockSize, 0, stream, group, decay, foundInf, skipOnNonFinite);
}

} // namespace mantissa::cuda
