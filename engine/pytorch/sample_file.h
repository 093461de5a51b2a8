/// The samples that a lane trains on and their order, for a script to read.
#pragma once

#include "engine/data/dataset.h"
#include "engine/tensor/safetensors.h"
#include "engine/train/experiment.h"

namespace mantissa {

/// "inputs" (images as [n, channels, height, width]; tokens as I64), "targets" (labels as I64, or numbers), and "order"
/// [steps * micro-batches, batch]: which samples each micro-batch has. Only those that the lane's steps see are there.
/// Throws Error (InvalidArgument) where the order would be too long to write down.
Safetensors sampleFile(const LaneConfig& lane, const Dataset& data);

} // namespace mantissa
