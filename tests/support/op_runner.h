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
    std::vector<Census> moreCensus; ///< of outputs[1], outputs[2], ...; all zero where an output is not half
};

/// Whether an output has a census: it is half. Ops on a whole group of gradients have none, since an output is but one
/// tensor of the group; Reshape has none, since it rounds nothing and may be no work at all.
bool hasCensus(const OpCall& call, std::size_t output = 0);

/// Prepares, binds and runs, with a census if the call has one.
OpResult runOp(Backend& backend, const OpCall& call);

/// The call on the reference backend with every floating output in FP64 and in memory of its own: the exact values.
std::vector<HostTensor> exactOutputs(const OpCall& call);

} // namespace mantissa::test
