/// Floating operands of any of the three formats, walked in blocks of FP32 that stay in the first-level cache.
#pragma once

#include "engine/backends/backend.h"
#include "engine/formats/census.h"
#include "engine/formats/dtype.h"

#include <algorithm>
#include <cstddef>

namespace mantissa::cpu {

inline constexpr std::size_t blockElements = 1024;

struct Block
{
    alignas(64) float values[blockElements];
};

/// Exact FP32 values of n elements of a floating tensor.
void expand(DType dtype, const void* source, float* target, std::size_t n);

/// Where a kernel reads a floating tensor.
struct Source
{
    DType dtype = DType::Float32;
    const void* data = nullptr;

    /// n elements from `offset` on as FP32: in place if they are, else expanded into `scratch`.
    [[nodiscard]] const float* read(std::size_t offset, std::size_t n, float* scratch) const;
};

/// Where a kernel writes a floating tensor, and who counts at the rounding (see KernelBinding).
struct Target
{
    DType dtype = DType::Float32;
    void* data = nullptr;
    Census* census = nullptr;
    ExponentHistogram* histogram = nullptr;

    /// Takes an output's memory and who counts it.
    void bind(const KernelBinding& binding, std::size_t output = 0)
    {
        data = binding.outputs[output];
        census = binding.censusOf(output);
        histogram = output == 0 ? binding.histogram : nullptr;
    }

    /// Where to compute the elements from `offset` on: in place if FP32, else in `scratch`.
    [[nodiscard]] float* place(std::size_t offset, float* scratch) const;
    /// Rounds what was computed at place(); nothing is left to do for FP32.
    void finish(std::size_t offset, std::size_t n, const float* scratch) const;
};

/// Calls f(offset, count) for consecutive blocks of n elements.
template <typename F> void forBlocks(std::size_t n, F f)
{
    for (std::size_t offset = 0; offset < n; offset += blockElements) {
        f(offset, std::min(blockElements, n - offset));
    }
}

inline std::size_t elementsOf(const TensorType& type)
{
    return static_cast<std::size_t>(type.shape.elements());
}

inline float scalarAt(const void* data)
{
    return *static_cast<const float*>(data);
}

} // namespace mantissa::cpu
