/// What a lane did in a run, kept whole so that expectations can be judged.
#pragma once

#include "engine/train/run_observer.h"

#include <map>
#include <string>
#include <vector>

namespace mantissa {

struct LaneOutcome
{
    std::string lane; ///< its name
    RunSummary summary {};
    std::vector<StepRecord> records {}; ///< by step
};

/// Collects a session's outcomes. Read it when the session is over.
class OutcomeCollector : public RunObserver
{
public:
    void runStarted(const RunStart& start) override;
    void stepsRecorded(std::span<const StepRecord> records) override;
    void runEnded(std::uint32_t lane, const RunSummary& summary) override;

    /// In the order of the experiment's lanes.
    [[nodiscard]] std::vector<LaneOutcome> outcomes() const;

private:
    std::map<std::uint32_t, LaneOutcome> m_lanes;
};

} // namespace mantissa
