/// The functions that append one layer each, for the one list that names them (layer_table.cpp).
#pragma once

#include "engine/nn/layer_builder.h"

namespace mantissa::layers {

// basic_layers.cpp
ValueId linear(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId activation(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId dropout(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId flatten(LayerBuilder& builder, const Layer& layer, ValueId x);
/// torch.nn.Linear over the last axis, named `name`.
ValueId appendLinear(LayerBuilder& builder, const std::string& name, ValueId x, std::int64_t features, bool hasBias,
    std::optional<double> initStd);
std::optional<double> initStdOf(const Layer& layer);

// image_layers.cpp
ValueId conv2d(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId maxPool(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId avgPool(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId globalAvgPool(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId patchEmbedding(LayerBuilder& builder, const Layer& layer, ValueId x);

// norm_layers.cpp
ValueId batchNorm(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId groupNorm(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId layerNorm(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId rmsNorm(LayerBuilder& builder, const Layer& layer, ValueId x);

// token_layers.cpp
ValueId embedding(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId positionalEmbedding(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId classToken(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId takeToken(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId meanTokens(LayerBuilder& builder, const Layer& layer, ValueId x);

// attention_layers.cpp
ValueId attention(LayerBuilder& builder, const Layer& layer, ValueId x);
ValueId transformerBlock(LayerBuilder& builder, const Layer& layer, ValueId x);

} // namespace mantissa::layers
