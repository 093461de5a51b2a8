// The gradient of a bias: the sum over rows.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/parts.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

namespace mantissa::cpu {

namespace {

/// Each column is summed from the first row to the last in FP64, then rounded.
class SumRowsKernel : public Kernel
{
public:
    explicit SumRowsKernel(const KernelRequest& request)
        : m_threads(request.threads)
        , m_columns(static_cast<std::size_t>(request.inputs[0].shape.back()))
        , m_rows(elementsOf(request.inputs[0]) / m_columns)
    {
        m_d.dtype = request.inputs[0].dtype;
        m_sum.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_d.data = binding.inputs[0];
        m_sum.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        // Each thread sums some of the columns, all rows of them in order.
        forPartsOf(
            m_sum, m_threads, m_columns, m_rows, [this](std::size_t begin, std::size_t end, const Target& target) {
                Block in;
                Block out;
                double sums[blockElements];
                forBlocks(end - begin, [&](std::size_t first, std::size_t n) {
                    const std::size_t column = begin + first;
                    std::fill_n(sums, n, 0.0);
                    for (std::size_t row = 0; row < m_rows; ++row) {
                        m_addToSums(sums, m_d.read(row * m_columns + column, n, in.values), n);
                    }
                    float* result = target.place(column, out.values);
                    std::transform(sums, sums + n, result, [](double sum) { return static_cast<float>(sum); });
                    target.finish(column, n, out.values);
                });
            });
    }

private:
    decltype(SimdKernels::addToSums) m_addToSums = simdKernels().addToSums;
    int m_threads;
    std::size_t m_columns;
    std::size_t m_rows;
    Source m_d;
    Target m_sum;
};

} // namespace

std::unique_ptr<Kernel> makeSumRows(const KernelRequest& request)
{
    requireArity(request, 1, 1);
    requireFloating(request, request.inputs[0]);
    requireFloating(request, request.outputs[0]);
    if (request.inputs[0].shape.rank() < 2 || request.inputs[0].shape.back() == 0) {
        refuse(request, "rows first");
    }
    requireElements(request, request.outputs[0], request.inputs[0].shape.back());
    return std::make_unique<SumRowsKernel>(request);
}

} // namespace mantissa::cpu
