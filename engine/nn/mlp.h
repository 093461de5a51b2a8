/// Fully connected layers: fc1, activation, (dropout), fc2, ... and a last linear layer.
#pragma once

#include "engine/nn/model.h"

namespace mantissa {

/// Appends the layers to the model and returns their output [batch, task.outputs].
/// Initial values are torch.nn.Linear's: uniform within 1 / sqrt(inputs), weights times initGain.
ValueId appendMlp(Model& model, const ModelConfig& config, const ModelTask& task);

} // namespace mantissa
