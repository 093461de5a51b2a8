/// Learning-rate schedules: the rate as a function of the position alone, so that a resumed or forked run needs no
/// state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

struct ScheduleConfig
{
    std::string kind = "constant"; ///< constant, warmup, cosine, step
    std::int64_t warmupSteps = 0; ///< linear from lr / warmupSteps; any kind may have one
    std::int64_t totalSteps = 0; ///< cosine: 0 means the experiment's steps
    double minimumFactor = 0; ///< cosine: the last rate as a share of lr
    std::int64_t every = 100; ///< step: steps between drops
    double gamma = 0.1; ///< step: factor of each drop
    bool countSkipped = true; ///< whether a skipped step advances the schedule (PyTorch's habit: it does)
    bool operator==(const ScheduleConfig&) const = default;
};

/// The rate at `schedulePosition`, the number of steps that have advanced the schedule so far (0 at the first step).
/// w = warmupSteps, p = schedulePosition:
///   p < w (every kind):  baseLr * (p + 1) / w, so that the last step of the warm-up is at the full rate
///   constant, warmup:    baseLr
///   cosine:              baseLr * (m + (1 - m) * (1 + cos(pi * t)) / 2), t = (p - w) / (total - 1 - w) held in [0, 1],
///                        m = minimumFactor; total = config.totalSteps, or `totalSteps` where that is 0. The first step
///                        after the warm-up has the full rate, the last one baseLr * m.
///                        (Loshchilov and Hutter, "SGDR", ICLR 2017, equation 5, without restarts)
///   step:                baseLr * gamma ^ floor((p - w) / every)
/// Throws Error (InvalidArgument) for an unknown kind or settings that checkSchedule refuses.
double learningRate(
    const ScheduleConfig& config, double baseLr, std::int64_t schedulePosition, std::int64_t totalSteps);

/// Throws Error (InvalidArgument) naming the setting, its value and what is allowed.
void checkSchedule(const ScheduleConfig& config);

/// "constant", "warmup", "cosine", "step".
const std::vector<std::string>& scheduleKinds();

} // namespace mantissa
