#include "engine/import/skip_derivation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

bool isBroken(const LogValues& values, LogField field, std::int64_t step)
{
    const auto steps = values.stepsOf(field);
    const auto found = std::ranges::lower_bound(steps, step);
    return found != steps.end() && *found == step
        && !std::isfinite(values.valuesOf(field)[static_cast<std::size_t>(found - steps.begin())]);
}

} // namespace

DerivedSkips deriveSkips(const LogValues& values)
{
    const auto steps = values.stepsOf(LogField::Scale);
    const auto scales = values.valuesOf(LogField::Scale);
    const auto brokenAt = [&values](std::int64_t step) {
        return isBroken(values, LogField::GradNorm, step) || isBroken(values, LogField::Loss, step);
    };
    DerivedSkips skips;
    std::size_t falls = 0;
    bool isPlain = true;
    bool always[] = {true, true}; // the step before the fall, the step of it
    std::vector<std::int64_t> at;
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (!(scales[i] < scales[i - 1])) {
            continue;
        }
        ++falls;
        isPlain = isPlain && steps[i] == steps[i - 1] + 1 && scales[i] == scales[i - 1] / 2;
        const bool before = brokenAt(steps[i - 1]);
        const bool behind = brokenAt(steps[i]);
        always[0] = always[0] && before;
        always[1] = always[1] && behind;
        at.push_back(steps[i]);
    }
    if (falls == 0) {
        return skips;
    }
    if (!isPlain || always[0] == always[1]) {
        skips.how = fmt::format("the scale falls {} time{}, each for a step that was skipped; which steps these were "
                                "cannot be told from this log",
            falls, falls == 1 ? "" : "s");
        return skips;
    }
    skips.isCertain = true;
    skips.steps = std::move(at);
    for (std::int64_t& step : skips.steps) {
        step -= always[0] ? 1 : 0;
    }
    skips.how = "derived: the scale was halved, and the gradient or the loss of that step is not finite";
    return skips;
}

} // namespace mantissa
