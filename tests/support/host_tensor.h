/// A tensor in host memory, read and written as doubles.
#pragma once

#include "engine/tensor/tensor_type.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mantissa::test {

/// The value that `dtype` holds for `value`: rounded once, nearest even; integers unchanged.
double roundTo(DType dtype, double value);

/// Half the distance between neighbours of the floating dtype around `value`: what one rounding may add.
double halfUlp(DType dtype, double value);

class HostTensor
{
public:
    /// Zeros.
    explicit HostTensor(TensorType type)
        : m_type(std::move(type))
        , m_bytes(m_type.bytes())
    {
    }

    /// The values rounded to the dtype.
    HostTensor(DType dtype, Shape shape, std::span<const double> values);

    [[nodiscard]] static HostTensor scalar(DType dtype, double value);

    [[nodiscard]] const TensorType& type() const { return m_type; }

    [[nodiscard]] DType dtype() const { return m_type.dtype; }

    [[nodiscard]] const Shape& shape() const { return m_type.shape; }

    [[nodiscard]] std::int64_t size() const { return m_type.shape.elements(); }

    [[nodiscard]] double at(std::int64_t i) const;
    void set(std::int64_t i, double value);

    [[nodiscard]] std::span<std::byte> bytes() { return m_bytes; }

    [[nodiscard]] std::span<const std::byte> bytes() const { return m_bytes; }

    /// The same values in another dtype.
    [[nodiscard]] HostTensor as(DType dtype) const;
    [[nodiscard]] std::vector<double> values() const;
    /// Bit equality: tells zeros and NaN payloads apart.
    bool operator==(const HostTensor&) const = default;

private:
    TensorType m_type;
    std::vector<std::byte> m_bytes;
};

} // namespace mantissa::test
