// The passes over all gradients of a dtype group: measure, unscale and check, clip. Every tensor is read once.
// Sums run in sixteen fixed lanes, so they depend on the shapes alone, not on where the planner put the tensors.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

#include <cmath>
#include <cstring>

namespace mantissa::cpu {

namespace {

struct Gradient
{
    std::size_t elements = 0;
    Source in;
    Target out;
};

std::vector<Gradient> gradientsOf(const KernelRequest& request, std::size_t first, std::size_t count)
{
    std::vector<Gradient> gradients(count);
    for (std::size_t i = 0; i < count; ++i) {
        const TensorType& type = request.inputs[first + i];
        requireFloating(request, type);
        gradients[i].elements = elementsOf(type);
        gradients[i].in.dtype = type.dtype;
        gradients[i].out.dtype = type.dtype;
    }
    return gradients;
}

void requireSameOutputs(const KernelRequest& request, const std::vector<Gradient>& gradients)
{
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        requireDType(request, request.outputs[i], gradients[i].in.dtype);
        requireElements(request, request.outputs[i], static_cast<std::int64_t>(gradients[i].elements));
    }
}

void bindGradients(std::vector<Gradient>& gradients, const KernelBinding& binding, std::size_t firstInput)
{
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        gradients[i].in.data = binding.inputs[firstInput + i];
        gradients[i].out.bind(binding, i);
    }
}

/// Multiplication by 1 leaves the bits alone.
void copyUnchanged(const Gradient& gradient)
{
    if (gradient.out.data != gradient.in.data) {
        std::memcpy(gradient.out.data, gradient.in.data, gradient.elements * sizeOf(gradient.in.dtype));
    }
}

void scaleGradient(const Gradient& gradient, float factor)
{
    if (factor == 1.0F) {
        copyUnchanged(gradient);
        return;
    }
    const auto scale = simdKernels().scale;
    Block in;
    Block out;
    forBlocks(gradient.elements, [&](std::size_t offset, std::size_t n) {
        scale(gradient.out.place(offset, out.values), gradient.in.read(offset, n, in.values), factor, n);
        gradient.out.finish(offset, n, out.values);
    });
}

class StatisticsOutputs
{
public:
    void bind(const KernelBinding& binding, std::size_t first)
    {
        m_foundInf = static_cast<float*>(binding.outputs[first]);
        m_sumSquares = static_cast<double*>(binding.outputs[first + 1]);
        m_maxAbs = static_cast<float*>(binding.outputs[first + 2]);
    }

    void write(const GradientLanes& lanes) const
    {
        *m_foundInf = lanes.nonFinite ? 1.0F : 0.0F;
        *m_sumSquares = total(lanes.squares);
        *m_maxAbs = maximum(lanes);
    }

private:
    float* m_foundInf = nullptr;
    double* m_sumSquares = nullptr;
    float* m_maxAbs = nullptr;
};

void measureGradient(const SimdKernels& simd, GradientLanes& lanes, const Gradient& gradient)
{
    Block in;
    forBlocks(gradient.elements,
        [&](std::size_t offset, std::size_t n) { simd.measure(&lanes, gradient.in.read(offset, n, in.values), n); });
}

class NormKernel : public Kernel
{
public:
    explicit NormKernel(const KernelRequest& request)
        : m_gradients(gradientsOf(request, 0, request.inputs.size()))
    {
    }

    void bind(const KernelBinding& binding) override
    {
        for (std::size_t i = 0; i < m_gradients.size(); ++i) {
            m_gradients[i].in.data = binding.inputs[i];
        }
        m_outputs.bind(binding, 0);
    }

    void run(Stream& /*stream*/) override
    {
        GradientLanes lanes;
        for (const Gradient& gradient : m_gradients) {
            measureGradient(m_simd, lanes, gradient);
        }
        m_outputs.write(lanes);
    }

private:
    const SimdKernels& m_simd = simdKernels();
    std::vector<Gradient> m_gradients;
    StatisticsOutputs m_outputs;
};

class UnscaleKernel : public Kernel
{
public:
    explicit UnscaleKernel(const KernelRequest& request)
        : m_gradients(gradientsOf(request, 1, request.inputs.size() - 1))
    {
        requireSameOutputs(request, m_gradients);
    }

    void bind(const KernelBinding& binding) override
    {
        m_inverseScale = binding.inputs[0];
        bindGradients(m_gradients, binding, 1);
        m_outputs.bind(binding, m_gradients.size());
    }

    void run(Stream& /*stream*/) override
    {
        const float factor = scalarAt(m_inverseScale);
        GradientLanes lanes;
        for (const Gradient& gradient : m_gradients) {
            if (factor == 1.0F) {
                measureGradient(m_simd, lanes, gradient);
                copyUnchanged(gradient);
            } else if (isHalf(gradient.in.dtype)) {
                unscaleHalf(lanes, gradient, factor);
            } else {
                m_simd.unscale(&lanes, static_cast<float*>(gradient.out.data),
                    static_cast<const float*>(gradient.in.data), factor, gradient.elements);
            }
        }
        m_outputs.write(lanes);
    }

private:
    /// The statistics are of what is stored, hence after the rounding.
    void unscaleHalf(GradientLanes& lanes, const Gradient& gradient, float factor) const
    {
        const Source rounded {gradient.out.dtype, gradient.out.data};
        GradientLanes incoming;
        GradientLanes outgoing = lanes;
        Block in;
        Block out;
        forBlocks(gradient.elements, [&](std::size_t offset, std::size_t n) {
            m_simd.unscale(&incoming, out.values, gradient.in.read(offset, n, in.values), factor, n);
            gradient.out.finish(offset, n, out.values);
            m_simd.measure(&outgoing, rounded.read(offset, n, out.values), n);
        });
        outgoing.nonFinite = lanes.nonFinite || incoming.nonFinite;
        lanes = outgoing;
    }

