// Activations and their gradients, sums, casts, scaling, accumulation: block by block in FP32, rounded once.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/parts.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

#include <cmath>
#include <cstring>

namespace mantissa::cpu {

namespace {

/// The operands of y = f(a), y = f(a, b) and their like.
class MapKernel : public Kernel
{
public:
    explicit MapKernel(const KernelRequest& request)
        : m_threads(request.threads)
        , m_elements(elementsOf(request.outputs[0]))
    {
        m_a.dtype = request.inputs[0].dtype;
        m_b.dtype = request.inputs.size() > 1 ? request.inputs[1].dtype : DType::Float32;
        m_y.dtype = request.outputs[0].dtype;
    }

    void bind(const KernelBinding& binding) override
    {
        m_a.data = binding.inputs[0];
        m_b.data = binding.inputs.size() > 1 ? binding.inputs[1] : nullptr;
        m_y.bind(binding);
    }

protected:
    /// Calls f(offset, count, target) for blocks of the result, in parallel.
    template <typename F> void forBlocksOfResult(F f) const
    {
        forPartsOf(m_y, m_threads, m_elements, 1, [&](std::size_t begin, std::size_t end, const Target& y) {
            forBlocks(end - begin, [&](std::size_t offset, std::size_t n) { f(begin + offset, n, y); });
        });
    }

    int m_threads;
    std::size_t m_elements;
    Source m_a;
    Source m_b;
    Target m_y;
};

class UnaryKernel : public MapKernel
{
public:
    UnaryKernel(const KernelRequest& request, SimdKernels::Unary function)
        : MapKernel(request)
        , m_function(function)
    {
    }

    void run(Stream& /*stream*/) override
    {
        forBlocksOfResult([this](std::size_t offset, std::size_t n, const Target& y) {
            Block in;
            Block out;
            m_function(y.place(offset, out.values), m_a.read(offset, n, in.values), n);
            y.finish(offset, n, out.values);
        });
    }

private:
    SimdKernels::Unary m_function;
};

class BinaryKernel : public MapKernel
{
public:
    BinaryKernel(const KernelRequest& request, SimdKernels::Binary function)
        : MapKernel(request)
        , m_function(function)
    {
    }

    void run(Stream& /*stream*/) override
    {
        forBlocksOfResult([this](std::size_t offset, std::size_t n, const Target& y) {
            Block a;
            Block b;
            Block out;
            m_function(y.place(offset, out.values), m_a.read(offset, n, a.values), m_b.read(offset, n, b.values), n);
            y.finish(offset, n, out.values);
        });
    }

private:
    SimdKernels::Binary m_function;
};

class CastKernel : public MapKernel
{
public:
    using MapKernel::MapKernel;

    void run(Stream& /*stream*/) override
    {
        if (m_a.dtype == m_y.dtype) {
            copyBits();
        } else if (m_y.dtype == DType::Float32) {
            forParts(m_threads, m_elements, 1, [this](std::size_t begin, std::size_t end) {
                const auto* source = static_cast<const std::byte*>(m_a.data);
                expand(
                    m_a.dtype, source + begin * sizeOf(m_a.dtype), static_cast<float*>(m_y.data) + begin, end - begin);
            });
        } else {
            forBlocksOfResult([this](std::size_t offset, std::size_t n, const Target& y) {
                Block in;
                y.finish(offset, n, m_a.read(offset, n, in.values));
            });
        }
    }

private:
    /// Same format: the bits stay, NaN payloads included; a census counts on the side.
    void copyBits() const
    {
        if (m_a.data != m_y.data) {
            std::memcpy(m_y.data, m_a.data, m_elements * sizeOf(m_a.dtype));
        }
        countTensor(m_y, m_elements, m_threads);
    }
};

class ScaleKernel : public MapKernel
{
public:
    using MapKernel::MapKernel;

    void run(Stream& /*stream*/) override
    {
        const float factor = scalarAt(m_b.data);
        forBlocksOfResult([this, factor](std::size_t offset, std::size_t n, const Target& y) {
            Block in;
            Block out;
            m_scale(y.place(offset, out.values), m_a.read(offset, n, in.values), factor, n);
            y.finish(offset, n, out.values);
        });
    }

private:
    decltype(SimdKernels::scale) m_scale = simdKernels().scale;
};

/// acc = (keep ? acc : 0) + (guard is finite ? g : 0)
class AccumulateKernel : public MapKernel
{
public:
    using MapKernel::MapKernel;

