#include "engine/data/batch_loader.h"

#include <chrono>
#include <utility>

namespace mantissa {

Batch::Batch(const Dataset& data, std::int64_t size, bool usesLabels)
{
    const auto room = [size](std::int64_t each) { return static_cast<std::size_t>(size * each); };
    if (data.tokens.empty()) {
        inputs.resize(room(data.features));
    } else {
        tokens.resize(room(data.features));
    }
    if (usesLabels) {
        labels.resize(room(data.labelsPerSample()));
    } else {
        targets.resize(room(data.targetWidth));
    }
}

void Batch::fill(const Dataset& data, std::span<const std::uint32_t> indices)
{
    if (tokens.empty()) {
        gatherInputs(data, indices, inputs);
    } else {
        gatherTokens(data, indices, tokens);
    }
    if (labels.empty()) {
        gatherTargets(data, indices, targets);
    } else {
        gatherLabels(data, indices, labels);
    }
}

std::span<const std::byte> Batch::samples() const
{
    return tokens.empty() ? std::as_bytes(std::span(inputs)) : std::as_bytes(std::span(tokens));
}

std::span<const std::byte> Batch::answers() const
{
    return labels.empty() ? std::as_bytes(std::span(targets)) : std::as_bytes(std::span(labels));
}

BatchLoader::BatchLoader(
    std::shared_ptr<const Dataset> data, BatchSource source, std::int64_t microBatches, LoaderOptions options)
    : m_data(std::move(data))
    , m_source(std::move(source))
    , m_microBatches(microBatches)
    , m_options(options)
    , m_fingerprint(m_source.fingerprint())
    , m_slots(static_cast<std::size_t>(options.queue) + 1,
          Batch(*m_data, options.share.count > 0 ? options.share.count : m_source.batch(), options.usesLabels))
{
}

BatchLoader::~BatchLoader() = default;

const Batch& BatchLoader::next(std::int64_t step, std::int64_t microBatch)
{
    const std::int64_t position = step * m_microBatches + microBatch;
    if (m_options.queue == 0) {
        m_source.restoreFingerprint(m_fingerprint);
        load(m_slots[0], position);
        delay({});
        m_fingerprint = m_slots[0].fingerprint;
        return m_slots[0];
    }
    if (!m_thread.joinable() || position != m_nextPosition) {
        restart(position);
    }
    {
        std::unique_lock lock(m_mutex);
        m_hasBatch.wait(lock, [this] { return m_ready.load(std::memory_order_relaxed) > 0; });
        m_ready.fetch_sub(1, std::memory_order_relaxed);
    }
    m_hasRoom.notify_one();
    const Batch& batch = m_slots[m_nextSlot];
    m_nextSlot = (m_nextSlot + 1) % m_slots.size();
    ++m_nextPosition;
    m_fingerprint = batch.fingerprint;
    return batch;
}

const Batch* BatchLoader::ahead()
{
    const std::unique_lock lock(m_mutex); // what the thread has put into the slot
    return m_ready.load(std::memory_order_relaxed) > 0 ? &m_slots[m_nextSlot] : nullptr;
}

void BatchLoader::load(Batch& into, std::int64_t position)
{
    std::span<const std::uint32_t> samples = m_source.next(position / m_microBatches, position % m_microBatches);
    if (const BatchShare& share = m_options.share; share.count > 0) {
        samples = samples.subspan(static_cast<std::size_t>(share.first), static_cast<std::size_t>(share.count));
    }
    into.fill(*m_data, samples);
    into.fingerprint = m_source.fingerprint();
}

void BatchLoader::restart(std::int64_t position)
{
    if (m_thread.joinable()) {
        m_thread.request_stop();
        m_thread.join();
    }
    m_source.restoreFingerprint(m_fingerprint);
    m_ready = 0;
    m_nextSlot = 0;
    m_nextPosition = position;
    m_thread = std::jthread([this, position](const std::stop_token& stop) { work(stop, position); });
}

void BatchLoader::work(const std::stop_token& stop, std::int64_t position)
{
    const auto ready = [this] { return m_ready.load(std::memory_order_relaxed); };
    for (std::size_t slot = 0; !stop.stop_requested(); ++position, slot = (slot + 1) % m_slots.size()) {
        load(m_slots[slot], position);
        delay(stop);
        std::unique_lock lock(m_mutex);
        m_ready.fetch_add(1, std::memory_order_relaxed);
        m_hasBatch.notify_one();
        if (ready() == m_options.queue) {
            // Waking for every single batch would cost more than gathering a small one.
            m_hasRoom.wait(lock, stop, [&] { return ready() <= m_options.queue / 2; });
        }
    }
}

void BatchLoader::delay(const std::stop_token& stop)
{
    if (m_options.throttleMs > 0) {
        std::unique_lock lock(m_mutex);
        m_hasRoom.wait_for(
            lock, stop, std::chrono::duration<double, std::milli>(m_options.throttleMs), [] { return false; });
    }
}

} // namespace mantissa
