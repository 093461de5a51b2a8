// Bias over rows and its gradient, the sum over rows.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

namespace mantissa::cpu {

namespace {

class BiasAddKernel : public Kernel
{
public:
    explicit BiasAddKernel(const KernelRequest& request)
        : m_rows(static_cast<std::size_t>(request.inputs[0].shape[0]))
        , m_columns(static_cast<std::size_t>(request.inputs[0].shape[1]))
    {
        m_x.dtype = request.inputs[0].dtype;
        m_bias.dtype = request.inputs[1].dtype;
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_x.data = binding.inputs[0];
        m_bias.data = binding.inputs[1];
        m_y.data = binding.outputs[0];
        m_y.census = binding.census;
        m_y.histogram = binding.histogram;
    }

    void run(Stream& /*stream*/) override
    {
        Block in;
        Block bias;
        Block out;
        forBlocks(m_columns, [&](std::size_t column, std::size_t n) {
            const float* b = m_bias.read(column, n, bias.values);
            for (std::size_t row = 0; row < m_rows; ++row) {
                const std::size_t offset = row * m_columns + column;
                m_add(m_y.place(offset, out.values), m_x.read(offset, n, in.values), b, n);
                m_y.finish(offset, n, out.values);
            }
        });
    }

private:
    decltype(SimdKernels::add) m_add = simdKernels().add;
    std::size_t m_rows;
    std::size_t m_columns;
    Source m_x;
    Source m_bias;
    Target m_y;
};

/// Each column is summed from the first row to the last in FP64, then rounded.
class SumRowsKernel : public Kernel
{
public:
    explicit SumRowsKernel(const KernelRequest& request)
        : m_rows(static_cast<std::size_t>(request.inputs[0].shape[0]))
        , m_columns(static_cast<std::size_t>(request.inputs[0].shape[1]))
    {
        m_d.dtype = request.inputs[0].dtype;
        m_sum.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_d.data = binding.inputs[0];
        m_sum.data = binding.outputs[0];
        m_sum.census = binding.census;
        m_sum.histogram = binding.histogram;
    }

    void run(Stream& /*stream*/) override
    {
        Block in;
        Block out;
        double sums[blockElements];
        forBlocks(m_columns, [&](std::size_t column, std::size_t n) {
            std::fill_n(sums, n, 0.0);
            for (std::size_t row = 0; row < m_rows; ++row) {
                m_addToSums(sums, m_d.read(row * m_columns + column, n, in.values), n);
            }
            float* result = m_sum.place(column, out.values);
            std::transform(sums, sums + n, result, [](double sum) { return static_cast<float>(sum); });
            m_sum.finish(column, n, out.values);
        });
    }

private:
    decltype(SimdKernels::addToSums) m_addToSums = simdKernels().addToSums;
    std::size_t m_rows;
    std::size_t m_columns;
    Source m_d;
    Target m_sum;
};

void requireMatrix(const KernelRequest& request, const TensorType& type)
{
    requireFloating(request, type);
    if (type.shape.rank() != 2) {
        refuse(request, "a matrix first");
    }
}

} // namespace

std::unique_ptr<Kernel> makeBiasAdd(const KernelRequest& request)
{
    requireArity(request, 2, 1);
    requireMatrix(request, request.inputs[0]);
    requireMatrix(request, request.outputs[0]);
    requireElements(request, request.outputs[0], request.inputs[0].shape.elements());
    requireFloating(request, request.inputs[1]);
    requireElements(request, request.inputs[1], request.inputs[0].shape[1]);
    return std::make_unique<BiasAddKernel>(request);
}

std::unique_ptr<Kernel> makeSumRows(const KernelRequest& request)
{
    requireArity(request, 1, 1);
    requireMatrix(request, request.inputs[0]);
    requireFloating(request, request.outputs[0]);
    requireElements(request, request.outputs[0], request.inputs[0].shape[1]);
    return std::make_unique<SumRowsKernel>(request);
}

} // namespace mantissa::cpu
