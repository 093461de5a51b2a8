#include "engine/nn/model_config.h"

namespace mantissa {

const std::vector<std::string>& modelKinds()
{
    static const std::vector<std::string> kinds {"mlp", "cnn", "resnet", "vit", "gpt", "layers"};
    return kinds;
}

ModelConfig defaultModel(const std::string& kind)
{
    ModelConfig config;
    config.kind = kind;
    if (kind == "resnet") {
        config.width = 16;
        config.stages = 3;
    } else if (kind == "vit" || kind == "gpt") {
        config.width = 64;
        config.depth = 4;
        config.activation = "gelu";
    }
    return config;
}

} // namespace mantissa
