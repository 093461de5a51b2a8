/// Operands as kernels see them: device memory and the format of its elements. C++17, shared by .cu and .cpp files.
#pragma once

#include <cstdint>

namespace mantissa::cuda {

/// In the order of DType.
enum class Format : int { Float32, Float16, BFloat16, Float64, Int32, UInt8 };

struct In
{
    const void* data;
    Format format;
};

struct Out
{
    void* data;
    Format format;
    unsigned long long*
        census; ///< the seven counts of Census, added to at the rounding to a 16-bit format; may be null
    unsigned long long* histogram; ///< as ExponentHistogram; may be null

    [[nodiscard]] In asInput() const { return {data, format}; }
};

} // namespace mantissa::cuda
