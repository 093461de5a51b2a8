/// The rules of the diagnosis, by what they look at. Each says nothing where it does not apply.
#pragma once

#include "engine/diagnose/finding.h"
#include "engine/diagnose/run_facts.h"

#include <optional>
#include <vector>

namespace mantissa {

/// The lane with FP32 masters, in the 16-bit format of its policy.
nlohmann::json mastersFix(const LaneConfig& config);
/// PyTorch's scaler, from its usual scale on.
nlohmann::json dynamicScalerFix();
/// The lane in BF16, without a scaler.
nlohmann::json bf16Fix();
/// A rate ten times as low.
nlohmann::json slowerFix(const LaneConfig& config);

using Rule = std::optional<Finding> (*)(const RunFacts& facts);

std::vector<Rule> numericsRules(); ///< infinity, NaN, gradients and updates that vanish
std::vector<Rule> scaleRules(); ///< how the scale moves
std::vector<Rule> settingRules(); ///< what the settings alone tell: orders, switches, formats
std::vector<Rule> trainingRules(); ///< loss, data and time

} // namespace mantissa
