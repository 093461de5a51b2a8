/// The "model" settings of an experiment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

struct ModelConfig
{
    std::string kind = "mlp";
    std::vector<std::int64_t> hidden {256, 256};
    std::string activation = "relu"; ///< relu, gelu, gelu_tanh, silu, tanh, sigmoid
    double dropout = 0;
    double initGain = 1; ///< multiplies PyTorch's default initial weights (not the biases)
    bool operator==(const ModelConfig&) const = default;
};

} // namespace mantissa
