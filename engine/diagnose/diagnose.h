/// Says what is wrong with a run, and nothing about one that is healthy.
#pragma once

#include "engine/diagnose/finding.h"
#include "engine/diagnose/run_facts.h"

#include <vector>

namespace mantissa {

/// The worst first, and of these the surest. Empty: nothing to say.
std::vector<Finding> diagnose(const RunView& run);

} // namespace mantissa
