// Batch, group, layer and RMS normalisation and their gradients. Statistics in two passes, mean first.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

/// Where element i of a block of a NormBlocks lies.
struct NormPlace
{
    NormBlocks blocks;

    __device__ std::int64_t width() const { return blocks.channels / blocks.groups; }

    __device__ std::int64_t size() const { return blocks.spatial * width(); }

    __device__ std::int64_t channel(std::int64_t block, std::int64_t i) const
    {
        return block % blocks.groups * width() + i % width();
    }

    __device__ std::int64_t index(std::int64_t block, std::int64_t i) const
    {
        return (block / blocks.groups * blocks.spatial + i / width()) * blocks.channels + channel(block, i);
    }
};

/// The elements of a batch-normalised channel.
struct ChannelPlace
{
    std::int64_t rows;
    std::int64_t channels;

    __device__ std::int64_t size() const { return rows; }

    __device__ std::int64_t index(std::int64_t channel, std::int64_t i) const { return i * channels + channel; }
};

struct Moments
{
    float mean;
    float variance; ///< biased; of RMS normalisation the mean square
    float rstd;
};

/// Every thread of the block gets them. A 16-bit format: every step rounded to it, from the first element to the
/// last, by one thread.
template <typename Place>
__device__ Moments momentsOf(
    const Place& place, std::int64_t block, const In& x, float epsilon, Format format, bool isCentred)
{
    const bool isNarrow = format != Format::Float32;
    const std::int64_t n = place.size();
    const auto count = static_cast<float>(n);
    const std::int64_t begin = isNarrow ? (threadInBlock() == 0 ? 0 : n) : threadInBlock();
    const std::int64_t step = isNarrow ? 1 : threadsInBlock();
    Moments out {0.0F, 0.0F, 0.0F};
    if (isCentred) {
        float sum = 0.0F;
        for (std::int64_t i = begin; i < n; i += step) {
            sum = roundTo(format, sum + roundTo(format, load(x, place.index(block, i))));
        }
        out.mean = roundTo(format, blockSum(sum) / count);
    }
    float squares = 0.0F;
    for (std::int64_t i = begin; i < n; i += step) {
        const float value = roundTo(format, load(x, place.index(block, i)));
        const float deviation = isCentred ? roundTo(format, value - out.mean) : value;
        squares = roundTo(format, squares + roundTo(format, deviation * deviation));
    }
    out.variance = roundTo(format, blockSum(squares) / count);
    const float root = roundTo(format, sqrtf(roundTo(format, out.variance + epsilon)));
    out.rstd = roundTo(format, 1.0F / root);
    return out;
}

/// In FP64: a small number's way to the result must not lead through FP32's subnormal ones.
__device__ float normalised(float x, const Moments& moments, float gamma, float beta)
{
    const double normal
        = (static_cast<double>(x) - static_cast<double>(moments.mean)) * static_cast<double>(moments.rstd);
    return static_cast<float>(normal * static_cast<double>(gamma) + static_cast<double>(beta));
}

__global__ void __launch_bounds__(blockSize) normKernel(NormSetting setting, NormOperands operands)
{
    const NormPlace place {setting.blocks};
    Tally tally;
    Tally meanTally;
    Tally rstdTally;
    for (std::int64_t block = blockInGrid(); block < setting.blocks.count;
         block += static_cast<std::int64_t>(gridDim.x)) {
        const Moments moments
            = momentsOf(place, block, operands.x, setting.epsilon, setting.accumulate, setting.isCentred);
        for (std::int64_t i = threadInBlock(); i < place.size(); i += threadsInBlock()) {
            const std::int64_t at = place.index(block, i);
            const std::int64_t channel = place.channel(block, i);
            const float beta = operands.beta.data != nullptr ? load(operands.beta, channel) : 0.0F;
            store(
                operands.y, at, normalised(load(operands.x, at), moments, load(operands.gamma, channel), beta), tally);
        }
        if (threadInBlock() == 0) {
            store(operands.rstd, block, moments.rstd, rstdTally);
            if (operands.mean.data != nullptr) {
                store(operands.mean, block, moments.mean, meanTally);
            }
        }
    }
    flush(operands.y, tally);
    flush(operands.mean, meanTally);
    flush(operands.rstd, rstdTally);
}

