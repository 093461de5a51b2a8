// Rows of a table by index, and the sum of their gradients in the order of the indices.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/simd/simd_kernels.h"
#include "engine/backends/cpu/workspace.h"

#include <cstring>
#include <limits>

namespace mantissa::cpu {

namespace {

/// Copies bits where the dtypes agree; an index outside the table gives a row of NaN, so that it is seen.
class EmbeddingKernel : public Kernel
{
public:
    explicit EmbeddingKernel(const KernelRequest& request)
        : m_threads(request.threads)
        , m_rows(static_cast<std::size_t>(request.inputs[0].shape[0]))
        , m_columns(static_cast<std::size_t>(request.inputs[0].shape[1]))
        , m_count(elementsOf(request.inputs[1]))
    {
        m_table.dtype = request.inputs[0].dtype;
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_table.data = binding.inputs[0];
        m_indices = static_cast<const std::int32_t*>(binding.inputs[1]);
        m_y.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        forPartsOf(m_y, m_threads, m_count, m_columns, [this](std::size_t begin, std::size_t end, const Target& y) {
            Block in;
            Block out;
            for (std::size_t i = begin; i < end; ++i) {
                const auto index = static_cast<std::size_t>(m_indices[i]); // a negative one becomes huge
                forBlocks(m_columns, [&](std::size_t column, std::size_t n) {
                    float* place = y.place(i * m_columns + column, out.values);
                    if (index < m_rows) {
                        std::memcpy(place, m_table.read(index * m_columns + column, n, in.values), n * sizeof(float));
                    } else {
                        std::fill_n(place, n, std::numeric_limits<float>::quiet_NaN());
                    }
                    y.finish(i * m_columns + column, n, out.values);
                });
            }
        });
    }

private:
    int m_threads;
    std::size_t m_rows;
    std::size_t m_columns;
    std::size_t m_count;
    Source m_table;
    const std::int32_t* m_indices = nullptr;
    Target m_y;
};

/// Each thread adds up some of the columns, so that the order of a row's terms is that of the indices.
class EmbeddingGradKernel : public Kernel
{
public:
    explicit EmbeddingGradKernel(const KernelRequest& request)
        : m_threads(request.threads)
        , m_rows(static_cast<std::size_t>(request.outputs[0].shape[0]))
        , m_columns(static_cast<std::size_t>(request.outputs[0].shape[1]))
        , m_count(elementsOf(request.inputs[1]))
    {
        m_d.dtype = request.inputs[0].dtype;
        m_result.plan(request.outputs[0], m_layout);
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_layout.bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_d.data = binding.inputs[0];
        m_indices = static_cast<const std::int32_t*>(binding.inputs[1]);
        m_result.bind(binding, 0);
    }

    void run(Stream& /*stream*/) override
    {
        std::fill_n(m_result.values, m_rows * m_columns, 0.0F);
        forParts(m_threads, m_columns, m_count, [this](std::size_t begin, std::size_t end) {
            Block in;
            for (std::size_t i = 0; i < m_count; ++i) {
                const auto row = static_cast<std::size_t>(m_indices[i]);
                if (row >= m_rows) {
                    continue;
                }
                forBlocks(end - begin, [&](std::size_t column, std::size_t n) {
                    float* sum = m_result.values + row * m_columns + begin + column;
                    m_add(sum, sum, m_d.read(i * m_columns + begin + column, n, in.values), n);
                });
            }
        });
        m_result.finish(m_threads);
    }

private:
    decltype(SimdKernels::add) m_add = simdKernels().add;
    int m_threads;
    std::size_t m_rows;
    std::size_t m_columns;
    std::size_t m_count;
    Source m_d;
    const std::int32_t* m_indices = nullptr;
    WorkspaceLayout m_layout;
    Result m_result;
};

} // namespace

std::unique_ptr<Kernel> makeEmbedding(const KernelRequest& request)
{
    const bool isGradient = request.op == Op::EmbeddingGrad;
    requireArity(request, 2, 1);
    requireFloating(request, request.inputs[0]);
    requireDType(request, request.inputs[1], DType::Int32);
    requireFloating(request, request.outputs[0]);
    const Shape& table = (isGradient ? request.outputs : request.inputs)[0].shape;
    if (table.rank() != 2 || table.elements() == 0) {
        refuse(request, "a table of rows");
    }
    const TensorType& looked = (isGradient ? request.inputs : request.outputs)[0];
    requireElements(request, looked, request.inputs[1].shape.elements() * table[1]);
    if (isGradient) {
        return std::make_unique<EmbeddingGradKernel>(request);
    }
    return std::make_unique<EmbeddingKernel>(request);
}

} // namespace mantissa::cpu
