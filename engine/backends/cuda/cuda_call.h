/// Every call of a CUDA library is checked where it is made. C++17, shared by .cu and .cpp files.
#pragma once

#include <cuda_runtime.h>

namespace mantissa::cuda {

/// Throws Error unless the call succeeded: OutOfMemory, or BackendFailure with what was tried and what CUDA says.
/// `attempt` completes "CUDA could not ...".
void check(cudaError_t status, const char* attempt);

} // namespace mantissa::cuda
