// Scaled dot-product attention and its gradient, in FP32 with one rounding at the end. A block takes a query of a
// head (for dk and dv: a key) and keeps its scores in shared memory.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"

namespace mantissa::cuda {

namespace {

/// One head of one batch.
struct Head
{
    AttentionSetting setting;
    std::int64_t batch;
    std::int64_t head;

    __device__ std::int64_t visibleKeys(std::int64_t query) const
    {
        return setting.causal && query + 1 < setting.keys ? query + 1 : setting.keys;
    }

    __device__ std::int64_t firstQuery(std::int64_t key) const { return setting.causal ? key : 0; }

    __device__ std::int64_t rows(int which) const { return which == 0 ? setting.queries : setting.keys; }

    /// Index of a channel of q (0), k (1) or v (2).
    __device__ std::int64_t index(const Strided& operand, int which, std::int64_t row, std::int64_t channel) const
    {
        return (batch * rows(which) + row) * operand.stride + operand.offset + head * setting.width + channel;
    }

    __device__ float value(const Strided& operand, int which, std::int64_t row, std::int64_t channel) const
    {
        return load(In {operand.data, setting.format}, index(operand, which, row, channel));
    }

    /// Index in a tensor [b, t, channels].
    __device__ std::int64_t plain(std::int64_t query, std::int64_t channel) const
    {
        return ((batch * setting.queries + query) * setting.heads + head) * setting.width + channel;
    }

    __device__ std::int64_t statistic(std::int64_t query) const
    {
        return (batch * setting.heads + head) * setting.queries + query;
    }

