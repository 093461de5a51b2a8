/// Gathers micro-batches ahead of the step that trains on them, on a thread of its own.
#pragma once

#include "engine/data/batch_source.h"
#include "engine/data/dataset.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace mantissa {

/// A micro-batch as a model reads it: inputs or tokens, labels or targets; what it does not have is empty.
struct Batch
{
    std::vector<float> inputs;
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> labels;
    std::vector<float> targets;
    std::uint64_t fingerprint = 0; ///< BatchSource::fingerprint() once it was drawn

    /// Room for `size` samples; `usesLabels`: of labels, otherwise of targets.
    Batch(const Dataset& data, std::int64_t size, bool usesLabels);

    /// Gathers the samples with the given indices, `size` of them. Allocates nothing.
    void fill(const Dataset& data, std::span<const std::uint32_t> indices);

    [[nodiscard]] std::span<const std::byte> samples() const; ///< inputs or tokens
    [[nodiscard]] std::span<const std::byte> answers() const; ///< labels or targets
};

/// The samples of each micro-batch that are loaded: a rank's share of it.
struct BatchShare
{
    std::int64_t first = 0;
    std::int64_t count = 0; ///< 0: all of them
};

struct LoaderOptions
{
    bool usesLabels = true;
    std::int64_t queue = 2; ///< micro-batches to hold ready; 0: no thread, they are gathered when asked for
    double throttleMs = 0; ///< loading a micro-batch takes this much longer: a slow disk, costly augmentation
    BatchShare share {}; ///< the fingerprint is of all samples, whichever are loaded
};

/// Used by one thread, besides its own. What it gives depends on the source alone, not on queue and throttle.
class BatchLoader
{
public:
    BatchLoader(
        std::shared_ptr<const Dataset> data, BatchSource source, std::int64_t microBatches, LoaderOptions options);
    ~BatchLoader();
    BatchLoader(const BatchLoader&) = delete;
    BatchLoader& operator=(const BatchLoader&) = delete;

    /// The micro-batch `microBatch` of `step`; valid until the next call. Waits until it is there. In steps that follow
    /// one another it allocates nothing; a jump restarts the queue.
    const Batch& next(std::int64_t step, std::int64_t microBatch);

    /// What next() will give, if it is asked for the batch behind the last one, and that lies ready; otherwise null.
    /// Valid as long as the last one.
    [[nodiscard]] const Batch* ahead();

    /// Micro-batches that lie ready.
    [[nodiscard]] std::int64_t ready() const { return m_ready.load(std::memory_order_relaxed); }

    [[nodiscard]] const LoaderOptions& options() const { return m_options; }

    /// Over all batches that next() has given, as BatchSource::fingerprint().
    [[nodiscard]] std::uint64_t fingerprint() const { return m_fingerprint; }

    /// Takes up the fingerprint of an earlier part of the run. Before the first next() only.
    void restoreFingerprint(std::uint64_t fingerprint) { m_fingerprint = fingerprint; }

private:
    void load(Batch& into, std::int64_t position);
    void restart(std::int64_t position);
    void work(const std::stop_token& stop, std::int64_t position);
    void delay(const std::stop_token& stop);

    std::shared_ptr<const Dataset> m_data;
    BatchSource m_source; ///< of the thread while there is one
    std::int64_t m_microBatches;
    LoaderOptions m_options;
    std::uint64_t m_fingerprint;
    std::vector<Batch> m_slots; ///< a ring: those that lie ready, and the one that was given out
    std::int64_t m_nextPosition = 0; ///< in micro-batches since step 0: what next() expects to be asked for
    std::size_t m_nextSlot = 0;

    std::atomic<std::int64_t> m_ready {0}; ///< changed under m_mutex
    std::mutex m_mutex;
    std::condition_variable_any m_hasBatch;
    std::condition_variable_any m_hasRoom;
    std::jthread m_thread; ///< last, so that it ends before what it uses
};

} // namespace mantissa
