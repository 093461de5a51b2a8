/// Which lanes can be written as a PyTorch script that does what they do.
#pragma once

#include "engine/train/experiment.h"

#include <string>
#include <vector>

namespace mantissa {

/// What of the lane torch.amp and torch.optim cannot do, each as "setting: why, and what can be done"; empty: all of it
/// can be exported.
std::vector<std::string> whyNotInPytorch(const LaneConfig& lane, const Experiment& experiment);

/// Settings of the lane that the script leaves out since they change nothing that is computed, or that it cannot
/// repeat to the bit, each with why.
std::vector<std::string> notesForPytorch(const LaneConfig& lane);

/// The lane's autocast uses the lists that PyTorch has on CUDA; on CPUs it has others. See policyOnCpu().
bool usesCudaLists(const LaneConfig& lane);
/// The policy that is PyTorch's autocast on CPUs: "cpu-fp16" for "fp16"; the lane's own where there is none.
std::string policyOnCpu(const LaneConfig& lane);
/// Whether the lane's policy is PyTorch's autocast on CPUs only.
bool usesCpuLists(const LaneConfig& lane);

} // namespace mantissa
