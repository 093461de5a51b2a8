#include "engine/train/step_walk.h"

#include "engine/probe/tensor_sample.h"
#include "engine/train/lane.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace mantissa {

namespace {

constexpr std::size_t mostRows = 8; // of one stage: what a person can take in

WalkedTensor look(const Value& value, std::span<const float> elements)
{
    TensorSample sample;
    sample.format = value.type.dtype;
    measure(elements, sample);
    const Census& census = sample.census;
    return {.name = value.name,
        .dtype = value.type.dtype,
        .elements = static_cast<std::int64_t>(elements.size()),
        .largest = sample.largest,
        .smallest = sample.smallest,
        .zeros = static_cast<std::int64_t>(census.zero),
        .subnormal = static_cast<std::int64_t>(census.subnormal),
        .nonFinite = static_cast<std::int64_t>(census.infinite + census.nan)};
}

double norm(std::span<const float> elements)
{
    double sum = 0;
    for (const float element : elements) {
        sum += double {element} * element;
    }
    return std::sqrt(sum);
}

/// Notes each stage as it passes.
class Walker
{
public:
    explicit Walker(Lane& lane)
        : m_lane(lane)
        , m_executor(lane.executor())
        , m_step(lane.stepGraph())
    {
        for (const ValueId id : m_step.parameters) {
            m_weights.push_back(m_executor.readFloats(id));
        }
    }

    StepWalk run() &&
    {
        m_walk.config = m_lane.config();
        m_walk.trackerBefore = m_lane.scaler().growthTracker();
        countOps();
        m_walk.record = m_lane.step([this](StepStage stage) { note(stage); });
        m_walk.scaleAfter = m_lane.scale();
        m_walk.lrAfter = m_lane.nextLr();
        return std::move(m_walk);
    }

private:
    void countOps()
    {
        for (const Node& node : m_step.graph.nodes()) {
            if (node.phase == Phase::Forward && node.op != Op::Cast && !node.outputs.empty()) {
                const bool isInHalf = isHalf(m_step.graph.value(node.outputs[0]).type.dtype);
                ++(isInHalf ? m_walk.opsInHalf : m_walk.opsInFull);
            }
        }
        m_walk.casts = m_lane.castsPerStep();
    }

    void note(StepStage stage)
    {
        WalkedStage walked {.stage = stage};
        switch (stage) {
        case StepStage::Data:
            noteSamples(walked);
            break;
        case StepStage::Forward:
            noteRoundings(walked, Phase::Forward);
            break;
        case StepStage::Backward:
            noteRoundings(walked, Phase::Backward);
            noteGradients(walked);
            break;
        case StepStage::Unscale:
            m_walk.unscaledBy = m_lane.scaler().unscaleBy();
            noteGradients(walked);
            break;
        case StepStage::Clip:
            noteGradients(walked);
            break;
        case StepStage::Step:
            noteUpdates(walked);
            break;
        case StepStage::Check:
        case StepStage::Update:
        case StepStage::Schedule:
            break;
        }
        // The next micro-batch takes the place of the last.
        const auto known = std::ranges::find(m_walk.stages, stage, &WalkedStage::stage);
        if (known != m_walk.stages.end()) {
            *known = std::move(walked);
        } else {
            m_walk.stages.push_back(std::move(walked));
        }
    }

    void noteSamples(WalkedStage& walked)
    {
        const Value& samples = m_step.graph.value(m_step.input);
        if (samples.type.dtype == DType::Float32) {
            walked.tensors.push_back(look(samples, m_executor.readFloats(m_step.input)));
        }
    }

    void noteRoundings(WalkedStage& walked, Phase phase)
    {
        m_executor.downloadCensus();
        for (const Node& node : m_step.graph.nodes()) {
            for (const ValueId id : node.outputs) {
                const Census* census = node.phase == phase ? m_executor.census(id, phase) : nullptr;
                if (census != nullptr && census->total() > 0) {
                    const Value& value = m_step.graph.value(id);
                    walked.roundings.push_back({value.name, value.type.dtype, *census});
                }
            }
        }
        std::ranges::stable_sort(walked.roundings, std::ranges::greater {}, [](const WalkedRounding& rounding) {
            const Census& census = rounding.census;
            const auto total = static_cast<double>(census.total());
            return std::tuple(static_cast<double>(census.overflowed + census.nan) / total,
                static_cast<double>(census.flushed) / total, static_cast<double>(census.subnormal) / total);
        });
        walked.roundings.resize(std::min(walked.roundings.size(), mostRows));
    }

    void noteGradients(WalkedStage& walked)
    {
        double squares = 0;
        for (const ValueId id : m_step.gradients) {
            const std::vector<float> values = m_executor.readFloats(id);
            const double length = norm(values);
            squares += length * length;
            walked.tensors.push_back(look(m_step.graph.value(id), values));
        }
        walked.norm = std::sqrt(squares);
        std::ranges::stable_sort(walked.tensors, std::ranges::greater {}, [](const WalkedTensor& tensor) {
            const auto elements = static_cast<double>(tensor.elements);
            return std::tuple(tensor.nonFinite > 0, tensor.zeros == tensor.elements,
                static_cast<double>(tensor.subnormal) / elements, tensor.largest);
        });
        walked.tensors.resize(std::min(walked.tensors.size(), mostRows));
    }

    void noteUpdates(WalkedStage& walked)
    {
        for (std::size_t i = 0; i < m_weights.size(); ++i) {
            const Value& value = m_step.graph.value(m_step.parameters[i]);
            const std::vector<float> after = m_executor.readFloats(m_step.parameters[i]);
            const std::vector<float> gradients = m_executor.readFloats(m_step.gradients[i]);
            const std::vector<float>& before = m_weights[i];
            WalkedUpdate update {
                .name = value.name, .dtype = value.type.dtype, .elements = static_cast<std::int64_t>(after.size())};
            double change = 0;
            for (std::size_t j = 0; j < after.size(); ++j) {
                const double difference = double {after[j]} - before[j];
                change += difference * difference;
                const bool hasMoved = after[j] != before[j];
                update.moved += hasMoved ? 1 : 0;
                update.lost += !hasMoved && gradients[j] != 0 ? 1 : 0;
            }
            const double weights = norm(after);
            update.ratio = weights == 0 ? 0 : std::sqrt(change) / weights;
            walked.updates.push_back(std::move(update));
        }
        std::ranges::stable_sort(walked.updates, std::ranges::greater {}, [](const WalkedUpdate& update) {
            return std::tuple(!std::isfinite(update.ratio),
                static_cast<double>(update.lost) / static_cast<double>(update.elements), update.ratio);
        });
        walked.updates.resize(std::min(walked.updates.size(), mostRows));
    }

    Lane& m_lane;
    Executor& m_executor;
    const StepGraph& m_step;
    std::vector<std::vector<float>> m_weights; ///< before the step
    StepWalk m_walk;
};

} // namespace

StepWalk walkStep(Lane& lane)
{
    return Walker(lane).run();
}

} // namespace mantissa
