#include "engine/backends/cuda/cuda_stream.h"

#include "engine/backends/cuda/launch_kernel.h"
#include "engine/core/error.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

namespace mantissa::cuda {

static_assert(CUDART_VERSION >= 12000, "the calls in use have had their present signatures since CUDA 12.0");

namespace {

/// A phase as the GPU replays it.
class Graph final : public Recording
{
public:
    explicit Graph(cudaGraphExec_t executable)
        : m_executable(executable)
    {
    }

    ~Graph() override { static_cast<void>(cudaGraphExecDestroy(m_executable)); }

    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    void launch(cudaStream_t stream) { check(cudaGraphLaunch(m_executable, stream), "start a recorded phase"); }

private:
    cudaGraphExec_t m_executable;
};

/// Page-locked memory, and the event behind the copies into it.
class PinnedParcel final : public Parcel
{
public:
    PinnedParcel(cudaStream_t stream, std::size_t bytes)
        : m_stream(stream)
        , m_memory(std::max<std::size_t>(bytes, 1))
    {
    }

    void add(const void* device, std::size_t bytes) override
    {
        check(cudaMemcpyAsync(m_memory.data() + m_used, device, bytes, cudaMemcpyDeviceToHost, m_stream),
            "copy from the GPU");
        m_used += bytes;
    }

    void seal() override { m_isThere.record(m_stream); }

    std::span<const std::byte> open() override
    {
        const std::size_t used = std::exchange(m_used, 0);
        m_isThere.wait("finish a step");
        return {m_memory.data(), used};
    }

private:
    cudaStream_t m_stream;
    PinnedMemory m_memory;
    Event m_isThere {Event::Use::Order};
    std::size_t m_used = 0;
};

/// Unless a variable of the environment is 0.
bool isWanted(const char* variable)
{
    const char* const value = std::getenv(variable);
    return value == nullptr || std::string_view(value) != "0";
}

cudaStream_t createStream(int device)
{
    useDevice(device);
    // Non-blocking: the streams of two lanes must not wait for each other through the default stream.
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a stream");
    return stream;
}

} // namespace

CudaStream::CudaStream(int device)
    : m_device(device)
    , m_stream(createStream(device))
    , m_usesGraphs(isWanted("MANTISSA_CUDA_GRAPHS"))
    , m_runsAhead(isWanted("MANTISSA_CUDA_AHEAD"))
{
}

CudaStream::~CudaStream()
{
    m_libraryHandle.reset();
    static_cast<void>(cudaStreamDestroy(m_stream));
    if (m_copies != nullptr) {
        static_cast<void>(cudaStreamDestroy(m_copies));
    }
}

void CudaStream::upload(void* device, const void* host, std::size_t bytes)
{
    if (bytes > 0) {
        m_uploads.upload(device, host, bytes, handle());
    }
}

void CudaStream::download(void* host, const void* device, std::size_t bytes)
{
    if (bytes > 0) {
        m_landing.download(host, device, bytes, handle());
    }
}

void CudaStream::fillZero(void* device, std::size_t bytes)
{
    if (bytes > 0) {
        check(cudaMemsetAsync(device, 0, bytes, handle()), "clear memory");
    }
}

void CudaStream::copy(void* target, const void* source, std::size_t bytes)
{
    if (bytes > 0) {
        check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, handle()), "copy on the GPU");
    }
}

void CudaStream::synchronize()
{
    if (const cudaError_t status = cudaStreamSynchronize(handle()); status != cudaSuccess) {
        m_landing.drop();
        check(status, "finish a step");
    }
    m_landing.deliver();
}

std::unique_ptr<Parcel> CudaStream::createParcel(std::size_t bytes)
{
    return std::make_unique<PinnedParcel>(handle(), bytes);
}

void CudaStream::uploadAhead(void* device, const void* host, std::size_t bytes)
{
    if (bytes == 0) {
        return;
    }
    useDevice(m_device);
    if (m_copies == nullptr) {
        m_copies = createStream(m_device);
    }
    auto found = m_ahead.find(device);
    if (found == m_ahead.end()) {
        std::unique_ptr<Ahead> made;
        try {
            made = std::make_unique<Ahead>(bytes);
        } catch (const Error& error) {
            if (error.code() == ErrorCode::OutOfMemory) {
                return; // it is brought when it is due
            }
            throw;
        }
        found = m_ahead.emplace(device, std::move(made)).first;
    }
    Ahead& ahead = *found->second;
    ahead.isFull = false;
    if (ahead.bytes != bytes) {
        return; // an address belongs to one tensor
    }
    ahead.isTaken.orderBefore(m_copies);
    m_uploadsAhead.upload(ahead.memory.data(), host, bytes, m_copies);
    ahead.hasArrived.record(m_copies);
    ahead.isFull = true;
}

bool CudaStream::uploadTaken(void* device)
{
    const auto found = m_ahead.find(device);
    if (found == m_ahead.end() || !found->second->isFull) {
        return false;
    }
    Ahead& ahead = *found->second;
    ahead.hasArrived.orderBefore(handle());
    copy(device, ahead.memory.data(), ahead.bytes);
    ahead.isTaken.record(m_stream);
    ahead.isFull = false;
    return true;
}

std::unique_ptr<Recording> CudaStream::record(const std::function<void()>& enqueue)
{
    // Of this thread alone: meanwhile other lanes may do what must not be done while recording.
    if (!m_usesGraphs || cudaStreamBeginCapture(handle(), cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
        return nullptr;
    }
    bool isRecorded = true;
    try {
        enqueue();
    } catch (const Error&) {
        isRecorded = false; // if it is not for the recording, it fails again when it is to run
    }
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    const bool isWhole = cudaStreamEndCapture(m_stream, &graph) == cudaSuccess && isRecorded;
    if (!isWhole || cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess) {
        static_cast<void>(cudaGetLastError()); // heard
        executable = nullptr;
    }
    if (graph != nullptr) {
        static_cast<void>(cudaGraphDestroy(graph));
    }
    return executable == nullptr ? nullptr : std::make_unique<Graph>(executable);
}

void CudaStream::replay(Recording& recording)
{
    static_cast<Graph&>(recording).launch(handle());
}

void CudaStream::mark(std::size_t slot)
{
    useDevice(m_device);
    while (m_marks.size() <= slot) {
        m_marks.push_back(std::make_unique<Event>(Event::Use::Timing));
    }
    m_marks[slot]->record(m_stream);
}

float CudaStream::timeBetween(std::size_t first, std::size_t second)
{
    return m_marks.at(second)->millisecondsSince(*m_marks.at(first));
}

std::size_t CudaStream::deviceBytes() const
{
    std::size_t sum = 0;
    for (const auto& [address, ahead] : m_ahead) {
        sum += ahead->bytes;
    }
    return sum;
}

cudaStream_t streamOf(Stream& stream)
{
    return static_cast<CudaStream&>(stream).handle();
}

} // namespace mantissa::cuda
