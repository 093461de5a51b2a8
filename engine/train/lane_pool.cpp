#include "engine/train/lane_pool.h"

#include <omp.h>

namespace mantissa {

LanePool::LanePool(int threads, int computeThreads)
{
    omp_set_num_threads(computeThreads);
    for (int i = 1; i < threads; ++i) {
        m_threads.emplace_back([this, computeThreads] {
            omp_set_num_threads(computeThreads);
            std::uint32_t seen = 0;
            while (true) {
                m_round.wait(seen, std::memory_order_acquire);
                seen = m_round.load(std::memory_order_acquire);
                if (m_quit.load(std::memory_order_acquire)) {
                    return;
                }
                work(*m_task);
                if (m_working.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                    m_working.notify_one();
                }
            }
        });
    }
}

LanePool::~LanePool()
{
    m_quit.store(true, std::memory_order_release);
    m_round.fetch_add(1, std::memory_order_acq_rel);
    m_round.notify_all();
    m_threads.clear(); // joins them while the atomics they read are still there
}

void LanePool::run(std::size_t count, const std::function<void(std::size_t)>& task)
{
    m_task = &task;
    m_count = count;
    m_next.store(0, std::memory_order_relaxed);
    m_working.store(static_cast<std::uint32_t>(m_threads.size()), std::memory_order_relaxed);
    if (count > 1 && !m_threads.empty()) {
        m_round.fetch_add(1, std::memory_order_acq_rel);
        m_round.notify_all();
        work(task);
        for (std::uint32_t left = m_working.load(std::memory_order_acquire); left != 0;
             left = m_working.load(std::memory_order_acquire)) {
            m_working.wait(left, std::memory_order_acquire);
        }
    } else {
        work(task);
    }
}

void LanePool::work(const std::function<void(std::size_t)>& task)
{
    for (std::size_t i = m_next.fetch_add(1, std::memory_order_relaxed); i < m_count;
         i = m_next.fetch_add(1, std::memory_order_relaxed)) {
        task(i);
    }
}

} // namespace mantissa
