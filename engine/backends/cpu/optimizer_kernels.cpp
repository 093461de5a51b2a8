// SGD and Adam: one pass over each parameter with its gradient and state, which also sums up how far the weights moved.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"
#include "engine/backends/cpu/simd/simd_kernels.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace mantissa::cpu {

namespace {

constexpr std::size_t maxStates = 2;

/// That of `functions` (FP32, FP16, BF16) which computes in the format.
template <typename Function>
Function byArithmetic(DType arithmetic, Function float32, Function float16, Function bfloat16)
{
    return arithmetic == DType::Float16 ? float16 : arithmetic == DType::BFloat16 ? bfloat16 : float32;
}

/// A parameter with its gradient and the states that change with it (velocity; both moments).
struct Parameter
{
    std::size_t elements = 0;
    Source gradient;
    Source weightIn;
    Target weightOut;
    std::array<Source, maxStates> stateIn;
    std::array<Target, maxStates> stateOut;
};

/// What SGD and Adam have in common: the operands lr, foundInf, g..., w..., (states...) -> w..., (states...), and the
/// walk over them.
class UpdateKernel : public Kernel
{
public:
    /// `extra`: scalars after the tensors on both sides.
    UpdateKernel(
        const KernelRequest& request, std::size_t states, std::size_t extra, bool skipOnNonFinite, DType arithmetic)
        : m_states(states)
        , m_extra(extra)
        , m_skipOnNonFinite(skipOnNonFinite)
    {
        const std::size_t perParameter = 2 + states;
        const std::size_t tensors = request.inputs.size() - std::min(request.inputs.size(), 2 + extra);
        if (tensors == 0 || tensors % perParameter != 0
            || request.outputs.size() != tensors / perParameter * (1 + states) + extra + 2) {
            refuse(request, "lr, foundInf, gradients, weights and states, and new weights, states and two sums");
        }
        requireDType(request, request.inputs[0], DType::Float32);
        requireDType(request, request.inputs[1], DType::Float32);
        requireDType(request, request.outputs[request.outputs.size() - 2], DType::Float64);
        requireDType(request, request.outputs.back(), DType::Float64);
        m_parameters.resize(tensors / perParameter);
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            describe(request, i);
            if (isHalf(arithmetic)) {
                requireFormat(request, m_parameters[i], arithmetic);
            }
        }
    }

    void bind(const KernelBinding& binding) override
    {
        const std::size_t count = m_parameters.size();
        m_learningRate = binding.inputs[0];
        m_foundInf = binding.inputs[1];
        for (std::size_t i = 0; i < count; ++i) {
            Parameter& parameter = m_parameters[i];
            parameter.gradient.data = binding.inputs[2 + i];
            parameter.weightIn.data = binding.inputs[2 + count + i];
            parameter.weightOut.data = binding.outputs[i];
            for (std::size_t s = 0; s < m_states; ++s) {
                parameter.stateIn[s].data = binding.inputs[2 + (2 + s) * count + i];
                parameter.stateOut[s].data = binding.outputs[(1 + s) * count + i];
            }
        }
        m_parameters[0].weightOut.census = binding.census;
        m_parameters[0].weightOut.histogram = binding.histogram;
        const std::size_t sums = count * (1 + m_states) + m_extra;
        m_updateSquares = static_cast<double*>(binding.outputs[sums]);
        m_weightSquares = static_cast<double*>(binding.outputs[sums + 1]);
    }

protected:
    [[nodiscard]] bool skips() const { return m_skipOnNonFinite && scalarAt(m_foundInf) != 0.0F; }

    [[nodiscard]] double learningRate() const { return double {scalarAt(m_learningRate)}; }

    [[nodiscard]] std::size_t parameterCount() const { return m_parameters.size(); }

    /// Calls step(lanes, w, states, g, n) for pieces of all parameters; it updates w and the states in place.
    template <typename Step> void updateAll(Step step)
    {
        UpdateLanes lanes;
        for (const Parameter& parameter : m_parameters) {
            if (isPlain(parameter)) {
                std::array<float*, maxStates> states {};
                for (std::size_t s = 0; s < m_states; ++s) {
                    states[s] = static_cast<float*>(parameter.stateOut[s].data);
                }
                step(lanes, static_cast<float*>(parameter.weightOut.data), states,
                    static_cast<const float*>(parameter.gradient.data), parameter.elements);
            } else {
                updateBlocked(lanes, parameter, step);
            }
        }
        *m_updateSquares = total(lanes.update);
        *m_weightSquares = total(lanes.weight);
    }

