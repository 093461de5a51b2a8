#include "engine/verify/judge.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <compare>

namespace mantissa {

namespace {

MetricValue measure(const Measure& measure, std::span<const LaneOutcome> outcomes)
{
    const auto found = std::ranges::find(outcomes, measure.lane, &LaneOutcome::lane);
    if (found == outcomes.end()) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("no lane \"{}\" was trained", measure.lane));
    }
    return valueOf(measure, *found);
}

bool isThere(const MetricValue& value)
{
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? !std::isnan(*number) : !std::get<std::string>(value).empty();
}

bool holds(std::partial_ordering order, Comparison op)
{
    switch (op) {
    case Comparison::Less:
        return order < 0;
    case Comparison::LessOrEqual:
        return order <= 0;
    case Comparison::Greater:
        return order > 0;
    case Comparison::GreaterOrEqual:
        return order >= 0;
    case Comparison::Equal:
        return order == 0;
    case Comparison::NotEqual:
        return order != 0;
    }
    return false;
}

} // namespace

Judgement judge(const Expectation& expectation, std::span<const LaneOutcome> outcomes)
{
    Judgement judgement {.that = expectation.that, .op = expectation.op};
    judgement.left = measure(expectation.left, outcomes);
    judgement.right = expectation.right ? measure(*expectation.right, outcomes) : MetricValue(expectation.number);
    if (auto* number = std::get_if<double>(&judgement.right); expectation.right && number != nullptr) {
        *number *= expectation.number;
    }
    judgement.isMet = isThere(judgement.left) && isThere(judgement.right)
        && holds(judgement.left <=> judgement.right, expectation.op);
    return judgement;
}

std::vector<Judgement> judgeAll(const Experiment& experiment, std::span<const LaneOutcome> outcomes)
{
    std::vector<std::string> lanes;
    for (const LaneConfig& lane : experiment.lanes) {
        lanes.push_back(lane.name);
    }
    std::vector<Judgement> judgements;
    for (const Expectation& expectation : readExpectations(experiment.expect, lanes, {})) {
        judgements.push_back(judge(expectation, outcomes));
    }
    return judgements;
}

} // namespace mantissa
