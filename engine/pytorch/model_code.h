/// A model as the source of torch.nn.Modules whose state_dict has the names of our weights.
#pragma once

#include "engine/nn/model.h"

#include <string>

namespace mantissa {

/// The class "Model", after those of its blocks. Reads what our model reads, images as [batch, channels, height,
/// width]. `sample` is the shape of one input. Throws Error (InvalidArgument) naming the layer that cannot be written
/// so.
std::string modelCode(const Model& model, const Shape& sample);

} // namespace mantissa
