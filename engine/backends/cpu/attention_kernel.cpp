// Scaled dot-product attention and its gradient. Each head of each batch is a handful of small FP32 products on
// oneDNN's sgemm, with the scores of a block of queries in the cache; half operands are expanded whole, results rounded
// whole.
#include "engine/backends/cpu/dnnl_call.h"
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/row_buffers.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

#include <array>
#include <cmath>

namespace mantissa::cpu {

namespace {

/// A matrix in row-major memory, or its transpose.
struct Matrix
{
    float* data;
    std::size_t stride; ///< between rows, as stored
    bool isTransposed = false;
};

/// y[m,n] = a[m,k] b[k,n], or y += with `adds`.
void multiply(
    const Matrix& y, const Matrix& a, const Matrix& b, std::size_t m, std::size_t n, std::size_t k, bool adds = false)
{
    const auto size = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    const dnnl_status_t status = dnnl_sgemm(a.isTransposed ? 'T' : 'N', b.isTransposed ? 'T' : 'N', size(m), size(n),
        size(k), 1.0F, a.data, size(a.stride), b.data, size(b.stride), adds ? 1.0F : 0.0F, y.data, size(y.stride));
    if (status != dnnl_success) {
        failDnnl("run a matrix product of attention", status);
    }
}

struct AttentionShape
{
    explicit AttentionShape(const KernelRequest& request)
    {
        const bool isGradient = request.op == Op::AttentionGrad;
        const std::size_t first = isGradient ? 2 : 0;
        const auto attributes = attributesOf<AttentionAttributes>(request.attributes);
        isPacked = request.inputs.size() == first + 1;
        const Shape& q = request.inputs[first].shape;
        const Shape& k = request.inputs[isPacked ? first : first + 1].shape;
        const auto at = [](const Shape& shape, std::size_t axis) { return static_cast<std::size_t>(shape[axis]); };
        batch = at(q, 0);
        queries = at(q, 1);
        keys = at(k, 1);
        stride = at(q, 2);
        channels = isPacked ? stride / 3 : stride;
        heads = static_cast<std::size_t>(attributes.heads);
        width = channels / heads;
        isCausal = attributes.causal;
        scale = attributes.scale != 0.0F ? attributes.scale
                                         : static_cast<float>(1.0 / std::sqrt(static_cast<double>(width)));
    }

    /// Where q (0), k (1) or v (2) of a head begins.
    [[nodiscard]] std::size_t offset(std::size_t which, std::size_t item, std::size_t head) const
    {
        const std::size_t rows = which == 0 ? queries : keys;
        return item * rows * stride + (isPacked ? which * channels : 0) + head * width;
    }

    /// The keys that any of the queries [0, end) sees.
    [[nodiscard]] std::size_t seenBefore(std::size_t end) const { return isCausal ? std::min(end, keys) : keys; }

    /// The keys that one query sees.
    [[nodiscard]] std::size_t seenBy(std::size_t query) const { return seenBefore(query + 1); }

    bool isPacked = false;
    std::size_t batch = 0;
    std::size_t queries = 0;
    std::size_t keys = 0;
    std::size_t stride = 0; ///< between rows of q, k and v
    std::size_t channels = 0;
    std::size_t heads = 0;
    std::size_t width = 0;
    bool isCausal = false;
    float scale = 1;
};

/// Queries whose scores are computed at once: their rows of scores stay in the second-level cache.
std::size_t queryBlock(const AttentionShape& shape)
{
    return std::clamp<std::size_t>(32768 / std::max<std::size_t>(shape.keys, 1), 16, 64);
}

/// q, k and v expanded to FP32 if they are half.
class ExpandedHeads
{
public:
    ExpandedHeads(const KernelRequest& request, std::size_t first, WorkspaceLayout& layout)
        : m_first(first)
        , m_count(request.inputs.size() - first)
    {
        for (std::size_t i = 0; i < m_count; ++i) {
            m_operands.at(i).plan(request.inputs[first + i], layout);
        }
    }

    void bind(const KernelBinding& binding)
    {
        for (std::size_t i = 0; i < 3; ++i) {
            const std::size_t operand = std::min(i, m_count - 1);
            m_data.at(i) = static_cast<float*>(m_operands.at(operand).bind(
                binding.inputs[m_first + operand], static_cast<std::byte*>(binding.workspace)));
        }
    }

    void prepare(int threads) const
    {
        for (std::size_t i = 0; i < m_count; ++i) {
            m_operands.at(i).prepare(threads);
        }
    }

