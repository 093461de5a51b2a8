/// A person at random: turns knobs, pauses, copies, removes and restarts lanes, and looks at what the session shows.
#pragma once

#include "engine/train/session.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mantissa::tests {

class RandomHand
{
public:
    RandomHand(Session& session, std::uint64_t seed);

    /// One command, or a few at once.
    void act();
    /// Lifts the speed limit, and trains to the end, or stops.
    void finish(bool isStopped);
    /// Takes the records, events and status, as the window does. False, with a warning that says why, if a record is
    /// missing or twice there, or if the status contradicts an earlier one.
    bool look();

private:
    int pick(int n) { return static_cast<int>(m_random() % static_cast<std::uint64_t>(n)); }

    std::pair<std::string, nlohmann::json> randomKnob();
    nlohmann::json randomOrder();
    void turnKnob(const SessionStatus& status);
    void changeLanes(const SessionStatus& status);
    bool lookAtRecords();
    bool lookAtLane(std::uint32_t generation, const LaneStatus& lane);

    Session& m_session;
    std::mt19937_64 m_random;
    int m_resets = 0;
    int m_newLanes = 0;
    std::uint64_t m_lastCommand = 0;
    std::uint64_t m_lastApplied = 0;
    using LaneOfGeneration = std::pair<std::uint32_t, std::uint32_t>;
    std::map<LaneOfGeneration, std::int64_t> m_nextStep; ///< by the status
    std::map<LaneOfGeneration, std::int64_t> m_nextRecord;
    std::vector<StepRecord> m_records;
    std::vector<Event> m_events;
};

} // namespace mantissa::tests
