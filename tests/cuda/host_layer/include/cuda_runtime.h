/// Stands in front of the toolkit's <cuda_runtime.h>, so that kernels compile as plain C++ and run on fibers.
/// It takes the toolkit's own declarations, hence a call with a wrong signature does not compile, and adds what only
/// nvcc knows: thread indices, barriers, shuffles, atomics, shared memory and the launch.
#pragma once

#define __launch_bounds__(...)
#define cudaLaunchKernelEx cudaLaunchKernelEx_toolkit
#include_next <cuda_runtime.h>
#undef cudaLaunchKernelEx
#undef __shared__ // under g++ a shared variable would silently be one per thread

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

// Variables, not macros: launch configurations have members of these names.
extern "C" {
extern uint3 threadIdx;
extern uint3 blockIdx;
extern dim3 blockDim;
extern dim3 gridDim;
}

namespace mantissa::host_layer {

/// Where a kernel meets other threads, for messages.
struct Site
{
    const char* file;
    int line;
};

cudaError_t enqueueLaunch(const cudaLaunchConfig_t& config, std::function<void()> body);
void blockBarrier(Site site);
void warpBarrier(unsigned mask, Site site);
/// What the lane `source` of the caller's warp gave.
std::uint64_t exchange(unsigned mask, std::uint64_t value, unsigned source, Site site);
unsigned laneOfCaller();
void* sharedArray(const void* key, std::size_t bytes);
void* dynamicShared();

template <typename T> T shuffle(unsigned mask, T value, unsigned source, Site site)
{
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    word = exchange(mask, word, source, site);
    std::memcpy(&value, &word, sizeof value);
    return value;
}

} // namespace mantissa::host_layer

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(
    const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments)
{
    std::tuple<Parameters...> bound(std::forward<Arguments>(arguments)...);
    return mantissa::host_layer::enqueueLaunch(*config, [kernel, bound] { std::apply(kernel, bound); });
}

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE())
{
    mantissa::host_layer::blockBarrier({file, line});
}

inline void __syncwarp(unsigned mask = 0xffffffffU, const char* file = __builtin_FILE(), int line = __builtin_LINE())
{
    mantissa::host_layer::warpBarrier(mask, {file, line});
}

template <typename T>
T __shfl_xor_sync(
    unsigned mask, T value, int laneMask, const char* file = __builtin_FILE(), int line = __builtin_LINE())
{
    const unsigned source = mantissa::host_layer::laneOfCaller() ^ static_cast<unsigned>(laneMask);
    return mantissa::host_layer::shuffle(mask, value, source, {file, line});
}

inline unsigned __float_as_uint(float value)
{
    unsigned bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

template <typename T> T atomicAdd(T* address, T value)
{
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

#define SHARED_ARRAY(T, name, count)                                                                                   \
    static const char name##Key = 0;                                                                                   \
    T(&name)[count] = *static_cast<T(*)[count]>(mantissa::host_layer::sharedArray(&name##Key, sizeof(T) * (count)))
#define DYNAMIC_SHARED(T, name) T* const name = static_cast<T*>(mantissa::host_layer::dynamicShared())
