// SGD and Adam: one pass over each parameter with its gradient and state, which also sums up how far the weights moved;
// and moving averages of the weights.
#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"
#include "engine/backends/cpu/simd/simd_kernels.h"
#include "engine/core/philox.h"
#include "engine/formats/round_stochastic.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>

namespace mantissa::cpu {

namespace {

constexpr std::size_t maxStates = 3; // both moments, and the compensation

/// That of `functions` (FP32, FP16, BF16) which computes in the format.
template <typename Function>
Function byArithmetic(DType arithmetic, Function float32, Function float16, Function bfloat16)
{
    return arithmetic == DType::Float16 ? float16 : arithmetic == DType::BFloat16 ? bfloat16 : float32;
}

/// What sets one optimizer's operands apart from another's.
struct UpdateLayout
{
    std::size_t states = 0; ///< of its own per weight: velocity; both moments
    std::size_t counts = 0; ///< scalars behind the tensors on both sides: Adam's steps taken
    bool skipOnNonFinite = false;
    DType arithmetic = DType::Float32;
    WeightRounding rounding = WeightRounding::Nearest;
    std::uint64_t seed = 0;
};

/// A parameter with its gradient and the states that change with it: velocity or both moments, then the compensation.
struct Parameter
{
    std::size_t elements = 0;
    Source gradient;
    Source weightIn;
    Target weightOut;
    std::array<Source, maxStates> stateIn;
    std::array<Target, maxStates> stateOut;
};

/// What SGD and Adam have in common: the operands lr, foundInf, g..., w..., (states...), (c...), (counts), (counter)
/// -> w..., (states...), (c...), (counts), and the walk over them.
class UpdateKernel : public Kernel
{
public:
    UpdateKernel(const KernelRequest& request, const UpdateLayout& layout)
        : m_layout(layout)
        , m_states(layout.states + (layout.rounding == WeightRounding::Compensated ? 1 : 0))
    {
        const bool hasCounter = layout.rounding == WeightRounding::Stochastic;
        const std::size_t perParameter = 2 + m_states;
        const std::size_t scalars = 2 + layout.counts + (hasCounter ? 1 : 0);
        const std::size_t tensors = request.inputs.size() - std::min(request.inputs.size(), scalars);
        if (tensors == 0 || tensors % perParameter != 0
            || request.outputs.size() != tensors / perParameter * (1 + m_states) + layout.counts + 2) {
            refuse(request, "lr, foundInf, gradients, weights and states, and new weights, states and two sums");
        }
        requireDType(request, request.inputs[0], DType::Float32);
        requireDType(request, request.inputs[1], DType::Float32);
        requireDType(request, request.outputs[request.outputs.size() - 2], DType::Float64);
        requireDType(request, request.outputs.back(), DType::Float64);
        m_parameters.resize(tensors / perParameter);
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            describe(request, i);
            if (isHalf(layout.arithmetic)) {
                requireFormat(request, m_parameters[i], layout.arithmetic);
            }
            if (layout.rounding != WeightRounding::Nearest
                && (isHalf(layout.arithmetic) || !isHalf(m_parameters[i].weightOut.dtype))) {
                refuse(request, "16-bit weights and FP32 arithmetic, which this rounding of weights is for,");
            }
        }
        if (hasCounter) {
            requireDType(request, request.inputs.back(), DType::Int32);
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
        m_counter = static_cast<const std::int32_t*>(binding.inputs.back());
        const std::size_t sums = count * (1 + m_states) + m_layout.counts;
        m_updateSquares = static_cast<double*>(binding.outputs[sums]);
        m_weightSquares = static_cast<double*>(binding.outputs[sums + 1]);
    }

protected:
    [[nodiscard]] bool skips() const { return m_layout.skipOnNonFinite && scalarAt(m_foundInf) != 0.0F; }

    [[nodiscard]] double learningRate() const { return double {scalarAt(m_learningRate)}; }

    /// Where the counts lie among the outputs; among the inputs that much behind lr, foundInf and the gradients.
    [[nodiscard]] std::size_t countsAt() const { return m_parameters.size() * (1 + m_states); }

    [[nodiscard]] std::size_t parameterCount() const { return m_parameters.size(); }

