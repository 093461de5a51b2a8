// A session that several processes train together: rank 0 leads, and keeps states should a rank be lost.
#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/core/hash.h"
#include "engine/train/lane_member.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace mantissa {

/// All must train the same, or their sum means nothing.
void LaneGroup::agree(const std::string& failure)
{
    std::vector<RankLockstep::Mark> marks;
    const auto hashOf = [](const std::string& text, std::uint64_t hash = fnvOffset) {
        return fnv1a(std::as_bytes(std::span(text)), hash);
    };
    for (const auto& member : m_members) {
        const std::string& name = member->lane->config()->name;
        marks.push_back({fmt::format("the settings of lane \"{}\"", name),
            hashOf(member->lane->config()->document.dump(), static_cast<std::uint64_t>(m_threadsPerLane))});
        marks.push_back(
            {fmt::format("the data of lane \"{}\"", name), contentsHash(*m_datasets.get(*member->lane->config()))});
        marks.push_back({fmt::format("the initial weights of lane \"{}\"", name), hashOf(member->initialWeightsHash)});
    }
    m_lockstep->agree(failure, marks);
    const auto saved = m_lockstep->next({.keepsStates = m_saves});
    m_saves = saved.keepsStates;
}

/// What can still be saved of a lane whose ranks cannot all be asked any more.
void LaneGroup::saveKept(Member& member)
{
    if (leads() && member.kept && !std::exchange(member.isKeptWritten, true)) {
        m_checkpoints.add(member.lane->id(), *member.kept);
    }
}

/// Over several processes, a rank may be lost at the very end.
void LaneGroup::saveAtEnd(Member& member)
{
    try {
        save(member);
    } catch (const std::exception& error) {
        member.summary.message = fmt::format("The state at the end could not be saved: {}", error.what());
        saveKept(member);
    }
}

/// Over several processes: does what rank 0 wants before the next step. False if there is none.
bool LaneGroup::takeWord()
{
    try {
        const RankLockstep::Word word
            = m_lockstep->next({.keepsStates = leads() && wantsStates(), .changes = m_changes});
        m_changes.clear();
        if (!leads()) {
            if (word.stops) {
                stopAll();
                return false;
            }
            for (const nlohmann::json& change : word.changes) {
                member(change.at(0).get<std::uint32_t>()).lane->set(change.at(1).get<std::string>(), change.at(2));
            }
        }
        if (word.keepsStates) {
            keepStates();
        }
        return true;
    } catch (const Error& error) { // a rank is lost, or this one cannot follow
        for (const auto& member : m_members) {
            if (!member->isEnded) {
                member->failure = error.what();
                member->isCancelled = error.code() == ErrorCode::Cancelled;
                endIfDone(*member);
            }
        }
        return false;
    }
}

/// Checkpoints that are due, and else often enough that little is lost with a rank, but never so often that training
/// slows down by more than a few percent.
bool LaneGroup::wantsStates()
{
    if (!m_saves) {
        return false;
    }
    constexpr double costs = 20;
    if (m_keptAt == 0 || steadySeconds() - m_keptAt > costs * m_keepingSeconds) {
        return true;
    }
    return std::ranges::any_of(m_members, [this](const auto& member) {
        return member->canStep() && m_checkpoints.isDue(member->lane->id(), member->lane->nextStep());
    });
}

void LaneGroup::keepStates()
{
    const double before = steadySeconds();
    for (const auto& member : m_members) {
        if (!member->canStep()) {
            continue;
        }
        const std::int64_t step = member->lane->nextStep();
        member->kept = std::make_shared<const Checkpoint>(checkpointOf(*member));
        member->isKeptWritten = member->savedAt == step;
        if (leads() && step > 0 && !member->isKeptWritten && m_checkpoints.isDue(member->lane->id(), step)) {
            m_checkpoints.add(member->lane->id(), *member->kept);
            member->isKeptWritten = true;
        }
    }
    m_keptAt = steadySeconds();
    m_keepingSeconds = m_keptAt - before;
}

} // namespace mantissa
