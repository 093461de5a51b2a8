#include "engine/train/step_sample.h"

#include "engine/autocast/policy.h"
#include "engine/core/clock.h"
#include "engine/probe/tensor_change.h"
#include "engine/train/lane.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace mantissa {

namespace {

constexpr std::int64_t samplesPerStride = 100; // until it doubles

using Elements = std::vector<float>;

double shareOf(std::size_t part, std::size_t whole)
{
    return whole == 0 ? TensorSample::none : static_cast<double>(part) / static_cast<double>(whole);
}

/// Units lie along the last axis: features, or channels in NHWC.
double deadShare(std::span<const float> elements, std::size_t units)
{
    std::vector<bool> isAlive(units);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i] != 0) {
            isAlive[i % units] = true;
        }
    }
    return shareOf(static_cast<std::size_t>(std::count(isAlive.begin(), isAlive.end(), false)), units);
}

double saturatedShare(std::span<const float> elements, Op op)
{
    constexpr double saturatedBelow = 0.01; // of the largest derivative: 1/4 of the sigmoid, 1 of tanh
    const auto relativeDerivative = [op](double y) { return op == Op::Sigmoid ? 4 * y * (1 - y) : 1 - y * y; };
    return shareOf(static_cast<std::size_t>(std::count_if(elements.begin(), elements.end(),
                       [&](float y) { return relativeDerivative(y) < saturatedBelow; })),
        elements.size());
}

} // namespace

/// Kept from one step that is looked at to the next.
struct StepSampler::Scratch
{
    std::vector<Elements> reference; ///< the FP32 gradients by parameter
    std::vector<Elements> weights; ///< before the step
    Elements read;
    Elements gradient;
    Elements update;
    HalfWeights halves;
};

namespace {

/// Looks at a lane while it steps.
class Observer
{
public:
    /// `hasReference`: the scratch holds the FP32 gradients of the step to come.
    Observer(Lane& lane, StepSample& sample, StepSampler::Scratch& scratch, bool hasReference, bool keepsElements)
        : m_lane(lane)
        , m_executor(lane.executor())
        , m_step(lane.stepGraph())
        , m_sample(sample)
        , m_scratch(scratch)
        , m_hasReference(hasReference)
        , m_keepsElements(keepsElements)
    {
        m_scratch.weights.resize(m_step.parameters.size());
        for (std::size_t i = 0; i < m_step.parameters.size(); ++i) {
            const ValueId id = m_step.parameters[i];
            add(TensorRole::Weight, nameOf(id), m_step.graph.value(id).type.dtype, read(id, m_scratch.weights[i]));
        }
    }

    StepRecord step()
    {
        return m_lane.step([this](StepStage stage) { look(stage); },
            [this](const Node& node) {
                const double start = steadySeconds();
                look(node);
                m_seconds[static_cast<std::size_t>(node.phase)] += steadySeconds() - start;
            });
    }

    /// Spent on looking while the phase ran.
    [[nodiscard]] double secondsIn(Phase phase) const { return m_seconds[static_cast<std::size_t>(phase)]; }

private:
    [[nodiscard]] const std::string& nameOf(ValueId id) const { return m_step.graph.value(id).name; }

    /// Valid until the next read into the same buffer.
    std::span<const float> read(ValueId id, Elements& buffer)
    {
        m_executor.readFloats(id, buffer);
        return buffer;
    }

    TensorSample& add(TensorRole role, const std::string& tensor, DType format, std::span<const float> elements)
    {
        TensorSample& sample = m_sample.tensors.emplace_back();
        sample.tensor = tensor;
        sample.role = role;
        sample.format = format;
        take(elements, sample);
        return sample;
    }

    void take(std::span<const float> elements, TensorSample& sample) const
    {
        measure(elements, sample);
        if (m_keepsElements) {
            sample.kept.assign(elements.begin(), elements.end());
        }
    }

