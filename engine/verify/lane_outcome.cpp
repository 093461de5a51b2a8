#include "engine/verify/lane_outcome.h"

#include "engine/train/expectation.h"

#include <algorithm>

namespace mantissa {

SamplingPlan samplingFor(const Experiment& experiment)
{
    constexpr std::int64_t every = 10;
    const auto namesLayer = [](const nlohmann::json& side) { return side.is_object() && side.contains("layer"); };
    const bool isWanted = std::ranges::any_of(experiment.expect, [&](const nlohmann::json& expectation) {
        return namesLayer(expectation.at("left")) || namesLayer(expectation.at("right"));
    });
    return isWanted ? SamplingPlan {.every = every, .thins = false} : SamplingPlan {};
}

void OutcomeCollector::runStarted(const RunStart& start)
{
    m_lanes[start.lane].lane = start.config.name;
}

void OutcomeCollector::ranksRecorded(std::span<const RankRecord> records)
{
    for (const RankRecord& record : records) {
        m_lanes[record.lane].ranks.push_back(record);
    }
}

void OutcomeCollector::stepsRecorded(std::span<const StepRecord> records)
{
    for (const StepRecord& record : records) {
        m_lanes[record.lane].records.push_back(record);
    }
}

void OutcomeCollector::stepSampled(const std::shared_ptr<const StepSample>& sample)
{
    m_lanes[sample->lane].sampled.push_back({sample->step, figuresOf(*sample, LayerGrouping::Layers)});
}

void OutcomeCollector::runEnded(std::uint32_t lane, const RunSummary& summary)
{
    m_lanes[lane].summary = summary;
}

std::vector<LaneOutcome> OutcomeCollector::outcomes() const
{
    std::vector<LaneOutcome> result;
    for (const auto& [id, outcome] : m_lanes) {
        result.push_back(outcome);
    }
    return result;
}

} // namespace mantissa
