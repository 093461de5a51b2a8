/// What a compute backend must offer. A node becomes a Kernel in two moves, so that a steady step only walks a list:
/// prepare() checks support and creates primitives; bind() gives it its memory. run() enqueues work on the stream and
/// neither allocates, creates primitives, nor waits for the device.
#pragma once

#include "engine/backends/device_info.h"
#include "engine/backends/gradient_mean.h"
#include "engine/formats/census.h"
#include "engine/graph/graph.h"
#include "engine/parallel/communicator.h"
#include "engine/tensor/tensor_type.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
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

/// Work that was enqueued once and can be enqueued again as a whole, by the stream that recorded it.
class Recording
{
public:
    virtual ~Recording() = default;
};

/// What a stream brings to the host by itself, to be waited for alone, while later work runs.
class Parcel
{
public:
    virtual ~Parcel() = default;
    virtual void add(const void* device, std::size_t bytes) = 0; ///< enqueues a copy behind what is in it
    virtual void seal() = 0; ///< all is in it: this is the point to wait for
    /// Waits; throws Error (BackendFailure) if something failed. Valid until the next add(), which begins anew.
    virtual std::span<const std::byte> open() = 0;
};

/// An ordered queue of work. One per lane; used by one thread at a time.
class Stream
{
public:
    virtual ~Stream() = default;
    /// The host's bytes may be overwritten as soon as it returns.
    virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
    /// The data is there after synchronize(); until then the host's memory must stay.
    virtual void download(void* host, const void* device, std::size_t bytes) = 0;
    virtual void fillZero(void* device, std::size_t bytes) = 0;
    virtual void copy(void* target, const void* source, std::size_t bytes) = 0; ///< device to device
    /// Waits until everything enqueued has run; throws Error (BackendFailure) if something failed.
    virtual void synchronize() = 0;
    /// With room for so many bytes. Ends before the stream.
    virtual std::unique_ptr<Parcel> createParcel(std::size_t bytes);

    // --- what only a device that works beside the host makes use of: others do nothing, or all at once ---

    /// Whether it is worth to enqueue a step before the results of the one before are there.
    [[nodiscard]] virtual bool runsAhead() const { return false; }

    /// Begins to bring bytes to the device for a later uploadTaken() to the same address, while what is enqueued runs.
    virtual void uploadAhead(void* /*device*/, const void* /*host*/, std::size_t /*bytes*/) { }

    /// Enqueues what uploadAhead() brought; false if there is nothing.
    virtual bool uploadTaken(void* /*device*/) { return false; }

    /// What `enqueue` enqueues, without running it; null if this stream, or something enqueued, cannot be recorded.
    virtual std::unique_ptr<Recording> record(const std::function<void()>& /*enqueue*/) { return nullptr; }

    virtual void replay(Recording& /*recording*/) { }

    static constexpr std::size_t markCount = 256;

    /// Notes the time at which all work enqueued before it has run.
    virtual void mark(std::size_t slot) { m_marks.at(slot) = std::chrono::steady_clock::now(); }

    /// In milliseconds. After synchronize().
    virtual float timeBetween(std::size_t first, std::size_t second)
    {
        return std::chrono::duration<float, std::milli>(m_marks.at(second) - m_marks.at(first)).count();
    }

    /// Device memory of its own.
    [[nodiscard]] virtual std::size_t deviceBytes() const { return 0; }

private:
    std::array<std::chrono::steady_clock::time_point, markCount> m_marks {};
};

/// How matrix products may depart from the numerics contract where a lane asks for it. Not those of attention and
/// convolution.
struct ProductPrecision
{
    bool tf32 = false; ///< FP32 operands are cut to TF32's 10 fraction bits
    bool reducedSums = false; ///< FP16 products are summed up in FP16, not FP32
    bool operator==(const ProductPrecision&) const = default;
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

    /// Device memory of its own, besides that.
    [[nodiscard]] virtual std::size_t deviceBytes() const { return 0; }

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
    ProductPrecision products {}; ///< what the device supports()
};

class Backend
{
public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual const DeviceInfo& device() const = 0;

    /// Whether it has such products; the reason completes "... on this device: ".
    [[nodiscard]] virtual Support supports(const ProductPrecision& products) const
    {
        return {products == ProductPrecision {}, "its matrix products add up in FP32, and FP32 stays FP32"};
    }

    /// What allocate() can still give without taking it from others; 0: unknown.
    [[nodiscard]] virtual std::uint64_t freeMemory() const { return 0; }

    /// Over ranks that are processes. Collective: all ranks get one, or none does.
    virtual FoundMean gradientMean(const std::shared_ptr<Communicator>& /*ranks*/) { return {}; }

    /// How gradients of several processes go from device to device: "by NCCL 2.28.9", or "through the host" and why.
    /// Empty: nothing is to be said of it. May load a large library.
    [[nodiscard]] virtual std::string exchangeText() { return {}; }

    virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0; ///< throws Error (OutOfMemory)
    virtual std::unique_ptr<Stream> createStream(int threads) = 0;
    /// Throws Error (UnsupportedDtype) naming op, dtypes and what is supported.
    virtual std::unique_ptr<Kernel> prepare(const KernelRequest& request) = 0;
};

} // namespace mantissa