    void look(StepStage stage)
    {
        switch (stage) {
        case StepStage::Backward:
            takeCensus();
            lookAtScaled();
            break;
        case StepStage::Unscale:
            lookAtGradients(TensorRole::Unscaled);
            break;
        case StepStage::Clip:
            lookAtGradients(TensorRole::Clipped);
            break;
        case StepStage::Step:
            lookAtUpdates();
            break;
        case StepStage::Data:
        case StepStage::Forward:
        case StepStage::Check:
        case StepStage::Update:
        case StepStage::Schedule:
            break;
        }
    }

    /// Of several micro-batches the last one stays.
    void look(const Node& node)
    {
        const bool isForward = node.phase == Phase::Forward;
        // What a checkpointed block computes again has been seen.
        const bool isSeen = node.op == Op::Reshape || (!isForward && node.name.find(".backward") == std::string::npos);
        if (isSeen || node.outputs.empty()) {
            return;
        }
        const ValueId id = node.outputs.front();
        const Value& value = m_step.graph.value(id);
        if (value.kind != ValueKind::Activation || (value.type.dtype != DType::Float32 && !isHalf(value.type.dtype))) {
            return;
        }
        const std::span<const float> elements = read(id, m_scratch.read);
        const auto [place, isNew] = m_placeOf.try_emplace(id, m_sample.tensors.size());
        if (isNew) {
            const TensorRole role = isForward ? TensorRole::Activation : TensorRole::ActivationGradient;
            add(role, node.name, value.type.dtype, elements);
        } else {
            take(elements, m_sample.tensors[place->second]);
        }
        TensorSample& sample = m_sample.tensors[place->second];
        if (node.op == Op::Relu) {
            sample.dead = deadShare(elements, static_cast<std::size_t>(value.type.shape.back()));
        } else if (node.op == Op::Sigmoid || node.op == Op::Tanh) {
            sample.saturated = saturatedShare(elements, node.op);
        }
    }

    void takeCensus()
    {
        m_executor.downloadCensus();
        for (const auto& [id, place] : m_placeOf) {
            TensorSample& sample = m_sample.tensors[place];
            const Phase phase = sample.role == TensorRole::Activation ? Phase::Forward : Phase::Backward;
            takeCensus(sample, id, phase);
        }
    }

    void takeCensus(TensorSample& sample, ValueId id, Phase phase) const
    {
        if (const Census* rounding = m_executor.census(id, phase); rounding != nullptr && rounding->total() > 0) {
            sample.census = *rounding;
        }
    }

    void lookAtScaled()
    {
        if (!m_sample.tensors.empty() && m_hasScaled) {
            // An earlier micro-batch's: what it was part of counts.
            std::erase_if(m_sample.tensors, [](const TensorSample& sample) {
                return sample.role == TensorRole::Scaled || sample.role == TensorRole::Reference;
            });
        }
        m_hasScaled = true;
        const double scale = m_lane.scaler().unscaleBy();
        for (std::size_t i = 0; i < m_step.gradients.size(); ++i) {
            const std::string& name = nameOf(m_step.parameters[i]);
            const std::span<const float> scaled = read(m_step.gradients[i], m_scratch.read);
            const std::optional<ValueId> rounding = m_step.gradientRoundings[i];
            const ValueId stored = rounding.value_or(m_step.gradients[i]);
            TensorSample& sample = add(TensorRole::Scaled, name, m_step.graph.value(stored).type.dtype, scaled);
            if (rounding) {
                takeCensus(sample, *rounding, Phase::Backward);
            }
            if (m_hasReference) {
                const Likeness likeness = likenessOf(scaled, scale, m_scratch.reference[i]);
                sample.cosine = likeness.cosine;
                sample.relativeError = likeness.relativeError;
                add(TensorRole::Reference, name, DType::Float32, m_scratch.reference[i]);
            }
        }
    }

    void lookAtGradients(TensorRole role)
    {
        if (role == TensorRole::Clipped && m_lane.config()->clip.order == ClipOrder::Off) {
            return;
        }
        for (std::size_t i = 0; i < m_step.gradients.size(); ++i) {
            const ValueId id = m_step.gradients[i];
            TensorSample& sample
                = add(role, nameOf(m_step.parameters[i]), m_step.graph.value(id).type.dtype, read(id, m_scratch.read));
            takeCensus(sample, id, role == TensorRole::Unscaled ? Phase::Unscale : Phase::Clip);
        }
    }

