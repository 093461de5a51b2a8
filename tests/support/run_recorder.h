/// What a session tells its observers, kept in order, and records compared.
#pragma once

#include "engine/train/run_observer.h"

#include <cmath>
#include <map>
#include <memory>
#include <vector>

namespace mantissa {

class RunRecorder : public RunObserver
{
public:
    void runStarted(const RunStart& start) override { starts.push_back(start); }

    void stepsRecorded(std::span<const StepRecord> steps) override
    {
        records.insert(records.end(), steps.begin(), steps.end());
    }

    void eventHappened(const Event& event) override { events.push_back(event); }

    void stepSampled(const std::shared_ptr<const StepSample>& sample) override { samples.push_back(sample); }

    void runEnded(std::uint32_t lane, const RunSummary& summary) override { summaries[lane] = summary; }

    std::vector<RunStart> starts;
    std::vector<StepRecord> records;
    std::vector<Event> events;
    std::vector<std::shared_ptr<const StepSample>> samples;
    std::map<std::uint32_t, RunSummary> summaries;
};

/// Everything in a record but times and memory.
inline bool isSameStep(const StepRecord& a, const StepRecord& b)
{
    const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    return a.step == b.step && a.lane == b.lane && a.foundInf == b.foundInf && a.skipped == b.skipped
        && a.growthTracker == b.growthTracker && a.hysteresis == b.hysteresis && same(a.loss, b.loss)
        && same(a.gradNorm, b.gradNorm) && same(a.gradNormClipped, b.gradNormClipped) && same(a.gradMax, b.gradMax)
        && same(a.scale, b.scale) && same(a.lr, b.lr) && same(a.flushed, b.flushed) && same(a.subnormal, b.subnormal)
        && same(a.updateRatio, b.updateRatio) && same(a.validationLoss, b.validationLoss)
        && same(a.validationAccuracy, b.validationAccuracy) && same(a.baselineDistance, b.baselineDistance)
        && a.batchHash == b.batchHash;
}

} // namespace mantissa
