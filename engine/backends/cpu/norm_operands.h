/// Operands of the normalisations, of which each has a dtype of its own.
#pragma once

#include "engine/backends/cpu/kernel_factories.h"
#include "engine/backends/cpu/operands.h"

#include <array>

namespace mantissa::cpu {

struct NormOperands
{
    static constexpr std::size_t most = 5;

    explicit NormOperands(const KernelRequest& request)
        : inputCount(request.inputs.size())
        , outputCount(request.outputs.size())
    {
        for (std::size_t i = 0; i < inputCount; ++i) {
            inputs.at(i).dtype = request.inputs[i].dtype;
        }
        for (std::size_t i = 0; i < outputCount; ++i) {
            outputs.at(i).dtype = request.outputs[i].dtype;
        }
    }

    void bind(const KernelBinding& binding)
    {
        for (std::size_t i = 0; i < inputCount; ++i) {
            inputs.at(i).data = binding.inputs[i];
        }
        for (std::size_t i = 0; i < outputCount; ++i) {
            outputs.at(i).bind(binding, i);
        }
    }

    std::size_t inputCount;
    std::size_t outputCount;
    std::array<Source, most> inputs {};
    std::array<Target, most> outputs {};
};

/// Floating, and rows of channels with elements.
inline void requireRows(const KernelRequest& request, const TensorType& type)
{
    requireFloating(request, type);
    if (type.shape.rank() < 2 || type.shape.elements() == 0) {
        refuse(request, "rows of channels");
    }
}

/// Floating, of so many elements.
inline void requireVector(const KernelRequest& request, const TensorType& type, std::int64_t elements)
{
    requireFloating(request, type);
    requireElements(request, type, elements);
}

} // namespace mantissa::cpu
