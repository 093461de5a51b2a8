#include "engine/data/batch_source.h"

#include "engine/core/error.h"

#include <fmt/format.h>

namespace mantissa {

BatchSource::BatchSource(
    std::vector<std::uint32_t> trainingSamples, std::int64_t batch, std::int64_t microBatches, std::uint64_t seed)
    : m_samples(std::move(trainingSamples))
    , m_batch(static_cast<std::uint64_t>(batch))
    , m_microBatches(static_cast<std::uint64_t>(microBatches))
    , m_random(seed, randomStream(RandomPurpose::Shuffle))
    , m_order(m_samples.size())
    , m_epoch(0)
{
    if (m_samples.empty() || batch < 1 || microBatches < 1) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("batches: {} training samples, data.batch {}, accumulation.steps {}; each must be at least 1",
                m_samples.size(), batch, microBatches));
    }
    m_indices.resize(m_batch);
    shuffleFor(0);
}

std::span<const std::uint32_t> BatchSource::next(std::int64_t step, std::int64_t microBatch)
{
    std::uint64_t position
        = (static_cast<std::uint64_t>(step) * m_microBatches + static_cast<std::uint64_t>(microBatch)) * m_batch;
    for (std::uint32_t& index : m_indices) {
        const std::uint64_t epoch = position / m_samples.size();
        if (epoch != m_epoch) {
            shuffleFor(epoch);
        }
        index = m_samples[m_order[position % m_samples.size()]];
        ++position;
    }
    m_fingerprint = fnv1a(std::as_bytes(std::span<const std::uint32_t>(m_indices)), m_fingerprint);
    return m_indices;
}

void BatchSource::shuffleFor(std::uint64_t epoch)
{
    fillPermutation(m_order, m_random, epoch);
    m_epoch = epoch;
}

} // namespace mantissa
