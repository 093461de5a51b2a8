/// The CUDA backend on the host layer, as the program sees it.
#pragma once

#include "engine/backends/backend_registry.h"
#include "tests/cuda/host_layer/host_layer.h"

#include <cstdlib>

namespace mantissa::test {

/// To be called before anything asks for a device. cuDNN and NCCL: the layer's own, or none; never one that is
/// installed.
inline void useCudaOnHost(const char* cudnn = "none", const char* nccl = "none")
{
    setenv("MANTISSA_NCCL", nccl, 1);
    setenv("MANTISSA_CUDA_PLUGIN", MANTISSA_CUDA_ON_HOST, 1);
    setenv("MANTISSA_CUDNN", cudnn, 1);
}

/// Threads and streams in an order that must not matter.
struct Schedule
{
    const char* name;
    host_layer::Order order;
    host_layer::Streams streams;

    void set() const
    {
        host_layer::setOrder(order);
        host_layer::setStreams(streams);
    }
};

inline constexpr Schedule schedules[] {
    {"forward, eager", host_layer::Order::Forward, host_layer::Streams::Eager},
    {"reverse, lazy", host_layer::Order::Reverse, host_layer::Streams::Lazy},
    {"shuffled, lazy", host_layer::Order::Shuffled, host_layer::Streams::Lazy},
};

} // namespace mantissa::test
