#include "engine/backends/cuda/pinned_memory.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace mantissa::cuda {

namespace {

/// Larger copies are rare (weights, at checkpoints) and not worth memory that the system cannot use otherwise.
constexpr std::size_t largestStaged = std::size_t {16} << 20U;
constexpr std::size_t smallestSlot = 4096;

} // namespace

PinnedMemory::PinnedMemory(std::size_t bytes)
    : m_bytes(bytes)
{
    void* data = nullptr;
    const cudaError_t status = cudaMallocHost(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
        throw Error(ErrorCode::OutOfMemory,
            fmt::format("The system has no room for {} MiB of memory that the GPU can read. Choose a smaller batch, or "
                        "fewer lanes.",
                (bytes >> 20U) + 1));
    }
    check(status, "allocate memory of the host");
    m_data = static_cast<std::byte*>(data);
}

PinnedMemory::~PinnedMemory()
{
    static_cast<void>(cudaFreeHost(m_data));
}

void UploadRing::upload(void* device, const void* host, std::size_t bytes, cudaStream_t stream)
{
    if (bytes > largestStaged) {
        check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "copy to the GPU");
        return;
    }
    Slot& slot = m_slots[m_next];
    m_next = (m_next + 1) % m_slots.size();
    if (slot.isFree) {
        slot.isFree->wait();
    } else {
        slot.isFree = std::make_unique<Event>(Event::Use::Order);
    }
    if (!slot.memory || slot.memory->bytes() < bytes) {
        slot.memory = std::make_unique<PinnedMemory>(std::max(bytes, smallestSlot));
    }
    std::memcpy(slot.memory->data(), host, bytes);
    check(cudaMemcpyAsync(device, slot.memory->data(), bytes, cudaMemcpyHostToDevice, stream), "copy to the GPU");
    slot.isFree->record(stream);
}

void Landing::download(void* host, const void* device, std::size_t bytes, cudaStream_t stream)
{
    m_wanted += bytes;
    if (m_parcels.empty() && m_wanted <= largestStaged && (!m_memory || m_memory->bytes() < m_wanted)) {
        m_memory = std::make_unique<PinnedMemory>(std::max(m_wanted, smallestSlot));
    }
    if (!m_memory || m_used + bytes > m_memory->bytes()) {
        check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "copy from the GPU");
        return;
    }
    check(
        cudaMemcpyAsync(m_memory->data() + m_used, device, bytes, cudaMemcpyDeviceToHost, stream), "copy from the GPU");
    m_parcels.push_back({host, m_used, bytes});
    m_used += bytes;
}

void Landing::deliver()
{
    for (const Parcel& parcel : m_parcels) {
        std::memcpy(parcel.host, m_memory->data() + parcel.at, parcel.bytes);
    }
    const std::size_t wanted = m_wanted;
    drop();
    if (wanted <= largestStaged && m_memory && m_memory->bytes() < wanted) {
        m_memory = std::make_unique<PinnedMemory>(wanted); // next time all of them land here
    }
}

void Landing::drop()
{
    m_parcels.clear();
    m_used = 0;
    m_wanted = 0;
}

} // namespace mantissa::cuda
