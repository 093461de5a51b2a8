/// The rules of the diagnosis, by what they look at. Each says nothing where it does not apply.
#pragma once

#include "engine/diagnose/finding.h"
#include "engine/diagnose/run_facts.h"

#include <optional>
#include <vector>

namespace mantissa {

using Rule = std::optional<Finding> (*)(const RunFacts& facts);

std::vector<Rule> numericsRules(); ///< infinity, NaN, gradients and updates that vanish
std::vector<Rule> scaleRules(); ///< how the scale moves
std::vector<Rule> settingRules(); ///< what the settings alone tell: orders, switches, formats
std::vector<Rule> trainingRules(); ///< loss, data and time

} // namespace mantissa
