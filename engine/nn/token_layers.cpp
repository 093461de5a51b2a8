// Layers between token ids, sequences [batch, tokens, width], and one vector per sample.
#include "engine/nn/layer_functions.h"

#include <fmt/format.h>

namespace mantissa::layers {

namespace {

Initializer normal(const Layer& layer)
{
    const auto deviation = static_cast<float>(layer.number("init_std"));
    return deviation == 0 ? Initializer {} : Initializer {Initializer::Kind::Normal, deviation};
}

} // namespace

ValueId embedding(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    if (builder.typeOf(x).dtype != DType::Int32 || builder.task().vocabulary < 1) {
        builder.failShape("needs token ids (int32)", x);
    }
    const ValueId weight = builder.parameter(
        builder.name() + ".weight", {builder.task().vocabulary, layer.integer("width")}, normal(layer));
    return builder.node(Op::Embedding, builder.name(), {}, {weight, x});
}

ValueId positionalEmbedding(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireSequence(x);
    const Shape& shape = builder.shapeOf(x);
    const ValueId positions = builder.parameter(builder.name(), {1, shape[1], shape[2]}, normal(layer));
    return builder.node(Op::Add, builder.name() + ".add", {}, {x, positions});
}

ValueId classToken(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireSequence(x);
    const std::string& name = builder.name();
    const Shape shape = builder.shapeOf(x);
    const ValueId token = builder.parameter(name, {1, 1, shape[2]}, normal(layer));
    const ValueId row = builder.reshape(name + ".row", token, {1, shape[2]});
    const ValueId rows
        = builder.node(Op::Expand, name + ".expand", ExpandAttributes {.firstAxis = 0, .sizes = {shape[0]}}, {row});
    return builder.node(Op::Concat, name + ".concat", ConcatAttributes {1}, {rows, x});
}

ValueId takeToken(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireSequence(x);
    const Shape shape = builder.shapeOf(x);
    const std::int64_t index = layer.integer("index");
    const std::int64_t place = index < 0 ? index + shape[1] : index;
    if (place < 0 || place >= shape[1]) {
        builder.failShape(fmt::format("takes token {}", index), x);
    }
    const ValueId token = builder.node(Op::Slice, builder.name(), SliceAttributes {1, place, 1}, {x});
    return builder.reshape(builder.name() + ".row", token, {shape[0], shape[2]});
}

ValueId meanTokens(LayerBuilder& builder, const Layer& /*layer*/, ValueId x)
{
    builder.requireSequence(x);
    return builder.node(Op::Mean, builder.name(), ReduceAttributes {.firstAxis = 1, .axes = 1}, {x});
}

} // namespace mantissa::layers
