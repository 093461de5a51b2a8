#include "engine/train/resume_changes.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace mantissa {

namespace {

constexpr auto stepsPath = "steps";
constexpr auto ratePath = "optimizer.lr";

LaneConfig after(const ScriptedEvent& event, LaneConfig config)
{
    for (const auto& [path, value] : event.set) {
        config = withSetting(config, path, value);
    }
    return config;
}

/// The end moves at once and not by script: a lane at its end asks for no further script.
void moveEnd(LaneState& state, const nlohmann::json& steps)
{
    state.config = withSetting(state.config, stepsPath, steps);
    state.history.push_back({state.nextStep, state.config.name, {{stepsPath, steps}}});
}

/// Behind what the script has for that step already.
void insert(std::vector<ScriptedEvent>& script, ScriptedEvent event)
{
    if (!event.set.empty()) {
        const auto behind = std::ranges::upper_bound(script, event.step, {}, &ScriptedEvent::step);
        script.insert(behind, std::move(event));
    }
}

ScriptedEvent changesAtOnce(LaneState& state, const ResumeChanges& changes)
{
    ScriptedEvent now {state.nextStep, state.config.name, {}};
    for (const auto& [path, value] : changes.set) {
        if (path == stepsPath) {
            moveEnd(state, value);
        } else {
            now.set.emplace_back(path, value);
        }
    }
    if (changes.withoutScaler && state.config.scaler && !state.scaler.empty()) {
        now.set.emplace_back("scaler.scale", makeScaler(*state.config.scaler)->scale());
        if (state.scaler.contains("_growth_tracker")) {
            now.set.emplace_back("scaler.growth_tracker", 0);
        }
    }
    return now;
}

/// Another rate from now on, which scripted changes of it follow, until it is what it would have been.
void scaleRate(LaneState& state, double factor, std::int64_t steps)
{
    const std::int64_t end = steps > 0 ? state.nextStep + steps : std::numeric_limits<std::int64_t>::max();
    LaneConfig config = state.config; // as it would be
    std::vector<ScriptedEvent> script;
    const auto changeRate = [&](std::int64_t step, double rate) {
        script.push_back({step, config.name, {{ratePath, rate}}});
    };
    auto event = state.script.begin();
    for (; event != state.script.end() && event->step <= state.nextStep; ++event) {
        config = after(*event, config);
        script.push_back(*event);
    }
    changeRate(state.nextStep, config.optimizer.lr * factor);
    for (; event != state.script.end() && event->step < end; ++event) {
        const double before = config.optimizer.lr;
        config = after(*event, config);
        script.push_back(*event);
        if (config.optimizer.lr != before) {
            changeRate(event->step, config.optimizer.lr * factor);
        }
    }
    if (steps > 0) {
        changeRate(end, config.optimizer.lr);
    }
    script.insert(script.end(), event, state.script.end());
    state.script = std::move(script);
}

} // namespace

Checkpoint withChanges(Checkpoint checkpoint, const ResumeChanges& changes)
{
    LaneState& state = checkpoint.state;
    if (changes.steps) {
        moveEnd(state, *changes.steps);
    }
    insert(state.script, changesAtOnce(state, changes));
    if (state.config.steps <= state.nextStep) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} has trained its {} steps; give it a later last step (--steps) to train it on",
                state.config.name, state.config.steps));
    }
    if (changes.lrFactor != 1) {
        scaleRate(state, changes.lrFactor, changes.lrSteps);
    }
    LaneConfig config = state.config;
    for (const ScriptedEvent& event : state.script) {
        config = after(event, config); // throws where a change is not possible
    }
    return checkpoint;
}

} // namespace mantissa
