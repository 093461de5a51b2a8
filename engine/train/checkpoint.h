/// A lane on disk: one .safetensors file whose tensors are the weights under PyTorch's names, "optimizer."-prefixed
/// state, and whose metadata holds the rest as JSON under "mantissa". design.md, section 7.
#pragma once

#include "engine/tensor/safetensors.h"
#include "engine/train/lane_state.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace mantissa {

/// When lanes are written, besides at their end and when they are stopped. Nowhere if the folder is empty.
struct CheckpointPlan
{
    std::filesystem::path folder; ///< "LANE/step-00000200.safetensors" in it; made if it is not there
    std::int64_t everySteps = 0; ///< 0: not by steps
    double everySeconds = 0; ///< 0: not by time
    std::int64_t kept = 2; ///< files of a lane: the newest so many that a session wrote; at least 1
};

struct Checkpoint
{
    std::string experimentName;
    std::string experimentText;
    LaneConfig initial; ///< with which, and the state's history, the lane began at step 0
    LaneState state;
    std::string weightsHash; ///< Lane::weightsHash() when it was taken
    std::string instructionSet; ///< results depend on it, and on the threads
    int threadsPerLane = 1;
    std::vector<Watchpoint> watchpoints {}; ///< that watch the lane
    std::vector<std::string> trueConditions {}; ///< of them, behind the last step: they do not act again at once
    /// By which it was written. Its folder is that in which the file was found, and empty if the file does not lie
    /// where a session writes it: then somebody took it elsewhere.
    CheckpointPlan plan {};
};

/// What the names of optimizer state begin with in a checkpoint.
inline constexpr std::string_view optimizerPrefix = "optimizer.";

/// Whether a file was written by writeCheckpoint(), whatever has become of it since.
bool isCheckpoint(const Safetensors& contents);

/// Where a plan puts a lane: "step-00000200.safetensors" in a folder named after the lane, with letters, digits, and
/// "-" for all else.
std::filesystem::path checkpointFile(
    const std::filesystem::path& folder, const std::string& lane, std::int64_t nextStep);

/// Throws what writeSafetensors() throws.
void writeCheckpoint(const std::filesystem::path& file, const Checkpoint& checkpoint);

/// Throws Error (InvalidArgument), naming file and key, for a file that is damaged, foreign or newer, and for weights
/// that are not finite.
Checkpoint readCheckpoint(const std::filesystem::path& file);

} // namespace mantissa
