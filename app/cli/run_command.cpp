// mantissa-cli run: trains an experiment.
#include "app/cli/command.h"
#include "app/cli/graph_report.h"
#include "app/cli/output.h"
#include "app/cli/ranks.h"
#include "app/cli/run_experiment.h"

#include <memory>

namespace mantissa::cli {

namespace {

int printGraph(const RunOptions& options)
{
    const Experiment experiment = experimentFor(options);
    if (options.training.json) {
        printJson(graphJson(experiment));
    } else {
        print(graphText(experiment));
    }
    return exitDone;
}

int trainFile(const RunOptions& options)
{
    return withRanks(options.training.overMpi, [&](World* world) {
        const auto read = [&] { return withWatchpoints(experimentFor(options), options.training.watch); };
        return train(
            options.training, world == nullptr ? read() : sharedExperiment(*world, read), options.file, {}, world);
    });
}

} // namespace

void addRunCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand("run", "Train an experiment's lanes side by side");
    const auto options = std::make_shared<RunOptions>();
    command->add_option("file", options->file, "Experiment file (experiments/README.md)")->required();
    command->add_option("--lane", options->lanes, "Only this lane; may be repeated")->allow_extra_args(false);
    command->add_option("--steps", options->steps, "Steps of every lane");
    command->add_option("--seed", options->seed, "Seed of every lane");
    command->add_option("--weights", options->weights,
        "Start every lane from the weights in this .safetensors file (names as in PyTorch's state_dict)");
    command
        ->add_option("--set", options->set,
            "PATH=VALUE for every lane, as in optimizer.lr=0.01 (scaler.* only for lanes with a scaler); may be "
            "repeated")
        ->allow_extra_args(false);
    command->add_flag("--print-graph", options->printsGraph,
        "Print the ops of a training step with their formats, casts and reasons instead of training");
    addTrainingOptions(*command, options->training);
    command->callback(
        [=, &chosen] { chosen = [=] { return options->printsGraph ? printGraph(*options) : trainFile(*options); }; });
}

} // namespace mantissa::cli
