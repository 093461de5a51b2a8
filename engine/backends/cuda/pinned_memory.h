/// Memory of the host that the GPU reads and writes by itself, so that copies run beside both.
#pragma once

#include "engine/backends/cuda/event.h"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace mantissa::cuda {

class PinnedMemory
{
public:
    /// Throws Error (OutOfMemory).
    explicit PinnedMemory(std::size_t bytes);
    ~PinnedMemory();
    PinnedMemory(const PinnedMemory&) = delete;
    PinnedMemory& operator=(const PinnedMemory&) = delete;

    [[nodiscard]] std::byte* data() { return m_data; }

    [[nodiscard]] std::size_t bytes() const { return m_bytes; }

private:
    std::byte* m_data = nullptr;
    std::size_t m_bytes;
};

/// Copies to the GPU: through the next slot of a ring, which is used again once its copy has run. In steady use it
/// allocates nothing.
class UploadRing
{
public:
    /// The host's bytes may be overwritten when it returns.
    void upload(void* device, const void* host, std::size_t bytes, cudaStream_t stream);

private:
    struct Slot
    {
        std::unique_ptr<PinnedMemory> memory;
        std::unique_ptr<Event> isFree;
    };

    std::array<Slot, 8> m_slots;
    std::size_t m_next = 0;
};

/// Copies from the GPU: they land here, and go where they are wanted once the stream has been waited for.
class Landing
{
public:
    void download(void* host, const void* device, std::size_t bytes, cudaStream_t stream);
    /// After the stream was waited for: hands everything over.
    void deliver();
    void drop(); ///< what did not arrive

private:
    struct Parcel
    {
        void* host;
        std::size_t at;
        std::size_t bytes;
    };

    std::unique_ptr<PinnedMemory> m_memory;
    std::vector<Parcel> m_parcels;
    std::size_t m_used = 0;
    std::size_t m_wanted = 0; ///< by all copies since the last wait
};

} // namespace mantissa::cuda
