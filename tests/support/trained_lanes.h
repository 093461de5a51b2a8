/// Experiments trained whole, lane by lane, for tests of the diagnosis.
#pragma once

#include "engine/diagnose/diagnose.h"
#include "engine/train/session.h"
#include "tests/support/run_recorder.h"

#include <QByteArray>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

struct TrainedLane
{
    LaneConfig config;
    std::vector<StepRecord> records;
    std::vector<Event> events;
    std::vector<StepSample> samples;
    std::optional<RunStatus> status;

    /// Valid as long as this is.
    [[nodiscard]] RunView view() const
    {
        RunView run {config, records, events, status};
        run.samples = samples;
        return run;
    }

    /// What it is to a lane that it stands beside.
    [[nodiscard]] Sibling asSibling() const
    {
        const RunView own = view();
        const RunFacts facts = factsOf(own);
        return {config.name, facts.isBroken() || facts.hasRisen(), facts.stepMs};
    }
};

/// By name. `fix` are settings, by path, of every lane.
inline std::map<std::string, TrainedLane> trainLanes(
    const nlohmann::json& document, const nlohmann::json& fix = nlohmann::json::object())
{
    RunRecorder recorder;
    SessionOptions options;
    options.observers = {&recorder};
    options.sampling = {.every = 20, .thins = false};
    Experiment experiment = parseExperiment(document.dump(), "t");
    std::vector<std::pair<std::string, nlohmann::json>> settings;
    for (const auto& [path, value] : fix.items()) {
        settings.emplace_back(path, value);
    }
    for (LaneConfig& lane : experiment.lanes) {
        lane = withOverrides(lane, settings);
    }
    Session session(std::move(experiment), options);
    session.run();
    session.waitUntilIdle();
    std::map<std::string, TrainedLane> lanes;
    for (const LaneStatus& status : session.status()->lanes) {
        TrainedLane& lane = lanes[status.config->name];
        lane.config = *status.config;
        lane.status = status.status;
        std::ranges::copy_if(recorder.records, std::back_inserter(lane.records),
            [&status](const StepRecord& record) { return record.lane == status.id; });
        std::ranges::copy_if(recorder.events, std::back_inserter(lane.events),
            [&status](const Event& event) { return event.lane == status.id; });
        for (const auto& sample : recorder.samples) {
            if (sample->lane == status.id) {
                lane.samples.push_back(*sample);
            }
        }
    }
    return lanes;
}

/// For a message of a test that fails.
inline QByteArray textOf(const std::vector<Finding>& findings)
{
    std::string text;
    for (const Finding& finding : findings) {
        text += finding.rule + " (" + std::string(nameOf(finding.severity)) + "): " + finding.title + " -> "
            + finding.advice + " " + finding.evidence.dump() + "\n";
    }
    return QByteArray::fromStdString(text.empty() ? "nothing" : text);
}

inline nlohmann::json merged(nlohmann::json a, const nlohmann::json& b)
{
    a.merge_patch(b);
    return a;
}

} // namespace mantissa
