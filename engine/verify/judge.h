/// Expectations held against what the lanes did.
#pragma once

#include "engine/train/expectation.h"
#include "engine/train/experiment.h"
#include "engine/verify/metric_value.h"

#include <span>
#include <string>
#include <vector>

namespace mantissa {

struct Judgement
{
    std::string that;
    bool isMet = false;
    MetricValue left {};
    Comparison op = Comparison::Less;
    MetricValue right {}; ///< multiplied by `times`
};

/// Exact comparison. What is NaN, or a hash that there is not, satisfies none, "!=" neither. Throws Error
/// (InvalidArgument) if there is no outcome of a lane.
Judgement judge(const Expectation& expectation, std::span<const LaneOutcome> outcomes);

/// Of an experiment as it was read.
std::vector<Judgement> judgeAll(const Experiment& experiment, std::span<const LaneOutcome> outcomes);

} // namespace mantissa
