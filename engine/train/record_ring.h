/// A bounded hand-over of values from one thread to another without locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mantissa {

/// One producer, one consumer. A full ring drops the new value and counts it; the producer never waits.
template <typename T> class RecordRing
{
public:
    /// `capacity` is a power of two.
    explicit RecordRing(std::size_t capacity)
        : m_slots(capacity)
    {
    }

    /// Producer only.
    void push(const T& value)
    {
        const std::size_t head = m_head.load(std::memory_order_relaxed);
        if (head - m_tail.load(std::memory_order_acquire) == m_slots.size()) {
            m_dropped.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        m_slots[head & (m_slots.size() - 1)] = value;
        m_head.store(head + 1, std::memory_order_release);
    }

    /// Consumer only: appends what is there, oldest first, and returns how many that were.
    std::size_t takeAll(std::vector<T>& into)
    {
        const std::size_t tail = m_tail.load(std::memory_order_relaxed);
        const std::size_t head = m_head.load(std::memory_order_acquire);
        for (std::size_t i = tail; i != head; ++i) {
            into.push_back(m_slots[i & (m_slots.size() - 1)]);
        }
        m_tail.store(head, std::memory_order_release);
        return head - tail;
    }

    [[nodiscard]] std::uint64_t dropped() const { return m_dropped.load(std::memory_order_relaxed); }

private:
    std::vector<T> m_slots;
    // On their own cache lines, so that the two threads do not fight over one.
    alignas(64) std::atomic<std::size_t> m_head {0};
    alignas(64) std::atomic<std::size_t> m_tail {0};
    alignas(64) std::atomic<std::uint64_t> m_dropped {0};
};

} // namespace mantissa
