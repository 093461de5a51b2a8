/// A fixed set of threads that work through the lanes of one step.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace mantissa {

/// The calling thread is one of the workers; the others wait, sleeping, between calls.
class LanePool
{
public:
    /// `threads` >= 1 in all; each runs `computeThreads` OpenMP threads of its own.
    LanePool(int threads, int computeThreads);
    ~LanePool();
    LanePool(const LanePool&) = delete;
    LanePool& operator=(const LanePool&) = delete;

    /// Calls task(0) .. task(count - 1), each once, on any thread, and returns when all are done. The task must not
    /// throw. Allocates nothing.
    void run(std::size_t count, const std::function<void(std::size_t)>& task);

private:
    void work(const std::function<void(std::size_t)>& task);

    std::vector<std::jthread> m_threads;
    const std::function<void(std::size_t)>* m_task = nullptr;
    std::size_t m_count = 0;
    std::atomic<std::size_t> m_next {0};
    std::atomic<std::uint32_t> m_round {0}; ///< counts run() calls; its change wakes the threads
    std::atomic<std::uint32_t> m_working {0}; ///< threads that have not finished the round
    std::atomic<bool> m_quit {false};
};

} // namespace mantissa
