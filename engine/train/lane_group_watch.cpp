// What the watchpoints of a session do with its lanes.
#include "engine/core/error.h"
#include "engine/train/lane_member.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace mantissa {

LaneWatch LaneGroup::watchOf(const Member& member, const std::vector<Watchpoint>& watchpoints, bool isCopy) const
{
    try {
        return {watchpoints, member.lane->config()->name, *member.lane->graph(), isCopy,
            member.watch.isEmpty() ? nullptr : &member.watch};
    } catch (const WatchSyntaxError& error) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("A watchpoint cannot watch the lane \"{}\": {}", member.lane->config()->name, error.what()));
    }
}

/// A copy as a lane was needs a state of before.
void LaneGroup::keepStatesForForks()
{
    constexpr std::int64_t every = 20; // steps that a fork trains again at most
    const bool forks = std::ranges::any_of(m_experiment.watchpoints,
        [](const Watchpoint& watchpoint) { return watchpoint.isOn && watchpoint.action == WatchAction::Fork; });
    if (!forks || m_lockstep || m_options.snapshotInterval > 0) {
        return;
    }
    m_options.snapshotInterval = every;
    for (const auto& member : m_members) {
        if (member->isStarted) {
            member->keepState();
        }
    }
}

void LaneGroup::setWatchpoints(const std::vector<Watchpoint>& watchpoints)
{
    std::vector<LaneConfig> lanes;
    std::vector<LaneWatch> watches;
    for (const auto& member : m_members) {
        lanes.push_back(*member->lane->config());
        watches.push_back(watchOf(*member, watchpoints, member->watch.isCopy()));
    }
    for (std::size_t i = 0; i < watchpoints.size(); ++i) {
        checkWatchpoint(watchpoints[i], lanes, "", fmt::format("watch[{}].", i));
    }
    for (std::size_t i = 0; i < m_members.size(); ++i) {
        m_members[i]->watch = std::move(watches[i]);
    }
    m_experiment.watchpoints = watchpoints;
    keepStatesForForks();
}

void LaneGroup::watch(Member& member, const StepRecord& record)
{
    if (!leads()) {
        return; // what rank 0's watchpoints change, it tells the others
    }
    const Lane* const lane = member.lane.get();
    const auto firings = member.watch.next(record, [lane](std::string_view layer) { return lane->layerShares(layer); });
    for (const WatchFiring& firing : firings) {
        const Watchpoint watchpoint = m_experiment.watchpoints.at(firing.watchpoint);
        nlohmann::json values = nlohmann::json::object();
        for (const WatchedValue& value : firing.values) {
            values[value.text] = std::isfinite(value.value) ? nlohmann::json(value.value)
                                                            : nlohmann::json(fmt::format("{}", value.value));
        }
        emit(&member,
            {.kind = EventKind::Watch,
                .step = record.step,
                .path = watchpoint.when,
                .after = values.dump(),
                .text = fmt::format("{}: {}", textOf(firing.values), nameOf(watchpoint.action))});
        try {
            act(member, watchpoint, record.step);
        } catch (const std::exception& error) {
            emit(&member,
                {.kind = EventKind::Refused,
                    .step = member.lane->nextStep(),
                    .path = watchpoint.when,
                    .text = error.what()});
        }
        if (watchpoint.action == WatchAction::Pause) {
            m_pauseReason = fmt::format("The watchpoint \"{}\" paused training behind step {} of {}: {}.",
                watchpoint.when, record.step, member.lane->config()->name, textOf(firing.values));
        }
    }
}

void LaneGroup::act(Member& member, const Watchpoint& watchpoint, std::int64_t step)
{
    switch (watchpoint.action) {
    case WatchAction::Pause:
        break; // of all lanes, once they have made this step
    case WatchAction::Snapshot:
    case WatchAction::Fork:
        if (m_lockstep) {
            throw Error(ErrorCode::InvalidArgument, "Over several processes, watchpoints can pause and set only.");
        }
        watchpoint.action == WatchAction::Fork ? forkBefore(member, step) : keepState(member);
        break;
    case WatchAction::Set:
        for (const auto& [path, value] : watchpoint.set) {
            Event event = member.lane->set(path, value);
            event.scripted = true; // as planned, not by a person
            emit(&member, std::move(event));
            if (m_lockstep) {
                m_changes.push_back({member.lane->id(), path, value});
            }
        }
        break;
    }
}

/// In memory, to go back to; in a file that no rotation removes where checkpoints are written.
void LaneGroup::keepState(Member& member)
{
    member.keepState();
    if (const CheckpointPlan& plan = m_checkpoints.plan(); !plan.folder.empty()) {
        std::filesystem::path file = checkpointFile(plan.folder, member.lane->config()->name, member.lane->nextStep());
        file.replace_filename("watch-" + file.filename().string());
        std::filesystem::create_directories(file.parent_path());
        m_checkpoints.addTo(file, member.lane->id(), checkpointOf(member));
    }
}

void LaneGroup::forkBefore(Member& member, std::int64_t step)
{
    constexpr std::size_t mostLanes = 64;
    if (m_members.size() >= mostLanes) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("There are {} lanes already; remove some for watchpoints to make more.", mostLanes));
    }
    const std::string wish = fmt::format("{} before step {}", member.lane->config()->name, step);
    std::string name = wish;
    const auto isTaken = [this](const std::string& wanted) {
        return std::ranges::any_of(
            m_members, [&wanted](const auto& other) { return other->lane->config()->name == wanted; });
    };
    for (int number = 2; isTaken(name); ++number) {
        name = fmt::format("{} {}", wish, number);
    }
    duplicate(member.lane->id(), name, step, {});
    Member& copy = *m_members.back();
    copy.watch = LaneWatch(m_experiment.watchpoints, name, *copy.lane->graph(), true);
}

} // namespace mantissa
