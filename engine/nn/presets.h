/// The models that have a name, written as lists of layers.
#pragma once

#include "engine/nn/model.h"

namespace mantissa {

/// The layers of a model kind other than "layers", as they might stand under "model.layers" (with the same init_gain).
/// - mlp: fc1, act1, (drop1), ..., and a last linear layer.
/// - cnn: VGG's plan (Simonyan and Zisserman 2015): stages of 3x3 convolutions, each ended by a 2x2 maximum, then a
///   classifier of linear layers.
/// - resnet: basic blocks with BatchNorm in the plan for small images (He et al. 2016, section 4.2), under
/// torchvision's
///   names.
/// - vit: Dosovitskiy et al. 2021, under timm's names; positions and class token start as in torchvision.
/// - gpt: GPT-2's decoder (Radford et al. 2019) with learned positions, under timm's names for its blocks. Where the
///   task has one target per sample, the last token answers.
/// Throws Error (InvalidArgument) for an unknown kind and for settings that do not fit each other or the samples.
nlohmann::json presetLayers(const ModelConfig& config, const ModelTask& task);

} // namespace mantissa
