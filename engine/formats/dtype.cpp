#include "engine/formats/dtype.h"

#include "engine/core/error.h"

#include <array>
#include <string>

namespace mantissa {

namespace {

constexpr std::array allDtypes {
    DType::Float32, DType::Float16, DType::BFloat16, DType::Float64, DType::Int32, DType::UInt8};

constexpr FormatLimits float32Limits {
    .exponentBits = 8,
    .fractionBits = 23,
    .bias = 127,
    .maxFinite = 0x1.fffffep127,
    .minNormal = 0x1p-126,
    .minSubnormal = 0x1p-149,
    .epsilon = 0x1p-23,
    .overflowsFrom = 0x1.ffffffp127,
    .flushesUpTo = 0x1p-150,
};

constexpr FormatLimits float16Limits {
    .exponentBits = 5,
    .fractionBits = 10,
    .bias = 15,
    .maxFinite = 65504.0,
    .minNormal = 0x1p-14,
    .minSubnormal = 0x1p-24,
    .epsilon = 0x1p-10,
    .overflowsFrom = 65520.0,
    .flushesUpTo = 0x1p-25,
};

constexpr FormatLimits bfloat16Limits {
    .exponentBits = 8,
    .fractionBits = 7,
    .bias = 127,
    .maxFinite = 0x1.fep127,
    .minNormal = 0x1p-126,
    .minSubnormal = 0x1p-133,
    .epsilon = 0x1p-7,
    .overflowsFrom = 0x1.ffp127,
    .flushesUpTo = 0x1p-134,
};

} // namespace

std::string_view nameOf(DType dtype)
{
    switch (dtype) {
    case DType::Float32:
        return "fp32";
    case DType::Float16:
        return "fp16";
    case DType::BFloat16:
        return "bf16";
    case DType::Float64:
        return "fp64";
    case DType::Int32:
        return "int32";
    case DType::UInt8:
        return "uint8";
    }
    throw Error(ErrorCode::UnsupportedDtype,
        "Element type number " + std::to_string(static_cast<int>(dtype))
            + " does not exist; the file or plug-in that gave it is from another version.");
}

std::optional<DType> dtypeFromName(std::string_view name)
{
    for (const DType dtype : allDtypes) {
        if (nameOf(dtype) == name) {
            return dtype;
        }
    }
    return std::nullopt;
}

const FormatLimits& limitsOf(DType dtype)
{
    switch (dtype) {
    case DType::Float32:
        return float32Limits;
    case DType::Float16:
        return float16Limits;
    case DType::BFloat16:
        return bfloat16Limits;
    default:
        throw Error(ErrorCode::UnsupportedDtype,
            "There are no format limits for " + std::string(nameOf(dtype)) + "; ask for fp32, fp16 or bf16.");
    }
}

} // namespace mantissa
