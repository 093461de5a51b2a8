// Sums and means over neighbouring axes, and repetition along new ones. A tensor is [outer, count, inner] with the sum
// over the middle.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/row_buffers.h"
#include "engine/backends/cpu/simd/simd_kernels.h"
#include "engine/backends/cpu/storage_moments.h"

namespace mantissa::cpu {

namespace {

/// The product of the dimensions [begin, end).
std::size_t product(const Shape& shape, std::size_t begin, std::size_t end)
{
    std::size_t n = 1;
    for (std::size_t i = begin; i < end; ++i) {
        n *= static_cast<std::size_t>(shape[i]);
    }
    return n;
}

struct Extent
{
    std::size_t outer;
    std::size_t count;
    std::size_t inner;
};

Extent extentOf(const KernelRequest& request)
{
    const Shape& x = request.inputs[0].shape;
    const auto attributes = attributesOf<ReduceAttributes>(request.attributes);
    const bool isPool = request.op == Op::GlobalAvgPool;
    const std::int64_t first = isPool ? 1 : attributes.firstAxis;
    const auto rank = static_cast<std::int64_t>(x.rank());
    const std::int64_t axes = isPool ? 2 : attributes.axes < 0 ? rank - first : attributes.axes;
    if (first < 0 || axes < 0 || first + axes > rank || x.elements() == 0) {
        refuse(request, "axes to reduce, with elements");
    }
    const auto begin = static_cast<std::size_t>(first);
    const auto end = static_cast<std::size_t>(first + axes);
    return {product(x, 0, begin), product(x, begin, end), product(x, end, x.rank())};
}

class ReduceKernel : public Kernel
{
public:
    explicit ReduceKernel(const KernelRequest& request)
        : m_accumulate(attributesOf<ReduceAttributes>(request.attributes).accumulate)
        , m_isMean(request.op != Op::Sum)
        , m_threads(request.threads)
        , m_extent(extentOf(request))
    {
        m_x.dtype = request.inputs[0].dtype;
        m_result.plan(request.outputs[0], m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_x.data = binding.inputs[0];
        m_result.bind(binding, 0);
    }

    void run(Stream& /*stream*/) override
    {
        const std::size_t outerWork = m_extent.count * m_extent.inner;
        if (isHalf(m_accumulate)) {
            forParts(m_threads, m_extent.outer * m_extent.inner, m_extent.count,
                [this](std::size_t begin, std::size_t end) { reduceNarrow(begin, end); });
        } else if (m_extent.inner == 1) {
            forParts(m_threads, m_extent.outer, outerWork,
                [this](std::size_t begin, std::size_t end) { reduceRows(begin, end); });
        } else {
            forParts(m_threads, m_extent.outer, outerWork,
                [this](std::size_t begin, std::size_t end) { reduceColumns(begin, end); });
        }
        m_result.finish(m_threads);
    }

private:
    [[nodiscard]] double divisor() const { return m_isMean ? static_cast<double>(m_extent.count) : 1.0; }

    void reduceRows(std::size_t begin, std::size_t end) const
    {
        Block in;
        for (std::size_t outer = begin; outer < end; ++outer) {
            LaneSums sums;
            forBlocks(m_extent.count, [&](std::size_t i, std::size_t n) {
                m_simd.sumRow(&sums, m_x.read(outer * m_extent.count + i, n, in.values), n);
            });
            m_result.values[outer] = static_cast<float>(total(sums) / divisor());
        }
    }

    void reduceColumns(std::size_t begin, std::size_t end) const
    {
        Block in;
        std::array<double, blockElements> sums;
        for (std::size_t outer = begin; outer < end; ++outer) {
            forBlocks(m_extent.inner, [&](std::size_t column, std::size_t n) {
                std::fill_n(sums.data(), n, 0.0);
                for (std::size_t i = 0; i < m_extent.count; ++i) {
                    const std::size_t offset = (outer * m_extent.count + i) * m_extent.inner + column;
                    m_simd.addToSums(sums.data(), m_x.read(offset, n, in.values), n);
                }
                float* y = m_result.values + outer * m_extent.inner + column;
                std::transform(sums.data(), sums.data() + n, y,
                    [this](double sum) { return static_cast<float>(sum / divisor()); });
            });
        }
    }

    /// Results [begin, end), each partial sum rounded.
    void reduceNarrow(std::size_t begin, std::size_t end) const
    {
        Block value;
        forBlocks(end - begin, [&](std::size_t first, std::size_t n) {
            float* sums = m_result.values + begin + first;
            std::fill_n(sums, n, 0.0F);
            for (std::size_t i = 0; i < m_extent.count; ++i) {
                for (std::size_t lane = 0; lane < n; ++lane) {
                    const std::size_t result = begin + first + lane;
                    float scratch = 0.0F;
                    value.values[lane] = *m_x.read(
                        (result / m_extent.inner * m_extent.count + i) * m_extent.inner + result % m_extent.inner, 1,
                        &scratch);
                }
                roundThrough(m_accumulate, value.values, n);
                m_simd.add(sums, sums, value.values, n);
                roundThrough(m_accumulate, sums, n);
            }
            for (std::size_t lane = 0; m_isMean && lane < n; ++lane) {
                sums[lane] = roundedThrough(m_accumulate, double {sums[lane]} / divisor());
            }
        });
    }

    const SimdKernels& m_simd = simdKernels();
    DType m_accumulate;
    bool m_isMean;
    int m_threads;
    Extent m_extent;
    WorkspaceLayout m_layout;
    Source m_x;
    Result m_result;
};

/// y[o, copy, i] = x[o, i] / divisor
class ExpandKernel : public Kernel
{
public:
    explicit ExpandKernel(const KernelRequest& request)
        : m_threads(request.threads)
    {
        const auto attributes = attributesOf<ExpandAttributes>(request.attributes);
        const Shape& x = request.inputs[0].shape;
        const auto axis = static_cast<std::size_t>(attributes.firstAxis);
        m_outer = product(x, 0, axis);
        m_inner = product(x, axis, x.rank());
        m_copies = static_cast<std::size_t>(attributes.sizes.elements());
        m_divisor = static_cast<double>(attributes.divisor);
        m_x.dtype = request.inputs[0].dtype;
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_x.data = binding.inputs[0];
        m_y.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        forPartsOf(
            m_y, m_threads, m_outer, m_copies * m_inner, [this](std::size_t begin, std::size_t end, const Target& y) {
                for (std::size_t outer = begin; outer < end; ++outer) {
                    if (m_inner == 1) {
                        repeatOne(outer, y);
                    } else {
                        repeatRow(outer, y);
                    }
                }
            });
    }

private:
    /// n divided values from `offset` of x on.
    void divided(std::size_t offset, std::size_t n, float* values) const
    {
        const float* x = m_x.read(offset, n, values);
        std::transform(
            x, x + n, values, [this](float value) { return static_cast<float>(double {value} / m_divisor); });
    }

