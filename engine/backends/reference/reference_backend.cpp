#include "engine/backends/reference/reference_backend.h"

#include "engine/backends/reference/kernel_table.h"
#include "engine/core/error.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <string>

namespace mantissa {

namespace {

using namespace reference;

constexpr std::align_val_t alignment {64};

struct AlignedDelete
{
    void operator()(void* memory) const { ::operator delete(memory, alignment); }
};

class HostBuffer final : public Buffer
{
public:
    explicit HostBuffer(std::size_t bytes)
        : m_bytes(bytes)
    {
        // The largest sizes are refused here: some allocators abort on them instead of failing.
        if (bytes < static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 2) {
            m_memory.reset(::operator new(std::max<std::size_t>(bytes, 1), alignment, std::nothrow));
        }
        if (m_memory == nullptr) {
            throw Error(ErrorCode::OutOfMemory,
                "The reference backend could not allocate " + std::to_string(bytes)
                    + " bytes. Use a smaller model or batch.");
        }
    }

    void* data() override { return m_memory.get(); }

    std::size_t bytes() const override { return m_bytes; }

private:
    std::unique_ptr<void, AlignedDelete> m_memory;
    std::size_t m_bytes;
};

/// Everything happens at once, so there is nothing to wait for.
class HostStream final : public Stream
{
public:
    void upload(void* device, const void* host, std::size_t bytes) override { copy(device, host, bytes); }

    void download(void* host, const void* device, std::size_t bytes) override { copy(host, device, bytes); }

    void fillZero(void* device, std::size_t bytes) override { std::memset(device, 0, bytes); }

    void copy(void* target, const void* source, std::size_t bytes) override
    {
        if (bytes > 0) { // pointers of nothing may be null
            std::memmove(target, source, bytes);
        }
    }

    void synchronize() override { }
};

class ReferenceKernel final : public Kernel
{
public:
    explicit ReferenceKernel(const KernelRequest& request)
        : m_request(request)
        , m_entry(&kernelFor(request))
    {
    }

    void bind(const KernelBinding& binding) override { m_binding = binding; }

    void run(Stream&) override { m_entry->run(Operands(m_request, m_binding)); }

private:
    KernelRequest m_request;
    const KernelEntry* m_entry;
    KernelBinding m_binding;
};

class ReferenceBackend final : public Backend
{
public:
    ReferenceBackend()
    {
        m_device.name = "Reference (plain loops in double precision)";
        m_device.backend = "reference";
        m_device.instructionSet = "scalar";
        m_device.note = "Every result is computed in double precision and rounded once; slow, made for checking.";
    }

    const DeviceInfo& device() const override { return m_device; }

    std::unique_ptr<Buffer> allocate(std::size_t bytes) override { return std::make_unique<HostBuffer>(bytes); }

    std::unique_ptr<Stream> createStream(int) override { return std::make_unique<HostStream>(); }

    std::unique_ptr<Kernel> prepare(const KernelRequest& request) override
    {
        return std::make_unique<ReferenceKernel>(request);
    }

private:
    DeviceInfo m_device;
};

} // namespace

std::unique_ptr<Backend> makeReferenceBackend()
{
    return std::make_unique<ReferenceBackend>();
}

} // namespace mantissa
