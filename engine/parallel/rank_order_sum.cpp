#include "engine/parallel/rank_order_sum.h"

#include "engine/core/error.h"
#include "engine/formats/convert.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr std::size_t blockElements = 1024;

template <typename Half> void roundBlock(std::span<float> values)
{
    std::array<Half, blockElements> stored;
    const std::span<Half> rounded = std::span(stored).first(values.size());
    convert(std::span<const float>(values), rounded);
    convert(std::span<const Half>(rounded), values);
}

/// Of at most blockElements values.
void roundInPlace(std::span<float> values, DType format)
{
    switch (format) {
    case DType::Float32:
        return;
    case DType::Float16:
        roundBlock<Float16>(values);
        return;
    case DType::BFloat16:
        roundBlock<BFloat16>(values);
        return;
    default:
        throw Error(ErrorCode::UnsupportedDtype, "Ranks exchange numbers in FP32, FP16 or BF16 only.");
    }
}

} // namespace

void roundToFormat(std::span<float> values, DType format)
{
    for (std::size_t at = 0; at < values.size(); at += blockElements) {
        roundInPlace(values.subspan(at, std::min(blockElements, values.size() - at)), format);
    }
}

void addInFormat(std::span<float> sum, std::span<const float> values, DType format)
{
    std::array<float, blockElements> block;
    for (std::size_t at = 0; at < sum.size(); at += blockElements) {
        const std::span<float> total = sum.subspan(at, std::min(blockElements, sum.size() - at));
        const std::span<float> part = std::span(block).first(total.size());
        std::ranges::copy(values.subspan(at, total.size()), part.begin());
        roundInPlace(part, format);
        for (std::size_t i = 0; i < total.size(); ++i) {
            total[i] += part[i];
        }
        roundInPlace(total, format);
    }
}

} // namespace mantissa
