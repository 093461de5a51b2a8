#include "engine/protocol/protocol.h"

#include "engine/autocast/policy.h"
#include "engine/core/clock.h"
#include "engine/core/nearest_name.h"
#include "engine/train/train_to_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace mantissa {

namespace {

using Settings = std::vector<std::pair<std::string, nlohmann::json>>;

/// Everything that a session says of its one lane.
class RunKeeper : public RunObserver
{
public:
    void runStarted(const RunStart& start) override
    {
        m_run.config = start.config;
        m_run.initialWeightsHash = start.initialWeightsHash;
        m_threads = start.threadsPerLane;
    }

    void stepsRecorded(std::span<const StepRecord> records) override
    {
        m_run.records.insert(m_run.records.end(), records.begin(), records.end());
    }

    void eventHappened(const Event& event) override { m_run.events.push_back(event); }

    void runEnded(std::uint32_t /*lane*/, const RunSummary& summary) override { m_run.summary = summary; }

    [[nodiscard]] int threads() const { return m_threads; }

    /// Once the session is over.
    [[nodiscard]] ProtocolRun take() { return std::move(m_run); }

private:
    ProtocolRun m_run;
    int m_threads = 1;
};

/// A setting that FP32 does not have, or has as FP32.
bool isOfPrecision(const std::string& path)
{
    return path.starts_with("scaler") || path.starts_with("precision") || path.ends_with("format");
}

/// The experiment with this lane alone.
Experiment withLane(
    const Experiment& experiment, LaneConfig lane, const std::string& eventsOf, const std::string& name, bool isFp32)
{
    Experiment result;
    result.name = fmt::format("{}: protocol", experiment.name.empty() ? "Untitled" : experiment.name);
    result.directory = experiment.directory;
    lane.document["name"] = name;
    lane = parseLane(lane.document, "protocol");
    result.lanes = {std::move(lane)};
    for (ScriptedEvent event : experiment.events) {
        if (!event.lane.empty() && event.lane != eventsOf) {
            continue;
        }
        event.lane.clear();
        std::erase_if(event.set, [isFp32](const auto& change) { return isFp32 && isOfPrecision(change.first); });
        if (!event.set.empty()) {
            result.events.push_back(std::move(event));
        }
    }
    result.document = composeExperiment(result);
    return result;
}

/// Takes back all that has 16 bits.
const Settings& fp32Settings()
{
    using json = nlohmann::json;
    static const Settings settings {
        {"precision", json {{"policy", "fp32"}, {"weights", nullptr}, {"overrides", nullptr}}},
        {"scaler", nullptr},
        {"optimizer", json {{"state_format", nullptr}, {"epsilon_format", nullptr}}},
        {"ema", json {{"format", nullptr}}},
    };
    return settings;
}

LaneConfig chosenLane(const Experiment& experiment, const std::string& wanted)
{
    const std::vector<std::string> names = protocolLanes(experiment);
    if (wanted.empty() && names.empty()) {
        return withOverrides(
            experiment.lanes.front(), {{"precision.policy", "fp16"}, {"scaler", {{"family", "pytorch"}}}});
    }
    const std::string& name = wanted.empty() ? names.front() : wanted;
    const auto found = std::ranges::find(experiment.lanes, name, &LaneConfig::name);
    if (found == experiment.lanes.end()) {
        std::vector<std::string> all;
        std::ranges::transform(experiment.lanes, std::back_inserter(all), &LaneConfig::name);
        throw Error(
            ErrorCode::InvalidArgument, fmt::format("there is no lane \"{}\"; {}", name, suggestion(name, all)));
    }
    if (std::ranges::find(names, name) == names.end()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("lane \"{}\" runs in FP32, so there is nothing to compare; choose one with another policy, or "
                        "none for FP16 with a scaler",
                name));
    }
    return *found;
}

ProtocolRun trainOne(const Experiment& experiment, const ProtocolOptions& options, ProtocolRuns& runs,
    const std::function<bool(const SessionStatus&)>& goOn)
{
    RunKeeper keeper;
    SessionOptions sessionOptions;
    sessionOptions.device = options.device;
    sessionOptions.threads = options.threads;
    sessionOptions.observers = options.observers;
    sessionOptions.observers.push_back(&keeper);
    bool isCancelled = false;
    {
        Session session(experiment, sessionOptions);
        const auto last = trainToEnd(session, [&](const SessionStatus& status) {
            isCancelled = isCancelled || !goOn(status);
            return !isCancelled;
        });
        runs.device = last->device;
    }
    if (isCancelled) {
        throw Error(ErrorCode::Cancelled, "the protocol was cancelled; there is no result");
    }
    runs.threads = keeper.threads();
    return keeper.take();
}

} // namespace

std::vector<std::string> protocolLanes(const Experiment& experiment)
{
    std::vector<std::string> names;
    for (const LaneConfig& lane : experiment.lanes) {
        if (policyNamed(lane.precision.policy).lower != DType::Float32 || !lane.precision.overrides.empty()) {
            names.push_back(lane.name);
        }
    }
    return names;
}

ProtocolPair protocolPair(const Experiment& experiment, const ProtocolOptions& options, int further)
{
    if (options.steps < ProtocolOptions::leastSteps) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} steps are too few to compare curves; give {} or more, {} is usual", options.steps,
                ProtocolOptions::leastSteps, ProtocolOptions::usualSteps));
    }
    const LaneConfig chosen = chosenLane(experiment, options.lane);
    const std::uint64_t seed = options.seed.value_or(chosen.seed) + static_cast<std::uint64_t>(further);
    const LaneConfig amp = withOverrides(chosen, {{"steps", options.steps}, {"seed", seed}});
    const std::string ampName = protocolLanes(experiment).empty() ? "FP16 AMP" : chosen.name;
    return {withLane(experiment, withOverrides(amp, fp32Settings()), chosen.name, "FP32", true),
        withLane(experiment, amp, chosen.name, ampName == "FP32" ? "AMP" : ampName, false)};
}

ProtocolResult runProtocol(const Experiment& experiment, const ProtocolOptions& options,
    const std::function<bool(const ProtocolProgress&)>& goOn)
{
    ProtocolRuns runs {.experiment = experiment.name, .steps = options.steps, .unixSeconds = unixSeconds()};
    runs.lane
        = !options.lane.empty() || protocolLanes(experiment).empty() ? options.lane : protocolLanes(experiment).front();
    const int count = 2 * options.seeds;
    for (int further = 0; further < options.seeds; ++further) {
        const ProtocolPair pair = protocolPair(experiment, options, further);
        const auto train = [&](const Experiment& side, int run) {
            const LaneConfig& lane = side.lanes.front();
            const std::string name = fmt::format("{}, seed {}", lane.name, lane.seed);
            return trainOne(side, options, runs, [&](const SessionStatus& status) {
                return goOn({.run = run, .runs = count, .name = name, .status = status});
            });
        };
        runs.fp32.push_back(train(pair.fp32, 2 * further));
        runs.amp.push_back(train(pair.amp, 2 * further + 1));
    }
    return judgeProtocol(std::move(runs));
}

} // namespace mantissa
