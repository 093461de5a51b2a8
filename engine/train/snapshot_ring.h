/// Recent states of a lane, kept in memory so that a person can go back to before something broke.
#pragma once

#include "engine/train/lane_state.h"

#include <cstddef>
#include <deque>
#include <memory>

namespace mantissa {

/// Dense where recent, thinner the older: what is dropped, once there are too many, is the one whose neighbours are the
/// closest to each other. The oldest stays while memory allows.
class SnapshotRing
{
public:
    struct Limits
    {
        std::size_t recent = 8; ///< the newest so many are not thinned out
        std::size_t most = 24;
        std::size_t bytes = std::size_t {128} << 20U; ///< of tensors; the newest is kept whatever its size
    };

    explicit SnapshotRing(Limits limits)
        : m_limits(limits)
    {
    }

    SnapshotRing()
        : SnapshotRing(Limits {})
    {
    }

    /// Takes a state of a later step than all before.
    void add(LaneState state);

    /// The newest state at or before the step; null if there is none.
    [[nodiscard]] std::shared_ptr<const LaneState> before(std::int64_t step) const;

    /// Of the oldest state; nothing while there is none.
    [[nodiscard]] std::optional<std::int64_t> oldestStep() const;

    [[nodiscard]] std::size_t size() const { return m_states.size(); }

private:
    struct Entry
    {
        std::shared_ptr<const LaneState> state;
        std::size_t bytes;
    };

    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::deque<Entry>::const_iterator leastMissed() const;

    Limits m_limits;
    std::deque<Entry> m_states; ///< by step
};

} // namespace mantissa
