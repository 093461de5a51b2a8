#include "engine/optim/schedule.h"

#include "engine/core/error.h"
#include "engine/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mantissa {

const std::vector<std::string>& scheduleKinds()
{
    static const std::vector<std::string> kinds {"constant", "warmup", "cosine", "step"};
    return kinds;
}

void checkSchedule(const ScheduleConfig& config)
{
    // The texts are made only where they are needed: this runs at every step.
    const auto refuse = [](const std::string& message) { throw Error(ErrorCode::InvalidArgument, message); };
    const auto& kinds = scheduleKinds();
    if (std::find(kinds.begin(), kinds.end(), config.kind) == kinds.end()) {
        refuse(fmt::format("schedule.kind is \"{}\"; it must be one of {}", config.kind, joined(kinds)));
    }
    if (config.warmupSteps < 0) {
        refuse(fmt::format("schedule.warmup_steps is {}; it must be 0 (no warm-up) or more", config.warmupSteps));
    }
    if (config.totalSteps < 0) {
        refuse(fmt::format(
            "schedule.total_steps is {}; it must be 0 (the experiment's steps) or more", config.totalSteps));
    }
    if (!(config.minimumFactor >= 0 && config.minimumFactor <= 1)) {
        refuse(fmt::format("schedule.minimum_factor is {}; it must be from 0 to 1", config.minimumFactor));
    }
    if (config.every < 1) {
        refuse(fmt::format("schedule.every is {}; it must be 1 step or more", config.every));
    }
    if (!(std::isfinite(config.gamma) && config.gamma > 0)) {
        refuse(fmt::format("schedule.gamma is {}; it must be a finite number above 0", config.gamma));
    }
}

double learningRate(const ScheduleConfig& config, double baseLr, std::int64_t schedulePosition, std::int64_t totalSteps)
{
    checkSchedule(config);
    if (schedulePosition < config.warmupSteps) {
        return baseLr * static_cast<double>(schedulePosition + 1) / static_cast<double>(config.warmupSteps);
    }
    const std::int64_t since = schedulePosition - config.warmupSteps;
    if (config.kind == "cosine") {
        const std::int64_t total = config.totalSteps > 0 ? config.totalSteps : totalSteps;
        // A decay of one step or none has no first and last to go between: it begins at the full rate and then ends.
        const auto last = static_cast<double>(std::max<std::int64_t>(total - 1 - config.warmupSteps, 1));
        const double t = std::min(static_cast<double>(since) / last, 1.0);
        const double share = (1 + std::cos(std::numbers::pi * t)) / 2;
        return baseLr * (config.minimumFactor + (1 - config.minimumFactor) * share);
    }
    if (config.kind == "step") {
        return baseLr * std::pow(config.gamma, static_cast<double>(since / config.every));
    }
    return baseLr;
}

} // namespace mantissa
