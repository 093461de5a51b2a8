/// A lane's queue on the GPU: copies through page-locked memory, phases recorded as CUDA graphs, times from events.
#pragma once

#include "engine/backends/backend.h"
#include "engine/backends/cuda/device_choice.h"
#include "engine/backends/cuda/device_memory.h"
#include "engine/backends/cuda/pinned_memory.h"

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <vector>

namespace mantissa::cuda {

class CudaStream final : public Stream
{
public:
    /// Records graphs unless MANTISSA_CUDA_GRAPHS is 0 in the environment, and runs ahead unless MANTISSA_CUDA_AHEAD
    /// is.
    explicit CudaStream(int device);
    ~CudaStream() override;
    CudaStream(const CudaStream&) = delete;
    CudaStream& operator=(const CudaStream&) = delete;

    void upload(void* device, const void* host, std::size_t bytes) override;
    void download(void* host, const void* device, std::size_t bytes) override;
    void fillZero(void* device, std::size_t bytes) override;
    void copy(void* target, const void* source, std::size_t bytes) override;
    void synchronize() override;
    std::unique_ptr<Parcel> createParcel(std::size_t bytes) override;

    [[nodiscard]] bool runsAhead() const override { return m_runsAhead; }

    void uploadAhead(void* device, const void* host, std::size_t bytes) override;
    bool uploadTaken(void* device) override;

    std::unique_ptr<Recording> record(const std::function<void()>& enqueue) override;
    void replay(Recording& recording) override;

    void mark(std::size_t slot) override;
    float timeBetween(std::size_t first, std::size_t second) override;

    [[nodiscard]] std::size_t deviceBytes() const override;

    /// The calling thread uses the stream's device from now on.
    [[nodiscard]] cudaStream_t handle() const
    {
        useDevice(m_device);
        return m_stream;
    }

    /// A library's handle for this stream, made by who needs it first and given back with the stream.
    [[nodiscard]] std::shared_ptr<void>& libraryHandle() { return m_libraryHandle; }

private:
    /// Bytes on their way to an address: on the device already, but not yet where the present step reads.
    struct Ahead
    {
        explicit Ahead(std::size_t size)
            : memory(size)
            , bytes(size)
        {
        }

        DeviceMemory memory;
        std::size_t bytes;
        Event hasArrived {Event::Use::Order};
        Event isTaken {Event::Use::Order};
        bool isFull = false;
    };

    int m_device;
    cudaStream_t m_stream = nullptr;
    cudaStream_t m_copies = nullptr; ///< beside the first; made when it is needed
    bool m_usesGraphs;
    bool m_runsAhead;
    UploadRing m_uploads;
    UploadRing m_uploadsAhead;
    Landing m_landing;
    std::map<void*, std::unique_ptr<Ahead>> m_ahead;
    std::vector<std::unique_ptr<Event>> m_marks;
    std::shared_ptr<void> m_libraryHandle;
};

} // namespace mantissa::cuda
