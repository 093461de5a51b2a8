/// Runs one op on one backend with data from the host.
#pragma once

#include "engine/backends/backend.h"
#include "tests/support/host_tensor.h"

#include <optional>

namespace mantissa::test {

/// An output: its type, what its memory holds before the kernel runs, and which input it shares that memory with.
struct OpOutput
{
    HostTensor before;
    std::optional<std::size_t> updates;
};

/// Everything that a run needs; shapes and dtypes come from the tensors.
struct OpCall
{
    Op op = Op::Cast;
    Attributes attributes;
    std::vector<HostTensor> inputs;
    std::vector<OpOutput> outputs;
    int threads = 1;

    [[nodiscard]] KernelRequest request() const;
};

struct OpResult
{
    std::vector<HostTensor> outputs;
    Census census;
    ExponentHistogram histogram {};
};

/// Whether the call has a census: its first output is half. Ops on a whole group of gradients have none, since their
/// outputs[0] is but one tensor of the group.
bool hasCensus(const OpCall& call);

/// Prepares, binds and runs, with a census if the call has one.
OpResult runOp(Backend& backend, const OpCall& call);

/// The call on the reference backend with every floating output in FP64 and in memory of its own: the exact values.
std::vector<HostTensor> exactOutputs(const OpCall& call);

} // namespace mantissa::test
