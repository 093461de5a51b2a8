// The CUDA runtime calls in use, for a device that is the host.
#include "tests/cuda/host_layer/host_layer.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using Work = std::function<cudaError_t()>;

// What the toolkit leaves opaque.

struct CUstream_st
{
    int device = 0;
    std::deque<Work> queue {};
    bool isCapturing = false;
    bool isCaptureBroken = false; ///< something was done that cannot be captured
    std::vector<Work> captured {};
};

/// Shared by the event and by work that is still queued when it is destroyed.
struct EventState
{
    std::uint64_t recorded = 0; ///< how often it was put into a queue
    std::uint64_t reached = 0; ///< which of these has run
    cudaStream_t stream = nullptr; ///< of the last one
    std::uint64_t time = 0; ///< in pieces of work
    bool isTimed = false;
};

struct CUevent_st
{
    int device = 0;
    std::shared_ptr<EventState> state = std::make_shared<EventState>();
};

struct CUgraph_st
{
    std::vector<Work> work;
};

struct CUgraphExec_st
{
    std::shared_ptr<const std::vector<Work>> work;
};

namespace mantissa::host_layer {

namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t guardBytes = 256; ///< behind every allocation
constexpr int guardValue = 0xA5;

/// As many GPUs as MANTISSA_HOST_GPUS says: for programs that a test starts.
Device usualDevice()
{
    Device device;
    if (const char* const count = std::getenv("MANTISSA_HOST_GPUS"); count != nullptr) {
        device.count = std::atoi(count);
    }
    return device;
}

struct Layer
{
    /// Around every call: lanes may come from several threads.
    std::recursive_mutex mutex;
    Device device = usualDevice();
    Streams streams = Streams::Eager;
    std::map<const std::byte*, std::size_t> allocations;
    std::map<const std::byte*, std::size_t> pinned;
    std::set<cudaStream_t> alive;
    std::uint64_t time = 0;
    std::map<std::string, std::uint64_t> callsByName;
    std::size_t used = 0;
    std::uint64_t calls = 0;
    std::uint64_t failsFrom = UINT64_MAX;
    std::string failsOnce;
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

/// What this thread creates and launches is for this one.
thread_local int presentDevice = 0;

/// As long as there is work and `isWanted` says so. cudaErrorNotReady: work that waits for another device is next.
cudaError_t runWhile(cudaStream_t stream, const std::function<bool()>& isWanted)
{
    while (!stream->queue.empty() && isWanted()) {
        auto work = std::move(stream->queue.front());
        stream->queue.pop_front();
        ++layer().time;
        const cudaError_t status = work();
        if (status == cudaErrorNotReady) {
            stream->queue.push_front(std::move(work));
            return status;
        }
        if (status != cudaSuccess) {
            stream->queue.clear();
            return status;
        }
    }
    return layer().sticky;
}

cudaError_t runAll(cudaStream_t stream)
{
    return runWhile(stream, [] { return true; });
}

/// Runs the event's stream until it is there.
cudaError_t reach(const std::shared_ptr<EventState>& event, std::uint64_t record)
{
    if (event->reached >= record || !layer().alive.contains(event->stream)) {
        return layer().sticky;
    }
    return runWhile(event->stream, [&] { return event->reached < record; });
}

/// Waits, as a device does, also for what other threads have to do. Not inside the lock.
template <typename Try> cudaError_t waitFor(const Try& attempt)
{
    while (true) {
        {
            const auto lock = locked();
            if (const cudaError_t status = attempt(); status != cudaErrorNotReady) {
                return status;
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

/// The stream that this thread captures, if it does: what waits or allocates breaks the capture then.
thread_local cudaStream_t capturedByThread = nullptr;

bool breaksCapture()
{
    if (capturedByThread == nullptr) {
        return false;
    }
    capturedByThread->isCaptureBroken = true;
    return true;
}

bool isPinned(const void* begin, std::size_t bytes)
{
    const auto* const first = static_cast<const std::byte*>(begin);
    auto next = layer().pinned.upper_bound(first);
    return next != layer().pinned.begin() && first + bytes <= std::prev(next)->first + std::prev(next)->second;
}

} // namespace

cudaError_t enqueue(cudaStream_t stream, std::function<cudaError_t()> work)
{
    if (layer().sticky != cudaSuccess) {
        return layer().sticky;
    }
    if (stream->isCapturing) {
        stream->captured.push_back(std::move(work));
        return cudaSuccess;
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
    if (config.stream->device != presentDevice) {
        return cudaErrorInvalidResourceHandle;
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
    layer().device = usualDevice();
    layer().streams = Streams::Eager;
    layer().calls = 0;
    layer().callsByName.clear();
    layer().failsFrom = UINT64_MAX;
    layer().failsOnce.clear();
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

void failOnce(const std::string& name)
{
    const auto lock = locked();
    layer().failsOnce = name;
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
    return layer().allocations.size() + layer().pinned.size();
}

std::size_t pendingWork()
{
    const auto lock = locked();
    std::size_t sum = 0;
    for (const cudaStream_t stream : layer().alive) {
        sum += stream->queue.size();
    }
    return sum;
}

std::size_t usedBytes()
{
    const auto lock = locked();
    return layer().used;
}

std::uint64_t callsOf(const std::string& name)
{
    const auto lock = locked();
    return layer().callsByName[name];
}

bool isFailing(const char* call)
{
    const auto lock = locked();
    ++layer().callsByName[call];
    if (layer().failsOnce == call) {
        layer().failsOnce.clear();
        ++layer().calls;
        return true;
    }
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

cudaError_t cudaSetDevice(int device)
{
    const auto lock = locked();
    if (isFailing("cudaSetDevice")) {
        return cudaErrorUnknown;
    }
    if (device < 0 || device >= layer().device.count) {
        return cudaErrorInvalidDevice;
    }
    presentDevice = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device)
{
    *device = presentDevice;
    return isFailing("cudaGetDevice") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
{
    const auto lock = locked();
    *properties = {};
    if (device < 0 || device >= layer().device.count) {
        return cudaErrorInvalidDevice;
    }
    std::memset(properties->uuid.bytes, device + 1, sizeof properties->uuid.bytes);
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
    if (breaksCapture()) {
        return cudaErrorStreamCaptureUnsupported;
    }
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

cudaError_t cudaMallocHost(void** memory, std::size_t bytes)
{
    const auto lock = locked();
    if (breaksCapture()) {
        return cudaErrorStreamCaptureUnsupported;
    }
    *memory = nullptr;
    if (isFailing("cudaMallocHost")) {
        return cudaErrorMemoryAllocation;
    }
    *memory = std::malloc(bytes);
    std::memset(*memory, 0xFF, bytes);
    layer().pinned[static_cast<std::byte*>(*memory)] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory)
{
    const auto lock = locked();
    if (memory != nullptr && layer().pinned.erase(static_cast<std::byte*>(memory)) == 0) {
        return cudaErrorInvalidValue;
    }
    std::free(memory);
    return isFailing("cudaFreeHost") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaFree(void* memory)
{
    const auto lock = locked();
    if (breaksCapture()) {
        return cudaErrorStreamCaptureUnsupported;
    }
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
    *stream = new CUstream_st {.device = presentDevice};
    layer().alive.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    const auto lock = locked();
    layer().alive.erase(stream);
    delete stream;
    return isFailing("cudaStreamDestroy") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (breaksCapture()) {
        return cudaErrorStreamCaptureUnsupported;
    }
    if (isFailing("cudaStreamSynchronize")) {
        return cudaErrorUnknown;
    }
    return waitFor([stream] { return runAll(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/)
{
    const auto lock = locked();
    if (isFailing("cudaStreamWaitEvent")) {
        return cudaErrorUnknown;
    }
    return enqueue(stream, [state = event->state, record = event->state->recorded] { return reach(state, record); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags)
{
    const auto lock = locked();
    if (isFailing("cudaEventCreateWithFlags")) {
        return cudaErrorUnknown;
    }
    *event = new CUevent_st {.device = presentDevice};
    (*event)->state->isTimed = (flags & cudaEventDisableTiming) == 0;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    const auto lock = locked();
    delete event;
    return isFailing("cudaEventDestroy") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    const auto lock = locked();
    if (isFailing("cudaEventRecord")) {
        return cudaErrorUnknown;
    }
    if (stream->isCapturing) {
        stream->isCaptureBroken = true; // what it would mean in a graph is not what is wanted here
        return cudaErrorStreamCaptureUnsupported;
    }
    if (event->device != stream->device) {
        return cudaErrorInvalidResourceHandle;
    }
    event->state->stream = stream;
    return enqueue(stream, [state = event->state, record = ++event->state->recorded] {
        state->reached = record;
        state->time = layer().time;
        return cudaSuccess;
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (breaksCapture()) {
        return cudaErrorStreamCaptureUnsupported;
    }
    if (isFailing("cudaEventSynchronize")) {
        return cudaErrorUnknown;
    }
    return waitFor([event] { return reach(event->state, event->state->recorded); });
}

/// A device works on while the host asks: in lazy streams by one piece of work each time.
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const auto lock = locked();
    if (isFailing("cudaEventQuery")) {
        return cudaErrorUnknown;
    }
    const EventState& state = *event->state;
    if (state.reached >= state.recorded) {
        return layer().sticky;
    }
    int pieces = 0;
    const cudaError_t status = layer().alive.contains(state.stream)
        ? runWhile(state.stream, [&] { return pieces++ == 0 || layer().streams == Streams::Eager; })
        : layer().sticky;
    return status == cudaSuccess && state.reached < state.recorded ? cudaErrorNotReady : status;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    const auto lock = locked();
    if (isFailing("cudaEventElapsedTime")) {
        return cudaErrorUnknown;
    }
    const auto isThere = [](const EventState& event) { return event.recorded > 0 && event.reached == event.recorded; };
    if (!start->state->isTimed || !end->state->isTimed || start->state->recorded == 0 || end->state->recorded == 0) {
        return cudaErrorInvalidResourceHandle;
    }
    if (!isThere(*start->state) || !isThere(*end->state)) {
        return cudaErrorNotReady;
    }
    *milliseconds = 0.001F * static_cast<float>(end->state->time - start->state->time);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    const auto lock = locked();
    if (isFailing("cudaStreamBeginCapture")) {
        return cudaErrorUnknown;
    }
    if (stream->isCapturing || capturedByThread != nullptr || mode != cudaStreamCaptureModeThreadLocal) {
        return cudaErrorIllegalState;
    }
    stream->isCapturing = true;
    stream->isCaptureBroken = false;
    stream->captured.clear();
    capturedByThread = stream;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph)
{
    const auto lock = locked();
    *graph = nullptr;
    if (!stream->isCapturing || capturedByThread != stream) {
        return cudaErrorIllegalState;
    }
    stream->isCapturing = false;
    capturedByThread = nullptr;
    if (isFailing("cudaStreamEndCapture") || stream->isCaptureBroken) {
        return cudaErrorStreamCaptureInvalidated;
    }
    *graph = new CUgraph_st {std::move(stream->captured)};
    stream->captured.clear();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long /*flags*/)
{
    const auto lock = locked();
    *executable = nullptr;
    if (isFailing("cudaGraphInstantiate")) {
        return cudaErrorMemoryAllocation;
    }
    *executable = new CUgraphExec_st {std::make_shared<const std::vector<Work>>(graph->work)};
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    const auto lock = locked();
    delete graph;
    return isFailing("cudaGraphDestroy") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    const auto lock = locked();
    delete executable;
    return isFailing("cudaGraphExecDestroy") ? cudaErrorUnknown : cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    const auto lock = locked();
    if (isFailing("cudaGraphLaunch")) {
        return cudaErrorLaunchFailure;
    }
    if (stream->device != presentDevice) {
        return cudaErrorInvalidResourceHandle;
    }
    return enqueue(stream, [all = executable->work] {
        for (const Work& work : *all) {
            ++layer().time;
            if (const cudaError_t status = work(); status != cudaSuccess) {
                return status;
            }
        }
        return cudaSuccess;
    });
}

cudaError_t cudaGetLastError()
{
    return isFailing("cudaGetLastError") ? cudaErrorUnknown : cudaSuccess;
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
    if (isPinned(source, bytes)) {
        return enqueue(stream, [=] {
            std::memcpy(target, source, bytes);
            return cudaSuccess;
        });
    }
    if (stream->isCapturing) {
        stream->isCaptureBroken = true;
        return cudaErrorStreamCaptureUnsupported;
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
    case cudaErrorNotReady:
        return "cudaErrorNotReady";
    case cudaErrorStreamCaptureUnsupported:
        return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorInvalidDevice:
        return "cudaErrorInvalidDevice";
    case cudaErrorInvalidResourceHandle:
        return "cudaErrorInvalidResourceHandle";
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
