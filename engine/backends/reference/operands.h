/// A kernel's view of its operands as doubles: exact on the way in, rounded once on the way out.
#pragma once

#include "engine/backends/backend.h"

#include <cstdint>

namespace mantissa::reference {

/// One operand to read.
class Input
{
public:
    Input(const TensorType& type, const void* data)
        : m_type(&type)
        , m_data(data)
    {
    }

    /// Element i, exactly.
    [[nodiscard]] double operator[](std::int64_t i) const;
    [[nodiscard]] std::int32_t integer(std::int64_t i) const;

    [[nodiscard]] std::int64_t size() const { return m_type->shape.elements(); }

    [[nodiscard]] const Shape& shape() const { return m_type->shape; }

    [[nodiscard]] DType dtype() const { return m_type->dtype; }

    [[nodiscard]] const void* data() const { return m_data; }

private:
    const TensorType* m_type;
    const void* m_data;
};

/// One operand to write.
class Output
{
public:
    Output(const TensorType& type, void* data, Census* census, ExponentHistogram* histogram)
        : m_type(&type)
        , m_data(data)
        , m_census(census)
        , m_histogram(histogram)
    {
    }

    /// Rounds to the operand's dtype (nearest, ties to even), stores, counts, and returns what was stored.
    double set(std::int64_t i, double value) const;

    /// What element i holds now.
    [[nodiscard]] double get(std::int64_t i) const { return Input(*m_type, m_data)[i]; }

    void setByte(std::int64_t i, std::uint8_t value) const;
    /// All elements, bit for bit where the dtypes are equal; the operands may be the same memory.
    void copyFrom(const Input& source) const;

    [[nodiscard]] std::int64_t size() const { return m_type->shape.elements(); }

    [[nodiscard]] const Shape& shape() const { return m_type->shape; }

private:
    void count(double source, double stored) const;

    const TensorType* m_type;
    void* m_data;
    Census* m_census;
    ExponentHistogram* m_histogram;
};

class Operands
{
public:
    Operands(const KernelRequest& request, const KernelBinding& binding)
        : m_request(&request)
        , m_binding(&binding)
    {
    }

    [[nodiscard]] Input in(std::size_t i) const { return {m_request->inputs.at(i), m_binding->inputs.at(i)}; }

    [[nodiscard]] Output out(std::size_t i) const;

    [[nodiscard]] std::size_t inputCount() const { return m_request->inputs.size(); }

    [[nodiscard]] std::size_t outputCount() const { return m_request->outputs.size(); }

    /// Over which batch norm takes its statistics; may be null.
    [[nodiscard]] Communicator* ranks() const { return m_request->ranks; }

    /// The node's attributes, or their defaults if it has none.
    template <typename T> [[nodiscard]] T attributes() const { return attributesOf<T>(m_request->attributes); }

private:
    const KernelRequest* m_request;
    const KernelBinding* m_binding;
};

} // namespace mantissa::reference
