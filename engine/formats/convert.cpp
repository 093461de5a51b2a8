#include "engine/formats/convert.h"

#include "engine/core/error.h"
#include "engine/formats/kernels.h"

#include <cstring>
#include <string>

namespace mantissa {

namespace {

void requireEqualLengths(std::size_t src, std::size_t dst)
{
    if (src != dst) {
        throw Error(ErrorCode::ShapeMismatch,
            "[convert] expected a destination of " + std::to_string(src) + " elements, got " + std::to_string(dst)
                + ".");
    }
}

} // namespace

void convert(std::span<const float> src, std::span<Float16> dst)
{
    requireEqualLengths(src.size(), dst.size());
    kernels::active().floatToFloat16(src.data(), reinterpret_cast<std::uint16_t*>(dst.data()), src.size());
}

void convert(std::span<const float> src, std::span<BFloat16> dst)
{
    requireEqualLengths(src.size(), dst.size());
    kernels::active().floatToBFloat16(src.data(), reinterpret_cast<std::uint16_t*>(dst.data()), src.size());
}

void convert(std::span<const Float16> src, std::span<float> dst)
{
    requireEqualLengths(src.size(), dst.size());
    kernels::active().float16ToFloat(reinterpret_cast<const std::uint16_t*>(src.data()), dst.data(), src.size());
}

void convert(std::span<const BFloat16> src, std::span<float> dst)
{
    requireEqualLengths(src.size(), dst.size());
    kernels::active().bfloat16ToFloat(reinterpret_cast<const std::uint16_t*>(src.data()), dst.data(), src.size());
}

void toFloats(DType format, std::span<const std::byte> src, std::span<float> dst)
{
    requireEqualLengths(src.size() / sizeOf(format), dst.size());
    switch (format) {
    case DType::Float16:
        convert(std::span(reinterpret_cast<const Float16*>(src.data()), dst.size()), dst);
        return;
    case DType::BFloat16:
        convert(std::span(reinterpret_cast<const BFloat16*>(src.data()), dst.size()), dst);
        return;
    default:
        std::memcpy(dst.data(), src.data(), dst.size_bytes());
    }
}

void fromFloats(DType format, std::span<const float> src, std::span<std::byte> dst)
{
    requireEqualLengths(src.size(), dst.size() / sizeOf(format));
    switch (format) {
    case DType::Float16:
        convert(src, std::span(reinterpret_cast<Float16*>(dst.data()), src.size()));
        return;
    case DType::BFloat16:
        convert(src, std::span(reinterpret_cast<BFloat16*>(dst.data()), src.size()));
        return;
    default:
        std::memcpy(dst.data(), src.data(), src.size_bytes());
    }
}

} // namespace mantissa
