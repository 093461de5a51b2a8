/// A lane as a folder that PyTorch can run: script, model, initial weights, batches, recorder, and a comparer.
#pragma once

#include "engine/train/experiment.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

struct PytorchExport
{
    std::vector<std::string> files; ///< in the folder
    std::vector<std::string> notes; ///< what the script leaves out or cannot repeat, and why
};

/// Writes the folder, which must be new or empty. Reads the lane's data. Throws Error (InvalidArgument) naming every
/// setting that PyTorch cannot do, and for a folder that holds something; (Io) where it cannot be written.
PytorchExport exportToPytorch(
    const Experiment& experiment, const LaneConfig& lane, const std::filesystem::path& folder);

} // namespace mantissa
