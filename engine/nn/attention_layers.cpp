// Self-attention, and the transformer block made of it.
// Source: Vaswani et al., "Attention is all you need", 2017; norms first as in GPT-2 (Radford et al. 2019).
#include "engine/nn/layer_functions.h"

#include <fmt/format.h>

#include <cmath>

namespace mantissa::layers {

namespace {

struct Heads
{
    std::int64_t batch;
    std::int64_t tokens;
    std::int64_t width;
    std::int64_t count;
    bool causal;
};

/// Part `index` of [batch, tokens, 3 width] as [batch, heads, tokens, width of a head].
ValueId headsOf(LayerBuilder& builder, const std::string& name, ValueId qkv, std::int64_t index, const Heads& heads)
{
    const ValueId part = builder.node(Op::Slice, name, SliceAttributes {2, index * heads.width, heads.width}, {qkv});
    const ValueId split
        = builder.reshape(name + ".heads", part, {heads.batch, heads.tokens, heads.count, heads.width / heads.count});
    return builder.node(Op::Permute, name + ".by_head", PermuteAttributes {{0, 2, 1, 3}}, {split});
}

/// softmax(q k^T / sqrt(width of a head)) v op by op, so that the scores are values of their own.
ValueId unfused(LayerBuilder& builder, const std::string& name, ValueId qkv, const Heads& heads)
{
    const ValueId q = headsOf(builder, name + ".q", qkv, 0, heads);
    const ValueId k = headsOf(builder, name + ".k", qkv, 1, heads);
    const ValueId v = headsOf(builder, name + ".v", qkv, 2, heads);
    const ValueId products = builder.node(Op::MatMul, name + ".scores", MatMulAttributes {.transposeB = true}, {q, k});
    ScaleMaskAttributes mask;
    mask.factor = static_cast<float>(1 / std::sqrt(static_cast<double>(heads.width / heads.count)));
    mask.causal = heads.causal;
    const ValueId scores = builder.node(Op::ScaleMask, name + ".mask", mask, {products});
    const ValueId shares = builder.node(Op::Softmax, name + ".softmax", SoftmaxAttributes {}, {scores});
    const ValueId context = builder.node(Op::MatMul, name + ".context", {}, {shares, v});
    const ValueId byToken = builder.node(Op::Permute, name + ".by_token", PermuteAttributes {{0, 2, 1, 3}}, {context});
    return builder.reshape(name + ".joined", byToken, {heads.batch, heads.tokens, heads.width});
}

nlohmann::json named(nlohmann::json layer, const char* name)
{
    layer["name"] = name;
    return layer;
}

} // namespace

ValueId attention(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireSequence(x);
    const Shape shape = builder.shapeOf(x);
    const Heads heads {shape[0], shape[1], shape[2], layer.integer("heads"), layer.flag("causal")};
    if (heads.width % heads.count != 0) {
        builder.failShape(fmt::format("has {} heads, which must divide the width that it gets", heads.count), x);
    }
    const std::string name = builder.name();
    const bool hasBias = layer.flag("bias");
    const ValueId qkv = appendLinear(builder, name + ".qkv", x, 3 * heads.width, hasBias, initStdOf(layer));
    const ValueId mixed = layer.flag("fused")
        ? builder.node(Op::Attention, name, AttentionAttributes {.heads = heads.count, .causal = heads.causal}, {qkv},
            {".log_sum_exp"})
        : unfused(builder, name, qkv, heads);
    return appendLinear(builder, name + ".proj", mixed, heads.width, hasBias, initStdOf(layer));
}

ValueId transformerBlock(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    using json = nlohmann::json;
    builder.requireSequence(x);
    const std::int64_t width = builder.shapeOf(x).back();
    const auto inner = static_cast<std::int64_t>(std::llround(layer.number("mlp_ratio") * static_cast<double>(width)));
    const double share = layer.number("dropout");
    json attention {{"kind", "attention"}, {"heads", layer.integer("heads")}, {"causal", layer.flag("causal")},
        {"fused", layer.flag("fused")}, {"bias", layer.flag("bias")}};
    json widen {{"kind", "linear"}, {"features", std::max<std::int64_t>(inner, 1)}, {"bias", layer.flag("bias")}};
    json narrow {{"kind", "linear"}, {"features", width}, {"bias", layer.flag("bias")}};
    if (layer.has("init_std")) {
        for (json* part : {&attention, &widen, &narrow}) {
            (*part)["init_std"] = layer.number("init_std");
        }
    }
    const json mlp {{"name", "mlp"},
        {"sequence", {named(widen, "fc1"), named({{"kind", layer.text("activation")}}, "act"), named(narrow, "fc2")}}};
    json blocks = json::array();
    const auto add = [&](const json& part, const char* norm, const char* drop) {
        json residual = json::array({part});
        if (share > 0) {
            residual.push_back({{"kind", "dropout"}, {"p", share}, {"name", drop}});
        }
        const json normLayer = named({{"kind", layer.text("norm")}}, norm);
        if (layer.flag("norm_first")) {
            residual.insert(residual.begin(), normLayer);
        }
        blocks.push_back({{"residual", residual}});
        if (!layer.flag("norm_first")) {
            blocks.push_back(normLayer);
        }
    };
    add(named(attention, "attn"), "norm1", "drop1");
    add(mlp, "norm2", "drop2");
    return builder.appendParts(blocks, x);
}

} // namespace mantissa::layers
