#include "engine/nn/presets.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <fmt/format.h>

namespace mantissa {

namespace {

using json = nlohmann::json;

void addDropout(json& layers, double share, const char* name = nullptr)
{
    if (share > 0) {
        json dropout {{"kind", "dropout"}, {"p", share}};
        if (name != nullptr) {
            dropout["name"] = name;
        }
        layers.push_back(std::move(dropout));
    }
}

/// Hidden layers and the last one, from flat features.
void addClassifier(json& layers, const ModelConfig& config)
{
    layers.push_back("flatten");
    for (const std::int64_t width : config.hidden) {
        layers.push_back({{"kind", "linear"}, {"features", width}});
        layers.push_back(config.activation);
        addDropout(layers, config.dropout);
    }
    layers.push_back("linear");
}

json mlpLayers(const ModelConfig& config, const ModelTask& /*task*/)
{
    json layers = json::array();
    addClassifier(layers, config);
    return layers;
}

json cnnLayers(const ModelConfig& config, const ModelTask& /*task*/)
{
    json layers = json::array();
    for (std::int64_t stage = 0; stage < config.stages; ++stage) {
        json block = json::array();
        for (std::int64_t i = 0; i < config.depth; ++i) {
            block.push_back({{"kind", "conv2d"}, {"channels", config.width << stage}, {"kernel", 3}, {"padding", 1}});
            if (config.batchNorm) {
                block.push_back("batch_norm");
            }
            block.push_back(config.activation);
        }
        block.push_back({{"kind", "max_pool"}, {"kernel", 2}});
        layers.push_back({{"sequence", std::move(block)}});
    }
    addClassifier(layers, config);
    return layers;
}

json conv3x3(std::int64_t channels, std::int64_t stride)
{
    // The batch norm behind it has a bias of its own.
    return {
        {"kind", "conv2d"}, {"channels", channels}, {"kernel", 3}, {"stride", stride}, {"padding", 1}, {"bias", false}};
}

json resnetLayers(const ModelConfig& config, const ModelTask& /*task*/)
{
    json layers = json::array({conv3x3(config.width, 1), "batch_norm", config.activation});
    for (std::int64_t stage = 0; stage < config.stages; ++stage) {
        const std::int64_t channels = config.width << stage;
        for (std::int64_t i = 0; i < config.depth; ++i) {
            const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
            json block {{"residual",
                json::array(
                    {conv3x3(channels, stride), "batch_norm", config.activation, conv3x3(channels, 1), "batch_norm"})}};
            if (stride != 1) {
                block["shortcut"] = json::array({{{"kind", "conv2d"}, {"channels", channels}, {"kernel", 1},
                                                     {"stride", stride}, {"bias", false}, {"name", "downsample.0"}},
                    {{"kind", "batch_norm"}, {"name", "downsample.1"}}});
            }
            layers.push_back({{"name", fmt::format("layer{}.{}", stage + 1, i)},
                {"sequence", json::array({std::move(block), config.activation})}});
        }
    }
    layers.push_back("global_avg_pool");
    layers.push_back({{"kind", "linear"}, {"name", "fc"}});
    return layers;
}

void addBlocks(json& layers, const ModelConfig& config, bool causal, const json& initStd)
{
    for (std::int64_t i = 0; i < config.depth; ++i) {
        json block {{"kind", "transformer_block"}, {"name", fmt::format("blocks.{}", i)}, {"heads", config.heads},
            {"mlp_ratio", config.mlpRatio}, {"activation", config.activation}, {"fused", config.fusedAttention},
            {"causal", causal}, {"dropout", config.dropout}};
        if (!initStd.is_null()) {
            block["init_std"] = initStd;
        }
        layers.push_back(std::move(block));
    }
    layers.push_back({{"kind", "layer_norm"}, {"name", "norm"}});
}

json vitLayers(const ModelConfig& config, const ModelTask& /*task*/)
{
    const bool hasClassToken = config.pooling == "class_token";
    json layers = json::array(
        {{{"kind", "patch_embedding"}, {"name", "patch_embed"}, {"patch", config.patch}, {"width", config.width}}});
    if (hasClassToken) {
        layers.push_back({{"kind", "class_token"}, {"name", "cls_token"}});
    }
    layers.push_back({{"kind", "positional_embedding"}, {"name", "pos_embed"}});
    addDropout(layers, config.dropout, "pos_drop");
    addBlocks(layers, config, false, {});
    layers.push_back(hasClassToken ? json {{"kind", "take_token"}, {"index", 0}} : json("mean_tokens"));
    layers.push_back({{"kind", "linear"}, {"name", "head"}});
    return layers;
}

json gptLayers(const ModelConfig& config, const ModelTask& task)
{
    if (task.sample.dtype != DType::Int32) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("model.kind: gpt reads token ids, but a sample of this data is {} {}; choose text or sequence "
                        "data, or another model",
                nameOf(task.sample.dtype), task.sample.shape.text()));
    }
    if (config.tiedHead && task.outputs != task.vocabulary) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("model.tied_head: the head shares the embedding of {} tokens, but this data asks for {} "
                        "outputs; set it to false",
                task.vocabulary, task.outputs));
    }
    const json initStd = config.initStd > 0 ? json(config.initStd) : json();
    const auto withStd = [&initStd](json layer) {
        if (!initStd.is_null()) {
            layer["init_std"] = initStd;
        }
        return layer;
    };
    json layers = json::array({
        withStd({{"kind", "embedding"}, {"name", "tok_embed"}, {"width", config.width}}),
        withStd({{"kind", "positional_embedding"}, {"name", "pos_embed"}}),
    });
    addDropout(layers, config.dropout, "pos_drop");
    addBlocks(layers, config, true, initStd);
    if (!task.perToken) {
        layers.push_back({{"kind", "take_token"}, {"index", -1}});
    }
    json head = withStd({{"kind", "linear"}, {"name", "head"}, {"bias", false}});
    if (config.tiedHead) {
        head["tied"] = "tok_embed";
    }
    layers.push_back(std::move(head));
    return layers;
}

} // namespace

json presetLayers(const ModelConfig& config, const ModelTask& task)
{
    struct Preset
    {
        const char* kind;
        json (*layers)(const ModelConfig&, const ModelTask&);
    };

    for (const Preset& preset : {Preset {"mlp", mlpLayers}, Preset {"cnn", cnnLayers}, Preset {"resnet", resnetLayers},
             Preset {"vit", vitLayers}, Preset {"gpt", gptLayers}}) {
        if (preset.kind == config.kind) {
            return preset.layers(config, task);
        }
    }
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("model.kind: there is no \"{}\"; choose one of {}.", config.kind, joined(modelKinds())));
}

} // namespace mantissa
