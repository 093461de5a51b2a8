// mantissa-cli export-pytorch: a lane as a folder that PyTorch can run.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/run_experiment.h"
#include "engine/pytorch/export.h"

#include <fmt/format.h>

#include <memory>

namespace mantissa::cli {

namespace {

struct ExportOptions
{
    RunOptions run;
    std::string lane;
    std::string folder;
    bool json = false;
};

int exportLane(const ExportOptions& options)
{
    RunOptions run = options.run;
    if (!options.lane.empty()) {
        run.lanes = {options.lane};
    }
    const Experiment experiment = experimentFor(run);
    if (experiment.lanes.size() != 1) {
        std::string names;
        for (const LaneConfig& lane : experiment.lanes) {
            names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", lane.name);
        }
        throw BadInput(fmt::format("--lane is missing: {} has {}", run.file, names));
    }
    const LaneConfig& lane = experiment.lanes.front();
    const PytorchExport result = exportToPytorch(experiment, lane, options.folder);
    if (options.json) {
        printJson({{"lane", lane.name}, {"folder", options.folder}, {"files", result.files}, {"notes", result.notes}});
        return exitDone;
    }
    std::string text = fmt::format("{} is in {}:", lane.name, options.folder);
    for (const std::string& file : result.files) {
        text += " " + file;
    }
    for (const std::string& note : result.notes) {
        text += "\nnote: " + note;
    }
    print(fmt::format("{}\nTrain it there and here, and compare: python3 {}/compare.py\n", text, options.folder));
    return exitDone;
}

} // namespace

void addExportPytorchCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand(
        "export-pytorch", "A lane as a PyTorch script, with its model, initial weights and batches, and a comparer");
    const auto options = std::make_shared<ExportOptions>();
    command->add_option("file", options->run.file, "Experiment file (experiments/README.md)")->required();
    command->add_option("--lane", options->lane, "The lane's name; only a file of one lane needs none");
    command->add_option("--out", options->folder, "The folder, new or empty")->required();
    command->add_option("--steps", options->run.steps, "Steps of the lane");
    command->add_option("--seed", options->run.seed, "Seed of the lane");
    command->add_option("--weights", options->run.weights, "Start from the weights in this .safetensors file");
    command->add_option("--set", options->run.set, "PATH=VALUE, as in optimizer.lr=0.01; may be repeated")
        ->allow_extra_args(false);
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &chosen] { chosen = [=] { return exportLane(*options); }; });
}

} // namespace mantissa::cli
