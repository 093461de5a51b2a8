#include "engine/parallel/rank_totals.h"

#include <algorithm>

namespace mantissa {

RankTotals::RankTotals(Communicator* ranks, std::size_t count)
    : m_ranks(ranks)
    , m_own(count)
    , m_all(ranks == nullptr ? 0 : count * static_cast<std::size_t>(ranks->size()))
{
}

void RankTotals::exchange()
{
    if (m_ranks == nullptr) {
        return;
    }
    m_ranks->allGather(m_own, m_all);
    std::ranges::fill(m_own, 0.0);
    for (std::size_t i = 0; i < m_all.size(); ++i) {
        m_own[i % m_own.size()] += m_all[i];
    }
}

} // namespace mantissa
