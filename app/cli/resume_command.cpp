// mantissa-cli resume: goes on from a checkpoint.
#include "app/cli/checkpoint_argument.h"
#include "app/cli/command.h"
#include "app/cli/ranks.h"
#include "app/cli/run_experiment.h"
#include "engine/core/error.h"
#include "engine/train/resume_changes.h"

#include <cstdio>
#include <memory>

namespace mantissa::cli {

namespace {

struct ResumeOptions
{
    std::string from; ///< a run's number, or a file
    std::string steps;
    ResumeChanges changes;
    std::vector<std::string> set;
    bool withoutCheckpoints = false;
    TrainingOptions training;
};

ResumeChanges changesOf(const ResumeOptions& options)
{
    ResumeChanges changes = options.changes;
    for (const std::string& assignment : options.set) {
        changes.set.push_back(changeFrom(assignment));
    }
    if (!options.steps.empty()) {
        changes.set.push_back(changeFrom("steps=" + options.steps));
    }
    return changes;
}

/// As the run that is resumed, unless told otherwise.
CheckpointPlan planFor(const ResumeOptions& options, const Checkpoint& checkpoint)
{
    CheckpointPlan plan = options.training.checkpoints;
    if (options.withoutCheckpoints) {
        plan.folder.clear();
    } else if (plan.folder.empty()) {
        plan = checkpoint.plan;
    }
    return plan;
}

int resumeHere(const ResumeOptions& options, World* world)
{
    const auto read = [&] { return checkpointFrom(options.from, options.training.database); };
    ResumedLane lane = world == nullptr ? read() : sharedCheckpoint(*world, read);
    lane.checkpoint = std::make_shared<const Checkpoint>(withChanges(*lane.checkpoint, changesOf(options)));
    const Checkpoint& checkpoint = *lane.checkpoint;
    Experiment experiment;
    experiment.name = checkpoint.experimentName;
    experiment.text = checkpoint.experimentText;
    experiment.lanes = {checkpoint.initial};
    experiment.watchpoints = checkpoint.watchpoints;
    experiment = withWatchpoints(std::move(experiment), options.training.watch);
    TrainingOptions training = options.training;
    training.checkpoints = planFor(options, checkpoint);
    if (training.threads == 0) {
        training.threads = checkpoint.threadsPerLane; // another number would give other bits
    }
    if (world == nullptr || world->rank() == 0) {
        std::fprintf(stderr, "%s goes on at step %lld of %s\n", checkpoint.initial.name.c_str(),
            static_cast<long long>(checkpoint.state.nextStep), lane.file.c_str());
        if (world == nullptr && !training.checkpoints.folder.empty()) {
            std::fprintf(stderr, "checkpoints go to %s\n", training.checkpoints.folder.c_str());
        }
    }
    return train(training, experiment, lane.file.string(), {lane}, world);
}

int resume(const ResumeOptions& options)
{
    return withRanks(options.training.overMpi, [&](World* world) { return resumeHere(options, world); });
}

} // namespace

void addResumeCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand("resume", "Go on from a checkpoint, to the bit as if never interrupted");
    const auto options = std::make_shared<ResumeOptions>();
    command->add_option("run", options->from, "A run's number (its newest checkpoint is taken), or a checkpoint file")
        ->required();
    command->add_option("--steps", options->steps, "Train to this step instead");
    command->add_flag("--without-scaler", options->changes.withoutScaler,
        "Forget the scaler's state, as a training script does that does not save it: scale and tracker begin anew");
    command->add_option("--set", options->set, "PATH=VALUE from here on, as in optimizer.lr=0.0001; may be repeated")
        ->allow_extra_args(false);
    CLI::Option* factor = command->add_option(
        "--lr-factor", options->changes.lrFactor, "Multiply the learning rate, and what scripted changes make of it");
    factor->check(CLI::Range(0.0, 1e6));
    command->add_option("--lr-steps", options->changes.lrSteps, "For so many steps; without it, to the end")
        ->check(CLI::Range(1, 1'000'000'000))
        ->needs(factor);
    addTrainingOptions(*command, options->training);
    command->get_option("--checkpoints")->description("Write checkpoints into this folder instead of that of the run");
    command->add_flag("--no-checkpoints", options->withoutCheckpoints, "Write no checkpoints")
        ->excludes("--checkpoints");
    command->callback([=, &chosen] { chosen = [=] { return resume(*options); }; });
}

} // namespace mantissa::cli