    __device__ float score(const Strided& q, const Strided& k, std::int64_t query, std::int64_t key) const
    {
        float sum = 0.0F;
        for (std::int64_t c = 0; c < setting.width; ++c) {
            sum += value(q, 0, query, c) * value(k, 1, key, c);
        }
        return sum * setting.scale;
    }
};

__device__ Head headOf(const AttentionSetting& setting, std::int64_t rowsPerHead)
{
    const std::int64_t headIndex = blockInGrid() / rowsPerHead;
    return {setting, headIndex / setting.heads, headIndex % setting.heads};
}

__global__ void __launch_bounds__(blockSize)
    attentionKernel(AttentionSetting setting, Strided q, Strided k, Strided v, Out y, Out logSumExp)
{
    DYNAMIC_SHARED(float, scores);
    Tally tally;
    Tally unused;
    const std::int64_t query = blockInGrid() % setting.queries;
    const Head head = headOf(setting, setting.queries);
    const std::int64_t keys = head.visibleKeys(query);
    float largest = -INFINITY;
    for (std::int64_t key = threadInBlock(); key < keys; key += threadsInBlock()) {
        scores[key] = head.score(q, k, query, key);
        largest = largerOrNan(largest, scores[key]);
    }
    largest = blockMax(largest);
    float sum = 0.0F;
    for (std::int64_t key = threadInBlock(); key < keys; key += threadsInBlock()) {
        scores[key] = expf(scores[key] - largest);
        sum += scores[key];
    }
    sum = blockSum(sum);
    for (std::int64_t c = threadInBlock(); c < setting.width; c += threadsInBlock()) {
        float mix = 0.0F;
        for (std::int64_t key = 0; key < keys; ++key) {
            mix += scores[key] / sum * head.value(v, 2, key, c);
        }
        store(y, head.plain(query, c), mix, tally);
    }
    if (threadInBlock() == 0) {
        store(logSumExp, head.statistic(query), largest + logf(sum), unused);
    }
    flush(y, tally);
}

/// What both gradients need of a query and a key.
struct Slopes
{
    float probability;
    float ofProbability;
};

struct GradientOperands
{
    In d;
    In logSumExp;
    Strided q;
    Strided k;
    Strided v;
};

__device__ Slopes slopesOf(const GradientOperands& operands, const Head& head, std::int64_t query, std::int64_t key)
{
    const float score = head.score(operands.q, operands.k, query, key);
    float slope = 0.0F;
    for (std::int64_t c = 0; c < head.setting.width; ++c) {
        slope += load(operands.d, head.plain(query, c)) * head.value(operands.v, 2, key, c);
    }
    return {expf(score - load(operands.logSumExp, head.statistic(query))), slope};
}

/// dq, and the mean slope of each query's probabilities; a block per query.
__global__ void __launch_bounds__(blockSize)
    queryGradKernel(AttentionSetting setting, GradientOperands operands, float* means, Strided place, Out dq)
{
    DYNAMIC_SHARED(float, scores);
    float* const slopes = scores + setting.keys;
    Tally tally;
    const std::int64_t query = blockInGrid() % setting.queries;
    const Head head = headOf(setting, setting.queries);
    const std::int64_t keys = head.visibleKeys(query);
    float mean = 0.0F;
    for (std::int64_t key = threadInBlock(); key < keys; key += threadsInBlock()) {
        const Slopes found = slopesOf(operands, head, query, key);
        scores[key] = found.probability;
        slopes[key] = found.ofProbability;
        mean += found.probability * found.ofProbability;
    }
    mean = blockSum(mean);
    if (threadInBlock() == 0) {
        means[head.statistic(query)] = mean;
    }
    for (std::int64_t key = threadInBlock(); key < keys; key += threadsInBlock()) {
        scores[key] = scores[key] * (slopes[key] - mean) * setting.scale;
    }
    __syncthreads();
    for (std::int64_t c = threadInBlock(); c < setting.width; c += threadsInBlock()) {
        float sum = 0.0F;
        for (std::int64_t key = 0; key < keys; ++key) {
            sum += scores[key] * head.value(operands.k, 1, key, c);
        }
        store(dq, head.index(place, 0, query, c), sum, tally);
    }
    flush(dq, tally);
}

/// dk and dv; a block per key.
__global__ void __launch_bounds__(blockSize) keyGradKernel(AttentionSetting setting, GradientOperands operands,
    const float* means, Strided kPlace, Strided vPlace, Out dk, Out dv)
{
    DYNAMIC_SHARED(float, scores);
    float* const probabilities = scores + setting.queries;
    Tally keyTally;
    Tally valueTally;
    const std::int64_t key = blockInGrid() % setting.keys;
    const Head head = headOf(setting, setting.keys);
    const std::int64_t first = head.firstQuery(key);
    for (std::int64_t query = first + threadInBlock(); query < setting.queries; query += threadsInBlock()) {
        const Slopes found = slopesOf(operands, head, query, key);
        const float mean = means[head.statistic(query)];
        probabilities[query] = found.probability;
        scores[query] = found.probability * (found.ofProbability - mean) * setting.scale;
    }
    __syncthreads();
    for (std::int64_t c = threadInBlock(); c < setting.width; c += threadsInBlock()) {
        float ofKey = 0.0F;
        float ofValue = 0.0F;
        for (std::int64_t query = first; query < setting.queries; ++query) {
            ofKey += scores[query] * head.value(operands.q, 0, query, c);
            ofValue += probabilities[query] * load(operands.d, head.plain(query, c));
        }
        store(dk, head.index(kPlace, 1, key, c), ofKey, keyTally);
        store(dv, head.index(vPlace, 2, key, c), ofValue, valueTally);
    }
    flush(dk, keyTally);
    flush(dv, valueTally);
}

} // namespace

void runAttention(
    const AttentionSetting& setting, const Strided (&qkv)[3], const Out& y, const Out& logSumExp, cudaStream_t stream)
{
    const std::int64_t blocks = setting.batches * setting.heads * setting.queries;
    const auto bytes = static_cast<std::size_t>(setting.keys) * sizeof(float);
    if (blocks > 0) {
        launch(attentionKernel, blocks, threadsFor(setting.keys), bytes, stream, setting, qkv[0], qkv[1], qkv[2], y,
            logSumExp);
    }
}

void runAttentionGrad(const AttentionSetting& setting, const In& d, const In& logSumExp, const Strided (&qkv)[3],
    const Strided (&places)[3], const Out (&gradients)[3], float* workspace, cudaStream_t stream)
{
    const GradientOperands operands {d, logSumExp, qkv[0], qkv[1], qkv[2]};
    const std::int64_t queries = setting.batches * setting.heads * setting.queries;
    const std::int64_t keys = setting.batches * setting.heads * setting.keys;
    if (queries == 0 || keys == 0) {
        return;
    }
    const auto queryBytes = static_cast<std::size_t>(setting.keys) * 2 * sizeof(float);
    const auto keyBytes = static_cast<std::size_t>(setting.queries) * 2 * sizeof(float);
    launch(queryGradKernel, queries, threadsFor(setting.keys), queryBytes, stream, setting, operands, workspace,
        places[0], gradients[0]);
    launch(keyGradKernel, keys, threadsFor(setting.queries), keyBytes, stream, setting, operands, workspace, places[1],
        places[2], gradients[1], gradients[2]);
}

} // namespace mantissa::cuda
