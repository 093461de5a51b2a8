/// Writes checkpoints on a thread of its own and keeps the newest two of each lane, so that training never waits for a
/// disk and a file that turns out bad has a predecessor.
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

/// When lanes are written, besides at their end and when they are stopped. Nowhere if the folder is empty.
struct CheckpointPlan
{
    std::filesystem::path folder; ///< "LANE/step-00000200.safetensors" in it; made if it is not there
    std::int64_t everySteps = 0; ///< 0: not by steps
    double everySeconds = 0; ///< 0: not by time
};

/// add() and takeEvents() from one thread.
class CheckpointKeeper
{
public:
    explicit CheckpointKeeper(CheckpointPlan plan);
    ~CheckpointKeeper(); ///< writes what is waiting
    CheckpointKeeper(const CheckpointKeeper&) = delete;
    CheckpointKeeper& operator=(const CheckpointKeeper&) = delete;

    /// Whether a lane that has just reached `nextStep` is to be written.
    [[nodiscard]] bool isDue(std::uint32_t lane, std::int64_t nextStep) const;

    /// A state of the lane that still waits is replaced by this one.
    void add(std::uint32_t lane, Checkpoint checkpoint);

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
    };

    void work();
    [[nodiscard]] Event write(const Job& job);

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
