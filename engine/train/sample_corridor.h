/// Between which loss scales a whole backward pass fits into a lane's 16-bit format.
#pragma once

#include "engine/probe/corridor.h"
#include "engine/train/step_sample.h"

#include <optional>

namespace mantissa {

/// The floor is that of all parameters' gradients together; the ceiling also keeps the gradients between the layers
/// from overflowing. Nothing for a sample without an FP32 gradient: that of an FP32 lane.
std::optional<Corridor> corridorOf(const StepSample& sample, double flushedShare);

} // namespace mantissa
