// The parcel of a stream whose downloads are over when they return, or at the latest when it was waited for.
#include "engine/backends/backend.h"

#include <utility>
#include <vector>

namespace mantissa {

namespace {

class HostParcel final : public Parcel
{
public:
    HostParcel(Stream& stream, std::size_t bytes)
        : m_stream(stream)
        , m_bytes(bytes)
    {
    }

    void add(const void* device, std::size_t bytes) override
    {
        m_stream.download(m_bytes.data() + m_used, device, bytes);
        m_used += bytes;
    }

    void seal() override { }

    std::span<const std::byte> open() override
    {
        m_stream.synchronize();
        return std::span(m_bytes).first(std::exchange(m_used, 0));
    }

private:
    Stream& m_stream;
    std::vector<std::byte> m_bytes;
    std::size_t m_used = 0;
};

} // namespace

std::unique_ptr<Parcel> Stream::createParcel(std::size_t bytes)
{
    return std::make_unique<HostParcel>(*this, bytes);
}

} // namespace mantissa
