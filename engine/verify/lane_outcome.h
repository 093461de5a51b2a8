/// What a lane did in a run, kept whole so that expectations can be judged.
#pragma once

#include "engine/train/layer_measure.h"
#include "engine/train/run_observer.h"

#include <map>
#include <string>
#include <vector>

namespace mantissa {

/// A lane's layers at a step that was looked at.
struct SampledLayers
{
    std::int64_t step = 0;
    std::vector<LayerFigures> layers {};
};

struct LaneOutcome
{
    std::string lane; ///< its name
    RunSummary summary {};
    std::vector<StepRecord> records {}; ///< by step
    std::vector<RankRecord> ranks {}; ///< by step, then rank; empty for a lane of one rank
    std::vector<SampledLayers> sampled {}; ///< by step; empty where none was looked at
};

/// The steps to look at, so that the experiment's expectations of layers can be judged: every tenth, or none if it has
/// no such expectation.
SamplingPlan samplingFor(const Experiment& experiment);

/// Collects a session's outcomes. Read it when the session is over.
class OutcomeCollector : public RunObserver
{
public:
    void runStarted(const RunStart& start) override;
    void ranksRecorded(std::span<const RankRecord> records) override;
    void stepsRecorded(std::span<const StepRecord> records) override;
    void stepSampled(const std::shared_ptr<const StepSample>& sample) override;
    void runEnded(std::uint32_t lane, const RunSummary& summary) override;

    /// In the order of the experiment's lanes.
    [[nodiscard]] std::vector<LaneOutcome> outcomes() const;

private:
    std::map<std::uint32_t, LaneOutcome> m_lanes;
};

} // namespace mantissa
