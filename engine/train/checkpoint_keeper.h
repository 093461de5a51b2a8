/// Writes checkpoints on a thread of its own and keeps the newest few of each lane, so that training never waits for a
/// disk and a file that turns out bad has a predecessor. What others wrote into the folder is never replaced.
#pragma once

#include "engine/train/checkpoint.h"
#include "engine/train/event.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace mantissa {

/// add() and takeEvents() from one thread.
class CheckpointKeeper
{
public:
    explicit CheckpointKeeper(CheckpointPlan plan);
    ~CheckpointKeeper(); ///< writes what is waiting
    CheckpointKeeper(const CheckpointKeeper&) = delete;
    CheckpointKeeper& operator=(const CheckpointKeeper&) = delete;

    [[nodiscard]] const CheckpointPlan& plan() const { return m_plan; }

    /// Whether a lane that has just reached `nextStep` is to be written.
    [[nodiscard]] bool isDue(std::uint32_t lane, std::int64_t nextStep) const;

    /// Into the plan's folder, which must not be empty. A state of the lane that still waits is replaced by this one.
    void add(std::uint32_t lane, Checkpoint checkpoint);
    /// Into a file that a person chose: it replaces what is there, and is left alone afterwards.
    void addTo(const std::filesystem::path& file, std::uint32_t lane, Checkpoint checkpoint);

    /// Checkpoint events of the files written since the last call, with the file as path; where one could not be
    /// written, text says why.
    std::vector<Event> takeEvents();

    /// Blocks until nothing waits.
    void flush();

private:
    struct Job
    {
        std::uint32_t lane;
        Checkpoint checkpoint;
        std::filesystem::path file {}; ///< empty: as the plan says
    };

    void work();
    [[nodiscard]] Event write(const Job& job);
    void removeOld(std::uint32_t lane);

    CheckpointPlan m_plan;
    std::map<std::uint32_t, double> m_lastAdded; ///< steady seconds
    double m_startedAt;
    std::map<std::uint32_t, std::deque<std::filesystem::path>> m_kept; ///< of the thread
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<Job> m_waiting;
    std::vector<Event> m_events;
    bool m_isWriting = false;
    bool m_quits = false;
    std::thread m_thread; ///< last: it uses the rest
};

} // namespace mantissa