    /// Calls step(lanes, w, states, g, n) for pieces of all parameters; it updates w and the states in place.
    template <typename Step> void updateAll(Step step)
    {
        UpdateLanes lanes;
        for (std::size_t i = 0; i < m_parameters.size(); ++i) {
            const Parameter& parameter = m_parameters[i];
            if (isPlain(parameter)) {
                std::array<float*, maxStates> states {};
                for (std::size_t s = 0; s < m_states; ++s) {
                    states[s] = static_cast<float*>(parameter.stateOut[s].data);
                }
                step(lanes, static_cast<float*>(parameter.weightOut.data), states,
                    static_cast<const float*>(parameter.gradient.data), parameter.elements);
            } else {
                updateBlocked(lanes, i, step);
            }
        }
        *m_updateSquares = total(lanes.update);
        *m_weightSquares = total(lanes.weight);
    }

    /// Weights and states stay; outputs that are not in place become copies of their inputs.
    void keepAll()
    {
        UpdateLanes lanes;
        Block values;
        for (const Parameter& parameter : m_parameters) {
            keep(parameter.weightIn, parameter.weightOut, parameter.elements);
            for (std::size_t s = 0; s < m_states; ++s) {
                keep(parameter.stateIn[s], parameter.stateOut[s], parameter.elements);
            }
            forBlocks(parameter.elements, [&](std::size_t offset, std::size_t n) {
                const float* w = parameter.weightIn.read(offset, n, values.values);
                m_simd.measureUpdate(&lanes, w, w, n);
            });
        }
        *m_updateSquares = 0.0; // NaN weights would make it NaN
        *m_weightSquares = total(lanes.weight);
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
        requireDType(request, request.outputs[i], weight.dtype);
        for (std::size_t s = 0; s < m_states; ++s) {
            parameter.stateIn[s].dtype = check(request.inputs[2 + (2 + s) * count + i]);
            parameter.stateOut[s].dtype = check(request.outputs[(1 + s) * count + i]);
            requireDType(request, request.outputs[(1 + s) * count + i], parameter.stateIn[s].dtype);
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

    static void keep(const Source& from, const Target& to, std::size_t elements)
    {
        if (from.data != to.data) {
            std::memcpy(to.data, from.data, elements * sizeOf(from.dtype));
        }
    }

    /// Through FP32 buffers. The sums are of the stored weights, hence after the rounding.
    template <typename Step> void updateBlocked(UpdateLanes& lanes, std::size_t index, Step step)
    {
        const Parameter& parameter = m_parameters[index];
        const bool isCompensated = m_layout.rounding == WeightRounding::Compensated;
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
            float* const compensation = isCompensated ? statePointers[m_states - 1] : nullptr;
            for (std::size_t j = 0; isCompensated && j < n; ++j) {
                after.values[j] += compensation[j];
            }
            UpdateLanes unrounded;
            step(unrounded, after.values, statePointers, parameter.gradient.read(offset, n, gradient.values), n);
            if (m_layout.rounding == WeightRounding::Stochastic) {
                roundAtRandom(index, offset, n, after.values);
            }
            write(parameter.weightOut, offset, n, after.values);
            if (isCompensated) {
                const float* rounded = stored.read(offset, n, gradient.values);
                for (std::size_t j = 0; j < n; ++j) {
                    compensation[j] = after.values[j] - rounded[j];
                }
            }
            for (std::size_t s = 0; s < m_states; ++s) {
                write(parameter.stateOut[s], offset, n, states[s].values);
            }
            m_simd.measureUpdate(&lanes, stored.read(offset, n, after.values), before.values, n);
        });
    }

    void roundAtRandom(std::size_t index, std::size_t offset, std::size_t n, float* values) const
    {
        const DType format = m_parameters[index].weightOut.dtype;
        const std::uint64_t counter = static_cast<std::uint64_t>(static_cast<std::uint32_t>(*m_counter)) << 32U;
        Block uniform;
        m_simd.philoxUniform(
            uniform.values, m_layout.seed, randomStream(RandomPurpose::Rounding) + index, counter | offset / 4, n);
        for (std::size_t j = 0; j < n; ++j) {
            values[j] = static_cast<float>(roundStochastic(format, double {values[j]}, double {uniform.values[j]}));
        }
    }

    static void write(const Target& target, std::size_t offset, std::size_t n, float* values)
    {
        float* place = target.place(offset, values);
        if (place != values) {
            std::copy_n(values, n, place);
        }
        target.finish(offset, n, values);
    }

