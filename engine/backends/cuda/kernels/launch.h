/// The one way to start a kernel, and shared memory in the words that the tests' host layer understands too.
#pragma once

#include "engine/backends/cuda/cuda_call.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#ifndef SHARED_ARRAY // the host layer has its own: kernels that run on the CPU, in tests
#define SHARED_ARRAY(T, name, count) __shared__ T name[count]
#define DYNAMIC_SHARED(T, name)                                                                                        \
    extern __shared__ __align__(128) unsigned char dynamicShared_[];                                                   \
    T* const name = reinterpret_cast<T*>(dynamicShared_)
#endif

namespace mantissa::cuda {

constexpr int blockSize = 256; ///< of most kernels; helpers that add over a block hold room for so many threads

template <typename... Parameters, typename... Arguments>
void launch(void (*kernel)(Parameters...), std::int64_t blocks, int threads, std::size_t sharedBytes,
    cudaStream_t stream, Arguments&&... arguments)
{
    cudaLaunchConfig_t config {};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = sharedBytes;
    config.stream = stream;
    check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), "start a kernel");
}

/// Blocks for n elements, each thread taking several where there are many: enough to fill any device.
inline std::int64_t blocksFor(std::int64_t n)
{
    constexpr std::int64_t most = 2048;
    const std::int64_t wanted = (n + blockSize - 1) / blockSize;
    return wanted < most ? wanted : most;
}

/// Threads for a block that works on n elements together: a multiple of the warp's size.
inline int threadsFor(std::int64_t n)
{
    return n >= blockSize ? blockSize : static_cast<int>((n + 31) / 32 * 32);
}

} // namespace mantissa::cuda
