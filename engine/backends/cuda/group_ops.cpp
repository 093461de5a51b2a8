// Ops on all gradients of a group: the tables that their kernels read.
#include "engine/backends/cuda/cuda_call.h"
#include "engine/backends/cuda/device_memory.h"
#include "engine/backends/cuda/kernel_factories.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/backends/cuda/launch_kernel.h"
#include "engine/backends/cuda/operands.h"
#include "engine/core/philox.h"

#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <optional>

namespace mantissa::cuda {

namespace {

/// A tensor of the group by its operands' numbers.
struct GroupPlaces
{
    std::optional<std::size_t> gradient;
    std::optional<std::size_t> weight;
    std::optional<std::size_t> next; ///< an output
    std::vector<std::size_t> stateIn;
    std::vector<std::size_t> stateOut;
};

using GroupRun = std::function<void(const Group&, const KernelBinding&, GroupPartial* partials, cudaStream_t stream)>;

class GroupKernel final : public Kernel
{
public:
    GroupKernel(const KernelRequest& request, const Context& context, std::vector<GroupPlaces> places, GroupRun run)
        : m_context(context)
        , m_views(request)
        , m_places(std::move(places))
        , m_run(std::move(run))
    {
        for (const GroupPlaces& place : m_places) {
            checkSizes(request, place);
            const TensorType& first = request.inputs[place.gradient ? *place.gradient : *place.weight];
            const auto tensor = static_cast<std::int64_t>(m_tensors.size());
            m_tensors.push_back(GroupTensor {});
            m_tensors.back().elements = first.shape.elements();
            // An empty tensor has a chunk too: a grid of no blocks is an error.
            for (std::int64_t begin = 0; begin == 0 || begin < m_tensors.back().elements; begin += chunkElements) {
                m_chunks.push_back({begin, tensor});
            }
        }
        m_table = std::make_unique<DeviceMemory>(tableBytes());
    }

    [[nodiscard]] std::size_t workspaceBytes() const override { return m_chunks.size() * sizeof(GroupPartial); }

    [[nodiscard]] std::size_t deviceBytes() const override { return m_table->bytes(); }

    void bind(const KernelBinding& binding) override
    {
        m_binding = binding;
        for (std::size_t i = 0; i < m_places.size(); ++i) {
            const GroupPlaces& place = m_places[i];
            GroupTensor& tensor = m_tensors[i];
            tensor.gradient = place.gradient ? m_views.in(binding, *place.gradient) : In {};
            tensor.weight = place.weight ? m_views.in(binding, *place.weight) : In {};
            tensor.next = place.next ? m_views.out(binding, *place.next) : Out {};
            for (std::size_t state = 0; state < place.stateIn.size(); ++state) {
                tensor.stateIn[state] = m_views.in(binding, place.stateIn[state]);
            }
            for (std::size_t state = 0; state < place.stateOut.size(); ++state) {
                tensor.stateOut[state] = m_views.out(binding, place.stateOut[state]);
            }
        }
        upload();
    }

    void run(Stream& stream) override
    {
        auto* const table = static_cast<std::byte*>(m_table->data());
        const Group group {reinterpret_cast<const GroupTensor*>(table),
            reinterpret_cast<const GroupChunk*>(table + tensorBytes()), static_cast<std::int64_t>(m_chunks.size())};
        m_run(group, m_binding, static_cast<GroupPartial*>(m_binding.workspace), streamOf(stream));
    }

private:
    [[nodiscard]] std::size_t tensorBytes() const { return m_tensors.size() * sizeof(GroupTensor); }

    [[nodiscard]] std::size_t tableBytes() const { return tensorBytes() + m_chunks.size() * sizeof(GroupChunk); }

