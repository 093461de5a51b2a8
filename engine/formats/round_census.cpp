#include "engine/formats/round_census.h"

#include "engine/core/error.h"
#include "engine/formats/kernels.h"

#include <algorithm>
#include <string>

namespace mantissa {

namespace {

Census classesOf(const kernels::BoundaryCounts& counts, std::size_t n)
{
    return Census {
        .zero = n - counts.sourceNonzero,
        .flushed = counts.sourceNonzero - counts.resultNonzero,
        .subnormal = counts.resultNonzero - counts.atLeastNormal,
        .normal = counts.atLeastNormal - counts.resultSpecial,
        .overflowed = counts.resultSpecial - counts.sourceSpecial,
        .infinite = counts.sourceSpecial - counts.nan,
        .nan = counts.nan,
    };
}

void requireEqualLengths(std::size_t src, std::size_t dst)
{
    if (src != dst) {
        throw Error(ErrorCode::ShapeMismatch,
            "[roundWithCensus] expected a destination of " + std::to_string(src) + " elements, got "
                + std::to_string(dst) + ".");
    }
}

/// Adds the counts of src, piece by piece: countPiece(first, length, counts) takes those of one piece. The exponents
/// follow each piece, while the nearest cache holds it; bins may be null.
template <typename CountPiece>
void countInPieces(std::span<const float> src, Census& census, std::uint64_t* bins, CountPiece countPiece)
{
    const kernels::CountingExponents countExponents = kernels::active().countExponents;
    kernels::BoundaryCounts counts {};
    for (std::size_t first = 0; first < src.size(); first += kernels::maxCountedAtOnce) {
        const std::size_t length = std::min(kernels::maxCountedAtOnce, src.size() - first);
        countPiece(first, length, &counts);
        if (bins != nullptr) {
            countExponents(src.data() + first, length, bins);
        }
    }
    census += classesOf(counts, src.size());
}

template <typename Half>
void roundCounting(
    kernels::RoundCounting kernel, std::span<const float> src, std::span<Half> dst, Census& census, std::uint64_t* bins)
{
    requireEqualLengths(src.size(), dst.size());
    auto* bits = reinterpret_cast<std::uint16_t*>(dst.data());
    countInPieces(src, census, bins, [&](std::size_t first, std::size_t length, kernels::BoundaryCounts* counts) {
        kernel(src.data() + first, bits + first, length, counts);
    });
}

Census countFloat32(std::span<const float> src, std::uint64_t* bins)
{
    const kernels::Counting kernel = kernels::active().countFloat32;
    Census census;
    countInPieces(src, census, bins, [&](std::size_t first, std::size_t length, kernels::BoundaryCounts* counts) {
        kernel(src.data() + first, length, counts);
    });
    return census;
}

} // namespace

void roundWithCensus(std::span<const float> src, std::span<Float16> dst, Census& census)
{
    roundCounting(kernels::active().roundFloat16, src, dst, census, nullptr);
}

void roundWithCensus(std::span<const float> src, std::span<BFloat16> dst, Census& census)
{
    roundCounting(kernels::active().roundBFloat16, src, dst, census, nullptr);
}

void roundWithCensus(std::span<const float> src, std::span<Float16> dst, Census& census, ExponentHistogram& histogram)
{
    roundCounting(kernels::active().roundFloat16, src, dst, census, histogram.data());
}

void roundWithCensus(std::span<const float> src, std::span<BFloat16> dst, Census& census, ExponentHistogram& histogram)
{
    roundCounting(kernels::active().roundBFloat16, src, dst, census, histogram.data());
}

Census census(std::span<const float> src)
{
    return countFloat32(src, nullptr);
}

Census census(std::span<const float> src, ExponentHistogram& histogram)
{
    return countFloat32(src, histogram.data());
}

} // namespace mantissa
