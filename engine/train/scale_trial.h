/// One step of a lane at several scales: what each would come to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mantissa {

class Lane;

struct ScaleTrial
{
    double scale = 1;
    bool overflows = false; ///< the check finds infinity or NaN: the step would be skipped
    double flushed = 0; ///< shares of the gradient's elements, as in StepRecord
    double subnormal = 0;
    double overflowed = 0;
    double gradNorm = 0; ///< true, before clipping
    double clipFactor = 1; ///< what clipping multiplies the gradient by; 1: it does not touch it
};

/// Trains the lane's next step once with each of `scales`, under a fixed scaler, each time from the state that it has
/// now. Meant for a copy of a lane: it is left as after the last trial.
std::vector<ScaleTrial> tryScales(Lane& lane, std::span<const double> scales);

} // namespace mantissa
