// The only list of layer kinds.
#include "engine/nn/layer_functions.h"

#include <algorithm>
#include <limits>

namespace mantissa {

namespace {

using json = nlohmann::json;

const json needed = json(json::value_t::discarded);
const json absent = nullptr;
constexpr double widest = 1 << 20;
constexpr double longest = 1024; // kernels, strides, paddings
constexpr double mostHeads = 4096;

LayerKey integer(std::string name, json fallback, double low, double high)
{
    return {std::move(name), KeyType::Integer, std::move(fallback), low, high};
}

LayerKey pair(std::string name, json fallback, double low, double high = longest)
{
    return {std::move(name), KeyType::Pair, std::move(fallback), low, high};
}

LayerKey number(std::string name, json fallback, double low, double high)
{
    return {std::move(name), KeyType::Number, std::move(fallback), low, high};
}

/// From 0 to below 1.
LayerKey share(std::string name, double fallback)
{
    return {std::move(name), KeyType::Number, fallback, 0, 1, {}, false};
}

LayerKey flag(std::string name, bool fallback)
{
    return {std::move(name), KeyType::Flag, fallback};
}

LayerKey epsilon(double fallback)
{
    return number("epsilon", fallback, 0, 1);
}

LayerKey initStd(json fallback = absent)
{
    return number("init_std", std::move(fallback), 0, 100);
}

std::vector<LayerKind> makeKinds()
{
    std::vector<LayerKind> kinds {
        {"linear", "fc",
            {integer("features", absent, 1, widest), flag("bias", true), {"tied", KeyType::Name, absent}, initStd()},
            layers::linear},
        {"conv2d", "conv",
            {integer("channels", needed, 1, widest), pair("kernel", needed, 1), pair("stride", 1, 1),
                pair("padding", 0, 0), pair("dilation", 1, 1), integer("groups", 1, 1, widest), flag("bias", true),
                initStd()},
            layers::conv2d},
        {"batch_norm", "bn", {epsilon(1e-5), number("momentum", 0.1, 0, 1)}, layers::batchNorm},
        {"group_norm", "gn", {integer("groups", needed, 1, widest), epsilon(1e-5)}, layers::groupNorm},
        {"layer_norm", "ln", {epsilon(1e-5)}, layers::layerNorm},
        {"rms_norm", "rms", {epsilon(std::numeric_limits<float>::epsilon())}, layers::rmsNorm},
        {"max_pool", "pool", {pair("kernel", needed, 1), pair("stride", absent, 1), pair("padding", 0, 0)},
            layers::maxPool},
        {"avg_pool", "pool",
            {pair("kernel", needed, 1), pair("stride", absent, 1), pair("padding", 0, 0), flag("count_padding", true)},
            layers::avgPool},
        {"global_avg_pool", "pool", {}, layers::globalAvgPool},
        {"flatten", "flatten", {}, layers::flatten},
        {"dropout", "drop", {share("p", 0.5)}, layers::dropout},
        {"embedding", "embed", {integer("width", needed, 1, widest), initStd(1.0)}, layers::embedding},
        {"positional_embedding", "pos_embed", {initStd(0.02)}, layers::positionalEmbedding},
        {"patch_embedding", "patch_embed",
            {pair("patch", needed, 1), integer("width", needed, 1, widest), flag("bias", true), initStd()},
            layers::patchEmbedding},
        {"class_token", "cls_token", {initStd(0.0)}, layers::classToken},
        {"take_token", "take", {integer("index", 0, -widest, widest)}, layers::takeToken},
        {"mean_tokens", "mean", {}, layers::meanTokens},
        {"attention", "attn",
            {integer("heads", needed, 1, mostHeads), flag("causal", false), flag("fused", true), flag("bias", true),
                initStd()},
            layers::attention},
        {"transformer_block", "block",
            {integer("heads", needed, 1, mostHeads), number("mlp_ratio", 4.0, 0.01, 64),
                {"activation", KeyType::Choice, "gelu", 0, 0, activationNames()},
                {"norm", KeyType::Choice, "layer_norm", 0, 0, {"layer_norm", "rms_norm"}}, flag("norm_first", true),
                flag("causal", false), flag("fused", true), flag("bias", true), share("dropout", 0), initStd()},
            layers::transformerBlock},
    };
    for (const std::string& name : activationNames()) {
        kinds.push_back({name, "act", {}, layers::activation});
    }
    return kinds;
}

} // namespace

const std::vector<LayerKind>& layerKinds()
{
    static const std::vector<LayerKind> kinds = makeKinds();
    return kinds;
}

const LayerKind* findLayerKind(std::string_view name)
{
    const auto found = std::ranges::find(layerKinds(), name, &LayerKind::name);
    return found == layerKinds().end() ? nullptr : &*found;
}

const json& Layer::value(std::string_view key) const
{
    if (m_object.is_object()) {
        if (const auto given = m_object.find(key); given != m_object.end()) {
            return *given;
        }
    }
    return std::ranges::find(m_kind.keys, key, &LayerKey::name)->fallback;
}

std::array<std::int64_t, 2> Layer::pair(std::string_view key) const
{
    const json& given = value(key);
    return given.is_array() ? given.get<std::array<std::int64_t, 2>>()
                            : std::array {given.get<std::int64_t>(), given.get<std::int64_t>()};
}

} // namespace mantissa
