// What a person or a script asks of the lanes between two steps.
#include "engine/core/error.h"
#include "engine/train/lane_member.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace mantissa {

void LaneGroup::set(std::uint32_t lane, const std::string& path, const nlohmann::json& value)
{
    Member& target = member(lane);
    if (target.isEnded) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format(
                "{} has ended; reset or duplicate it to go on with other settings.", target.lane->config()->name));
    }
    emit(&target, target.lane->set(path, value));
    endIfDone(target);
}

void LaneGroup::add(LaneConfig config)
{
    for (const auto& member : m_members) {
        if (member->lane->config()->name == config.name) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("There is a lane named \"{}\" already; give the new one another name.", config.name));
        }
    }
    m_members.push_back(makeMember(m_nextId, std::move(config), {}));
    ++m_nextId;
    emit(m_members.back().get(), {.kind = EventKind::LaneAdded, .text = m_members.back()->initialConfig.name});
}

void LaneGroup::duplicate(std::uint32_t lane, const std::string& name, std::optional<std::int64_t> step,
    const std::vector<std::pair<std::string, nlohmann::json>>& changes)
{
    Member& parent = member(lane);
    const bool goesBack = step && *step != parent.lane->nextStep();
    if (!goesBack && parent.lane->hasDiverged()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format(
                "{} has diverged: its weights are not finite any more, and a copy's would not be either. Copy it "
                "as it was at an earlier step.",
                parent.lane->config()->name));
    }
    std::unique_ptr<Lane> forked
        = goesBack ? copyBefore(parent, *step, m_nextId, name) : parent.lane->fork(m_nextId, name);
    auto copy = std::make_unique<Member>();
    copy->initialConfig = parent.initialConfig;
    copy->initialConfig.name = name;
    copy->initialConfig.document["name"] = name;
    copy->initialWeightsHash = parent.initialWeightsHash;
    copy->lane = std::move(forked);
    copy->notePast();
    copy->summary.minLoss = std::numeric_limits<double>::infinity();
    copy->watch = LaneWatch(m_experiment.watchpoints, name, *copy->lane->graph(), parent.watch.isCopy(),
        goesBack ? nullptr : &parent.watch);
    std::vector<Event> changed;
    for (const auto& [path, value] : changes) {
        changed.push_back(copy->lane->set(path, value));
    }
    ++m_nextId;
    m_members.push_back(std::move(copy));
    emit(m_members.back().get(),
        {.kind = EventKind::LaneAdded,
            .step = m_members.back()->lane->nextStep(),
            .text
            = fmt::format("{}, a copy of {}{}", name, parent.initialConfig.name, goesBack ? " as it was then" : "")});
    for (Event& event : changed) {
        emit(m_members.back().get(), std::move(event));
    }
}

/// From the newest state that is kept and not later; what lies between is trained again.
std::unique_ptr<Lane> LaneGroup::copyBefore(
    Member& parent, std::int64_t step, std::uint32_t id, const std::string& name)
{
    const std::shared_ptr<const LaneState> earlier = parent.snapshots.before(step);
    if (!earlier || step > parent.lane->nextStep()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} cannot go back to step {}: it can to {} to {}.", parent.lane->config()->name, step,
                parent.snapshots.oldestStep().value_or(parent.lane->nextStep()), parent.lane->nextStep()));
    }
    return parent.lane->forkAt(step, *earlier, id, name);
}

Blame LaneGroup::blame(std::uint32_t lane, std::int64_t step)
{
    Member& blamed = member(lane);
    const std::string& name = blamed.lane->config()->name;
    const std::unique_ptr<Lane> copy
        = step == blamed.lane->nextStep() ? blamed.lane->fork(lane, name) : copyBefore(blamed, step, lane, name);
    // What was changed before that very step belongs to it.
    for (const ScriptedEvent& event : blamed.lane->history()) {
        for (const auto& [path, value] : event.set) {
            if (event.step == step) {
                copy->set(path, value);
            }
        }
    }
    return blameOf(*copy, [this] { return m_interrupt.load(); });
}

/// With the scripted changes of its next step.
std::unique_ptr<Lane> LaneGroup::copyForNextStep(std::uint32_t lane)
{
    Member& copied = member(lane);
    if (!copied.canStep()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} has no step left; go back to an earlier one to look at it.", copied.lane->config()->name));
    }
    std::unique_ptr<Lane> copy = copied.lane->fork(lane, copied.lane->config()->name);
    copy->applyScripted();
    return copy;
}

StepWalk LaneGroup::walk(std::uint32_t lane)
{
    return walkStep(*copyForNextStep(lane));
}

std::vector<ScaleTrial> LaneGroup::tryScales(std::uint32_t lane, std::span<const double> scales)
{
    return mantissa::tryScales(*copyForNextStep(lane), scales);
}

void LaneGroup::remove(std::uint32_t lane)
{
    Member& leaving = member(lane);
    if (leaving.isStarted && !leaving.isEnded) {
        end(leaving, RunStatus::Stopped, {});
    }
    emit(&leaving,
        {.kind = EventKind::LaneRemoved, .step = leaving.lane->nextStep(), .text = leaving.initialConfig.name});
    std::erase_if(m_members, [&leaving](const auto& candidate) { return candidate.get() == &leaving; });
}

void LaneGroup::setBaseline(std::uint32_t lane)
{
    m_baseline = member(lane).lane->id();
}

void LaneGroup::extend(std::int64_t totalSteps)
{
    for (const auto& member : m_members) {
        const bool hasFinished = member->isEnded && member->summary.status == RunStatus::Finished;
        if (member->isEnded && !hasFinished) {
            continue;
        }
        emit(member.get(), member->lane->set("steps", totalSteps));
        member->isEnded = hasFinished && member->lane->nextStep() >= totalSteps;
        if (!member->isEnded) {
            endIfDone(*member);
        }
    }
}

std::vector<LaneStatus> LaneGroup::statuses() const
{
    std::vector<LaneStatus> list;
    for (const auto& member : m_members) {
        const Lane& lane = *member->lane;
        list.push_back({.id = lane.id(),
            .config = lane.config(),
            .graph = lane.graph(),
            .device = lane.device(),
            .status = member->isEnded ? member->summary.status : RunStatus::Running,
            .message = member->isEnded ? member->summary.message : std::string(),
            .nextStep = lane.nextStep(),
            .earliestStep = std::min(member->snapshots.oldestStep().value_or(lane.nextStep()), lane.nextStep()),
            .scale = lane.scale(),
            .lr = lane.nextLr(),
            .bytes = lane.bytes(),
            .castsPerStep = lane.castsPerStep(),
            .initialWeightsHash = member->initialWeightsHash,
            .batchHash = lane.batchHash(),
            .queuedBatches = lane.queuedBatches(),
            .summary = member->isEnded ? std::optional(member->summary) : std::nullopt});
    }
    return list;
}

} // namespace mantissa
