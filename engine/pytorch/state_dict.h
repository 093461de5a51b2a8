/// Weights as a state_dict of the module that modelCode() writes: names, shapes and orders are PyTorch's.
#pragma once

#include "engine/data/dataset.h"
#include "engine/tensor/safetensors.h"
#include "engine/train/lane_state.h"

#include <functional>
#include <vector>

namespace mantissa {

/// All parameters and buffers of `graph` in FP32, and PyTorch's counts of batches (0: no norm that has a momentum reads
/// them). `valuesOf` gives the numbers of each. `sample` is the shape of one input: the columns of a linear layer
/// behind flattened images go into PyTorch's order.
Safetensors stateDict(
    const Graph& graph, const Shape& sample, const std::function<std::vector<float>(ValueId)>& valuesOf);

/// The weights of a lane as it stands, 16-bit ones widened. `data` is what it trains on.
/// Throws what buildModel() throws.
Safetensors trainedStateDict(const LaneState& state, const Dataset& data);

} // namespace mantissa
