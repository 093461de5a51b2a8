/// Element types of tensors and the limits of the floating formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mantissa {

enum class DType : std::uint8_t { Float32, Float16, BFloat16, Float64, Int32, UInt8 };

/// Bytes of one element.
constexpr std::size_t sizeOf(DType dtype)
{
    switch (dtype) {
    case DType::Float64:
        return 8;
    case DType::Float32:
    case DType::Int32:
        return 4;
    case DType::Float16:
    case DType::BFloat16:
        return 2;
    case DType::UInt8:
        return 1;
    }
    return 0;
}

/// "fp32", "fp16", "bf16", "fp64", "int32", "uint8": the spelling of files, command line and window.
std::string_view nameOf(DType dtype);
std::optional<DType> dtypeFromName(std::string_view name);

constexpr bool isHalf(DType dtype)
{
    return dtype == DType::Float16 || dtype == DType::BFloat16;
}

/// Limits of a binary floating format (IEEE 754-2019, section 3.4; BF16: 8 exponent and 7 fraction bits).
struct FormatLimits
{
    int exponentBits;
    int fractionBits;
    int bias;
    double maxFinite;
    double minNormal;
    double minSubnormal;
    double epsilon; ///< distance from 1 to the next larger value
    double overflowsFrom; ///< the smallest magnitude that nearest-even rounds to infinity
    double flushesUpTo; ///< the largest magnitude that nearest-even rounds to zero
};

/// Limits of Float32, Float16 or BFloat16; throws Error (UnsupportedDtype) otherwise.
const FormatLimits& limitsOf(DType dtype);

} // namespace mantissa
