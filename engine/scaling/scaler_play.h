/// Scalers without training: what each would have done with a given sequence of gradients.
#pragma once

#include "engine/scaling/loss_scaler.h"

#include <span>
#include <vector>

namespace mantissa {

/// A step to play.
struct PlayStep
{
    /// The largest true gradient. Times the scale it overflows where FP16 does (from 65520); infinity or NaN overflow
    /// at any scale, and 0 at none.
    double gradMax = 0;
    std::optional<double> loss; ///< nothing: not known
};

/// What a scaler made of it. Scale and counters are those after the step.
struct PlayedStep
{
    bool foundInf = false;
    bool skipped = false;
    double scale = 1;
    std::int64_t growthTracker = 0;
    std::optional<int> hysteresis = {};
};

struct Play
{
    double firstScale = 1;
    std::vector<PlayedStep> steps; ///< ends early where the scaler ends the training
    std::string raised; ///< why it did so, at the last step; empty if it did not
    std::int64_t skipped = 0;
    std::int64_t growths = 0; ///< steps that raised the scale

    [[nodiscard]] double finalScale() const { return steps.empty() ? firstScale : steps.back().scale; }
};

/// Throws Error (InvalidArgument) as makeScaler().
Play play(const ScalerConfig& config, std::span<const PlayStep> steps);

} // namespace mantissa