    /// Weights and states stay; outputs that are not in place become copies of their inputs.
    void keepAll()
    {
        updateAll([this](UpdateLanes& lanes, float* w, const std::array<float*, maxStates>& /*states*/,
                      const float* /*g*/, std::size_t n) { m_simd.measureUpdate(&lanes, w, w, n); });
        *m_updateSquares = 0.0; // NaN weights would make it NaN
    }

    const SimdKernels& m_simd = simdKernels();

private:
    void describe(const KernelRequest& request, std::size_t i)
    {
        const std::size_t count = m_parameters.size();
        Parameter& parameter = m_parameters[i];
        const TensorType& weight = request.inputs[2 + count + i];
        const auto check = [&](const TensorType& type) {
            requireFloating(request, type);
            requireElements(request, type, weight.shape.elements());
            return type.dtype;
        };
        parameter.elements = elementsOf(weight);
        parameter.gradient.dtype = check(request.inputs[2 + i]);
        parameter.weightIn.dtype = check(weight);
        parameter.weightOut.dtype = check(request.outputs[i]);
        for (std::size_t s = 0; s < m_states; ++s) {
            parameter.stateIn[s].dtype = check(request.inputs[2 + (2 + s) * count + i]);
            parameter.stateOut[s].dtype = check(request.outputs[(1 + s) * count + i]);
        }
    }

    /// Weights and states are stored in the format of the arithmetic.
    void requireFormat(const KernelRequest& request, const Parameter& parameter, DType arithmetic) const
    {
        bool fits = parameter.weightOut.dtype == arithmetic;
        for (std::size_t s = 0; s < m_states; ++s) {
            fits = fits && parameter.stateOut[s].dtype == arithmetic;
        }
        if (!fits) {
            refuse(request, fmt::format("weights and states in {}, the format of the arithmetic,", nameOf(arithmetic)));
        }
    }

    /// FP32 throughout and in place: no buffers needed.
    [[nodiscard]] bool isPlain(const Parameter& parameter) const
    {
        bool plain = parameter.gradient.dtype == DType::Float32 && parameter.weightIn.dtype == DType::Float32
            && parameter.weightOut.dtype == DType::Float32 && parameter.weightIn.data == parameter.weightOut.data;
        for (std::size_t s = 0; s < m_states; ++s) {
            plain = plain && parameter.stateIn[s].dtype == DType::Float32
                && parameter.stateOut[s].dtype == DType::Float32
                && parameter.stateIn[s].data == parameter.stateOut[s].data;
        }
        return plain;
    }

    /// Through FP32 buffers. The sums are of the stored weights, hence after the rounding.
    template <typename Step> void updateBlocked(UpdateLanes& lanes, const Parameter& parameter, Step step)
    {
        Block gradient;
        Block before;
        Block after;
        std::array<Block, maxStates> states;
        std::array<float*, maxStates> statePointers {};
        const Source stored {parameter.weightOut.dtype, parameter.weightOut.data};
        forBlocks(parameter.elements, [&](std::size_t offset, std::size_t n) {
            const float* old = parameter.weightIn.read(offset, n, before.values);
            std::copy_n(old, n, after.values);
            std::copy_n(old, n, before.values);
            for (std::size_t s = 0; s < m_states; ++s) {
                const float* state = parameter.stateIn[s].read(offset, n, states[s].values);
                statePointers[s] = states[s].values;
                if (state != statePointers[s]) {
                    std::copy_n(state, n, statePointers[s]);
                }
            }
            UpdateLanes unrounded;
            step(unrounded, after.values, statePointers, parameter.gradient.read(offset, n, gradient.values), n);
            write(parameter.weightOut, offset, n, after.values);
            for (std::size_t s = 0; s < m_states; ++s) {
                write(parameter.stateOut[s], offset, n, states[s].values);
            }
            m_simd.measureUpdate(&lanes, stored.read(offset, n, after.values), before.values, n);
        });
    }

    static void write(const Target& target, std::size_t offset, std::size_t n, float* values)
    {
        float* place = target.place(offset, values);
        if (place != values) {
            std::copy_n(values, n, place);
        }
        target.finish(offset, n, values);
    }

    std::size_t m_states;
    std::size_t m_extra;
    bool m_skipOnNonFinite;
    std::vector<Parameter> m_parameters;
    const void* m_learningRate = nullptr;
    const void* m_foundInf = nullptr;
    double* m_updateSquares = nullptr;
    double* m_weightSquares = nullptr;
};

