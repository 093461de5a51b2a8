// Mean losses and their gradients. A loss is added up by blocks into partial sums, and these in order by one block.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

/// Behind the partial sums and counts in the workspace.
float* rowLossesIn(void* workspace)
{
    return reinterpret_cast<float*>(static_cast<unsigned char*>(workspace) + lossWorkspace);
}

struct Partials
{
    double* sums;
    double* counts;
};

Partials partialsIn(void* workspace)
{
    auto* const sums = static_cast<double*>(workspace);
    return {sums, sums + lossPartials};
}

template <typename Terms>
__global__ void __launch_bounds__(blockSize) sumTermsKernel(Terms terms, std::int64_t n, Partials partials)
{
    double sum = 0;
    double count = 0;
    for (std::int64_t i = threadInGrid(); i < n; i += threadsInGrid()) {
        if (terms.counts(i)) {
            sum += static_cast<double>(terms(i));
            count += 1;
        }
    }
    sum = blockSum(sum);
    count = blockSum(count);
    if (threadInBlock() == 0) {
        partials.sums[blockInGrid()] = sum;
        partials.counts[blockInGrid()] = count;
    }
}

__global__ void __launch_bounds__(blockSize) meanOfPartialsKernel(Partials partials, std::int64_t blocks, Out y)
{
    Tally tally;
    double sum = 0;
    double count = 0;
    for (std::int64_t i = threadInBlock(); i < blocks; i += threadsInBlock()) {
        sum += partials.sums[i];
        count += partials.counts[i];
    }
    sum = blockSum(sum);
    count = blockSum(count);
    if (threadInBlock() == 0) {
        store(y, 0, static_cast<float>(sum / count), tally);
    }
    flush(y, tally);
}

template <typename Terms>
void meanOf(const Terms& terms, std::int64_t n, const Out& y, void* workspace, cudaStream_t stream)
{
    const std::int64_t wanted = blocksFor(n);
    const std::int64_t blocks = wanted < lossPartials ? wanted : lossPartials;
    launch(sumTermsKernel<Terms>, blocks, blockSize, 0, stream, terms, n, partialsIn(workspace));
    launch(meanOfPartialsKernel, 1, blockSize, 0, stream, partialsIn(workspace), blocks, y);
}

struct ElementTerms
{
    ElementLoss loss;
    In prediction;
    In target;

    __device__ bool counts(std::int64_t /*i*/) const { return true; }

    __device__ float operator()(std::int64_t i) const
    {
        const float x = load(prediction, i);
        const float t = load(target, i);
        if (loss == ElementLoss::Mse) {
            return (x - t) * (x - t);
        }
        // -t log(s(x)) - (1-t) log(1-s(x)), s the logistic function, written so that no exp() overflows.
        return (x < 0.0F ? 0.0F : x) - x * t + log1pf(expf(-fabsf(x)));
    }
};

struct ElementLossGrad
{
    ElementLoss loss;
    In d;
    In prediction;
    In target;
    float n;

    __device__ float operator()(std::int64_t i) const
    {
        const float x = load(prediction, i);
        const float t = load(target, i);
        const float slope = loss == ElementLoss::Mse ? 2.0F * (x - t) : 1.0F / (1.0F + expf(-x)) - t;
        return slope * load(d, 0) / n;
    }
};

/// A label that is no class would read another row's memory: its loss is NaN.
__device__ bool isClass(const LabelSetting& setting, std::int32_t label)
{
    return label >= 0 && label < setting.classes;
}

/// A block per row: the log-probabilities, and the row's loss.
__global__ void __launch_bounds__(blockSize) crossEntropyKernel(
    LabelSetting setting, In logits, const std::int32_t* labels, Out logProbabilities, float* rowLosses)
{
    Tally tally;
    const std::int64_t n = setting.classes;
    for (std::int64_t row = blockInGrid(); row < setting.rows; row += static_cast<std::int64_t>(gridDim.x)) {
        float largest = -INFINITY;
        for (std::int64_t i = threadInBlock(); i < n; i += threadsInBlock()) {
            largest = largerOrNan(largest, load(logits, row * n + i));
        }
        largest = blockMax(largest);
        float sum = 0.0F;
        for (std::int64_t i = threadInBlock(); i < n; i += threadsInBlock()) {
            sum += expf(load(logits, row * n + i) - largest);
        }
        const float logSum = logf(blockSum(sum));
        float total = 0.0F;
        for (std::int64_t i = threadInBlock(); i < n; i += threadsInBlock()) {
            const float logProbability = load(logits, row * n + i) - largest - logSum;
            store(logProbabilities, row * n + i, logProbability, tally);
            total += logProbability;
        }
        total = blockSum(total);
        if (threadInBlock() == 0) {
            const std::int32_t label = labels[row];
            const float ofLabel = isClass(setting, label) ? load(logits, row * n + label) - largest - logSum : NAN;
            // Without smoothing the mean over the classes is left out: 0 times an infinity would be NaN.
            const float ofAll = setting.smoothing == 0.0F ? 0.0F : setting.smoothing * total / static_cast<float>(n);
            rowLosses[row] = -(1.0F - setting.smoothing) * ofLabel - ofAll;
        }
    }
    flush(logProbabilities, tally);
}

