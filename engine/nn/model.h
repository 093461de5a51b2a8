/// A model as a graph of FP32 ops, with its parameters and their initial values.
#pragma once

#include "engine/graph/graph.h"
#include "engine/nn/model_config.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

/// A parameter starts uniform in [-bound, bound).
struct Parameter
{
    ValueId value = 0;
    float bound = 0;
};

/// What the model is fed and asked.
struct ModelTask
{
    std::int64_t batch = 0;
    std::int64_t features = 0; ///< per sample
    std::int64_t outputs = 0;  ///< classes, or targets
    std::string loss;          ///< cross_entropy, mse, bce_with_logits
    bool training = true;      ///< with dropout
    std::uint64_t seed = 0;    ///< of dropout
};

struct Model
{
    Graph graph;
    std::vector<Parameter> parameters;
    ValueId input = 0;          ///< fp32 [batch, features]
    ValueId target = 0;         ///< int32 [batch] for cross_entropy, else fp32 [batch, outputs]
    ValueId dropoutCounter = 0; ///< int32 StepInput; only with dropout
    bool hasDropout = false;
    ValueId output = 0; ///< [batch, outputs]
    ValueId loss = 0;   ///< fp32 scalar
};

/// Throws Error (InvalidArgument or ShapeMismatch) naming the layer.
Model buildModel(const ModelConfig& config, const ModelTask& task);

/// The initial values of a parameter: Philox(seed, stream of its name), so equal names start equal in every lane.
std::vector<float> initialValues(const Graph& graph, const Parameter& parameter, std::uint64_t seed);

/// The activations that ModelConfig knows.
const std::vector<std::string>& activationNames();

} // namespace mantissa