    const SimdKernels& m_simd = simdKernels();
    const void* m_inverseScale = nullptr;
    std::vector<Gradient> m_gradients;
    StatisticsOutputs m_outputs;
};

/// min(1, maxNorm / (norm + 1e-6)); a NaN norm gives NaN, as in torch.nn.utils.clip_grad_norm_.
class ClipByNormKernel : public Kernel
{
public:
    explicit ClipByNormKernel(const KernelRequest& request)
        : m_gradients(gradientsOf(request, 2, request.inputs.size() - 2))
    {
        requireSameOutputs(request, m_gradients);
    }

    void bind(const KernelBinding& binding) override
    {
        m_maxNorm = binding.inputs[0];
        m_sumSquares = static_cast<const double*>(binding.inputs[1]);
        bindGradients(m_gradients, binding, 2);
        m_coefficient = static_cast<float*>(binding.outputs[m_gradients.size()]);
    }

    void run(Stream& /*stream*/) override
    {
        const double ratio = double {scalarAt(m_maxNorm)} / (std::sqrt(*m_sumSquares) + 1e-6);
        const float coefficient = ratio > 1.0 ? 1.0F : static_cast<float>(ratio);
        for (const Gradient& gradient : m_gradients) {
            scaleGradient(gradient, coefficient);
        }
        *m_coefficient = coefficient;
    }

private:
    std::vector<Gradient> m_gradients;
    const void* m_maxNorm = nullptr;
    const double* m_sumSquares = nullptr;
    float* m_coefficient = nullptr;
};

class ClipByValueKernel : public Kernel
{
public:
    explicit ClipByValueKernel(const KernelRequest& request)
        : m_gradients(gradientsOf(request, 1, request.inputs.size() - 1))
    {
        requireSameOutputs(request, m_gradients);
    }

    void bind(const KernelBinding& binding) override
    {
        m_limit = binding.inputs[0];
        bindGradients(m_gradients, binding, 1);
    }

    void run(Stream& /*stream*/) override
    {
        const float limit = scalarAt(m_limit);
        Block in;
        Block out;
        for (const Gradient& gradient : m_gradients) {
            forBlocks(gradient.elements, [&](std::size_t offset, std::size_t n) {
                m_clamp(gradient.out.place(offset, out.values), gradient.in.read(offset, n, in.values), limit, n);
                gradient.out.finish(offset, n, out.values);
            });
        }
    }

private:
    decltype(SimdKernels::clamp) m_clamp = simdKernels().clamp;
    std::vector<Gradient> m_gradients;
    const void* m_limit = nullptr;
};

void requireStatistics(const KernelRequest& request, std::size_t first)
{
    requireDType(request, request.outputs[first], DType::Float32);
    requireDType(request, request.outputs[first + 1], DType::Float64);
    requireDType(request, request.outputs[first + 2], DType::Float32);
}

} // namespace

std::unique_ptr<Kernel> makeUnscale(const KernelRequest& request)
{
    if (request.op == Op::GradientNorm) {
        if (request.inputs.empty() || request.outputs.size() != 3) {
            refuse(request, "gradients and three outputs");
        }
        requireStatistics(request, 0);
        return std::make_unique<NormKernel>(request);
    }
    if (request.inputs.size() < 2 || request.outputs.size() != request.inputs.size() + 2) {
        refuse(request, "inverseScale and gradients, and as many gradients and three more outputs");
    }
    requireDType(request, request.inputs[0], DType::Float32);
    requireStatistics(request, request.inputs.size() - 1);
    return std::make_unique<UnscaleKernel>(request);
}

std::unique_ptr<Kernel> makeClip(const KernelRequest& request)
{
    if (request.op == Op::ClipByNorm) {
        if (request.inputs.size() < 3 || request.outputs.size() != request.inputs.size() - 1) {
            refuse(request, "maxNorm, sumSquares and gradients, and as many gradients and the coefficient");
        }
        requireDType(request, request.inputs[0], DType::Float32);
        requireDType(request, request.inputs[1], DType::Float64);
        requireDType(request, request.outputs.back(), DType::Float32);
        return std::make_unique<ClipByNormKernel>(request);
    }
    if (request.inputs.size() < 2 || request.outputs.size() != request.inputs.size() - 1) {
        refuse(request, "limit and gradients, and as many gradients");
    }
    requireDType(request, request.inputs[0], DType::Float32);
    return std::make_unique<ClipByValueKernel>(request);
}

} // namespace mantissa::cpu
