/// A model as a graph of FP32 ops, with its parameters and their initial values.
#pragma once

#include "engine/nn/model_config.h"
#include "engine/nn/parameter.h"

#include <string>
#include <vector>

namespace mantissa {

/// What the model is fed and asked.
struct ModelTask
{
    std::int64_t batch = 0;
    std::int64_t firstSample = 0; ///< where these samples begin in a larger batch, of which they are a share
    TensorType sample; ///< one sample, without the batch: fp32 [h, w, c] for images, fp32 [f], int32 [t] for token ids
    std::int64_t outputs = 0; ///< classes, targets, or the vocabulary where the next token is asked
    std::int64_t vocabulary = 0; ///< token ids are from 0 to below it; 0 where samples are no tokens
    bool perToken = false; ///< a target for each token instead of one for each sample
    std::string loss; ///< cross_entropy, mse, bce_with_logits
    std::string lossForm = "fused"; ///< one of lossForms()
    double labelSmoothing = 0; ///< cross_entropy: the share of the target that all classes get alike
    std::int32_t ignoreIndex = -100; ///< cross_entropy: targets of this value do not count
    bool training = true; ///< with dropout, and batch statistics in batch norm; else with the running ones
    std::uint64_t seed = 0; ///< of dropout
};

struct Model
{
    Graph graph;
    std::vector<Parameter> parameters; ///< in the order of PyTorch's parameters()
    std::vector<Parameter> buffers; ///< FP32 state without a gradient, which training updates: running statistics
    ValueId input = 0; ///< [batch, sample...]; flat if the model begins by flattening it, which moves no number
    ValueId target = 0; ///< int32 [batch] or [batch, tokens] for cross_entropy, else fp32, shaped like the output
    ValueId dropoutCounter = 0; ///< int32 StepInput; only with dropout
    bool hasDropout = false;
    ValueId output = 0; ///< [batch, outputs], or [batch, tokens, outputs] with a target for each token
    ValueId loss = 0; ///< fp32 scalar
};

/// How cross_entropy is computed. fused: one op, FP32 inside. log_softmax: that op, then nll_loss, as PyTorch composes
/// it; what lies between has a format. log_of_softmax: softmax, log and nll_loss, which loses small probabilities.
std::vector<std::string> lossForms();

/// Every kind is built from a list of layers: the one given, or the one that presetLayers() writes.
/// Throws Error (InvalidArgument or ShapeMismatch) naming the layer by its place in the experiment and its name, with
/// what it needs and the shape it is given.
Model buildModel(const ModelConfig& config, const ModelTask& task);

} // namespace mantissa
