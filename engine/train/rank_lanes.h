/// The other ranks of a data-parallel lane that trains in one process: a lane each, all stepping at once on threads of
/// their own.
#pragma once

#include "engine/parallel/thread_communicator.h"
#include "engine/train/lane_pool.h"
#include "engine/train/step_record.h"

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace mantissa {

class Lane;

class RankLanes
{
public:
    RankLanes(int ranks, int computeThreads);
    ~RankLanes();
    RankLanes(const RankLanes&) = delete;
    RankLanes& operator=(const RankLanes&) = delete;

    /// A rank's end of the exchange.
    [[nodiscard]] std::shared_ptr<Communicator> end(int rank) const
    {
        return m_ends.at(static_cast<std::size_t>(rank));
    }

    /// The lane of the next rank.
    void add(std::unique_ptr<Lane> lane);

    /// Ranks 1, 2, ...
    [[nodiscard]] const std::vector<std::unique_ptr<Lane>>& lanes() const { return m_lanes; }

    /// Calls `first` for rank 0 and steps all others meanwhile. Throws what the first rank that failed has thrown; no
    /// step is possible after that.
    void step(const std::function<void()>& first);

    /// The ranks are not alike any more: every further step throws, and says why.
    void fail(const std::string& why) { m_ends.front()->fail(why); }

private:
    void stepRank(std::size_t rank);

    std::vector<std::shared_ptr<ThreadCommunicator>> m_ends;
    std::vector<std::unique_ptr<Lane>> m_lanes;
    LanePool m_pool;
    std::function<void(std::size_t)> m_task;
    const std::function<void()>* m_first = nullptr; ///< of the present step
    std::mutex m_mutex;
    std::exception_ptr m_failure; ///< the first one, guarded by m_mutex while ranks step
};

} // namespace mantissa