    [[nodiscard]] float* data(std::size_t which) const { return m_data.at(which); }

private:
    std::size_t m_first;
    std::size_t m_count;
    std::array<Operand, 3> m_operands;
    std::array<float*, 3> m_data {};
};

/// Calls f(item, head) for every head, in parallel; products inside run on the one thread that calls them.
template <typename F> void forHeads(const AttentionShape& shape, int threads, F f)
{
    forParts(
        threads, shape.batch * shape.heads, shape.queries * shape.keys * 2, [&](std::size_t begin, std::size_t end) {
            const OmpThreads one(1);
            for (std::size_t i = begin; i < end; ++i) {
                f(i / shape.heads, i % shape.heads);
            }
        });
}

class AttentionKernel : public Kernel
{
public:
    explicit AttentionKernel(const KernelRequest& request)
        : m_shape(request)
        , m_threads(request.threads)
        , m_heads(request, 0, m_layout)
    {
        m_result.plan(request.outputs[0], m_layout);
        m_scores.plan(request.threads, 1, queryBlock(m_shape) * m_shape.keys, m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_heads.bind(binding);
        m_result.bind(binding, 0);
        m_logSumExp = static_cast<float*>(binding.outputs[1]);
        m_scores.bind(binding.workspace);
    }

    void run(Stream& /*stream*/) override
    {
        m_heads.prepare(m_threads);
        forHeads(m_shape, m_threads, [this](std::size_t item, std::size_t head) { attend(item, head); });
        m_result.finish(m_threads);
    }

private:
    void attend(std::size_t item, std::size_t head) const
    {
        const AttentionShape& s = m_shape;
        float* scores = m_scores.row(0);
        const std::size_t step = queryBlock(s);
        for (std::size_t begin = 0; begin < s.queries; begin += step) {
            const std::size_t rows = std::min(step, s.queries - begin);
            const std::size_t keys = s.seenBefore(begin + rows);
            const Matrix weights {scores, keys};
            multiply(weights, {m_heads.data(0) + s.offset(0, item, head) + begin * s.stride, s.stride},
                {m_heads.data(1) + s.offset(1, item, head), s.stride, true}, rows, keys, s.width);
            for (std::size_t i = 0; i < rows; ++i) {
                const std::size_t seen = s.seenBy(begin + i);
                float* row = scores + i * keys;
                const float max = m_simd.rowMax(row, seen) * s.scale;
                const double sum = m_simd.expRow(row, row, s.scale, max, seen);
                m_simd.scale(row, row, static_cast<float>(1.0 / sum), seen);
                std::fill(row + seen, row + keys, 0.0F);
                m_logSumExp[(item * s.heads + head) * s.queries + begin + i]
                    = static_cast<float>(double {max} + std::log(sum));
            }
            float* y = m_result.values + (item * s.queries + begin) * s.channels + head * s.width;
            multiply(
                {y, s.channels}, weights, {m_heads.data(2) + s.offset(2, item, head), s.stride}, rows, s.width, keys);
        }
    }

    const SimdKernels& m_simd = simdKernels();
    AttentionShape m_shape;
    int m_threads;
    WorkspaceLayout m_layout;
    ExpandedHeads m_heads;
    Result m_result;
    ThreadRows<float> m_scores;
    float* m_logSumExp = nullptr;
};

/// With weights p = exp(scale q k^T - logSumExp): dv = p^T d, slopes = p (d v^T - row sums of p d v^T) scale,
/// dq = slopes k, dk = slopes^T q.
class AttentionGradKernel : public Kernel
{
public:
    explicit AttentionGradKernel(const KernelRequest& request)
        : m_shape(request)
        , m_threads(request.threads)
        , m_heads(request, 2, m_layout)
        , m_resultCount(request.outputs.size())
    {
        m_d.plan(request.inputs[0], m_layout);
        for (std::size_t i = 0; i < m_resultCount; ++i) {
            m_results.at(i).plan(request.outputs[i], m_layout);
        }
        m_scores.plan(request.threads, 2, queryBlock(m_shape) * m_shape.keys, m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_heads.bind(binding);
        m_gradient = static_cast<float*>(m_d.bind(binding.inputs[0], static_cast<std::byte*>(binding.workspace)));
        m_logSumExp = static_cast<const float*>(binding.inputs[1]);
        for (std::size_t i = 0; i < m_resultCount; ++i) {
            m_results.at(i).bind(binding, i);
        }
        m_scores.bind(binding.workspace);
    }

    void run(Stream& /*stream*/) override
    {
        m_heads.prepare(m_threads);
        m_d.prepare(m_threads);
        forHeads(m_shape, m_threads, [this](std::size_t item, std::size_t head) { differentiate(item, head); });
        for (std::size_t i = 0; i < m_resultCount; ++i) {
            m_results.at(i).finish(m_threads);
        }
    }

private:
    [[nodiscard]] float* gradient(std::size_t which, std::size_t item, std::size_t head) const
    {
        return m_results.at(std::min(which, m_resultCount - 1)).values + m_shape.offset(which, item, head);
    }

    void differentiate(std::size_t item, std::size_t head) const
    {
        const AttentionShape& s = m_shape;
        const std::size_t step = queryBlock(s);
        float* const k = m_heads.data(1) + s.offset(1, item, head);
        float* const v = m_heads.data(2) + s.offset(2, item, head);
        clearKeys(item, head);
        for (std::size_t begin = 0; begin < s.queries; begin += step) {
            const std::size_t rows = std::min(step, s.queries - begin);
            const std::size_t keys = s.seenBefore(begin + rows);
            float* const q = m_heads.data(0) + s.offset(0, item, head) + begin * s.stride;
            float* const d = m_gradient + (item * s.queries + begin) * s.channels + head * s.width;
            const Matrix weights {m_scores.row(0), keys};
            const Matrix slopes {m_scores.row(1), keys};
            multiply(weights, {q, s.stride}, {k, s.stride, true}, rows, keys, s.width);
            multiply(slopes, {d, s.channels}, {v, s.stride, true}, rows, keys, s.width);
            for (std::size_t i = 0; i < rows; ++i) {
                const float logSumExp = m_logSumExp[(item * s.heads + head) * s.queries + begin + i];
                softenRow(weights.data + i * keys, slopes.data + i * keys, keys, s.seenBy(begin + i), logSumExp);
            }
            multiply({gradient(2, item, head), s.stride}, {weights.data, keys, true}, {d, s.channels}, keys, s.width,
                rows, true);
            multiply({gradient(1, item, head), s.stride}, {slopes.data, keys, true}, {q, s.stride}, keys, s.width, rows,
                true);
            multiply(
                {gradient(0, item, head) + begin * s.stride, s.stride}, slopes, {k, s.stride}, rows, s.width, keys);
        }
    }

    /// Scores become weights, and d v^T becomes the gradient of the scores.
    void softenRow(float* weights, float* slopes, std::size_t keys, std::size_t seen, float logSumExp) const
    {
        m_simd.expRow(weights, weights, m_shape.scale, logSumExp, seen);
        LaneSums sum;
        m_simd.dotRow(&sum, weights, slopes, seen);
        m_simd.softmaxGradRow(slopes, weights, slopes, total(sum), double {m_shape.scale}, seen);
        std::fill(weights + seen, weights + keys, 0.0F);
        std::fill(slopes + seen, slopes + keys, 0.0F);
    }

    /// Every block of queries adds to the gradients of the keys and values that it sees.
    void clearKeys(std::size_t item, std::size_t head) const
    {
        for (std::size_t key = 0; key < m_shape.keys; ++key) {
            std::fill_n(gradient(1, item, head) + key * m_shape.stride, m_shape.width, 0.0F);
            std::fill_n(gradient(2, item, head) + key * m_shape.stride, m_shape.width, 0.0F);
        }
    }

    const SimdKernels& m_simd = simdKernels();
    AttentionShape m_shape;
    int m_threads;
    WorkspaceLayout m_layout;
    ExpandedHeads m_heads;
    std::size_t m_resultCount;
    Operand m_d;
    std::array<Result, 3> m_results;
    ThreadRows<float> m_scores;
    float* m_gradient = nullptr;
    const float* m_logSumExp = nullptr;
};

void requireHeads(const KernelRequest& request, const TensorType& y, std::size_t first)
{
    const Shape& q = request.inputs[first].shape;
    const std::int64_t heads = attributesOf<AttentionAttributes>(request.attributes).heads;
    const std::int64_t packing = request.inputs.size() == first + 1 ? 3 : 1;
    if (q.rank() != 3 || q.elements() == 0 || heads < 1 || q[2] % (packing * heads) != 0) {
        refuse(request, "q [b, t, c] of whole heads");
    }
    for (std::size_t i = first; i < request.inputs.size(); ++i) {
        requireFloating(request, request.inputs[i]);
        const Shape& shape = request.inputs[i].shape;
        const bool fits = shape.rank() == 3 && shape[0] == q[0] && shape[2] == q[2] && shape[1] > 0
            && (i == first || shape == request.inputs[first + 1].shape);
        if (!fits) {
            refuse(request, "q, k and v of equal batches and channels");
        }
    }
    requireFloating(request, y);
    requireElements(request, y, q.elements() / packing);
}

} // namespace

std::unique_ptr<Kernel> makeAttention(const KernelRequest& request)
{
    requireArity(request, request.inputs.size() == 1 ? 1 : 3, 2);
    requireHeads(request, request.outputs[0], 0);
    requireDType(request, request.outputs[1], DType::Float32);
    const std::int64_t heads = attributesOf<AttentionAttributes>(request.attributes).heads;
    requireElements(request, request.outputs[1], request.inputs[0].shape[0] * request.inputs[0].shape[1] * heads);
    return std::make_unique<AttentionKernel>(request);
}

std::unique_ptr<Kernel> makeAttentionGrad(const KernelRequest& request)
{
    const bool isPacked = request.inputs.size() == 3;
    requireArity(request, isPacked ? 3 : 5, isPacked ? 1 : 3);
    requireHeads(request, request.inputs[0], 2);
    requireDType(request, request.inputs[1], DType::Float32);
    const std::int64_t heads = attributesOf<AttentionAttributes>(request.attributes).heads;
    requireElements(request, request.inputs[1], request.inputs[2].shape[0] * request.inputs[2].shape[1] * heads);
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
        requireFloating(request, request.outputs[i]);
        requireElements(request, request.outputs[i], request.inputs[2 + i].shape.elements());
    }
    return std::make_unique<AttentionGradKernel>(request);
}

} // namespace mantissa::cpu
