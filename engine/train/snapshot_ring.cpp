#include "engine/train/snapshot_ring.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace mantissa {

void SnapshotRing::add(LaneState state)
{
    const auto bytesOf = [](const std::vector<StateTensor>& tensors) {
        return std::accumulate(tensors.begin(), tensors.end(), std::size_t {0},
            [](std::size_t sum, const StateTensor& tensor) { return sum + tensor.bytes.size(); });
    };
    std::size_t size = bytesOf(state.tensors);
    for (const RankState& rank : state.others) {
        size += bytesOf(rank.tensors);
    }
    m_states.push_back({std::make_shared<const LaneState>(std::move(state)), size});
    while (m_states.size() > 1 && (m_states.size() > m_limits.most || bytes() > m_limits.bytes)) {
        m_states.erase(leastMissed());
    }
}

std::shared_ptr<const LaneState> SnapshotRing::before(std::int64_t step) const
{
    const auto after
        = std::ranges::find_if(m_states, [step](const Entry& entry) { return entry.state->nextStep > step; });
    return after == m_states.begin() ? nullptr : std::prev(after)->state;
}

std::optional<std::int64_t> SnapshotRing::oldestStep() const
{
    return m_states.empty() ? std::nullopt : std::optional(m_states.front().state->nextStep);
}

std::size_t SnapshotRing::bytes() const
{
    return std::accumulate(m_states.begin(), m_states.end(), std::size_t {0},
        [](std::size_t sum, const Entry& entry) { return sum + entry.bytes; });
}

std::deque<SnapshotRing::Entry>::const_iterator SnapshotRing::leastMissed() const
{
    const std::size_t old = m_states.size() - std::min(m_states.size(), m_limits.recent);
    std::size_t best = 0;
    std::int64_t closest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 1; i < old; ++i) {
        const std::int64_t gap = m_states[i + 1].state->nextStep - m_states[i - 1].state->nextStep;
        if (gap < closest) {
            closest = gap;
            best = i;
        }
    }
    return m_states.begin() + static_cast<std::ptrdiff_t>(best);
}

} // namespace mantissa