    static void checkSizes(const KernelRequest& request, const GroupPlaces& place)
    {
        const TensorType& first = request.inputs[place.gradient ? *place.gradient : *place.weight];
        const std::int64_t n = first.shape.elements();
        std::vector<std::size_t> inputs = place.stateIn;
        std::vector<std::size_t> outputs = place.stateOut;
        if (place.weight) {
            inputs.push_back(*place.weight);
        }
        if (place.next) {
            outputs.push_back(*place.next);
        }
        const auto checkAll = [&](const std::vector<std::size_t>& which, const std::vector<TensorType>& types) {
            for (const std::size_t i : which) {
                requireElements(request, types[i], n);
                if (types[i].dtype != DType::Float32 && !isHalf(types[i].dtype)) {
                    refuse(request, "tensors of fp32, fp16 or bf16");
                }
            }
        };
        checkAll(inputs, request.inputs);
        checkAll(outputs, request.outputs);
        for (std::size_t state = 0; state < place.stateOut.size(); ++state) {
            if (request.inputs[place.stateIn[state]].dtype != request.outputs[place.stateOut[state]].dtype) {
                refuse(request, "new states of the old ones' dtype");
            }
        }
    }

    void upload()
    {
        std::vector<std::byte> bytes(tableBytes());
        std::memcpy(bytes.data(), m_tensors.data(), tensorBytes());
        std::memcpy(bytes.data() + tensorBytes(), m_chunks.data(), m_chunks.size() * sizeof(GroupChunk));
        check(cudaMemcpyAsync(m_table->data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, m_context.setup),
            "copy a table to the GPU");
        check(cudaStreamSynchronize(m_context.setup), "copy a table to the GPU");
    }

