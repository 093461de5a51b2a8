// Dropout: counter-based, so that the mask is the same on every backend and path.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

#include <array>

namespace mantissa::cpu {

namespace {

/// 1 / (1 - p), and 0 where nothing is kept, as in PyTorch.
float survivorScale(const DropoutAttributes& attributes)
{
    return attributes.probability >= 1.0F ? 0.0F : static_cast<float>(1.0 / (1.0 - double {attributes.probability}));
}

class DropoutKernel : public Kernel
{
public:
    explicit DropoutKernel(const KernelRequest& request)
        : m_attributes(std::get<DropoutAttributes>(request.attributes))
        , m_elements(elementsOf(request.outputs[0]))
    {
        m_x.dtype = request.inputs[0].dtype;
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_x.data = binding.inputs[0];
        m_counter = static_cast<const std::int32_t*>(binding.inputs[1]);
        m_y.bind(binding);
        m_mask = static_cast<std::uint8_t*>(binding.outputs[1]);
    }

    void run(Stream& /*stream*/) override
    {
        const std::uint64_t high = static_cast<std::uint64_t>(static_cast<std::uint32_t>(*m_counter)) << 32U;
        const float factor = survivorScale(m_attributes);
        constexpr std::size_t words = 4; // that a counter gives
        const std::uint64_t group = m_attributes.first / words;
        const std::size_t skipped = m_attributes.first % words;
        alignas(64) std::array<float, blockElements + words> uniform;
        Block in;
        Block out;
        forBlocks(m_elements, [&](std::size_t offset, std::size_t n) {
            m_simd.philoxUniform(
                uniform.data(), m_attributes.seed, m_attributes.stream, high | (group + offset / words), skipped + n);
            m_simd.dropout(m_y.place(offset, out.values), m_mask + offset, m_x.read(offset, n, in.values),
                uniform.data() + skipped, m_attributes.probability, factor, n);
            m_y.finish(offset, n, out.values);
        });
    }

private:
    const SimdKernels& m_simd = simdKernels();
    DropoutAttributes m_attributes;
    std::size_t m_elements;
    Source m_x;
    const std::int32_t* m_counter = nullptr;
    Target m_y;
    std::uint8_t* m_mask = nullptr;
};

class DropoutGradKernel : public Kernel
{
public:
    explicit DropoutGradKernel(const KernelRequest& request)
        : m_factor(survivorScale(std::get<DropoutAttributes>(request.attributes)))
        , m_elements(elementsOf(request.outputs[0]))
    {
        m_d.dtype = request.inputs[0].dtype;
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_d.data = binding.inputs[0];
        m_mask = static_cast<const std::uint8_t*>(binding.inputs[1]);
        m_y.bind(binding);
    }

    void run(Stream& /*stream*/) override
    {
        Block in;
        Block out;
        forBlocks(m_elements, [&](std::size_t offset, std::size_t n) {
            m_dropoutGrad(m_y.place(offset, out.values), m_d.read(offset, n, in.values), m_mask + offset, m_factor, n);
            m_y.finish(offset, n, out.values);
        });
    }

private:
    decltype(SimdKernels::dropoutGrad) m_dropoutGrad = simdKernels().dropoutGrad;
    float m_factor;
    std::size_t m_elements;
    Source m_d;
    const std::uint8_t* m_mask = nullptr;
    Target m_y;
};

void requireDropout(const KernelRequest& request, const TensorType& mask)
{
    requireFloating(request, request.inputs[0]);
    requireFloating(request, request.outputs[0]);
    requireDType(request, mask, DType::UInt8);
    requireElements(request, request.inputs[0], request.outputs[0].shape.elements());
    requireElements(request, mask, request.outputs[0].shape.elements());
    if (!std::holds_alternative<DropoutAttributes>(request.attributes)) {
        refuse(request, "DropoutAttributes");
    }
}

} // namespace

std::unique_ptr<Kernel> makeDropout(const KernelRequest& request)
{
    requireArity(request, 2, 2);
    requireDropout(request, request.outputs[1]);
    requireDType(request, request.inputs[1], DType::Int32);
    return std::make_unique<DropoutKernel>(request);
}

std::unique_ptr<Kernel> makeDropoutGrad(const KernelRequest& request)
{
    requireArity(request, 2, 1);
    requireDropout(request, request.inputs[1]);
    return std::make_unique<DropoutGradKernel>(request);
}

} // namespace mantissa::cpu
