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
/// A scaler that finds its scale, where there is none or one that does not move; else nothing.
nlohmann::json scaleThatMovesFix(const RunFacts& facts);
/// The lane in BF16, without a scaler.
nlohmann::json bf16Fix();
/// A rate ten times as low.
nlohmann::json slowerFix(const LaneConfig& config);

/// Makes the layer with the largest measure the finding's, if any is above 0.
void nameWorstLayer(Finding& finding, const RunFacts& facts, LayerMeasure measure);

struct Rule
{
    std::optional<Finding> (*judge)(const RunFacts& facts);
    unsigned needs; ///< Evidence
};

std::vector<Rule> numericsRules(); ///< infinity, NaN, gradients and updates that vanish
std::vector<Rule> scaleRules(); ///< how the scale moves
std::vector<Rule> settingRules(); ///< what the settings alone tell: orders, switches, formats
std::vector<Rule> layerRules(); ///< what sampled steps tell of single layers
std::vector<Rule> trainingRules(); ///< loss, data and time

} // namespace mantissa
