/// A point in a stream's queue.
#pragma once

#include "engine/backends/cuda/cuda_call.h"

namespace mantissa::cuda {

class Event
{
public:
    enum class Use { Timing, Order };

    explicit Event(Use use)
    {
        check(cudaEventCreateWithFlags(&m_event, use == Use::Timing ? cudaEventDefault : cudaEventDisableTiming),
            "create an event");
    }

    ~Event() { static_cast<void>(cudaEventDestroy(m_event)); }

    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void record(cudaStream_t stream) { check(cudaEventRecord(m_event, stream), "note a point in time"); }

    /// What is enqueued on the stream from now on runs after what was enqueued before record(). At once if there was
    /// none.
    void orderBefore(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, m_event, 0), "put work in order"); }

    void wait(const char* work = "finish a copy") const { check(cudaEventSynchronize(m_event), work); }

    /// Whether what was enqueued before record() has run.
    [[nodiscard]] bool isReached() const
    {
        const cudaError_t status = cudaEventQuery(m_event);
        if (status != cudaErrorNotReady) {
            check(status, "ask for the end of its work");
        }
        return status == cudaSuccess;
    }

    [[nodiscard]] float millisecondsSince(const Event& earlier) const
    {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, earlier.m_event, m_event), "measure a time");
        return milliseconds;
    }

private:
    cudaEvent_t m_event = nullptr;
};

} // namespace mantissa::cuda