    void repeatOne(std::size_t outer, const Target& y) const
    {
        Block value;
        divided(outer, 1, value.values);
        std::fill_n(value.values, std::min(m_copies, blockElements), value.values[0]);
        forBlocks(
            m_copies, [&](std::size_t copy, std::size_t n) { write(y, outer * m_copies + copy, n, value.values); });
    }

    void repeatRow(std::size_t outer, const Target& y) const
    {
        Block values;
        forBlocks(m_inner, [&](std::size_t column, std::size_t n) {
            divided(outer * m_inner + column, n, values.values);
            for (std::size_t copy = 0; copy < m_copies; ++copy) {
                write(y, (outer * m_copies + copy) * m_inner + column, n, values.values);
            }
        });
    }

    static void write(const Target& y, std::size_t offset, std::size_t n, const float* values)
    {
        if (y.dtype == DType::Float32) {
            std::copy_n(values, n, static_cast<float*>(y.data) + offset);
        } else {
            y.finish(offset, n, values);
        }
    }

    int m_threads;
    std::size_t m_outer = 1;
    std::size_t m_copies = 1;
    std::size_t m_inner = 1;
    double m_divisor = 1.0;
    Source m_x;
    Target m_y;
};

} // namespace

std::unique_ptr<Kernel> makeReduce(const KernelRequest& request)
{
    requireArity(request, 1, 1);
    requireFloating(request, request.inputs[0]);
    requireFloating(request, request.outputs[0]);
    const Extent extent = extentOf(request);
    requireElements(request, request.outputs[0], static_cast<std::int64_t>(extent.outer * extent.inner));
    return std::make_unique<ReduceKernel>(request);
}

std::unique_ptr<Kernel> makeExpand(const KernelRequest& request)
{
    requireArity(request, 1, 1);
    requireFloating(request, request.inputs[0]);
    requireFloating(request, request.outputs[0]);
    const auto attributes = attributesOf<ExpandAttributes>(request.attributes);
    if (attributes.firstAxis < 0 || attributes.firstAxis > static_cast<std::int64_t>(request.inputs[0].shape.rank())
        || attributes.divisor < 1) {
        refuse(request, "new axes next to existing ones");
    }
    requireElements(request, request.outputs[0], request.inputs[0].shape.elements() * attributes.sizes.elements());
    return std::make_unique<ExpandKernel>(request);
}

} // namespace mantissa::cpu