/// Gradients are added up and put together in FP64: their sums cancel.
__device__ double exact(const In& x, std::int64_t i)
{
    return static_cast<double>(load(x, i));
}

__global__ void __launch_bounds__(blockSize) normInputGradKernel(NormSetting setting, NormGradOperands operands)
{
    const NormPlace place {setting.blocks};
    Tally tally;
    const auto count = static_cast<double>(place.size());
    for (std::int64_t block = blockInGrid(); block < setting.blocks.count;
         block += static_cast<std::int64_t>(gridDim.x)) {
        const double mean = setting.isCentred ? exact(operands.mean, block) : 0.0;
        const double rstd = exact(operands.rstd, block);
        double sum = 0;
        double product = 0;
        for (std::int64_t i = threadInBlock(); i < place.size(); i += threadsInBlock()) {
            const std::int64_t at = place.index(block, i);
            const double scaled = exact(operands.d, at) * exact(operands.gamma, place.channel(block, i));
            sum += setting.isCentred ? scaled : 0.0;
            product += scaled * ((exact(operands.x, at) - mean) * rstd);
        }
        sum = blockSum(sum);
        product = blockSum(product);
        for (std::int64_t i = threadInBlock(); i < place.size(); i += threadsInBlock()) {
            const std::int64_t at = place.index(block, i);
            const double normal = (exact(operands.x, at) - mean) * rstd;
            const double scaled = exact(operands.d, at) * exact(operands.gamma, place.channel(block, i));
            const double slope = rstd * (scaled - sum / count - normal * product / count);
            store(operands.dx, at, static_cast<float>(slope), tally);
        }
    }
    flush(operands.dx, tally);
}

/// A block per channel: dgamma and dbeta, over every row.
__global__ void __launch_bounds__(blockSize)
    normParameterGradKernel(NormSetting setting, NormGradOperands operands, std::int64_t rows)
{
    const std::int64_t channels = setting.blocks.channels;
    Tally gammaTally;
    Tally betaTally;
    for (std::int64_t channel = blockInGrid(); channel < channels; channel += static_cast<std::int64_t>(gridDim.x)) {
        double gamma = 0;
        double beta = 0;
        const std::int64_t group = channel / (channels / setting.blocks.groups);
        for (std::int64_t row = threadInBlock(); row < rows; row += threadsInBlock()) {
            const std::int64_t block = row / setting.blocks.spatial * setting.blocks.groups + group;
            const double mean = setting.isCentred ? exact(operands.mean, block) : 0.0;
            const double normal = (exact(operands.x, row * channels + channel) - mean) * exact(operands.rstd, block);
            const double d = exact(operands.d, row * channels + channel);
            gamma += d * normal;
            beta += d;
        }
        gamma = blockSum(gamma);
        beta = blockSum(beta);
        if (threadInBlock() == 0) {
            store(operands.dgamma, channel, static_cast<float>(gamma), gammaTally);
            if (operands.dbeta.data != nullptr) {
                store(operands.dbeta, channel, static_cast<float>(beta), betaTally);
            }
        }
    }
    flush(operands.dgamma, gammaTally);
    flush(operands.dbeta, betaTally);
}

/// A block per channel.
__global__ void __launch_bounds__(blockSize) batchNormKernel(BatchNormSetting setting, BatchNormOperands operands)
{
    const ChannelPlace place {setting.rows, setting.channels};
    Tally tally;
    Tally meanTally;
    Tally rstdTally;
    Tally runningTally;
    Tally varianceTally;
    for (std::int64_t channel = blockInGrid(); channel < setting.channels;
         channel += static_cast<std::int64_t>(gridDim.x)) {
        const float oldMean = load(operands.oldMean, channel);
        const float oldVar = load(operands.oldVar, channel);
        Moments moments {oldMean, oldVar, 1.0F / sqrtf(oldVar + setting.epsilon)};
        float newMean = oldMean;
        float newVar = oldVar;
        if (setting.training) {
            moments = momentsOf(place, channel, operands.x, setting.epsilon, setting.accumulate, true);
            const auto n = static_cast<float>(setting.rows);
            const float unbiased = moments.variance * n / (n - 1.0F);
            newMean = (1.0F - setting.momentum) * oldMean + setting.momentum * moments.mean;
            newVar = (1.0F - setting.momentum) * oldVar + setting.momentum * unbiased;
        }
        const float gamma = load(operands.gamma, channel);
        const float beta = load(operands.beta, channel);
        for (std::int64_t i = threadInBlock(); i < setting.rows; i += threadsInBlock()) {
            const std::int64_t at = place.index(channel, i);
            store(operands.y, at, normalised(load(operands.x, at), moments, gamma, beta), tally);
        }
        __syncthreads(); // the running statistics are updated in place
        if (threadInBlock() == 0) {
            store(operands.mean, channel, moments.mean, meanTally);
            store(operands.rstd, channel, moments.rstd, rstdTally);
            store(operands.newMean, channel, newMean, runningTally);
            store(operands.newVar, channel, newVar, varianceTally);
        }
    }
    flush(operands.y, tally);
    flush(operands.mean, meanTally);
    flush(operands.rstd, rstdTally);
    flush(operands.newMean, runningTally);
    flush(operands.newVar, varianceTally);
}