class SgdKernel : public UpdateKernel
{
public:
    SgdKernel(const KernelRequest& request, const SgdAttributes& attributes, bool hasVelocity)
        : UpdateKernel(request, hasVelocity ? 1 : 0, 0, attributes.skipOnNonFinite, attributes.arithmetic)
        , m_attributes(attributes)
        , m_update(byArithmetic(attributes.arithmetic, m_simd.sgd, m_simd.sgdFloat16, m_simd.sgdBFloat16))
    {
    }

    void run(Stream& /*stream*/) override
    {
        if (skips()) {
            keepAll();
            return;
        }
        const SgdStep step {
            static_cast<float>(learningRate()), m_attributes.momentum, m_attributes.weightDecay, m_attributes.nesterov};
        updateAll([this, &step](UpdateLanes& lanes, float* w, const std::array<float*, maxStates>& states,
                      const float* g, std::size_t n) { m_update(&lanes, w, states[0], g, step, n); });
    }

private:
    SgdAttributes m_attributes;
    SimdKernels::Sgd m_update;
};

class AdamKernel : public UpdateKernel
{
public:
    AdamKernel(const KernelRequest& request, const AdamAttributes& attributes)
        : UpdateKernel(request, 2, 1, attributes.skipOnNonFinite, attributes.arithmetic)
        , m_attributes(attributes)
        , m_update(byArithmetic(attributes.arithmetic, m_simd.adam, m_simd.adamFloat16, m_simd.adamBFloat16))
    {
    }

    void bind(const KernelBinding& binding) override
    {
        UpdateKernel::bind(binding);
        m_takenIn = binding.inputs.back();
        m_takenOut = static_cast<float*>(binding.outputs[3 * parameterCount()]);
    }

    void run(Stream& /*stream*/) override
    {
        const float taken = scalarAt(m_takenIn);
        if (skips()) {
            *m_takenOut = taken;
            keepAll();
            return;
        }
        *m_takenOut = taken + 1.0F;
        const AdamStep step = stepFor(double {taken} + 1.0);
        updateAll([this, &step](UpdateLanes& lanes, float* w, const std::array<float*, maxStates>& states,
                      const float* g, std::size_t n) { m_update(&lanes, w, states[0], states[1], g, step, n); });
    }

private:
    [[nodiscard]] AdamStep stepFor(double taken) const
    {
        const double beta1 = m_attributes.beta1;
        const double beta2 = m_attributes.beta2;
        const double decay = m_attributes.weightDecay;
        const double keep = m_attributes.decoupled ? 1.0 - learningRate() * decay : 1.0;
        return {
            .beta1 = static_cast<float>(beta1),
            .oneMinusBeta1 = static_cast<float>(1.0 - beta1),
            .beta2 = static_cast<float>(beta2),
            .oneMinusBeta2 = static_cast<float>(1.0 - beta2),
            .epsilon = m_attributes.epsilon,
            .weightDecay = m_attributes.decoupled ? 0.0F : m_attributes.weightDecay,
            .keep = static_cast<float>(keep),
            .stepSize = static_cast<float>(learningRate() / (1.0 - std::pow(beta1, taken))),
            .rootScale = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(beta2, taken))),
        };
    }

    AdamAttributes m_attributes;
    SimdKernels::Adam m_update;
    const void* m_takenIn = nullptr;
    float* m_takenOut = nullptr;
};

} // namespace

std::unique_ptr<Kernel> makeSgd(const KernelRequest& request)
{
    const auto* attributes = std::get_if<SgdAttributes>(&request.attributes);
    if (attributes == nullptr) {
        refuse(request, "SgdAttributes");
    }
    // n gradients and n weights make n outputs and two sums; with n velocities it is 3 n and 2 n.
    const bool hasVelocity = request.inputs.size() + 2 != 2 * request.outputs.size();
    return std::make_unique<SgdKernel>(request, *attributes, hasVelocity);
}

std::unique_ptr<Kernel> makeAdam(const KernelRequest& request)
{
    const auto* attributes = std::get_if<AdamAttributes>(&request.attributes);
    if (attributes == nullptr) {
        refuse(request, "AdamAttributes");
    }
    if (request.inputs.empty() || request.outputs.size() < 3) {
        refuse(request, "lr, foundInf, gradients, weights, both moments and taken");
    }
    requireDType(request, request.inputs.back(), DType::Float32);
    requireDType(request, request.outputs[request.outputs.size() - 3], DType::Float32);
    return std::make_unique<AdamKernel>(request, *attributes);
}

} // namespace mantissa::cpu
