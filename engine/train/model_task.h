/// What a lane's data asks of its model.
#pragma once

#include "engine/data/dataset.h"
#include "engine/nn/model.h"
#include "engine/train/experiment.h"

namespace mantissa {

/// Whether the loss compares with labels; the others compare with numbers.
bool usesLabels(const LaneConfig& lane);

/// The task of training the lane's model on the data set. Images without channels have one.
/// Throws Error (InvalidArgument) if the loss needs labels that the data does not have, or other targets.
ModelTask trainingTask(const LaneConfig& lane, const Dataset& data);

} // namespace mantissa