__global__ void __launch_bounds__(blockSize) batchNormGradKernel(BatchNormSetting setting, NormGradOperands operands)
{
    const ChannelPlace place {setting.rows, setting.channels};
    Tally tally;
    Tally gammaTally;
    Tally betaTally;
    const auto rows = static_cast<double>(setting.rows);
    for (std::int64_t channel = blockInGrid(); channel < setting.channels;
         channel += static_cast<std::int64_t>(gridDim.x)) {
        const double mean = exact(operands.mean, channel);
        const double rstd = exact(operands.rstd, channel);
        double sum = 0;
        double product = 0;
        for (std::int64_t i = threadInBlock(); i < setting.rows; i += threadsInBlock()) {
            const std::int64_t at = place.index(channel, i);
            const double d = exact(operands.d, at);
            sum += d;
            product += d * ((exact(operands.x, at) - mean) * rstd);
        }
        sum = blockSum(sum);
        product = blockSum(product);
        const double factor = exact(operands.gamma, channel) * rstd;
        for (std::int64_t i = threadInBlock(); i < setting.rows; i += threadsInBlock()) {
            const std::int64_t at = place.index(channel, i);
            const double normal = (exact(operands.x, at) - mean) * rstd;
            // In training, mean and rstd depend on x too.
            const double through = setting.training ? sum / rows + normal * product / rows : 0.0;
            store(operands.dx, at, static_cast<float>(factor * (exact(operands.d, at) - through)), tally);
        }
        if (threadInBlock() == 0) {
            store(operands.dgamma, channel, static_cast<float>(product), gammaTally);
            store(operands.dbeta, channel, static_cast<float>(sum), betaTally);
        }
    }
    flush(operands.dx, tally);
    flush(operands.dgamma, gammaTally);
    flush(operands.dbeta, betaTally);
}

std::int64_t blocksOf(std::int64_t count)
{
    constexpr std::int64_t most = 65536;
    return count < most ? count : most;
}

} // namespace

void runNorm(const NormSetting& setting, const NormOperands& operands, cudaStream_t stream)
{
    const std::int64_t size = setting.blocks.spatial * setting.blocks.channels / setting.blocks.groups;
    if (setting.blocks.count > 0) {
        launch(normKernel, blocksOf(setting.blocks.count), threadsFor(size), 0, stream, setting, operands);
    }
}

void runNormGrad(const NormSetting& setting, const NormGradOperands& operands, cudaStream_t stream)
{
    const std::int64_t size = setting.blocks.spatial * setting.blocks.channels / setting.blocks.groups;
    const std::int64_t rows = setting.blocks.count / setting.blocks.groups * setting.blocks.spatial;
    if (rows > 0) {
        launch(normInputGradKernel, blocksOf(setting.blocks.count), threadsFor(size), 0, stream, setting, operands);
        launch(normParameterGradKernel, blocksOf(setting.blocks.channels), threadsFor(rows), 0, stream, setting,
            operands, rows);
    }
}

void runBatchNorm(const BatchNormSetting& setting, const BatchNormOperands& operands, cudaStream_t stream)
{
    launch(batchNormKernel, blocksOf(setting.channels), threadsFor(setting.rows), 0, stream, setting, operands);
}

void runBatchNormGrad(const BatchNormSetting& setting, const NormGradOperands& operands, cudaStream_t stream)
{
    launch(batchNormGradKernel, blocksOf(setting.channels), threadsFor(setting.rows), 0, stream, setting, operands);
}

} // namespace mantissa::cuda
