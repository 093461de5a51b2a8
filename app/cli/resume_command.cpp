// mantissa-cli resume: goes on from a checkpoint.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/run_experiment.h"
#include "app/cli/runs_common.h"
#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

namespace mantissa::cli {

namespace {

struct ResumeOptions
{
    std::string from; ///< a run's number, or a file
    std::string steps;
    bool withoutScaler = false;
    std::vector<std::string> set;
    TrainingOptions training;
};

std::optional<RunId> runNumberFrom(const std::string& text)
{
    RunId id = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, id);
    return error == std::errc() && stopped == end && !text.empty() ? std::optional(id) : std::nullopt;
}

ResumedLane readFile(const std::filesystem::path& file)
{
    return {std::make_shared<const Checkpoint>(readCheckpoint(file)), file};
}

/// The newest checkpoint of the run that can be read.
ResumedLane newestOf(const RunStore& store, RunId run)
{
    std::string problems;
    std::vector<Event> events = store.events(run);
    std::ranges::reverse(events);
    for (const Event& event : events) {
        if (event.kind != EventKind::Checkpoint || !event.text.empty()) {
            continue;
        }
        std::error_code ignored;
        if (!std::filesystem::exists(event.path, ignored)) {
            continue; // an older one that was replaced
        }
        try {
            return readFile(event.path);
        } catch (const Error& error) {
            std::fprintf(stderr, "mantissa-cli: %s; trying an older checkpoint\n", error.what());
        }
    }
    throw BadInput(
        fmt::format("run {} has no checkpoint that can be read; train with --checkpoints FOLDER to have some", run));
}

ResumedLane chosenCheckpoint(const ResumeOptions& options)
{
    const std::optional<RunId> run = runNumberFrom(options.from);
    if (!run) {
        return readFile(options.from);
    }
    RunsOptions runs;
    runs.database = options.training.database;
    const RunStore store = openRuns(runs);
    return newestOf(store, runNumber(store, *run).id);
}

/// What is to change before the first step, checked.
Changes changesFor(const ResumeOptions& options, const LaneState& state)
{
    Changes changes;
    for (const std::string& assignment : options.set) {
        changes.push_back(changeFrom(assignment));
    }
    if (!options.steps.empty()) {
        changes.push_back(changeFrom("steps=" + options.steps));
    }
    // A lane at its last step ends with the first change that does not give it more.
    std::ranges::stable_partition(changes, [](const auto& change) { return change.first == "steps"; });
    if (options.withoutScaler && !state.scaler.empty()) {
        const std::unique_ptr<LossScaler> fresh = makeScaler(*state.config.scaler);
        changes.emplace_back("scaler.scale", fresh->scale());
        if (state.scaler.contains("_growth_tracker")) {
            changes.emplace_back("scaler.growth_tracker", 0);
        }
    }
    LaneConfig config = state.config;
    for (const auto& [path, value] : changes) {
        config = withSetting(config, path, value);
    }
    if (config.steps <= state.nextStep) {
        throw BadInput(fmt::format("this lane has trained its {} steps; give --steps a number above {} to train it on",
            config.steps, state.nextStep));
    }
    return changes;
}

int resume(const ResumeOptions& options)
{
    const ResumedLane lane = chosenCheckpoint(options);
    const Checkpoint& checkpoint = *lane.checkpoint;
    const Changes changes = changesFor(options, checkpoint.state);
    Experiment experiment;
    experiment.name = checkpoint.experimentName;
    experiment.text = checkpoint.experimentText;
    experiment.lanes = {checkpoint.initial};
    TrainingOptions training = options.training;
    if (training.threads == 0) {
        training.threads = checkpoint.threadsPerLane; // another number would give other bits
    }
    std::fprintf(stderr, "%s goes on at step %lld of %s\n", checkpoint.initial.name.c_str(),
        static_cast<long long>(checkpoint.state.nextStep), lane.file.c_str());
    return train(training, experiment, lane.file.string(), {lane}, changes);
}

} // namespace

void addResumeCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand("resume", "Go on from a checkpoint, to the bit as if never interrupted");
    const auto options = std::make_shared<ResumeOptions>();
    command->add_option("run", options->from, "A run's number (its newest checkpoint is taken), or a checkpoint file")
        ->required();
    command->add_option("--steps", options->steps, "Train to this step instead");
    command->add_flag("--without-scaler", options->withoutScaler,
        "Forget the scaler's state, as a training script does that does not save it: scale and tracker begin anew");
    command->add_option("--set", options->set, "PATH=VALUE from here on, as in optimizer.lr=0.0001; may be repeated")
        ->allow_extra_args(false);
    addTrainingOptions(*command, options->training);
    command->callback([=, &chosen] { chosen = [=] { return resume(*options); }; });
}

} // namespace mantissa::cli
