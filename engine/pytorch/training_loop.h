/// A lane's training loop as a PyTorch user would write it: what every setting of the lane means there.
#pragma once

#include "engine/train/experiment.h"

#include <string>

namespace mantissa {

/// Python. What the lane does wrong on purpose is written out and marked "WRONG"; what PyTorch has no word for is said
/// in a comment. The model and the data are named, not defined.
std::string pytorchLoop(const LaneConfig& lane);

/// The same loop for a script that runs: on the variable `device`, for `options.steps` steps, from the weights that
/// `load` reads, with micro-batches from `batch(step, part)`, and with a `Recorder`. For lanes that
/// whyNotInPytorch() does not refuse.
std::string pytorchScript(const LaneConfig& lane);

} // namespace mantissa
