/// What a compute backend must offer. A node becomes a Kernel in two moves, so that a steady step only walks a list:
/// prepare() checks support and creates primitives; bind() gives it its memory. run() enqueues work on the stream and
/// neither allocates, creates primitives, nor waits for the device.
#pragma once

#include "engine/backends/device_info.h"
#include "engine/formats/census.h"
#include "engine/graph/graph.h"
#include "engine/parallel/communicator.h"
#include "engine/tensor/tensor_type.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

/// Device memory, freed with the object. 64-byte aligned.
class Buffer
{
public:
    virtual ~Buffer() = default;
    [[nodiscard]] virtual void* data() = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// An ordered queue of work. One per lane; used by one thread at a time.
class Stream
{
public:
    virtual ~Stream() = default;
    virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
    /// The data is there after synchronize().
    virtual void download(void* host, const void* device, std::size_t bytes) = 0;
    virtual void fillZero(void* device, std::size_t bytes) = 0;
    virtual void copy(void* target, const void* source, std::size_t bytes) = 0; ///< device to device
    /// Waits until everything enqueued has run; throws Error (BackendFailure) if something failed.
    virtual void synchronize() = 0;
};

/// Where a kernel finds its operands: device addresses in the order of Node::inputs and Node::outputs.
struct KernelBinding
{
    std::vector<void*> inputs;
    std::vector<void*> outputs;
    void* workspace = nullptr; ///< workspaceBytes(), shared with other kernels of the stream, contents undefined
    /// Device memory for the census of outputs[0] when it is half: the kernel *adds* to it at its rounding. May be
    /// null.
    Census* census = nullptr;
    ExponentHistogram* histogram = nullptr; ///< as census; only ever set together with it
    std::vector<Census*> moreCensus {}; ///< as census, for outputs[1], outputs[2], ...; may be shorter, or hold nulls

    /// That of outputs[i], if any.
    [[nodiscard]] Census* censusOf(std::size_t i) const
    {
        return i == 0 ? census : i <= moreCensus.size() ? moreCensus[i - 1] : nullptr;
    }
};

class Kernel
{
public:
    virtual ~Kernel() = default;

    [[nodiscard]] virtual std::size_t workspaceBytes() const { return 0; }

    /// May be called again, between runs, with other addresses.
    virtual void bind(const KernelBinding& binding) = 0;
    virtual void run(Stream& stream) = 0;
};

struct KernelRequest
{
    Op op = Op::Cast;
    Attributes attributes;
    std::vector<TensorType> inputs;
    std::vector<TensorType> outputs;
    int threads = 1;
    Communicator* ranks = nullptr; ///< over which batch norm takes its statistics; null: over what it is given
};

class Backend
{
public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual const DeviceInfo& device() const = 0;

    /// What allocate() can still give without taking it from others; 0: unknown.
    [[nodiscard]] virtual std::uint64_t freeMemory() const { return 0; }

    virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0; ///< throws Error (OutOfMemory)
    virtual std::unique_ptr<Stream> createStream(int threads) = 0;
    /// Throws Error (UnsupportedDtype) naming op, dtypes and what is supported.
    virtual std::unique_ptr<Kernel> prepare(const KernelRequest& request) = 0;
};

} // namespace mantissa
