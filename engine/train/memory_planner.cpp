#include "engine/train/memory_planner.h"

#include "engine/autocast/policy.h"
#include "engine/core/phrase.h"
#include "engine/graph/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace mantissa {

namespace {

constexpr std::int64_t narrowHead = 64;
constexpr std::int64_t wideHead = 128;
constexpr std::int64_t wideFrom = 2048; ///< width

/// Layers for a width: the depths of the GPT-3 family, in between as a power of the width.
std::int64_t depthFor(std::int64_t width)
{
    struct Known
    {
        double width;
        double layers;
    };

    constexpr Known family[] {{768, 12}, {2048, 24}, {4096, 32}, {12288, 96}};
    const auto w = static_cast<double>(width);
    const Known* upper = std::begin(family) + 1;
    while (upper + 1 != std::end(family) && upper->width < w) {
        ++upper;
    }
    const Known& lower = *(upper - 1);
    const double power = std::log(upper->layers / lower.layers) / std::log(upper->width / lower.width);
    return std::max<std::int64_t>(1, std::llround(lower.layers * std::pow(w / lower.width, power)));
}

/// Attention 4 w^2 + 4 w, MLP 8 w^2 + 5 w, two norms 4 w.
std::int64_t parametersOfLayer(std::int64_t width)
{
    return 12 * width * width + 13 * width;
}

/// A norm, tokens and positions.
std::int64_t parametersBesides(const DecoderShape& shape)
{
    return 2 * shape.width + (shape.vocabulary + shape.context) * shape.width;
}

DecoderShape decoderOfWidth(std::int64_t width, std::int64_t vocabulary, std::int64_t context)
{
    const std::int64_t head = width < wideFrom ? narrowHead : wideHead;
    return {depthFor(width), width, width / head, vocabulary, context};
}

} // namespace

MemoryBytes plannedBytes(const Graph& step)
{
    const MemoryPlan plan = planMemory(step);
    return bytesByKind([&plan](ValueKind kind) { return plan.blockBytes[static_cast<std::size_t>(kind)]; });
}

std::int64_t DecoderShape::parameters() const
{
    return layers * parametersOfLayer(width) + parametersBesides(*this);
}

std::optional<std::int64_t> parameterCount(const std::string& text)
{
    constexpr double fewest = 1e5;
    constexpr double most = 1e13;
    std::size_t used = 0;
    double number = 0;
    try {
        number = std::stod(text, &used);
    } catch (const std::exception&) {
        return std::nullopt;
    }
    const std::string unit = text.substr(used);
    const double factor = unit == "T" ? 1e12
        : unit == "B" || unit == "G"  ? 1e9
        : unit == "M"                 ? 1e6
        : unit == "k" || unit == "K"  ? 1e3
        : unit.empty()                ? 1
                                      : 0;
    number *= factor;
    return number >= fewest && number <= most ? std::optional(std::llround(number)) : std::nullopt;
}

DecoderShape decoderOf(std::int64_t parameters, std::int64_t vocabulary, std::int64_t context)
{
    DecoderShape best = decoderOfWidth(narrowHead, vocabulary, context);
    for (std::int64_t width = narrowHead;; width += width < wideFrom ? narrowHead : wideHead) {
        const DecoderShape shape = decoderOfWidth(width, vocabulary, context);
        if (std::abs(shape.parameters() - parameters) < std::abs(best.parameters() - parameters)) {
            best = shape;
        }
        if (shape.parameters() > parameters) {
            break;
        }
    }
    const auto layers = static_cast<double>(parameters - parametersBesides(best))
        / static_cast<double>(parametersOfLayer(best.width));
    best.layers = std::max<std::int64_t>(1, std::llround(layers));
    return best;
}

MemoryBytes plannedBytes(const DecoderTraining& training)
{
    const DecoderShape& shape = training.shape;
    LaneConfig lane;
    lane.model = defaultModel("gpt");
    lane.model.width = shape.width;
    lane.model.depth = shape.layers;
    lane.model.heads = shape.heads;
    lane.model.fusedAttention = training.fusedAttention;
    lane.model.checkpointing = training.checkpointing;
    lane.optimizer.kind = training.optimizer;
    lane.precision = defaultPrecision(training.policy);
    ModelTask task;
    task.batch = training.batch;
    task.sample = {DType::Int32, {shape.context}};
    task.outputs = shape.vocabulary;
    task.vocabulary = shape.vocabulary;
    task.perToken = true;
    task.loss = lane.loss;
    return plannedBytes(buildStepGraph(lane, task).graph);
}

std::vector<std::string> assumptionsOf(const DecoderTraining& training)
{
    const DecoderShape& shape = training.shape;
    std::vector<std::string> all {
        phrase("GPT-like decoder of {} parameters: layers {}, width {}, heads {}, vocabulary {}, context {}; head "
               "tied to the embedding, MLP of four widths.",
            shape.parameters(), shape.layers, shape.width, shape.heads, shape.vocabulary, shape.context),
        phrase("One device, no sharding; micro-batches of {} x {} tokens; {}.", training.batch, shape.context,
            training.optimizer),
        phrase("Weights, copies, gradients and optimizer state follow from the parameters. 16-bit copies of weights "
               "are kept "
               "for the whole step, as autocast's cache keeps them."),
        training.fusedAttention
            ? phrase("Attention is fused: the tokens x tokens scores are never stored.")
            : phrase("Attention is unfused: the scores of every layer are stored, tokens x tokens each."),
        training.checkpointing
            ? phrase("Activation checkpointing of every layer: only what leaves a layer is kept, the rest is "
                     "computed again in the backward pass.")
            : phrase("All activations that the backward pass reads are kept."),
        phrase(
            "Activations are the peak of this program's plan of a step, which shares memory by lifetime; a framework's "
            "allocator takes more, by its fragmentation and its own order of work."),
        phrase("Scratch of the kernels and the library's own memory come on top (often 0.5 to 2 GiB on a GPU).")};
    return all;
}

} // namespace mantissa
