/// Which samples each step trains on. The training samples are shuffled anew for every epoch, the epochs are laid end
/// to end, and this endless sequence is cut into batches. So every batch is full, also the one in which an epoch ends
/// and the next begins; every sample comes once per epoch; a batch may exceed the data set; and k micro-batches of m
/// samples see, step by step, what one micro-batch of k m sees.
#pragma once

#include "engine/core/hash.h"
#include "engine/core/philox.h"
#include "engine/data/dataset.h"

#include <cstdint>
#include <span>
#include <vector>

namespace mantissa {

/// The indices of (step, micro-batch) depend on the training samples, the sizes and the seed alone, so lanes, forks and
/// resumed runs agree. Only the fingerprint has a history. One thread at a time; allocates in the constructor only.
class BatchSource
{
public:
    /// `trainingSamples` are the sample indices to draw from (Dataset::train); `batch` is the size of a micro-batch.
    /// Throws Error (InvalidArgument) if one of the three is empty or not positive.
    BatchSource(
        std::vector<std::uint32_t> trainingSamples, std::int64_t batch, std::int64_t microBatches, std::uint64_t seed);

    /// The sample indices of a micro-batch; valid until the next call. Costs a shuffle of all training samples where an
    /// epoch begins, a copy otherwise. Continues the fingerprint.
    std::span<const std::uint32_t> next(std::int64_t step, std::int64_t microBatch);

    [[nodiscard]] std::int64_t batch() const { return static_cast<std::int64_t>(m_batch); }

    /// FNV-1a over all indices that next() has given, in order (as little-endian 32-bit numbers).
    [[nodiscard]] std::uint64_t fingerprint() const { return m_fingerprint; }

    /// Takes up the fingerprint of an earlier part of the run.
    void restoreFingerprint(std::uint64_t fingerprint) { m_fingerprint = fingerprint; }

private:
    void shuffleFor(std::uint64_t epoch);

    std::vector<std::uint32_t> m_samples;
    std::uint64_t m_batch;
    std::uint64_t m_microBatches;
    Philox m_random;
    std::vector<std::uint32_t> m_order; ///< positions in m_samples, shuffled for m_epoch
    std::uint64_t m_epoch;
    std::vector<std::uint32_t> m_indices;
    std::uint64_t m_fingerprint = fnvOffset;
};

} // namespace mantissa
