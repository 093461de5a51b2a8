#include "engine/backends/cuda/cuda_call.h"

#include "engine/core/error.h"

#include <fmt/format.h>

namespace mantissa::cuda {

void check(cudaError_t status, const char* attempt)
{
    if (status == cudaSuccess) {
        return;
    }
    if (status == cudaErrorMemoryAllocation) {
        throw Error(ErrorCode::OutOfMemory,
            fmt::format("CUDA could not {}: the GPU's memory is used up. Choose a smaller batch or model, or fewer "
                        "lanes.",
                attempt));
    }
    throw Error(ErrorCode::BackendFailure,
        fmt::format("CUDA could not {}: {} ({}). If a kernel failed, nothing more runs on the GPU until the program is "
                    "started again.",
            attempt, cudaGetErrorString(status), cudaGetErrorName(status)));
}

} // namespace mantissa::cuda