    void bind(const KernelBinding& binding) override
    {
        MapKernel::bind(binding);
        m_keep = binding.inputs[1];
        m_guard = binding.inputs[2];
    }

    void run(Stream& /*stream*/) override
    {
        const bool keeps = scalarAt(m_keep) != 0.0F;
        const bool takes = std::isfinite(scalarAt(m_guard));
        if (!takes) {
            if (!keeps) {
                std::memset(m_y.data, 0, m_elements * sizeOf(m_y.dtype));
            }
            countTensor(m_y, m_elements, m_threads); // the sum is what is there
            return;
        }
        const Source accumulated {m_y.dtype, m_y.data};
        Block gradient;
        Block old;
        Block out;
        forBlocks(m_elements, [&](std::size_t offset, std::size_t n) {
            const float* g = m_a.read(offset, n, gradient.values);
            float* sum = m_y.place(offset, out.values);
            if (keeps) {
                m_add(sum, accumulated.read(offset, n, old.values), g, n);
            } else {
                std::memcpy(sum, g, n * sizeof(float));
            }
            m_y.finish(offset, n, out.values);
        });
    }

private:
    decltype(SimdKernels::add) m_add = simdKernels().add;
    const void* m_keep = nullptr;
    const void* m_guard = nullptr;
};

bool usesTanhForm(const KernelRequest& request)
{
    const auto* attributes = std::get_if<GeluAttributes>(&request.attributes);
    return attributes != nullptr && attributes->tanhForm;
}

SimdKernels::Unary unaryFunction(const KernelRequest& request)
{
    const SimdKernels& simd = simdKernels();
    switch (request.op) {
    case Op::Relu:
        return simd.relu;
    case Op::Gelu:
        return usesTanhForm(request) ? simd.geluTanh : simd.gelu;
    case Op::Silu:
        return simd.silu;
    case Op::Tanh:
        return simd.tanh;
    case Op::Sigmoid:
        return simd.sigmoid;
    case Op::Exp:
        return simd.exponentials;
    case Op::Log:
        return simd.logarithms;
    default:
        return nullptr;
    }
}

SimdKernels::Binary binaryFunction(const KernelRequest& request)
{
    const SimdKernels& simd = simdKernels();
    switch (request.op) {
    case Op::ReluGrad:
        return simd.reluGrad;
    case Op::GeluGrad:
        return usesTanhForm(request) ? simd.geluTanhGrad : simd.geluGrad;
    case Op::SiluGrad:
        return simd.siluGrad;
    case Op::TanhGrad:
        return simd.tanhGrad;
    case Op::SigmoidGrad:
        return simd.sigmoidGrad;
    case Op::LogGrad:
        return simd.divide;
    default:
        return nullptr;
    }
}

void requireMap(const KernelRequest& request, std::size_t floatingInputs)
{
    requireFloating(request, request.outputs[0]);
    const std::int64_t elements = request.outputs[0].shape.elements();
    for (std::size_t i = 0; i < floatingInputs; ++i) {
        requireFloating(request, request.inputs[i]);
        requireElements(request, request.inputs[i], elements);
    }
}

} // namespace

std::unique_ptr<Kernel> makeElementwise(const KernelRequest& request)
{
    if (const auto unary = unaryFunction(request)) {
        requireArity(request, 1, 1);
        requireMap(request, 1);
        return std::make_unique<UnaryKernel>(request, unary);
    }
    requireArity(request, 2, 1);
    requireMap(request, 2);
    return std::make_unique<BinaryKernel>(request, binaryFunction(request));
}

std::unique_ptr<Kernel> makeCast(const KernelRequest& request)
{
    requireArity(request, 1, 1);
    requireMap(request, 1);
    return std::make_unique<CastKernel>(request);
}

std::unique_ptr<Kernel> makeScale(const KernelRequest& request)
{
    requireArity(request, 2, 1);
    requireMap(request, 1);
    requireDType(request, request.inputs[1], DType::Float32);
    return std::make_unique<ScaleKernel>(request);
}

std::unique_ptr<Kernel> makeAccumulate(const KernelRequest& request)
{
    requireArity(request, 3, 1);
    requireMap(request, 1);
    requireDType(request, request.inputs[1], DType::Float32);
    requireDType(request, request.inputs[2], DType::Float32);
    return std::make_unique<AccumulateKernel>(request);
}

} // namespace mantissa::cpu
