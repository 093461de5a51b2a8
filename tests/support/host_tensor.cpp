#include "tests/support/host_tensor.h"

#include "engine/formats/round_value.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace mantissa::test {

namespace {

template <typename T> T load(std::span<const std::byte> bytes, std::int64_t i)
{
    T value {};
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
    return value;
}

template <typename T> void store(std::span<std::byte> bytes, std::int64_t i, T value)
{
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
}

} // namespace

double roundTo(DType dtype, double value)
{
    return roundValue(dtype, value);
}

double halfUlp(DType dtype, double value)
{
    if (dtype == DType::Float64) {
        return std::abs(value) * 0x1p-53;
    }
    const FormatLimits& limits = limitsOf(dtype);
    return std::ldexp(limits.epsilon / 2, std::ilogb(std::max(std::abs(value), limits.minNormal)));
}

HostTensor::HostTensor(DType dtype, Shape shape, std::span<const double> values)
    : HostTensor(TensorType {dtype, std::move(shape)})
{
    if (static_cast<std::int64_t>(values.size()) != size()) {
        throw std::logic_error("HostTensor: the number of values does not match the shape");
    }
    for (std::int64_t i = 0; i < size(); ++i) {
        set(i, values[static_cast<std::size_t>(i)]);
    }
}

HostTensor HostTensor::scalar(DType dtype, double value)
{
    return {dtype, Shape {}, std::span(&value, 1)};
}

double HostTensor::at(std::int64_t i) const
{
    switch (m_type.dtype) {
    case DType::Float64:
        return load<double>(m_bytes, i);
    case DType::Float32:
        return load<float>(m_bytes, i);
    case DType::Float16:
        return load<Float16>(m_bytes, i).toDouble();
    case DType::BFloat16:
        return load<BFloat16>(m_bytes, i).toDouble();
    case DType::Int32:
        return load<std::int32_t>(m_bytes, i);
    case DType::UInt8:
        return load<std::uint8_t>(m_bytes, i);
    }
    return 0;
}

void HostTensor::set(std::int64_t i, double value)
{
    switch (m_type.dtype) {
    case DType::Float64:
        return store(m_bytes, i, value);
    case DType::Float32:
        return store(m_bytes, i, static_cast<float>(value));
    case DType::Float16:
        return store(m_bytes, i, Float16::fromDouble(value));
    case DType::BFloat16:
        return store(m_bytes, i, BFloat16::fromDouble(value));
    case DType::Int32:
        return store(m_bytes, i, static_cast<std::int32_t>(value));
    case DType::UInt8:
        return store(m_bytes, i, static_cast<std::uint8_t>(value));
    }
}

HostTensor HostTensor::as(DType dtype) const
{
    return {dtype, shape(), values()};
}

std::vector<double> HostTensor::values() const
{
    std::vector<double> out(static_cast<std::size_t>(size()));
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = at(static_cast<std::int64_t>(i));
    }
    return out;
}

} // namespace mantissa::test
