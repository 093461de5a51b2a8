// Sums and products of two tensors, of which the second may be repeated over leading dimensions of the first.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/parts.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

namespace mantissa::cpu {

namespace {

class BroadcastKernel : public Kernel
{
public:
    BroadcastKernel(const KernelRequest& request, SimdKernels::Binary function)
        : m_threads(request.threads)
        , m_function(function)
        , m_elements(elementsOf(request.outputs[0]))
        , m_period(elementsOf(request.inputs[1]))
    {
        m_a.dtype = request.inputs[0].dtype;
        m_b.dtype = request.inputs[1].dtype;
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_a.data = binding.inputs[0];
        m_b.data = binding.inputs[1];
        m_y.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        if (m_period <= blockElements / 2) {
            runTiled();
        } else {
            runWhole();
        }
    }

private:
    void runWhole() const
    {
        forPartsOf(m_y, m_threads, m_elements / blockElements + 1, blockElements,
            [this](std::size_t begin, std::size_t end, const Target& y) {
                Block b;
                // Blocks end where b does, so that one read serves each.
                std::size_t offset = begin * blockElements;
                while (offset < std::min(end * blockElements, m_elements)) {
                    const std::size_t column = offset % m_period;
                    const std::size_t n
                        = std::min({blockElements - offset % blockElements, m_period - column, m_elements - offset});
                    apply(y, offset, n, m_b.read(column, n, b.values));
                    offset += n;
                }
            });
    }

    /// A short second operand is repeated until it nearly fills a block, so that blocks stay long.
    void runTiled() const
    {
        Block first;
        Block tiled;
        const float* b = m_b.read(0, m_period, first.values);
        const std::size_t step = blockElements / m_period * m_period;
        for (std::size_t i = 0; i < step; i += m_period) {
            std::copy_n(b, m_period, tiled.values + i);
        }
        forPartsOf(m_y, m_threads, (m_elements + step - 1) / step, step,
            [&](std::size_t begin, std::size_t end, const Target& y) {
                for (std::size_t offset = begin * step; offset < std::min(end * step, m_elements); offset += step) {
                    apply(y, offset, std::min(step, m_elements - offset), tiled.values);
                }
            });
    }

    void apply(const Target& y, std::size_t offset, std::size_t n, const float* b) const
    {
        Block a;
        Block out;
        m_function(y.place(offset, out.values), m_a.read(offset, n, a.values), b, n);
        y.finish(offset, n, out.values);
    }

    int m_threads;
    SimdKernels::Binary m_function;
    std::size_t m_elements;
    std::size_t m_period;
    Source m_a;
    Source m_b;
    Target m_y;
};

} // namespace

std::unique_ptr<Kernel> makeBroadcast(const KernelRequest& request)
{
    requireArity(request, 2, 1);
    for (const TensorType& type : {request.inputs[0], request.inputs[1], request.outputs[0]}) {
        requireFloating(request, type);
    }
    const std::int64_t elements = request.outputs[0].shape.elements();
    requireElements(request, request.inputs[0], elements);
    const std::int64_t period = request.inputs[1].shape.elements();
    if (period == 0 || elements % period != 0) {
        refuse(request, "a second operand that repeats");
    }
    const SimdKernels& simd = simdKernels();
    return std::make_unique<BroadcastKernel>(request, request.op == Op::Mul ? simd.mul : simd.add);
}

} // namespace mantissa::cpu
