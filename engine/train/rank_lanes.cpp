#include "engine/train/rank_lanes.h"

#include "engine/train/lane.h"

#include <utility>

namespace mantissa {

RankLanes::RankLanes(int ranks, int computeThreads)
    : m_ends(ThreadCommunicator::group(ranks))
    , m_pool(ranks, computeThreads)
    , m_task([this](std::size_t rank) { stepRank(rank); })
{
}

RankLanes::~RankLanes() = default;

void RankLanes::add(std::unique_ptr<Lane> lane)
{
    m_lanes.push_back(std::move(lane));
}

void RankLanes::step(const std::function<void()>& first)
{
    m_first = &first;
    // Each rank waits for the others, so that none is begun behind another one.
    m_pool.run(m_ends.size(), m_task);
    if (m_failure) {
        std::rethrow_exception(std::exchange(m_failure, nullptr));
    }
}

void RankLanes::stepRank(std::size_t rank)
{
    const auto giveUp = [&](const char* why) {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_failure) {
                m_failure = std::current_exception();
            }
        }
        m_ends[rank]->fail(why);
    };
    try {
        if (rank == 0) {
            (*m_first)();
        } else {
            static_cast<void>(m_lanes[rank - 1]->step());
        }
    } catch (const std::exception& error) {
        giveUp(error.what());
    } catch (...) {
        giveUp("unknown error");
    }
}

} // namespace mantissa
