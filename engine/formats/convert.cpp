#include "engine/formats/convert.h"

#include "engine/core/error.h"
#include "engine/formats/kernels.h"

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

} // namespace mantissa
