/// What the ranks of a data-parallel lane reported, kept small however long the run is.
#pragma once

#include "engine/train/rank_record.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace mantissa {

class RankHistory
{
public:
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    /// A rank in neighbouring steps that are kept as one.
    struct Span
    {
        double scale = none; ///< of the last of them
        double norm = none; ///< largest finite norm of its own gradient
        double flushed = none; ///< largest share lost in the exchange
        double distance = none; ///< last measured
        std::int32_t notFinite = 0; ///< steps whose own gradient is not
        std::int32_t foundInf = 0; ///< steps in which its check found something
        std::int32_t skipped = 0;
    };

    struct Bucket
    {
        std::int64_t first = 0;
        std::vector<Span> ranks {}; ///< by rank
    };

    static constexpr std::size_t mostBuckets = 512;

    /// A step that was passed already replaces what was kept of it and of all after it.
    void add(const RankRecord& record);

    [[nodiscard]] const std::vector<Bucket>& buckets() const { return m_buckets; }

    [[nodiscard]] std::int64_t bucketSteps() const { return m_bucketSteps; } ///< a power of two

    [[nodiscard]] std::int64_t lastStep() const { return m_lastStep; } ///< -1: there is none

    [[nodiscard]] std::size_t ranks() const { return m_buckets.empty() ? 0 : m_buckets.back().ranks.size(); }

    /// Of a rank, over the whole run.
    [[nodiscard]] Span total(std::size_t rank) const;

private:
    void makeRoom();

    std::vector<Bucket> m_buckets;
    std::int64_t m_bucketSteps = 1;
    std::int64_t m_lastStep = -1;
};

} // namespace mantissa
