#include "engine/scaling/scaler_play.h"

#include "engine/formats/dtype.h"

#include <cmath>

namespace mantissa {

namespace {

bool overflows(double gradMax, double scale)
{
    if (gradMax == 0) {
        return false; // also at an infinite scale
    }
    // Written so that NaN counts as an overflow.
    return !(std::abs(gradMax) * scale < limitsOf(DType::Float16).overflowsFrom);
}

} // namespace

Play play(const ScalerConfig& config, std::span<const PlayStep> steps)
{
    const std::unique_ptr<LossScaler> scaler = makeScaler(config);
    Play played;
    played.firstScale = scaler->scale();
    for (const PlayStep& step : steps) {
        const double before = scaler->scale();
        const bool foundInf = !std::isfinite(step.gradMax) || overflows(step.gradMax, before);
        const ScalerVerdict verdict = scaler->update({foundInf, step.loss});
        played.steps.push_back({.foundInf = foundInf,
            .skipped = verdict.skip,
            .scale = scaler->scale(),
            .growthTracker = scaler->growthTracker(),
            .hysteresis = scaler->hysteresisLeft()});
        played.skipped += verdict.skip ? 1 : 0;
        played.growths += scaler->scale() > before ? 1 : 0;
        if (!verdict.raised.empty()) {
            played.raised = verdict.raised;
            break;
        }
    }
    return played;
}

} // namespace mantissa
