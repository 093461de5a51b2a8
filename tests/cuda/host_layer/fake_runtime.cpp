// The CUDA runtime calls in use, for a device that is the host.
#include "tests/cuda/host_layer/host_layer.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

/// What the toolkit leaves opaque.
struct CUstream_st
{
    std::deque<std::function<cudaError_t()>> queue;
};

namespace mantissa::host_layer {

namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t guardBytes = 256; ///< behind every allocation
constexpr int guardValue = 0xA5;

struct Layer
{
    /// Around every call: lanes may come from several threads.
    std::recursive_mutex mutex;
    Device device;
    Streams streams = Streams::Eager;
    std::map<const std::byte*, std::size_t> allocations;
    std::size_t used = 0;
    std::uint64_t calls = 0;
    std::uint64_t failsFrom = UINT64_MAX;
    std::string failedCall;
    std::string fault;
    cudaError_t sticky = cudaSuccess; ///< after a kernel failed, as on a device
};

Layer& layer()
{
    static Layer instance;
    return instance;
}

std::lock_guard<std::recursive_mutex> locked()
{
    return std::lock_guard(layer().mutex);
}

cudaError_t runAll(cudaStream_t stream)
{
    while (!stream->queue.empty()) {
        const auto work = std::move(stream->queue.front());
        stream->queue.pop_front();
        if (const cudaError_t status = work(); status != cudaSuccess) {
            stream->queue.clear();
            return status;
        }
    }
    return layer().sticky;
}

} // namespace

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work)
{
    if (layer().sticky != cudaSuccess) {
        return layer().sticky;
    }
    stream->queue.push_back(std::move(work));
    if (layer().streams == Streams::Eager) {
        runAll(stream); // what fails shows in later calls, as on a device
    }
    return cudaSuccess;
}

cudaError_t enqueueLaunch(const cudaLaunchConfig_t& config, std::function<void()> body)
{
    const auto lock = locked();
    if (isFailing("cudaLaunchKernelEx")) {
        return cudaErrorLaunchFailure;
    }
    constexpr std::size_t sharedLimit = 48 * 1024;
    constexpr unsigned yLimit = 65535;
    const dim3 grid = config.gridDim;
    const dim3 block = config.blockDim;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffU || grid.y > yLimit || grid.z > yLimit
        || block.x * block.y * block.z == 0 || block.x * block.y * block.z > 1024
        || config.dynamicSmemBytes > sharedLimit) {
        return cudaErrorInvalidConfiguration;
    }
    return enqueue(config.stream, [grid, block, bytes = config.dynamicSmemBytes, body = std::move(body)] {
        if (!runGrid(grid, block, bytes, body, layer().fault)) {
            layer().sticky = cudaErrorLaunchFailure;
        }
        return layer().sticky;
    });
}

void setStreams(Streams streams)
{
    const auto lock = locked();
    layer().streams = streams;
}

void setDevice(const Device& device)
{
    const auto lock = locked();
    layer().device = device;
}

void reset()
{
    const auto lock = locked();
    layer().device = {};
    layer().streams = Streams::Eager;
    layer().calls = 0;
    layer().failsFrom = UINT64_MAX;
    layer().failedCall.clear();
    layer().fault.clear();
    layer().sticky = cudaSuccess;
    setOrder(Order::Forward);
}

std::uint64_t callCount()
{
    const auto lock = locked();
    return layer().calls;
}

void failFrom(std::uint64_t call)
{
    const auto lock = locked();
    layer().failsFrom = layer().calls + call;
}

std::string failedCall()
{
    const auto lock = locked();
    return layer().failedCall;
}

std::string lastFault()
{
    const auto lock = locked();
    return layer().fault;
}

std::size_t liveAllocations()
{
    const auto lock = locked();
    return layer().allocations.size();
}

bool isFailing(const char* call)
{
    const auto lock = locked();
    const bool fails = layer().calls++ >= layer().failsFrom;
    if (fails && layer().failedCall.empty()) {
        layer().failedCall = call;
    }
    return fails;
}

bool isDeviceRange(const void* begin, std::size_t bytes)
{
    const auto lock = locked();
    const auto* const first = static_cast<const std::byte*>(begin);
    auto next = layer().allocations.upper_bound(first);
    if (next == layer().allocations.begin()) {
        return false;
    }
    --next;
    return first + bytes <= next->first + next->second;
}

} // namespace mantissa::host_layer

using namespace mantissa::host_layer;