    void lookAtUpdates()
    {
        for (std::size_t i = 0; i < m_step.parameters.size(); ++i) {
            const ValueId id = m_step.parameters[i];
            const Elements& before = m_scratch.weights[i];
            const std::span<const float> after = read(id, m_scratch.read);
            Elements& update = m_scratch.update;
            update.resize(after.size());
            const WeightChange change = changeOf(before, after, read(m_step.gradients[i], m_scratch.gradient), update);
            TensorSample& sample = add(TensorRole::Update, nameOf(id), m_step.graph.value(id).type.dtype, update);
            sample.ratio = sample.norm / std::sqrt(change.squares);
            sample.unmoved = shareOf(change.unmoved, change.wanted);
            sample.belowHalfUlp = m_sample.lower == DType::Float32
                ? TensorSample::none
                : lostShare(m_sample.lower, before, update, m_scratch.halves);
        }
    }

    Lane& m_lane;
    Executor& m_executor;
    const StepGraph& m_step;
    StepSample& m_sample;
    StepSampler::Scratch& m_scratch;
    std::map<ValueId, std::size_t> m_placeOf; ///< in m_sample, of activations and their gradients
    std::array<double, phaseCount> m_seconds {};
    bool m_hasReference; ///< no: the lane is FP32 itself
    bool m_keepsElements;
    bool m_hasScaled = false;
};

} // namespace

bool SamplingPlan::isDue(std::int64_t step) const
{
    if (step == keepsElementsOf) {
        return true;
    }
    if (every <= 0) {
        return false;
    }
    std::int64_t stride = every;
    while (thins && step >= samplesPerStride * stride) {
        stride *= 2;
    }
    return step % stride == 0;
}

struct StepSampler::Twin
{
    std::shared_ptr<const LaneConfig> config; ///< that it was made for
    std::unique_ptr<Lane> lane;
};

StepSampler::StepSampler()
    : m_scratch(std::make_unique<Scratch>())
{
}

StepSampler::~StepSampler() = default;

StepRecord StepSampler::step(Lane& lane, StepSample& into, bool keepsElements)
{
    const double start = steadySeconds();
    const LaneConfig& config = *lane.config();
    into = {.step = lane.nextStep(),
        .lane = lane.id(),
        .lower = policyNamed(config.precision.policy).lower,
        .scale = lane.scale(),
        .clipLimit = config.clip.order == ClipOrder::Off ? 0 : config.clip.maxNorm.value_or(0)};
    const bool hasReference = into.lower != DType::Float32 || !config.precision.overrides.empty();
    if (hasReference) {
        if (!m_twin || m_twin->config != lane.config()) {
            m_twin = std::make_unique<Twin>(Twin {lane.config(), lane.fp32Twin()});
        }
        Lane& twin = *m_twin->lane;
        twin.follow(lane);
        twin.step([&](StepStage stage) {
            const std::vector<ValueId>& gradients = twin.stepGraph().gradients;
            if (stage == StepStage::Backward) {
                m_scratch->reference.resize(gradients.size());
                for (std::size_t i = 0; i < gradients.size(); ++i) {
                    twin.executor().readFloats(gradients[i], m_scratch->reference[i]);
                }
            }
        });
    } else {
        m_twin.reset();
    }
    Observer observer(lane, into, *m_scratch, hasReference, keepsElements);
    const double before = steadySeconds() - start;
    StepRecord record = observer.step();
    PhaseTimes& time = record.timeMs;
    const auto setApart = [&time](float& phase, double seconds) {
        const float milliseconds = std::min(phase, static_cast<float>(seconds * 1e3));
        phase -= milliseconds;
        time.instrumentsMs += milliseconds;
    };
    setApart(time.forwardMs, observer.secondsIn(Phase::Forward));
    setApart(time.backwardMs, observer.secondsIn(Phase::Backward));
    time.instrumentsMs += static_cast<float>(before * 1e3);
    into.milliseconds = time.instrumentsMs;
    return record;
}

} // namespace mantissa
