/// Where a session's results go besides the window: the database, a metrics file.
#pragma once

#include "engine/train/event.h"
#include "engine/train/experiment.h"
#include "engine/train/rank_record.h"
#include "engine/train/step_record.h"
#include "engine/train/step_sample.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mantissa {

enum class RunStatus : std::uint8_t { Running, Finished, Stopped, Diverged, Failed, Interrupted };

/// "running", "finished", ...
std::string_view nameOf(RunStatus status);
std::optional<RunStatus> runStatusFromName(std::string_view name);

/// What is known when a lane starts.
struct RunStart
{
    std::uint32_t lane = 0;
    LaneConfig config {}; ///< data.path made absolute, here and in `experiment`: a replay has no folder to start from
    std::string experimentName {};
    nlohmann::json experiment {}; ///< the whole document, as composeExperiment() wrote it
    std::string device {};
    std::string backend {};
    std::string instructionSet {};
    int threads = 1; ///< compute threads of the session
    int threadsPerLane = 1;
    std::string initialWeightsHash {};
    double unixSeconds = 0;
};

/// What is known when a lane ends.
struct RunSummary
{
    RunStatus status = RunStatus::Finished;
    std::string message {}; ///< why it failed or diverged
    std::int64_t steps = 0;
    double finalLoss = 0;
    double minLoss = 0;
    double validationLoss = 0; ///< NaN if there is no validation set, and for a stopped run: stopping is at once
    double validationAccuracy = 0; ///< as validationLoss; NaN for regression too
    std::int64_t skippedSteps = 0;
    std::int64_t firstSkip = -1;
    double finalScale = 1;
    std::string weightsHash {}; ///< as Lane::weightsHash()
    double stepsPerSecond = 0;
    MemoryBytes bytes {};
    int castsPerStep = 0;
    double unixSeconds = 0;
};

/// Called on the session's worker thread, between steps; must return quickly and not throw. What an observer does not
/// override, it does not care for.
class RunObserver
{
public:
    virtual ~RunObserver() = default;

    virtual void runStarted(const RunStart& /*start*/) { }

    /// Of the steps that are recorded next, for lanes of several ranks: lane by lane, by rank.
    virtual void ranksRecorded(std::span<const RankRecord> /*records*/) { }

    virtual void stepsRecorded(std::span<const StepRecord> /*records*/) { } ///< one per lane that stepped

    virtual void eventHappened(const Event& /*event*/) { }

    /// A step just recorded, for those that were looked at.
    virtual void stepSampled(const std::shared_ptr<const StepSample>& /*sample*/) { }

    virtual void runEnded(std::uint32_t /*lane*/, const RunSummary& /*summary*/) { }
};

} // namespace mantissa
