// mantissa-cli export-weights: the weights of a checkpoint as PyTorch's load_state_dict() reads them.
#include "app/cli/checkpoint_argument.h"
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "engine/pytorch/state_dict.h"
#include "engine/train/dataset_cache.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace mantissa::cli {

namespace {

struct WeightsOptions
{
    std::string from; ///< a run's number, or a file
    std::string out;
    std::string database;
    bool json = false;
};

int exportWeights(const WeightsOptions& options)
{
    const ResumedLane lane = checkpointFrom(options.from, options.database);
    std::error_code ignored;
    if (std::filesystem::equivalent(lane.file, options.out, ignored)) {
        throw BadInput("--out is the checkpoint itself, which holds more than the weights; name another file");
    }
    const LaneState& state = lane.checkpoint->state;
    const auto data = DatasetCache(std::filesystem::current_path()).get(state.config);
    const Safetensors weights = trainedStateDict(state, *data);
    writeSafetensors(options.out, weights);
    if (options.json) {
        printJson({{"checkpoint", lane.file.string()}, {"lane", state.config.name}, {"steps", state.nextStep},
            {"file", options.out}, {"tensors", weights.tensors.size()}});
    } else {
        print(fmt::format("{}: {} tensors of {} after {} steps\n", options.out, weights.tensors.size(),
            state.config.name, state.nextStep));
    }
    return exitDone;
}

} // namespace

void addExportWeightsCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand(
        "export-weights", "The weights of a run or checkpoint as a .safetensors file for PyTorch's load_state_dict()");
    const auto options = std::make_shared<WeightsOptions>();
    command->add_option("from", options->from, "A run's number (its newest checkpoint) or a checkpoint file")
        ->required();
    command->add_option("--out", options->out, "The file to write")->required();
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &chosen] { chosen = [=] { return exportWeights(*options); }; });
}

} // namespace mantissa::cli
