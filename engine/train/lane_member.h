/// What a session keeps about a lane beside the lane itself: for LaneGroup's own files.
#pragma once

#include "engine/core/clock.h"
#include "engine/train/lane_group.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mantissa {

struct LaneGroup::Member
{
    LaneConfig initialConfig; ///< with which, and the lane's history, a replay starts at step 0
    std::unique_ptr<Lane> lane;
    bool isStarted = false; ///< the observers know it
    bool isEnded = false;
    RunSummary summary; ///< grows with every step
    double trainingSeconds = 0;
    std::vector<Event> early; ///< happened before the start: told to the observers after it
    std::vector<float> weights; ///< for measuring distances
    StepRecord newest; ///< of the step just trained
    bool goesOn = false; ///< the next step is to be begun before this one's numbers are there
    std::string failure;
    bool isCancelled = false; ///< the failure is that a stop was asked for in mid-step
    std::shared_ptr<const Checkpoint> kept; ///< over several processes: of a step boundary, should the next step fail
    bool isKeptWritten = false;
    std::string initialWeightsHash;
    std::int64_t savedAt = -1; ///< the step of the newest checkpoint
    SnapshotRing snapshots;
    StepSampler sampler;
    std::shared_ptr<StepSample> sample; ///< of the step just trained, if it was looked at
    bool samplesNext = false; ///< a person asked for it
    std::int64_t keptAt = -1; ///< the step of the newest snapshot
    double keptAtSeconds = 0; ///< its trainingSeconds
    double keepSeconds = 0; ///< what it took
    LaneWatch watch;

    /// Keeps the lane's state, so that a person can go back to it.
    void keepState()
    {
        if (keptAt < lane->nextStep() && !lane->hasDiverged()) {
            const double before = steadySeconds();
            keptAt = lane->nextStep();
            snapshots.add(lane->state());
            keptAtSeconds = trainingSeconds;
            keepSeconds = steadySeconds() - before;
        }
    }

    /// Rarer where states are costly to copy: what a person who goes back waits for then is still in proportion.
    void snapshotIfDue(std::int64_t every)
    {
        constexpr double mostOfTraining = 0.005;
        if (every > 0 && lane->nextStep() % every == 0
            && keepSeconds <= mostOfTraining * (trainingSeconds - keptAtSeconds)) {
            keepState();
        }
    }

    /// A step that nobody looks into.
    StepRecord train()
    {
        if (!lane->hasBegun() && !goesOn) {
            return lane->step();
        }
        if (!lane->hasBegun()) {
            lane->begin();
        }
        lane->complete();
        if (goesOn) {
            lane->begin();
        }
        return lane->collect();
    }

    [[nodiscard]] bool canStep() const { return !isEnded && lane->nextStep() < lane->config()->steps; }

    /// Tells observers, once it starts, of the changes that led to the lane's state.
    void notePast()
    {
        for (const ScriptedEvent& past : lane->past()) {
            for (const auto& [path, value] : past.set) {
                early.push_back({.kind = EventKind::Set,
                    .step = past.step,
                    .lane = lane->id(),
                    .path = path,
                    .after = value.dump(),
                    .unixSeconds = unixSeconds()});
            }
        }
    }

    void note(const StepRecord& record)
    {
        summary.steps = record.step + 1;
        summary.finalLoss = record.loss;
        summary.minLoss = std::fmin(summary.minLoss, record.loss);
        if (record.skipped) {
            ++summary.skippedSteps;
            summary.firstSkip = summary.firstSkip < 0 ? record.step : summary.firstSkip;
        }
    }
};

} // namespace mantissa
