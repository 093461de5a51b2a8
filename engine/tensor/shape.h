/// Dimensions of a row-major tensor.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace mantissa {

class Shape
{
public:
    Shape() = default; ///< a scalar

    Shape(std::initializer_list<std::int64_t> dims)
        : m_dims(dims)
    {
    }

    explicit Shape(std::vector<std::int64_t> dims)
        : m_dims(std::move(dims))
    {
    }

    [[nodiscard]] std::size_t rank() const { return m_dims.size(); }

    [[nodiscard]] std::int64_t operator[](std::size_t axis) const { return m_dims.at(axis); }

    [[nodiscard]] std::int64_t back() const { return m_dims.back(); }

    [[nodiscard]] const std::vector<std::int64_t>& dims() const { return m_dims; }

    /// Product of the dimensions; 1 for a scalar.
    [[nodiscard]] std::int64_t elements() const
    {
        std::int64_t n = 1;
        for (const std::int64_t d : m_dims) {
            n *= d;
        }
        return n;
    }

    /// "[128, 512]"
    [[nodiscard]] std::string text() const
    {
        std::string out = "[";
        for (std::size_t i = 0; i < m_dims.size(); ++i) {
            out += (i == 0 ? "" : ", ") + std::to_string(m_dims[i]);
        }
        return out + "]";
    }

    bool operator==(const Shape&) const = default;

private:
    std::vector<std::int64_t> m_dims;
};

} // namespace mantissa
