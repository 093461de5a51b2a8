#include "engine/backends/reference/operands.h"

#include "engine/formats/bfloat16.h"
#include "engine/formats/float16.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace mantissa::reference {

namespace {

template <typename T> T load(const void* data, std::int64_t i)
{
    return static_cast<const T*>(data)[i];
}

template <typename T> double store(void* data, std::int64_t i, T value)
{
    static_cast<T*>(data)[i] = value;
    return static_cast<double>(value);
}

} // namespace

double Input::operator[](std::int64_t i) const
{
    switch (m_type->dtype) {
    case DType::Float64:
        return load<double>(m_data, i);
    case DType::Float32:
        return load<float>(m_data, i);
    case DType::Float16:
        return load<Float16>(m_data, i).toDouble();
    case DType::BFloat16:
        return load<BFloat16>(m_data, i).toDouble();
    case DType::Int32:
        return load<std::int32_t>(m_data, i);
    case DType::UInt8:
        return load<std::uint8_t>(m_data, i);
    }
    return 0;
}

std::int32_t Input::integer(std::int64_t i) const
{
    return load<std::int32_t>(m_data, i);
}

double Output::set(std::int64_t i, double value) const
{
    switch (m_type->dtype) {
    case DType::Float32:
        return store(m_data, i, static_cast<float>(value));
    case DType::Float16: {
        const auto rounded = Float16::fromDouble(value);
        static_cast<Float16*>(m_data)[i] = rounded;
        count(value, rounded.toDouble());
        return rounded.toDouble();
    }
    case DType::BFloat16: {
        const auto rounded = BFloat16::fromDouble(value);
        static_cast<BFloat16*>(m_data)[i] = rounded;
        count(value, rounded.toDouble());
        return rounded.toDouble();
    }
    default:
        return store(m_data, i, value);
    }
}

void Output::setByte(std::int64_t i, std::uint8_t value) const
{
    static_cast<std::uint8_t*>(m_data)[i] = value;
}

void Output::copyFrom(const Input& source) const
{
    if (source.dtype() == m_type->dtype) {
        std::memmove(m_data, source.data(), m_type->bytes());
        return;
    }
    for (std::int64_t i = 0; i < size(); ++i) {
        set(i, source[i]);
    }
}

void Output::count(double source, double stored) const
{
    if (m_census == nullptr) {
        return;
    }
    // The census speaks of FP32 sources: a product beyond FP32's range is infinite before it is rounded.
    const auto single = static_cast<float>(source);
    if (std::isnan(stored)) {
        ++m_census->nan;
    } else if (std::isinf(stored)) {
        ++(std::isinf(single) ? m_census->infinite : m_census->overflowed);
    } else if (stored == 0) {
        ++(single == 0 ? m_census->zero : m_census->flushed);
    } else {
        ++(std::abs(stored) < limitsOf(m_type->dtype).minNormal ? m_census->subnormal : m_census->normal);
    }
    if (m_histogram != nullptr) {
        ++m_histogram->at((std::bit_cast<std::uint32_t>(single) >> 23U) & 0xffU);
    }
}

Output Operands::out(std::size_t i) const
{
    const TensorType& type = m_request->outputs.at(i);
    const bool isCounted = isHalf(type.dtype);
    return {type, m_binding->outputs.at(i), isCounted ? m_binding->censusOf(i) : nullptr,
        isCounted && i == 0 ? m_binding->histogram : nullptr};
}

} // namespace mantissa::reference
