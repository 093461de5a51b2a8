// Normalisations over the last axis: channels of an image, width of a token, features.
#include "engine/nn/layer_functions.h"

#include <fmt/format.h>

namespace mantissa::layers {

namespace {

ValueId gamma(LayerBuilder& builder, std::int64_t width)
{
    return builder.parameter(builder.name() + ".weight", {width}, {Initializer::Kind::Constant, 1});
}

ValueId beta(LayerBuilder& builder, std::int64_t width)
{
    return builder.parameter(builder.name() + ".bias", {width}, {});
}

std::int64_t widthOf(LayerBuilder& builder, ValueId x)
{
    builder.requireFloats(x);
    if (builder.shapeOf(x).rank() < 2) {
        builder.failShape("needs [batch, ..., channels]", x);
    }
    return builder.shapeOf(x).back();
}

float epsilonOf(const Layer& layer)
{
    return static_cast<float>(layer.number("epsilon"));
}

/// A norm with a weight and a bias for each of `width` channels.
ValueId affineNorm(LayerBuilder& builder, Op op, const NormAttributes& attributes, ValueId x, std::int64_t width)
{
    const ValueId weight = gamma(builder, width);
    const ValueId bias = beta(builder, width);
    return builder.node(op, builder.name(), attributes, {x, weight, bias}, {".mean", ".rstd"});
}

} // namespace

ValueId batchNorm(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    const std::int64_t width = widthOf(builder, x);
    const std::string& name = builder.name();
    BatchNormAttributes attributes;
    attributes.epsilon = epsilonOf(layer);
    attributes.momentum = static_cast<float>(layer.number("momentum"));
    attributes.training = builder.task().training;
    const ValueId weight = gamma(builder, width);
    const ValueId bias = beta(builder, width);
    const ValueId mean = builder.buffer(name + ".running_mean", {width}, 0);
    const ValueId variance = builder.buffer(name + ".running_var", {width}, 1);
    return builder.node(Op::BatchNorm2d, name, attributes, {x, weight, bias, mean, variance}, {".mean", ".rstd"});
}

ValueId groupNorm(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    const std::int64_t width = widthOf(builder, x);
    NormAttributes attributes;
    attributes.epsilon = epsilonOf(layer);
    attributes.groups = layer.integer("groups");
    if (width % attributes.groups != 0) {
        builder.failShape(
            fmt::format("has {} groups, which must divide the channels that it gets", attributes.groups), x);
    }
    return affineNorm(builder, Op::GroupNorm, attributes, x, width);
}

ValueId layerNorm(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    const std::int64_t width = widthOf(builder, x);
    NormAttributes attributes;
    attributes.epsilon = epsilonOf(layer);
    return affineNorm(builder, Op::LayerNorm, attributes, x, width);
}

ValueId rmsNorm(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    const std::int64_t width = widthOf(builder, x);
    NormAttributes attributes;
    attributes.epsilon = epsilonOf(layer);
    const ValueId weight = gamma(builder, width);
    return builder.node(Op::RmsNorm, builder.name(), attributes, {x, weight}, {".rstd"});
}

} // namespace mantissa::layers
