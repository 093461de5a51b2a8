/// How much memory training takes, told from the plan of a step without allocating it.
#pragma once

#include "engine/train/step_graph.h"
#include "engine/train/step_record.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

/// `bytesOf`(kind) as a lane reports it; `workspace` is left at 0.
template <typename BytesOf> MemoryBytes bytesByKind(BytesOf bytesOf)
{
    return {.weights = bytesOf(ValueKind::Parameter) + bytesOf(ValueKind::Buffer),
        .copies = bytesOf(ValueKind::WeightCopy),
        .gradients = bytesOf(ValueKind::Gradient),
        .optimizer = bytesOf(ValueKind::OptimizerState),
        .activations = bytesOf(ValueKind::Activation) + bytesOf(ValueKind::Input),
        .workspace = 0};
}

/// What a lane with this step holds; `workspace` is left at 0, since kernels tell theirs only once they are made.
MemoryBytes plannedBytes(const Graph& step);

/// A GPT-like decoder to be planned: learned positions, one head weight tied to the embedding, MLP of four widths.
struct DecoderShape
{
    std::int64_t layers = 0;
    std::int64_t width = 0;
    std::int64_t heads = 0;
    std::int64_t vocabulary = 32000;
    std::int64_t context = 2048; ///< tokens in a sample

    [[nodiscard]] std::int64_t parameters() const;
};

/// "7B", "125M", "350k", "1.3e9": a number of parameters from 100k to 10T; nothing for other texts.
std::optional<std::int64_t> parameterCount(const std::string& text);

/// A decoder of about so many parameters: about as deep for its width as the GPT-3 family is (Brown et al. 2020, table
/// 2.1: 768 x 12, 2048 x 24, 4096 x 32, 12288 x 96), the width in whole heads of 64 or 128.
DecoderShape decoderOf(std::int64_t parameters, std::int64_t vocabulary, std::int64_t context);

struct DecoderTraining
{
    DecoderShape shape;
    std::int64_t batch = 1; ///< samples in a micro-batch
    std::string optimizer = "adamw";
    std::string policy = "bf16"; ///< one of policyNames()
    bool fusedAttention = true;
    bool checkpointing = false; ///< of every layer
};

/// Throws Error (InvalidArgument or ShapeMismatch) for a shape that makes no model.
MemoryBytes plannedBytes(const DecoderTraining& training);

/// What the figures rest on, a sentence each.
std::vector<std::string> assumptionsOf(const DecoderTraining& training);

} // namespace mantissa