extern "C" {

cudaError_t cudaDriverGetVersion(int* version)
{
    const auto lock = locked();
    *version = layer().device.driverVersion;
    return isFailing("cudaDriverGetVersion") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return isFailing("cudaRuntimeGetVersion") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count)
{
    const auto lock = locked();
    *count = layer().device.count;
    if (isFailing("cudaGetDeviceCount")) {
        return cudaErrorUnknown;
    }
    return layer().device.driverVersion / 1000 < CUDART_VERSION / 1000 ? cudaErrorInsufficientDriver
        : layer().device.count == 0                                    ? cudaErrorNoDevice
                                                                       : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*device*/)
{
    const auto lock = locked();
    *properties = {};
    std::strcpy(properties->name, "Host layer");
    properties->major = layer().device.major;
    properties->minor = layer().device.minor;
    properties->totalGlobalMem = layer().device.memory;
    properties->multiProcessorCount = 2;
    return isFailing("cudaGetDeviceProperties") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total)
{
    const auto lock = locked();
    *total = layer().device.memory;
    *free = layer().device.memory - std::min(layer().used, layer().device.memory);
    return isFailing("cudaMemGetInfo") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes)
{
    const auto lock = locked();
    if (isFailing("cudaMalloc") || bytes > layer().device.memory || layer().used > layer().device.memory - bytes) {
        *memory = nullptr;
        return cudaErrorMemoryAllocation;
    }
    if (bytes == 0) {
        *memory = nullptr;
        return cudaSuccess;
    }
    *memory = std::aligned_alloc(alignment, (bytes + guardBytes + alignment - 1) / alignment * alignment);
    std::memset(*memory, 0xFF, bytes);
    std::memset(static_cast<std::byte*>(*memory) + bytes, guardValue, guardBytes);
    layer().allocations[static_cast<std::byte*>(*memory)] = bytes;
    layer().used += bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void* memory)
{
    const auto lock = locked();
    const auto found = layer().allocations.find(static_cast<std::byte*>(memory));
    if (memory != nullptr && found == layer().allocations.end()) {
        return cudaErrorInvalidValue;
    }
    if (memory != nullptr) {
        const auto* const guard = static_cast<const std::byte*>(memory) + found->second;
        if (!std::all_of(guard, guard + guardBytes, [](std::byte byte) { return byte == std::byte {guardValue}; })) {
            layer().fault = "something was written past the end of an allocation";
        }
        std::memset(memory, 0xFF, found->second);
        layer().used -= found->second;
        layer().allocations.erase(found);
        std::free(memory);
    }
    return isFailing("cudaFree") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/)
{
    const auto lock = locked();
    if (isFailing("cudaStreamCreateWithFlags")) {
        return cudaErrorUnknown;
    }
    *stream = new CUstream_st;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const auto lock = locked();
    delete stream;
    return isFailing("cudaStreamDestroy") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const auto lock = locked();
    if (isFailing("cudaStreamSynchronize")) {
        return cudaErrorUnknown;
    }
    return runAll(stream);
}

cudaError_t cudaMemcpyAsync(
    void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    const auto lock = locked();
    if (isFailing("cudaMemcpyAsync")) {
        return cudaErrorUnknown;
    }
    const bool readsDevice = kind != cudaMemcpyHostToDevice;
    const bool writesDevice = kind != cudaMemcpyDeviceToHost;
    if (isDeviceRange(source, bytes) != readsDevice || isDeviceRange(target, bytes) != writesDevice) {
        return cudaErrorInvalidValue;
    }
    if (readsDevice) {
        return enqueue(stream, [=] {
            std::memcpy(target, source, bytes);
            return cudaSuccess;
        });
    }
    // Pageable memory is staged, so that the caller may overwrite it at once.
    std::vector<std::byte> staged(bytes);
    std::memcpy(staged.data(), source, bytes);
    return enqueue(stream, [=] {
        std::memcpy(target, staged.data(), bytes);
        return cudaSuccess;
    });
}

cudaError_t cudaMemsetAsync(void* target, int value, std::size_t bytes, cudaStream_t stream)
{
    const auto lock = locked();
    if (isFailing("cudaMemsetAsync")) {
        return cudaErrorUnknown;
    }
    if (!isDeviceRange(target, bytes)) {
        return cudaErrorInvalidValue;
    }
    return enqueue(stream, [=] {
        std::memset(target, value, bytes);
        return cudaSuccess;
    });
}

const char* cudaGetErrorName(cudaError_t status)
{
    switch (status) {
    case cudaErrorMemoryAllocation:
        return "cudaErrorMemoryAllocation";
    case cudaErrorLaunchFailure:
        return "cudaErrorLaunchFailure";
    case cudaErrorInvalidValue:
        return "cudaErrorInvalidValue";
    case cudaErrorInvalidConfiguration:
        return "cudaErrorInvalidConfiguration";
    default:
        return "cudaErrorUnknown";
    }
}

const char* cudaGetErrorString(cudaError_t /*status*/)
{
    return "an error of the host layer";
}
}
