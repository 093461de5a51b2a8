// mantissa-cli trace: trains a stored run again up to a step that is not finite, and finds out why.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/runs_common.h"
#include "engine/store/run_export.h"
#include "engine/train/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace mantissa::cli {

namespace {

struct TraceOptions
{
    std::string database;
    RunId run = 0;
    std::int64_t step = -1; ///< -1: the first whose loss is not finite, or else the last whose gradient is not
    bool json = false;
};

std::int64_t stepToTrace(const RunStore& store, const RunInfo& run, std::int64_t wanted)
{
    const std::vector<StepRecord> records = store.records(run.id);
    if (wanted >= 0) {
        if (records.empty() || wanted > records.back().step) {
            throw BadInput(fmt::format("--step {}: run {} has {} steps", wanted, run.id, records.size()));
        }
        return wanted;
    }
    const auto bad = std::ranges::find_if(records, [](const StepRecord& record) { return !record.lossFinite; });
    if (bad != records.end()) {
        return bad->step;
    }
    const auto skipped
        = std::find_if(records.rbegin(), records.rend(), [](const StepRecord& record) { return record.foundInf; });
    if (skipped == records.rend()) {
        throw BadInput(fmt::format("run {} has no step that is not finite; --step N chooses one", run.id));
    }
    return skipped->step;
}

Json originAsJson(const NonFiniteOrigin& origin)
{
    Json inputs = Json::array();
    for (const TracedOperand& operand : origin.inputs) {
        inputs.push_back({{"tensor", operand.name}, {"format", nameOf(operand.format)},
            {"smallest", exactNumber(operand.smallest)}, {"largest", exactNumber(operand.largest)}});
    }
    return {{"op", origin.op}, {"kind", origin.kind}, {"phase", nameOf(origin.phase)}, {"tensor", origin.tensor},
        {"format", nameOf(origin.format)}, {"elements", origin.elements}, {"infinite", origin.infinite},
        {"nan", origin.nan}, {"inputs", std::move(inputs)}, {"samples", origin.samples}};
}

Json blameAsJson(const RunInfo& run, const Blame& blame)
{
    Json json {{"run", run.id}, {"lane", run.lane}, {"step", blame.step}, {"cause", nameOf(blame.cause)}};
    if (blame.origin) {
        json["origin"] = originAsJson(*blame.origin);
    }
    if (blame.cause == BlameCause::Scale) {
        json["safe_scale"] = blame.safeScale;
    }
    json["samples"] = blame.samples;
    json["weights"] = blame.weights;
    json["ops"] = blame.ops;
    json["fix"] = blame.fix;
    json["trials"] = blame.trials;
    json["text"] = blame.text;
    return json;
}

/// Steps 0 to `steps` - 1 of the run, again.
void trainUpTo(Session& session, std::int64_t steps)
{
    Progress progress;
    session.waitUntilIdle();
    if (session.status()->state == SessionState::Failed) {
        throw Error(session.status()->error, session.status()->message);
    }
    if (steps == 0) {
        return;
    }
    progress.message(fmt::format("training {} steps again", steps));
    const std::uint64_t command = session.runSteps(steps);
    while (session.status()->appliedCommands < command || session.status()->state == SessionState::Running) {
        progress.show(*session.status());
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    progress.clear();
    const std::int64_t reached = session.status()->lanes.at(0).nextStep;
    if (reached != steps) {
        throw Error(ErrorCode::Internal,
            fmt::format("the run ended at step {} when it was trained again, before step {}", reached, steps));
    }
}

int trace(const TraceOptions& options)
{
    RunsOptions where;
    where.database = options.database;
    const RunStore store = openRuns(where);
    const RunInfo run = runNumber(store, options.run);
    const nlohmann::json replay = store.replayExperiment(run.id);
    const std::int64_t step = stepToTrace(store, run, options.step);
    SessionOptions session;
    session.threads = run.threadsPerLane; // another number would give other bits
    Session again(parseExperiment(replay.dump(), fmt::format("run {}", run.id)), session);
    trainUpTo(again, step);
    const Blame blame = again.blame(again.status()->lanes.at(0).id, step).get();
    if (options.json) {
        printJson(blameAsJson(run, blame));
        return exitDone;
    }
    std::string text = fmt::format("run {}, lane {}, step {}\n{}\n", run.id, run.lane, blame.step, blame.text);
    if (!blame.fix.is_null()) {
        text += fmt::format("Settings that mend it: {}\n", blame.fix.dump());
    }
    print(text);
    return exitDone;
}

} // namespace

void addTraceCommand(CLI::App& app, Action& chosen)
{
    auto options = std::make_shared<TraceOptions>();
    CLI::App* command = app.add_subcommand("trace",
        "Train a stored run again up to a step that is not finite, and find out where it broke and what mends it");
    command->add_option("run", options->run, "Number of the run, as runs list prints it")->required();
    command
        ->add_option("--step", options->step,
            "The step; else the first whose loss is not finite, or the last whose gradient is not")
        ->check(CLI::NonNegativeNumber);
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([options, &chosen] { chosen = [options] { return trace(*options); }; });
}

} // namespace mantissa::cli
