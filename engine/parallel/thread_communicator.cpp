#include "engine/parallel/thread_communicator.h"

#include "engine/core/error.h"
#include "engine/parallel/rank_order_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace mantissa {

/// Where the threads meet.
class ThreadRanks
{
public:
    explicit ThreadRanks(int ranks)
        : m_reduced(static_cast<std::size_t>(ranks))
        , m_gathered(static_cast<std::size_t>(ranks))
    {
    }

    [[nodiscard]] int size() const { return static_cast<int>(m_reduced.size()); }

    /// Each rank sums its part of the elements over all ranks, and gives it to all of them.
    void allReduceSum(int rank, std::span<float> values, DType format)
    {
        const auto own = static_cast<std::size_t>(rank);
        m_reduced[own] = values;
        meet();
        for (const std::span<float> given : m_reduced) {
            requireEqual(given.size(), values.size());
        }
        const std::size_t ranks = m_reduced.size();
        const std::size_t first = values.size() * own / ranks;
        const std::size_t count = values.size() * (own + 1) / ranks - first;
        const std::span<float> sum = m_reduced.front().subspan(first, count);
        roundToFormat(sum, format);
        for (std::size_t other = 1; other < ranks; ++other) {
            addInFormat(sum, m_reduced[other].subspan(first, count), format);
        }
        for (std::size_t other = 1; other < ranks; ++other) {
            std::ranges::copy(sum, m_reduced[other].begin() + static_cast<std::ptrdiff_t>(first));
        }
        meet();
    }

    void allGather(int rank, std::span<const double> own, std::span<double> all)
    {
        m_gathered[static_cast<std::size_t>(rank)] = own;
        meet();
        requireEqual(all.size(), own.size() * m_gathered.size());
        auto into = all.begin();
        for (const std::span<const double> values : m_gathered) {
            requireEqual(values.size(), own.size());
            into = std::ranges::copy(values, into).out;
        }
        meet();
    }

    void broadcast(int rank, std::span<std::byte> bytes, int root)
    {
        if (rank == root) {
            m_sent = bytes;
        }
        meet();
        requireEqual(bytes.size(), m_sent.size());
        if (rank != root) {
            std::ranges::copy(m_sent, bytes.begin());
        }
        meet();
    }

    void throwIfAnyFailed()
    {
        const std::lock_guard lock(m_mutex);
        throwIfFailed();
    }

    void fail(int rank, const std::string& why)
    {
        const std::lock_guard lock(m_mutex);
        if (m_failure.empty()) {
            m_failure = fmt::format("Rank {} failed: {}", rank, why);
        }
        m_changed.notify_all();
    }

private:
    /// Returns once all ranks are here.
    void meet()
    {
        std::unique_lock lock(m_mutex);
        throwIfFailed();
        const std::uint64_t round = m_round;
        if (++m_here == size()) {
            m_here = 0;
            ++m_round;
            m_changed.notify_all();
            return;
        }
        m_changed.wait(lock, [&] { return m_round != round || !m_failure.empty(); });
        if (m_round == round) {
            throwIfFailed();
        }
    }

    void throwIfFailed() const
    {
        if (!m_failure.empty()) {
            throw Error(ErrorCode::BackendFailure, m_failure);
        }
    }

    static void requireEqual(std::size_t given, std::size_t expected)
    {
        if (given != expected) {
            throw Error(ErrorCode::ShapeMismatch,
                fmt::format("The ranks exchange different things: {} and {} elements.", given, expected));
        }
    }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_here = 0; ///< ranks that wait for the others
    std::uint64_t m_round = 0; ///< counts meetings
    std::string m_failure;
    std::vector<std::span<float>> m_reduced; ///< by rank; valid between two meetings, as what follows
    std::vector<std::span<const double>> m_gathered;
    std::span<const std::byte> m_sent;
};

std::vector<std::shared_ptr<ThreadCommunicator>> ThreadCommunicator::group(int ranks)
{
    const auto shared = std::make_shared<ThreadRanks>(ranks);
    std::vector<std::shared_ptr<ThreadCommunicator>> ends;
    for (int rank = 0; rank < ranks; ++rank) {
        ends.push_back(std::make_shared<ThreadCommunicator>(shared, rank));
    }
    return ends;
}

ThreadCommunicator::ThreadCommunicator(std::shared_ptr<ThreadRanks> ranks, int rank)
    : m_ranks(std::move(ranks))
    , m_rank(rank)
{
}

int ThreadCommunicator::size() const
{
    return m_ranks->size();
}

void ThreadCommunicator::allReduceSum(std::span<float> values, DType format)
{
    m_ranks->allReduceSum(m_rank, values, format);
}

void ThreadCommunicator::allGather(std::span<const double> own, std::span<double> all)
{
    m_ranks->allGather(m_rank, own, all);
}

void ThreadCommunicator::broadcast(std::span<std::byte> bytes, int root)
{
    m_ranks->broadcast(m_rank, bytes, root);
}

void ThreadCommunicator::await(std::size_t /*bytes*/, const std::function<bool()>& isDone)
{
    m_ranks->throwIfAnyFailed();
    while (!isDone()) {
        m_ranks->throwIfAnyFailed();
        std::this_thread::sleep_for(std::chrono::microseconds(50)); // the others may need this core, or a lock
    }
}

void ThreadCommunicator::fail(const std::string& why)
{
    m_ranks->fail(m_rank, why);
}

} // namespace mantissa