    UpdateLayout m_layout;
    std::size_t m_states; ///< with the compensation
    std::vector<Parameter> m_parameters;
    const std::int32_t* m_counter = nullptr; ///< of Stochastic
    const void* m_learningRate = nullptr;
    const void* m_foundInf = nullptr;
    double* m_updateSquares = nullptr;
    double* m_weightSquares = nullptr;
};

class SgdKernel : public UpdateKernel
{
public:
    SgdKernel(const KernelRequest& request, const SgdAttributes& attributes)
        : UpdateKernel(request,
            {attributes.momentum != 0 ? std::size_t {1} : 0, 0, attributes.skipOnNonFinite, attributes.arithmetic,
                attributes.rounding, attributes.seed})
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
        : UpdateKernel(
            request, {2, 1, attributes.skipOnNonFinite, attributes.arithmetic, attributes.rounding, attributes.seed})
        , m_attributes(attributes)
        , m_update(byArithmetic(attributes.arithmetic, m_simd.adam, m_simd.adamFloat16, m_simd.adamBFloat16))
    {
    }

    void bind(const KernelBinding& binding) override
    {
        UpdateKernel::bind(binding);
        m_takenIn = binding.inputs[2 + parameterCount() + countsAt()];
        m_takenOut = static_cast<float*>(binding.outputs[countsAt()]);
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

class EmaKernel : public Kernel
{
public:
    explicit EmaKernel(const KernelRequest& request)
        : m_skipOnNonFinite(attributesOf<EmaAttributes>(request.attributes).skipOnNonFinite)
        , m_tensors(request.outputs.size())
    {
        if (m_tensors.empty() || request.inputs.size() != 2 + 2 * m_tensors.size()) {
            refuse(request, "decay, foundInf, weights and as many averages, and new averages");
        }
        requireDType(request, request.inputs[0], DType::Float32);
        requireDType(request, request.inputs[1], DType::Float32);
        for (std::size_t i = 0; i < m_tensors.size(); ++i) {
            const TensorType& weight = request.inputs[2 + i];
            const TensorType& average = request.inputs[2 + m_tensors.size() + i];
            for (const TensorType* type : {&weight, &average, &request.outputs[i]}) {
                requireFloating(request, *type);
                requireElements(request, *type, weight.shape.elements());
            }
            requireDType(request, request.outputs[i], average.dtype);
            m_tensors[i] = {elementsOf(weight), {weight.dtype, nullptr}, {average.dtype, nullptr},
                {request.outputs[i].dtype, nullptr, nullptr, nullptr}};
        }
    }

    void bind(const KernelBinding& binding) override
    {
        m_decay = binding.inputs[0];
        m_foundInf = binding.inputs[1];
        for (std::size_t i = 0; i < m_tensors.size(); ++i) {
            m_tensors[i].weight.data = binding.inputs[2 + i];
            m_tensors[i].average.data = binding.inputs[2 + m_tensors.size() + i];
            m_tensors[i].next.data = binding.outputs[i];
        }
    }

    void run(Stream& /*stream*/) override
    {
        const bool skips = m_skipOnNonFinite && scalarAt(m_foundInf) != 0.0F;
        const float share = skips ? 0.0F : static_cast<float>(1.0 - double {scalarAt(m_decay)});
        Block weights;
        Block averages;
        Block out;
        for (const Tensor& tensor : m_tensors) {
            if (skips && tensor.average.data == tensor.next.data) {
                continue;
            }
            forBlocks(tensor.elements, [&](std::size_t offset, std::size_t n) {
                const float* w = tensor.weight.read(offset, n, weights.values);
                const float* average = tensor.average.read(offset, n, averages.values);
                float* next = tensor.next.place(offset, out.values);
                for (std::size_t i = 0; i < n; ++i) {
                    next[i] = skips ? average[i] : average[i] + share * (w[i] - average[i]);
                }
                tensor.next.finish(offset, n, out.values);
            });
        }
    }

private:
    struct Tensor
    {
        std::size_t elements = 0;
        Source weight;
        Source average;
        Target next;
    };

    bool m_skipOnNonFinite;
    std::vector<Tensor> m_tensors;
    const void* m_decay = nullptr;
    const void* m_foundInf = nullptr;
};

} // namespace

std::unique_ptr<Kernel> makeEma(const KernelRequest& request)
{
    return std::make_unique<EmaKernel>(request);
}

std::unique_ptr<Kernel> makeSgd(const KernelRequest& request)
{
    const auto* attributes = std::get_if<SgdAttributes>(&request.attributes);
    if (attributes == nullptr) {
        refuse(request, "SgdAttributes");
    }
    return std::make_unique<SgdKernel>(request, *attributes);
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
    const std::size_t counters = attributes->rounding == WeightRounding::Stochastic ? 1 : 0;
    requireDType(request, request.inputs[request.inputs.size() - 1 - counters], DType::Float32);
    requireDType(request, request.outputs[request.outputs.size() - 3], DType::Float32);
    return std::make_unique<AdamKernel>(request, *attributes);
}

} // namespace mantissa::cpu
