/// A lane on disk: one .safetensors file whose tensors are the weights under PyTorch's names, "optimizer."-prefixed
/// state, and whose metadata holds the rest as JSON under "mantissa". design.md, section 7.
#pragma once

#include "engine/tensor/safetensors.h"
#include "engine/train/lane_state.h"

#include <filesystem>
#include <string>

namespace mantissa {

struct Checkpoint
{
    std::string experimentName;
    std::string experimentText;
    LaneConfig initial; ///< with which, and the state's history, the lane began at step 0
    LaneState state;
    std::string weightsHash; ///< Lane::weightsHash() when it was taken
    std::string instructionSet; ///< results depend on it, and on the threads
    int threadsPerLane = 1;
};

/// Throws what writeSafetensors() throws.
void writeCheckpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

/// Throws Error (InvalidArgument), naming file and key, for a file that is damaged, foreign or newer, and for weights
/// that are not finite.
Checkpoint readCheckpoint(const std::filesystem::path& file);

} // namespace mantissa
