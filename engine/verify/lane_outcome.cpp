#include "engine/verify/lane_outcome.h"

namespace mantissa {

void OutcomeCollector::runStarted(const RunStart& start)
{
    m_lanes[start.lane].lane = start.config.name;
}

void OutcomeCollector::stepsRecorded(std::span<const StepRecord> records)
{
    for (const StepRecord& record : records) {
        m_lanes[record.lane].records.push_back(record);
    }
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
