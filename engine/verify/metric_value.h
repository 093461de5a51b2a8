/// Metrics of expectations, taken from what a lane did. Each is documented in experiments/README.md.
#pragma once

#include "engine/train/expectation.h"
#include "engine/verify/lane_outcome.h"

#include <string>
#include <variant>

namespace mantissa {

/// A number, or a hash. A number that there is not is NaN, a hash that there is not is empty.
using MetricValue = std::variant<double, std::string>;

/// Reads the metric off the lane's outcome, over the steps that the measure names.
MetricValue valueOf(const Measure& measure, const LaneOutcome& outcome);

} // namespace mantissa
