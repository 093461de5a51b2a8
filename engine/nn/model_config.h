/// The "model" settings of an experiment.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

struct ModelConfig
{
    std::string kind = "mlp"; ///< a name of modelKinds()
    std::vector<std::int64_t> hidden {256, 256}; ///< mlp: its hidden layers; cnn: those of the classifier
    std::string activation = "relu"; ///< relu, gelu, gelu_tanh, silu, tanh, sigmoid
    double dropout = 0;
    double initGain = 1; ///< multiplies the initial weights of linear and convolutional layers (not the biases)

    std::int64_t width
        = 32; ///< cnn, resnet: channels of the first stage, doubled in each further; vit, gpt: of a token
    std::int64_t depth = 2; ///< cnn: convolutions of a stage; resnet: blocks of a stage; vit, gpt: blocks
    std::int64_t stages = 2; ///< cnn, resnet
    bool batchNorm = false; ///< cnn
    std::int64_t heads = 4; ///< vit, gpt
    double mlpRatio = 4; ///< vit, gpt
    bool fusedAttention = true; ///< vit, gpt
    std::int64_t patch = 2; ///< vit
    std::string pooling = "class_token"; ///< vit: class_token, mean_tokens
    bool tiedHead = true; ///< gpt
    bool checkpointing = false; ///< the backward pass computes a block's activations again instead of keeping them
    double initStd = 0.02; ///< gpt: weights start normal; 0: each layer's own default

    nlohmann::json layers = nlohmann::json::array(); ///< kind "layers": what layersProblem() accepts

    std::string weights; ///< a .safetensors file that training starts from; empty: weights are drawn
    std::string weightsHash; ///< WeightsFile::hash that it must have; empty: any
    bool operator==(const ModelConfig&) const = default;
};

/// "mlp", "cnn", "resnet", "vit", "gpt", "layers".
const std::vector<std::string>& modelKinds();

/// A model of the kind with its default settings; width, depth, stages and activation depend on it.
ModelConfig defaultModel(const std::string& kind);

} // namespace mantissa
