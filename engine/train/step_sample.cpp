#include "engine/train/step_sample.h"

#include "engine/autocast/policy.h"
#include "engine/core/clock.h"
#include "engine/formats/convert.h"
#include "engine/train/lane.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
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

/// The values as the 16-bit format holds them.
Elements roundedTo(DType format, std::span<const float> values)
{
    std::vector<std::byte> stored(values.size() * sizeOf(format));
    fromFloats(format, values, stored);
    Elements rounded(values.size());
    toFloats(format, stored, rounded);
    return rounded;
}

/// Of the updates that are not zero, the share that weights held in the 16-bit format would not show.
double lostShare(DType format, std::span<const float> weights, std::span<const float> updates)
{
    const Elements halves = roundedTo(format, weights);
    Elements sums(halves.size());
    std::transform(halves.begin(), halves.end(), updates.begin(), sums.begin(), std::plus());
    sums = roundedTo(format, sums);
    std::size_t moved = 0;
    std::size_t lost = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        moved += updates[i] != 0 ? 1 : 0;
        lost += updates[i] != 0 && sums[i] == halves[i] ? 1 : 0;
    }
    return shareOf(lost, moved);
}

/// Looks at a lane while it steps.
class Observer
{
public:
    Observer(Lane& lane, StepSample& sample, std::vector<Elements> reference, bool keepsElements)
        : m_lane(lane)
        , m_executor(lane.executor())
        , m_step(lane.stepGraph())
        , m_sample(sample)
        , m_reference(std::move(reference))
        , m_keepsElements(keepsElements)
    {
        for (const ValueId id : m_step.parameters) {
            m_weights.push_back(m_executor.readFloats(id));
            add(TensorRole::Weight, nameOf(id), m_executor.graph().value(id).type.dtype, m_weights.back());
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
        const std::span<const float> elements = read(id, m_buffer);
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
            const std::span<const float> scaled = read(m_step.gradients[i], m_buffer);
            const std::optional<ValueId> rounding = m_step.gradientRoundings[i];
            const ValueId stored = rounding.value_or(m_step.gradients[i]);
            TensorSample& sample = add(TensorRole::Scaled, name, m_step.graph.value(stored).type.dtype, scaled);
            if (rounding) {
                takeCensus(sample, *rounding, Phase::Backward);
            }
            if (!m_reference.empty()) {
                compare(sample, scaled, scale, m_reference[i]);
                add(TensorRole::Reference, name, DType::Float32, m_reference[i]);
            }
        }
    }

    static void compare(
        TensorSample& sample, std::span<const float> scaled, double scale, std::span<const float> reference)
    {
        double product = 0;
        double ours = 0;
        double theirs = 0;
        double difference = 0;
        for (std::size_t j = 0; j < scaled.size(); ++j) {
            const double a = scaled[j] / scale;
            const double b = reference[j];
            product += a * b;
            ours += a * a;
            theirs += b * b;
            difference += (a - b) * (a - b);
        }
        sample.cosine = product / std::sqrt(ours * theirs);
        sample.relativeError = std::sqrt(difference / theirs);
    }

    void lookAtGradients(TensorRole role)
    {
        if (role == TensorRole::Clipped && m_lane.config()->clip.order == ClipOrder::Off) {
            return;
        }
        for (std::size_t i = 0; i < m_step.gradients.size(); ++i) {
            const ValueId id = m_step.gradients[i];
            TensorSample& sample
                = add(role, nameOf(m_step.parameters[i]), m_step.graph.value(id).type.dtype, read(id, m_buffer));
            takeCensus(sample, id, role == TensorRole::Unscaled ? Phase::Unscale : Phase::Clip);
        }
    }

    void lookAtUpdates()
    {
        for (std::size_t i = 0; i < m_weights.size(); ++i) {
            const ValueId id = m_step.parameters[i];
            const std::span<const float> after = read(id, m_buffer);
            const std::span<const float> gradients = read(m_step.gradients[i], m_gradient);
            const Elements& before = m_weights[i];
            m_update.resize(after.size());
            double squares = 0;
            std::size_t wanted = 0;
            std::size_t kept = 0;
            for (std::size_t j = 0; j < after.size(); ++j) {
                m_update[j] = after[j] - before[j];
                squares += double {before[j]} * before[j];
                const bool hasMoved = after[j] != before[j];
                wanted += gradients[j] != 0 || hasMoved ? 1 : 0;
                kept += gradients[j] != 0 && !hasMoved ? 1 : 0;
            }
            TensorSample& sample = add(TensorRole::Update, nameOf(id), m_step.graph.value(id).type.dtype, m_update);
            sample.ratio = sample.norm / std::sqrt(squares);
            sample.unmoved = shareOf(kept, wanted);
            sample.belowHalfUlp
                = m_sample.lower == DType::Float32 ? TensorSample::none : lostShare(m_sample.lower, before, m_update);
        }
    }

    Lane& m_lane;
    Executor& m_executor;
    const StepGraph& m_step;
    StepSample& m_sample;
    std::vector<Elements> m_reference; ///< by parameter; empty: the lane is FP32 itself
    std::vector<Elements> m_weights; ///< before the step
    Elements m_buffer;
    Elements m_gradient;
    Elements m_update;
    std::map<ValueId, std::size_t> m_placeOf; ///< in m_sample, of activations and their gradients
    std::array<double, phaseCount> m_seconds {};
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

StepSampler::StepSampler() = default;
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
    std::vector<Elements> reference;
    if (into.lower != DType::Float32 || !config.precision.overrides.empty()) {
        if (!m_twin || m_twin->config != lane.config()) {
            m_twin = std::make_unique<Twin>(Twin {lane.config(), lane.fp32Twin()});
        }
        m_twin->lane->follow(lane);
        m_twin->lane->step([&](StepStage stage) {
            if (stage == StepStage::Backward) {
                reference.clear();
                for (const ValueId id : m_twin->lane->stepGraph().gradients) {
                    reference.push_back(m_twin->lane->executor().readFloats(id));
                }
            }
        });
    } else {
        m_twin.reset();
    }
    Observer observer(lane, into, std::move(reference), keepsElements);
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
