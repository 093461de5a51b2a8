// mantissa-cli memory: what training a decoder of so many parameters takes, by kind of memory, without training it.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "engine/autocast/policy.h"
#include "engine/core/nearest_name.h"
#include "engine/train/memory_planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace mantissa::cli {

namespace {

struct MemoryOptions
{
    std::string parameters = "7B";
    std::vector<std::string> policies {"fp32", "fp16", "bf16"};
    DecoderTraining training;
    std::int64_t layers = 0; ///< 0: chosen from the parameters, as the next two
    std::int64_t width = 0;
    std::int64_t heads = 0;
    bool unfused = false;
    bool json = false;
};

DecoderShape shapeOf(const MemoryOptions& options)
{
    DecoderShape shape = options.training.shape;
    if (options.layers == 0 && options.width == 0) {
        const std::optional<std::int64_t> parameters = parameterCount(options.parameters);
        if (!parameters) {
            throw BadInput(fmt::format(
                "--parameters: \"{}\" is not a number of parameters from 100k to 10T; write 7B, 125M or 1.3e9",
                options.parameters));
        }
        shape = decoderOf(*parameters, shape.vocabulary, shape.context);
    } else if (options.layers == 0 || options.width == 0) {
        throw BadInput("--layers and --width belong together: give both, or --parameters alone");
    } else {
        shape.layers = options.layers;
        shape.width = options.width;
        shape.heads = std::max<std::int64_t>(1, options.width / 64);
    }
    shape.heads = options.heads > 0 ? options.heads : shape.heads;
    if (shape.width % shape.heads != 0) {
        throw BadInput(fmt::format("--heads: {} heads do not divide the width {}", shape.heads, shape.width));
    }
    return shape;
}

int answer(const MemoryOptions& options)
{
    DecoderTraining training = options.training;
    training.shape = shapeOf(options);
    training.fusedAttention = !options.unfused;
    Table table;
    table.addColumn("policy", Table::Align::Left);
    for (const char* title : {"weights", "16-bit copies", "gradients", "optimizer", "activations", "together"}) {
        table.addColumn(title);
    }
    Json plans = Json::array();
    for (const std::string& policy : options.policies) {
        if (const auto known = policyNames(); std::ranges::find(known, policy) == known.end()) {
            throw BadInput(fmt::format("--policy: there is no policy \"{}\"; {}", policy, suggestion(policy, known)));
        }
        training.policy = policy;
        const MemoryBytes bytes = plannedBytes(training);
        table.addRow({policy, bytesText(bytes.weights), bytesText(bytes.copies), bytesText(bytes.gradients),
            bytesText(bytes.optimizer), bytesText(bytes.activations), bytesText(bytes.total())});
        plans.push_back({{"policy", policy},
            {"bytes",
                {{"weights", bytes.weights}, {"copies", bytes.copies}, {"gradients", bytes.gradients},
                    {"optimizer", bytes.optimizer}, {"activations", bytes.activations}, {"total", bytes.total()}}},
            {"assumptions", assumptionsOf(training)}});
    }
    const DecoderShape& shape = training.shape;
    if (options.json) {
        printJson({{"parameters", shape.parameters()}, {"layers", shape.layers}, {"width", shape.width},
            {"heads", shape.heads}, {"vocabulary", shape.vocabulary}, {"context", shape.context},
            {"batch", training.batch}, {"optimizer", training.optimizer}, {"fused_attention", training.fusedAttention},
            {"checkpointing", training.checkpointing}, {"plans", plans}});
        return exitDone;
    }
    std::string text = table.text() + '\n';
    for (const std::string& assumption : assumptionsOf(training)) {
        text += "- " + assumption + '\n';
    }
    print(text);
    return exitDone;
}

} // namespace

void addMemoryCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand(
        "memory", "What training a GPT-like decoder takes, by kind of memory and policy, without training it");
    const auto options = std::make_shared<MemoryOptions>();
    DecoderTraining& training = options->training;
    DecoderShape& shape = training.shape;
    constexpr std::int64_t most = 1 << 24;
    constexpr std::int64_t widest = 1 << 20;
    CLI::Option* parameters
        = command->add_option("--parameters", options->parameters, "How many, as in 7B, 125M, 1.3e9")
              ->capture_default_str();
    command->add_option("--layers", options->layers, "Instead of --parameters, with --width")
        ->check(CLI::Range(1, 1000))
        ->excludes(parameters);
    command->add_option("--width", options->width, "Of a token")
        ->check(CLI::Range(std::int64_t {1}, widest))
        ->excludes(parameters);
    command->add_option("--heads", options->heads, "Of the attention; width / 64 or 128 if not given")
        ->check(CLI::Range(1, 4096));
    command->add_option("--vocabulary", shape.vocabulary, "Tokens there are")
        ->check(CLI::Range(std::int64_t {2}, most))
        ->capture_default_str();
    command->add_option("--sequence", shape.context, "Tokens in a sample")
        ->check(CLI::Range(std::int64_t {1}, most))
        ->capture_default_str();
    command->add_option("--batch", training.batch, "Samples in a micro-batch")
        ->check(CLI::Range(std::int64_t {1}, most))
        ->capture_default_str();
    command->add_option("--optimizer", training.optimizer, "sgd, adam or adamw")
        ->check(CLI::IsMember({"sgd", "adam", "adamw"}))
        ->capture_default_str();
    command->add_option("--policy", options->policies, "A precision policy; may be repeated")
        ->allow_extra_args(false)
        ->capture_default_str();
    command->add_flag("--checkpointing", training.checkpointing, "Compute each layer's activations again");
    command->add_flag("--unfused", options->unfused, "Attention that stores its scores");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &chosen] { chosen = [=] { return answer(*options); }; });
}

} // namespace mantissa::cli
