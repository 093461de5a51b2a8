#include "engine/train/scale_trial.h"

#include "engine/train/lane.h"

namespace mantissa {

std::vector<ScaleTrial> tryScales(Lane& lane, std::span<const double> scales)
{
    lane.set("scaler.family", "fixed");
    const LaneState state = lane.state();
    std::vector<ScaleTrial> trials;
    for (const double scale : scales) {
        lane.restore(state);
        lane.set("scaler.scale", scale);
        const StepRecord record = lane.step();
        trials.push_back({.scale = scale,
            .overflows = record.foundInf,
            .flushed = record.flushed,
            .subnormal = record.subnormal,
            .overflowed = record.overflowed,
            .gradNorm = record.gradNorm,
            .clipFactor = record.gradNorm > 0 ? record.gradNormClipped / record.gradNorm : 1});
    }
    return trials;
}

} // namespace mantissa
