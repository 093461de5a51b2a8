#include "engine/diagnose/stored_run.h"

#include "engine/autocast/policy.h"
#include "engine/core/error.h"

#include <fmt/format.h>

#include <cmath>

namespace mantissa {

namespace {

LaneConfig settingsAtTheEnd(const RunStore& store, RunId id, std::int64_t lastStep)
{
    const Experiment experiment = parseExperiment(store.replayExperiment(id).dump(), fmt::format("run {}", id));
    LaneConfig config = experiment.lanes.at(0);
    for (const ScriptedEvent& event : experiment.events) {
        for (const auto& [path, value] : event.set) {
            if (event.step <= lastStep) {
                config = withSetting(config, path, value);
            }
        }
    }
    return config;
}

/// Lanes of one session begin within moments of each other.
bool beganTogether(const RunInfo& a, const RunInfo& b)
{
    constexpr double moments = 5;
    return a.id != b.id && a.experimentName == b.experimentName && a.seed == b.seed
        && std::abs(a.startedUnixSeconds - b.startedUnixSeconds) < moments;
}

std::optional<RunStatus> statusOf(const RunInfo& run)
{
    return run.status == RunStatus::Running ? std::nullopt : std::optional(run.status);
}

} // namespace

StoredRun readStoredRun(const RunStore& store, RunId id)
{
    const std::optional<RunInfo> info = store.run(id);
    if (!info) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("There is no run {} in this database.", id));
    }
    StoredRun run {.records = store.records(id), .events = store.events(id), .status = statusOf(*info)};
    run.config = settingsAtTheEnd(store, id, run.records.empty() ? 0 : run.records.back().step);
    for (const RunInfo& other : store.runs()) {
        const bool isFp32 = policyNamed(other.policy).lower == DType::Float32;
        if (!beganTogether(*info, other) || !isFp32) {
            continue;
        }
        const std::vector<StepRecord> records = store.records(other.id);
        const RunView view {LaneConfig {}, records, {}, statusOf(other)};
        const RunFacts facts = factsOf(view);
        run.siblings.push_back({other.lane, isFp32, facts.isBroken() || facts.hasRisen(), facts.stepMs});
    }
    return run;
}

} // namespace mantissa
