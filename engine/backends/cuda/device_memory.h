/// Memory of the GPU, freed with the object.
#pragma once

#include "engine/backends/backend.h"

#include <cstddef>

namespace mantissa::cuda {

class DeviceMemory final : public Buffer
{
public:
    /// Throws Error (OutOfMemory).
    explicit DeviceMemory(std::size_t bytes);
    ~DeviceMemory() override;
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    [[nodiscard]] void* data() override { return m_data; }

    [[nodiscard]] std::size_t bytes() const override { return m_bytes; }

private:
    void* m_data = nullptr;
    std::size_t m_bytes;
};

} // namespace mantissa::cuda
