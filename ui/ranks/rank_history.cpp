#include "ui/ranks/rank_history.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

/// `later` follows.
void join(RankHistory::Span& span, const RankHistory::Span& later)
{
    span.scale = std::isnan(later.scale) ? span.scale : later.scale;
    span.norm = std::fmax(span.norm, later.norm);
    span.flushed = std::fmax(span.flushed, later.flushed);
    span.distance = std::isnan(later.distance) ? span.distance : later.distance;
    span.notFinite += later.notFinite;
    span.foundInf += later.foundInf;
    span.skipped += later.skipped;
}

RankHistory::Span& spanOf(RankHistory::Bucket& bucket, std::size_t rank)
{
    bucket.ranks.resize(std::max(bucket.ranks.size(), rank + 1));
    return bucket.ranks[rank];
}

} // namespace

void RankHistory::add(const RankRecord& record)
{
    if (record.step < m_lastStep) {
        std::erase_if(m_buckets, [&record](const Bucket& bucket) { return bucket.first >= record.step; });
        m_bucketSteps = m_buckets.empty() ? 1 : m_bucketSteps;
    }
    m_lastStep = record.step;
    const std::int64_t first = record.step / m_bucketSteps * m_bucketSteps;
    if (m_buckets.empty() || m_buckets.back().first < first) {
        m_buckets.push_back({first});
        makeRoom();
    }
    join(spanOf(m_buckets.back(), static_cast<std::size_t>(record.rank)),
        {.scale = record.scale,
            .norm = std::isfinite(record.gradNorm) ? record.gradNorm : none,
            .flushed = record.flushed,
            .distance = record.distance,
            .notFinite = std::isfinite(record.gradNorm) ? 0 : 1,
            .foundInf = record.foundInf ? 1 : 0,
            .skipped = record.skipped ? 1 : 0});
}

void RankHistory::makeRoom()
{
    if (m_buckets.size() <= mostBuckets) {
        return;
    }
    m_bucketSteps *= 2;
    std::vector<Bucket> wider;
    for (const Bucket& bucket : m_buckets) {
        const std::int64_t first = bucket.first / m_bucketSteps * m_bucketSteps;
        if (wider.empty() || wider.back().first < first) {
            wider.push_back({first});
        }
        for (std::size_t rank = 0; rank < bucket.ranks.size(); ++rank) {
            join(spanOf(wider.back(), rank), bucket.ranks[rank]);
        }
    }
    m_buckets = std::move(wider);
}

RankHistory::Span RankHistory::total(std::size_t rank) const
{
    Span sum;
    for (const Bucket& bucket : m_buckets) {
        if (rank < bucket.ranks.size()) {
            join(sum, bucket.ranks[rank]);
        }
    }
    return sum;
}

} // namespace mantissa
