#include "engine/diagnose/stored_run.h"

#include "engine/autocast/policy.h"
#include "engine/core/error.h"
#include "engine/store/run_comparison.h"
#include "engine/store/spread_samples.h"
#include "engine/train/setting_table.h"

#include <fmt/format.h>

#include <utility>

namespace mantissa {

namespace {

/// The settings of a run as they changed, up to its last step.
std::vector<SettingsSince> historyOf(const Experiment& replay, std::int64_t lastStep)
{
    std::vector<SettingsSince> history {{0, replay.lanes.at(0)}};
    for (const ScriptedEvent& event : replay.events) {
        if (event.step > lastStep) {
            continue;
        }
        LaneConfig config = history.back().config;
        for (const auto& [path, value] : event.set) {
            config = withSetting(config, path, value);
        }
        if (history.back().step == event.step) {
            history.back().config = std::move(config);
        } else {
            history.push_back({event.step, std::move(config)});
        }
    }
    return history;
}

/// What two lanes must share for one to be the other in FP32: everything but name, colour, precision and scaler.
nlohmann::json shared(const Experiment& replay)
{
    const auto counts = [](const std::string& path) {
        return path != "color" && !path.starts_with("precision") && !path.starts_with("scaler");
    };
    nlohmann::json all = nlohmann::json::object();
    for (const Setting& row : settingTable()) {
        if (counts(row.path)) {
            all[row.path] = row.write(replay.lanes.at(0));
        }
    }
    for (const ScriptedEvent& event : replay.events) {
        for (const auto& [path, value] : event.set) {
            if (counts(path)) {
                all["events"].push_back({event.step, path, value});
            }
        }
    }
    return all;
}

std::optional<RunStatus> statusOf(const RunInfo& run)
{
    return run.status == RunStatus::Running ? std::nullopt : std::optional(run.status);
}

unsigned evidenceIn(const ImportSource& source)
{
    unsigned known = 0;
    for (const auto& [field, evidence] : {std::pair("loss", KnownLosses), std::pair("grad_norm", KnownNorms),
             std::pair("scale", KnownScales), std::pair("skipped", KnownSkips), std::pair("flushed", KnownFlushing)}) {
        known |= source.knows(field) ? static_cast<unsigned>(evidence) : 0U;
    }
    return known;
}

constexpr std::size_t enoughSamples = 40; // to see what stays

} // namespace

StoredRun readStoredRun(const RunStore& store, RunId id)
{
    const std::optional<RunInfo> info = store.run(id);
    if (!info) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("There is no run {} in this database.", id));
    }
    StoredRun run {.records = store.records(id), .events = store.events(id), .status = statusOf(*info)};
    if (info->imported) {
        run.known = evidenceIn(*info->imported);
        return run;
    }
    const Experiment replay = parseExperiment(store.replayExperiment(id).dump(), fmt::format("run {}", id));
    run.history = historyOf(replay, run.records.empty() ? 0 : run.records.back().step);
    run.config = run.history.back().config;
    run.samples = spreadSamples(store, id, enoughSamples);
    for (const RunInfo& other : store.runs()) {
        if (other.imported || policyNamed(other.policy).lower != DType::Float32
            || !beganTogether(store, *info, other)) {
            continue;
        }
        const Experiment otherReplay
            = parseExperiment(store.replayExperiment(other.id).dump(), fmt::format("run {}", other.id));
        if (shared(otherReplay) != shared(replay)) {
            continue;
        }
        const std::vector<StepRecord> records = store.records(other.id);
        const RunView view {otherReplay.lanes.at(0), records, {}, statusOf(other)};
        const RunFacts facts = factsOf(view);
        run.siblings.push_back({other.lane, facts.isBroken() || facts.hasRisen(), facts.stepMs});
    }
    return run;
}

} // namespace mantissa
