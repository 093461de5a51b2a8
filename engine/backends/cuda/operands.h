/// From a request and its addresses to what kernels take.
#pragma once

#include "engine/backends/backend.h"
#include "engine/backends/cuda/kernels/views.h"

#include <string>

namespace mantissa::cuda {

constexpr Format formatOf(DType dtype)
{
    return static_cast<Format>(dtype);
}

static_assert(formatOf(DType::Float32) == Format::Float32 && formatOf(DType::Float16) == Format::Float16
    && formatOf(DType::BFloat16) == Format::BFloat16 && formatOf(DType::Float64) == Format::Float64
    && formatOf(DType::Int32) == Format::Int32 && formatOf(DType::UInt8) == Format::UInt8);

/// Operands of one kernel: the dtypes are known when it is prepared, the addresses when it is bound.
class Views
{
public:
    explicit Views(const KernelRequest& request);

    [[nodiscard]] In in(const KernelBinding& binding, std::size_t i) const { return {binding.inputs[i], m_inputs[i]}; }

    /// Without data where there is no such operand.
    [[nodiscard]] In optionalIn(const KernelBinding& binding, std::size_t i) const
    {
        return i < m_inputs.size() ? in(binding, i) : In {nullptr, Format::Float32};
    }

    /// With its census, if it has one.
    [[nodiscard]] Out out(const KernelBinding& binding, std::size_t i) const;

    [[nodiscard]] Out optionalOut(const KernelBinding& binding, std::size_t i) const
    {
        return i < m_outputs.size() ? out(binding, i) : Out {nullptr, Format::Float32, nullptr, nullptr};
    }

private:
    std::vector<Format> m_inputs;
    std::vector<Format> m_outputs;
};

template <typename T> const T* constantIn(const KernelBinding& binding, std::size_t i)
{
    return static_cast<const T*>(binding.inputs[i]);
}

template <typename T> T* outputAs(const KernelBinding& binding, std::size_t i)
{
    return static_cast<T*>(binding.outputs[i]);
}

/// Throws Error (UnsupportedDtype) naming the op, what the backend expects, and what it got.
[[noreturn]] void refuse(const KernelRequest& request, const std::string& expected);

/// Refuses unless a tensor has so many elements.
void requireElements(const KernelRequest& request, const TensorType& type, std::int64_t elements);

/// Product of the dimensions begin .. end - 1.
std::int64_t product(const Shape& shape, std::size_t begin, std::size_t end);

} // namespace mantissa::cuda
