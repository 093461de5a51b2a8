// Layers on images [batch, height, width, channels].
#include "engine/nn/layer_functions.h"

#include <fmt/format.h>

#include <cmath>

namespace mantissa::layers {

namespace {

/// torch.nn.Conv2d with the attributes, named `name`.
ValueId appendConv(LayerBuilder& builder, const std::string& name, const Layer& layer, ValueId x, std::int64_t channels,
    std::array<std::int64_t, 2> kernel, const Conv2dAttributes& attributes)
{
    const std::int64_t inputs = builder.shapeOf(x).back();
    if (inputs % attributes.groups != 0 || channels % attributes.groups != 0) {
        builder.failShape(fmt::format("has {} groups, which must divide its {} channels and those it gets",
                              attributes.groups, channels),
            x);
    }
    const std::int64_t fanIn = inputs / attributes.groups * kernel[0] * kernel[1];
    const std::optional<double> initStd = initStdOf(layer);
    std::vector<ValueId> operands {x,
        builder.parameter(name + ".weight", {channels, inputs / attributes.groups, kernel[0], kernel[1]},
            builder.weightInitializer(fanIn, initStd))};
    if (layer.flag("bias")) {
        const Initializer initial = initStd
            ? Initializer {}
            : Initializer {Initializer::Kind::Uniform, static_cast<float>(1 / std::sqrt(static_cast<double>(fanIn)))};
        operands.push_back(builder.parameter(name + ".bias", {channels}, initial));
    }
    return builder.node(Op::Conv2d, name, attributes, std::move(operands));
}

Pool2dAttributes poolAttributes(const Layer& layer)
{
    Pool2dAttributes attributes;
    attributes.kernel = layer.pair("kernel");
    attributes.stride = layer.has("stride") ? layer.pair("stride") : attributes.kernel;
    attributes.padding = layer.pair("padding");
    return attributes;
}

} // namespace

ValueId conv2d(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireImages(x);
    const Conv2dAttributes attributes {
        layer.pair("stride"), layer.pair("padding"), layer.pair("dilation"), layer.integer("groups")};
    return appendConv(builder, builder.name(), layer, x, layer.integer("channels"), layer.pair("kernel"), attributes);
}

ValueId maxPool(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireImages(x);
    return builder.node(Op::MaxPool2d, builder.name(), poolAttributes(layer), {x}, {".place"});
}

ValueId avgPool(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireImages(x);
    Pool2dAttributes attributes = poolAttributes(layer);
    attributes.countPadding = layer.flag("count_padding");
    return builder.node(Op::AvgPool2d, builder.name(), attributes, {x});
}

ValueId globalAvgPool(LayerBuilder& builder, const Layer& /*layer*/, ValueId x)
{
    builder.requireImages(x);
    return builder.node(Op::GlobalAvgPool, builder.name(), {}, {x});
}

ValueId patchEmbedding(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireImages(x);
    const std::array<std::int64_t, 2> patch = layer.pair("patch");
    const Shape image = builder.shapeOf(x);
    if (image[1] % patch[0] != 0 || image[2] % patch[1] != 0) {
        builder.failShape(
            fmt::format("needs images that patches of {} x {} cover without a rest", patch[0], patch[1]), x);
    }
    const std::string name = builder.name();
    const std::int64_t width = layer.integer("width");
    const ValueId patches
        = appendConv(builder, name + ".proj", layer, x, width, patch, {.stride = patch, .padding = {0, 0}});
    return builder.reshape(name + ".tokens", patches, {image[0], image[1] / patch[0] * (image[2] / patch[1]), width});
}

} // namespace mantissa::layers