struct RowTerms
{
    const float* rowLosses;
    const std::int32_t* labels;
    std::int32_t ignoreIndex;

    __device__ bool counts(std::int64_t i) const { return labels[i] != ignoreIndex; }

    __device__ float operator()(std::int64_t i) const { return rowLosses[i]; }
};

struct NllTerms
{
    LabelSetting setting;
    In logProbabilities;
    const std::int32_t* labels;

    __device__ bool counts(std::int64_t i) const { return labels[i] != setting.ignoreIndex; }

    __device__ float operator()(std::int64_t row) const
    {
        const std::int64_t n = setting.classes;
        const std::int32_t label = labels[row];
        float loss
            = isClass(setting, label) ? -(1.0F - setting.smoothing) * load(logProbabilities, row * n + label) : NAN;
        for (std::int64_t i = 0; i < n && setting.smoothing != 0.0F; ++i) {
            loss -= setting.smoothing / static_cast<float>(n) * load(logProbabilities, row * n + i);
        }
        return loss;
    }
};

/// One block: how many rows count in the mean.
__global__ void __launch_bounds__(blockSize)
    countRowsKernel(const std::int32_t* labels, std::int64_t rows, std::int32_t ignoreIndex, float* count)
{
    double counted = 0;
    for (std::int64_t i = threadInBlock(); i < rows; i += threadsInBlock()) {
        counted += labels[i] == ignoreIndex ? 0 : 1;
    }
    counted = blockSum(counted);
    if (threadInBlock() == 0) {
        *count = static_cast<float>(counted);
    }
}

/// The gradient by the log-probabilities, or through the softmax by the logits.
struct LabelGrad
{
    LabelSetting setting;
    In d;
    In logProbabilities; ///< without data: NLL
    const std::int32_t* labels;
    const float* countedRows;

    __device__ float operator()(std::int64_t i) const
    {
        const std::int32_t label = labels[i / setting.classes];
        if (label == setting.ignoreIndex) {
            return 0.0F;
        }
        const bool isLabel = i % setting.classes == label;
        const float target
            = setting.smoothing / static_cast<float>(setting.classes) + (isLabel ? 1.0F - setting.smoothing : 0.0F);
        if (logProbabilities.data == nullptr && target == 0.0F) {
            return 0.0F;
        }
        const float probability = logProbabilities.data == nullptr ? 0.0F : expf(load(logProbabilities, i));
        return (probability - target) * load(d, 0) / *countedRows;
    }
};

void runLabelGrad(const LabelSetting& setting, const In& d, const In& logProbabilities, const std::int32_t* labels,
    const Out& y, void* workspace, cudaStream_t stream)
{
    auto* const count = static_cast<float*>(workspace);
    launch(countRowsKernel, 1, blockSize, 0, stream, labels, setting.rows, setting.ignoreIndex, count);
    elementwise(LabelGrad {setting, d, logProbabilities, labels, count}, y, setting.rows * setting.classes, stream);
}

} // namespace

void runElementLoss(ElementLoss loss, const In& prediction, const In& target, const Out& y, std::int64_t n,
    void* workspace, cudaStream_t stream)
{
    meanOf(ElementTerms {loss, prediction, target}, n, y, workspace, stream);
}

void runElementLossGrad(ElementLoss loss, const In& d, const In& prediction, const In& target, const Out& y,
    std::int64_t n, cudaStream_t stream)
{
    elementwise(ElementLossGrad {loss, d, prediction, target, static_cast<float>(n)}, y, n, stream);
}

void runCrossEntropy(const LabelSetting& setting, const In& logits, const std::int32_t* labels, const Out& loss,
    const Out& logProbabilities, void* workspace, cudaStream_t stream)
{
    constexpr std::int64_t mostBlocks = 65536;
    const std::int64_t blocks = setting.rows < mostBlocks ? setting.rows : mostBlocks;
    float* const rowLosses = rowLossesIn(workspace);
    launch(crossEntropyKernel, blocks, threadsFor(setting.classes), 0, stream, setting, logits, labels,
        logProbabilities, rowLosses);
    meanOf(RowTerms {rowLosses, labels, setting.ignoreIndex}, setting.rows, loss, workspace, stream);
}

void runCrossEntropyGrad(const LabelSetting& setting, const In& d, const In& logProbabilities,
    const std::int32_t* labels, const Out& y, void* workspace, cudaStream_t stream)
{
    runLabelGrad(setting, d, logProbabilities, labels, y, workspace, stream);
}

void runNll(const LabelSetting& setting, const In& logProbabilities, const std::int32_t* labels, const Out& loss,
    void* workspace, cudaStream_t stream)
{
    meanOf(NllTerms {setting, logProbabilities, labels}, setting.rows, loss, workspace, stream);
}

void runNllGrad(const LabelSetting& setting, const In& d, const std::int32_t* labels, const Out& y, void* workspace,
    cudaStream_t stream)
{
    runLabelGrad(setting, d, In {nullptr, Format::Float32}, labels, y, workspace, stream);
}

} // namespace mantissa::cuda
