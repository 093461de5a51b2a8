#include "engine/backends/cuda/device_memory.h"

#include "engine/backends/cuda/cuda_call.h"
#include "engine/core/error.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>

namespace mantissa::cuda {

DeviceMemory::DeviceMemory(std::size_t bytes)
    : m_bytes(bytes)
{
    const cudaError_t status = cudaMalloc(&m_data, std::max<std::size_t>(bytes, 1));
    if (status == cudaErrorMemoryAllocation) {
        throw Error(ErrorCode::OutOfMemory,
            fmt::format("The GPU has no room for {} MiB of memory. Choose a smaller batch or model, or fewer lanes.",
                (bytes >> 20U) + 1));
    }
    check(status, "allocate memory");
}

DeviceMemory::~DeviceMemory()
{
    static_cast<void>(cudaFree(m_data)); // after a failed kernel it fails too, and nothing can be done
}

} // namespace mantissa::cuda
