/// Sums of a few numbers over the ranks, in double.
#pragma once

#include "engine/parallel/communicator.h"

#include <span>
#include <vector>

namespace mantissa {

/// Allocates in the constructor only.
class RankTotals
{
public:
    /// `ranks` null: one rank, whose numbers are the totals. It must outlive this.
    RankTotals(Communicator* ranks, std::size_t count);

    /// To be filled with this rank's numbers.
    [[nodiscard]] std::span<double> own() { return m_own; }

    /// Collective: own() becomes the sums, in rank order.
    void exchange();

private:
    Communicator* m_ranks;
    std::vector<double> m_own;
    std::vector<double> m_all;
};

} // namespace mantissa