    const Context& m_context;
    Views m_views;
    std::vector<GroupPlaces> m_places;
    GroupRun m_run;
    std::vector<GroupTensor> m_tensors;
    std::vector<GroupChunk> m_chunks;
    std::unique_ptr<DeviceMemory> m_table;
    KernelBinding m_binding;
};

/// Gradients from input `first` on, changed in place or into outputs from 0 on.
std::vector<GroupPlaces> gradientPlaces(const KernelRequest& request, std::size_t first, bool areWritten)
{
    std::vector<GroupPlaces> places;
    for (std::size_t i = first; i < request.inputs.size(); ++i) {
        GroupPlaces place;
        place.gradient = i;
        if (areWritten) {
            place.next = i - first;
            if (request.outputs[i - first].dtype != request.inputs[i].dtype) {
                refuse(request, "new gradients of the old ones' dtype");
            }
        }
        places.push_back(place);
    }
    return places;
}

void requireScalar(const KernelRequest& request, const TensorType& type, DType dtype)
{
    if (type.dtype != dtype || type.shape.elements() != 1) {
        refuse(request, fmt::format("one {} where it got {} {}", nameOf(dtype), nameOf(type.dtype), type.shape.text()));
    }
}

/// What sets one optimizer's operands apart from another's: lr, foundInf, g..., w..., (states...), (c...), (counts),
/// (counter) -> w..., (states...), (c...), (counts), two sums.
struct UpdateLayout
{
    std::size_t states;
    std::size_t counts;
    WeightRounding rounding;
    DType arithmetic;
    bool skipOnNonFinite;
    std::uint64_t seed;
    float weightDecay;
};

struct UpdatePlan
{
    std::vector<GroupPlaces> places;
    UpdateSetting setting;
    std::size_t tensors; ///< per kind of operand
    std::size_t statesWithCompensation;
};

UpdatePlan planUpdate(const KernelRequest& request, const UpdateLayout& layout)
{
    const bool hasCounter = layout.rounding == WeightRounding::Stochastic;
    const bool isCompensated = layout.rounding == WeightRounding::Compensated;
    const std::size_t states = layout.states + (isCompensated ? 1 : 0);
    const std::size_t scalars = 2 + layout.counts + (hasCounter ? 1 : 0);
    const std::size_t operands = request.inputs.size() - std::min(request.inputs.size(), scalars);
    const std::size_t n = operands / (2 + states);
    if (n == 0 || operands % (2 + states) != 0 || request.outputs.size() != n * (1 + states) + layout.counts + 2) {
        refuse(request, "lr, foundInf, gradients, weights and states, and new weights, states and two sums");
    }
    requireScalar(request, request.outputs[request.outputs.size() - 2], DType::Float64);
    requireScalar(request, request.outputs.back(), DType::Float64);
    if (hasCounter) {
        requireScalar(request, request.inputs.back(), DType::Int32);
    }
    UpdatePlan plan {};
    plan.tensors = n;
    plan.statesWithCompensation = states;
    plan.setting = {static_cast<int>(layout.states), layout.skipOnNonFinite, formatOf(layout.arithmetic),
        static_cast<Rounding>(layout.rounding), layout.seed, randomStream(RandomPurpose::Rounding), layout.weightDecay};
    for (std::size_t i = 0; i < n; ++i) {
        GroupPlaces place;
        place.gradient = 2 + i;
        place.weight = 2 + n + i;
        place.next = i;
        for (std::size_t state = 0; state < states; ++state) {
            place.stateIn.push_back(2 + (2 + state) * n + i);
            place.stateOut.push_back((1 + state) * n + i);
        }
        const DType weight = request.inputs[*place.weight].dtype;
        if (request.outputs[i].dtype != weight) {
            refuse(request, "new weights of the old ones' dtype");
        }
        if (layout.rounding != WeightRounding::Nearest && (isHalf(layout.arithmetic) || !isHalf(weight))) {
            refuse(request, "16-bit weights and FP32 arithmetic, which this rounding of weights is for,");
        }
        plan.places.push_back(std::move(place));
    }
    return plan;
}

UpdateScalars scalarsOf(const UpdatePlan& plan, const KernelBinding& binding, bool hasTaken)
{
    const std::size_t taken = plan.tensors * (1 + plan.statesWithCompensation);
    const std::size_t sums = binding.outputs.size() - 2;
    UpdateScalars scalars {};
    scalars.learningRate = constantIn<float>(binding, 0);
    scalars.foundInf = constantIn<float>(binding, 1);
    if (plan.setting.rounding == Rounding::Stochastic) {
        scalars.counter = constantIn<std::int32_t>(binding, binding.inputs.size() - 1);
    }
    if (hasTaken) {
        scalars.takenIn = constantIn<float>(binding, 2 + plan.tensors + taken);
        scalars.takenOut = outputAs<float>(binding, taken);
    }
    scalars.updateSquares = outputAs<double>(binding, sums);
    scalars.weightSquares = outputAs<double>(binding, sums + 1);
    return scalars;
}

static_assert(static_cast<int>(WeightRounding::Stochastic) == static_cast<int>(Rounding::Stochastic)
    && static_cast<int>(WeightRounding::Compensated) == static_cast<int>(Rounding::Compensated));

GradientStatistics statisticsAt(const KernelBinding& binding, std::size_t first)
{
    return {outputAs<float>(binding, first), outputAs<double>(binding, first + 1), outputAs<float>(binding, first + 2)};
}

} // namespace

std::unique_ptr<Kernel> makeUnscale(const KernelRequest& request, const Context& context)
{
    const bool isNorm = request.op == Op::GradientNorm;
    const std::size_t tensors = request.inputs.size() - (isNorm ? 0 : 1);
    const std::size_t first = isNorm ? 0 : tensors;
    if (request.outputs.size() != first + 3) {
        refuse(request, "as many new gradients as gradients, and three scalars");
    }
    requireScalar(request, request.outputs[first], DType::Float32);
    requireScalar(request, request.outputs[first + 1], DType::Float64);
    requireScalar(request, request.outputs[first + 2], DType::Float32);
    return std::make_unique<GroupKernel>(request, context, gradientPlaces(request, isNorm ? 0 : 1, !isNorm),
        [isNorm, first](const Group& group, const KernelBinding& b, GroupPartial* partials, cudaStream_t stream) {
            runUnscale(group, isNorm ? nullptr : constantIn<float>(b, 0), statisticsAt(b, first), partials, stream);
        });
}

std::unique_ptr<Kernel> makeClip(const KernelRequest& request, const Context& context)
{
    const bool isByNorm = request.op == Op::ClipByNorm;
    const std::size_t scalars = isByNorm ? 2 : 1;
    const std::size_t tensors = request.inputs.size() - scalars;
    if (request.outputs.size() != tensors + (isByNorm ? 1 : 0)) {
        refuse(request, "as many new gradients as gradients");
    }
    if (isByNorm) {
        requireScalar(request, request.outputs.back(), DType::Float32);
    }
    return std::make_unique<GroupKernel>(request, context, gradientPlaces(request, scalars, true),
        [isByNorm, tensors](
            const Group& group, const KernelBinding& b, GroupPartial* /*partials*/, cudaStream_t stream) {
            if (isByNorm) {
                runClipByNorm(
                    group, constantIn<float>(b, 0), constantIn<double>(b, 1), outputAs<float>(b, tensors), stream);
            } else {
                runClipByValue(group, constantIn<float>(b, 0), stream);
            }
        });
}

std::unique_ptr<Kernel> makeSgd(const KernelRequest& request, const Context& context)
{
    const auto attributes = attributesOf<SgdAttributes>(request.attributes);
    const UpdatePlan plan = planUpdate(request,
        {attributes.momentum != 0 ? std::size_t {1} : 0, 0, attributes.rounding, attributes.arithmetic,
            attributes.skipOnNonFinite, attributes.seed, attributes.weightDecay});
    const SgdSetting setting {plan.setting, attributes.momentum, attributes.nesterov};
    return std::make_unique<GroupKernel>(request, context, plan.places,
        [plan, setting](const Group& group, const KernelBinding& b, GroupPartial* partials, cudaStream_t stream) {
            runSgd(setting, group, scalarsOf(plan, b, false), partials, stream);
        });
}

std::unique_ptr<Kernel> makeAdam(const KernelRequest& request, const Context& context)
{
    const auto attributes = attributesOf<AdamAttributes>(request.attributes);
    const UpdatePlan plan = planUpdate(request,
        {2, 1, attributes.rounding, attributes.arithmetic, attributes.skipOnNonFinite, attributes.seed,
            attributes.weightDecay});
    const std::size_t taken = plan.tensors * (1 + plan.statesWithCompensation);
    requireScalar(request, request.inputs[2 + plan.tensors + taken], DType::Float32);
    requireScalar(request, request.outputs[taken], DType::Float32);
    const AdamSetting setting {
        plan.setting, attributes.beta1, attributes.beta2, attributes.epsilon, attributes.decoupled};
    return std::make_unique<GroupKernel>(request, context, plan.places,
        [plan, setting](const Group& group, const KernelBinding& b, GroupPartial* partials, cudaStream_t stream) {
            runAdam(setting, group, scalarsOf(plan, b, true), partials, stream);
        });
}

std::unique_ptr<Kernel> makeEma(const KernelRequest& request, const Context& context)
{
    const std::size_t n = request.outputs.size();
    if (request.inputs.size() != 2 + 2 * n) {
        refuse(request, "decay, foundInf, weights and as many averages, and new averages");
    }
    std::vector<GroupPlaces> places;
    for (std::size_t i = 0; i < n; ++i) {
        GroupPlaces place;
        place.weight = 2 + i;
        place.next = i;
        place.stateIn = {2 + n + i};
        if (request.inputs[2 + n + i].dtype != request.outputs[i].dtype) {
            refuse(request, "new averages of the old ones' dtype");
        }
        places.push_back(std::move(place));
    }
    const bool skips = attributesOf<EmaAttributes>(request.attributes).skipOnNonFinite;
    return std::make_unique<GroupKernel>(request, context, std::move(places),
        [skips](const Group& group, const KernelBinding& b, GroupPartial* /*partials*/, cudaStream_t stream) {
            runEma(group, constantIn<float>(b, 0), constantIn<float>(b, 1), skips, stream);
        });
}

} // namespace mantissa::cuda
