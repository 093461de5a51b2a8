#include "engine/formats/round_census.h"

#include "engine/core/error.h"
#include "engine/formats/kernels.h"

#include <algorithm>
#include <bit>
#include <string>

namespace mantissa {

namespace {

Census classesOf(const kernels::BoundaryCounts& counts, std::size_t n)
{
    return Census {
        .zero = counts.sourceZero,
        .flushed = counts.resultZero - counts.sourceZero,
        .subnormal = counts.belowNormal - counts.resultZero,
        .normal = n - counts.belowNormal - counts.resultSpecial,
        .overflowed = counts.resultSpecial - counts.sourceSpecial,
        .infinite = counts.sourceSpecial - counts.nan,
        .nan = counts.nan,
    };
}

/// Counts exponents in several histograms in turn, so that equal neighbours do not wait for each other's increment.
class ExponentCounter
{
public:
    void add(const float* src, std::size_t n)
    {
        std::size_t i = 0;
        for (; i + ways <= n; i += ways) {
            for (std::size_t way = 0; way < ways; ++way) {
                ++m_bins[way][exponentOf(src[i + way])];
            }
        }
        for (; i < n; ++i) {
            ++m_bins[0][exponentOf(src[i])];
        }
    }

    void addTo(ExponentHistogram& histogram) const
    {
        for (const auto& bins : m_bins) {
            for (std::size_t bin = 0; bin < bins.size(); ++bin) {
                histogram[bin] += bins[bin];
            }
        }
    }

private:
    static std::size_t exponentOf(float value) { return (std::bit_cast<std::uint32_t>(value) >> 23U) & 0xffU; }

    static constexpr std::size_t ways = 8;
    std::array<ExponentHistogram, ways> m_bins {};
};

void requireEqualLengths(std::size_t src, std::size_t dst)
{
    if (src != dst) {
        throw Error(ErrorCode::ShapeMismatch,
            "[roundWithCensus] expected a destination of " + std::to_string(src) + " elements, got "
                + std::to_string(dst) + ".");
    }
}

/// Calls step(first, length) over pieces that the counting kernels can take.
template <typename Step> void inPieces(std::size_t n, Step step)
{
    for (std::size_t first = 0; first < n; first += kernels::maxCountedAtOnce) {
        step(first, std::min(kernels::maxCountedAtOnce, n - first));
    }
}

template <typename Half>
void roundCounting(kernels::RoundCounting kernel, std::span<const float> src, std::span<Half> dst, Census& census)
{
    requireEqualLengths(src.size(), dst.size());
    auto* bits = reinterpret_cast<std::uint16_t*>(dst.data());
    kernels::BoundaryCounts counts {};
    inPieces(src.size(),
        [&](std::size_t first, std::size_t length) { kernel(src.data() + first, bits + first, length, &counts); });
    census += classesOf(counts, src.size());
}

template <typename Half>
void roundCounting(kernels::RoundCounting kernel, std::span<const float> src, std::span<Half> dst, Census& census,
    ExponentHistogram& histogram)
{
    requireEqualLengths(src.size(), dst.size());
    auto* bits = reinterpret_cast<std::uint16_t*>(dst.data());
    kernels::BoundaryCounts counts {};
    ExponentCounter exponents;
    inPieces(src.size(), [&](std::size_t first, std::size_t length) {
        kernel(src.data() + first, bits + first, length, &counts);
        exponents.add(src.data() + first, length);
    });
    census += classesOf(counts, src.size());
    exponents.addTo(histogram);
}

} // namespace

void roundWithCensus(std::span<const float> src, std::span<Float16> dst, Census& census)
{
    roundCounting(kernels::active().roundFloat16, src, dst, census);
}

void roundWithCensus(std::span<const float> src, std::span<BFloat16> dst, Census& census)
{
    roundCounting(kernels::active().roundBFloat16, src, dst, census);
}

void roundWithCensus(std::span<const float> src, std::span<Float16> dst, Census& census, ExponentHistogram& histogram)
{
    roundCounting(kernels::active().roundFloat16, src, dst, census, histogram);
}

void roundWithCensus(std::span<const float> src, std::span<BFloat16> dst, Census& census, ExponentHistogram& histogram)
{
    roundCounting(kernels::active().roundBFloat16, src, dst, census, histogram);
}

Census census(std::span<const float> src)
{
    const kernels::Counting kernel = kernels::active().countFloat32;
    kernels::BoundaryCounts counts {};
    inPieces(src.size(), [&](std::size_t first, std::size_t length) { kernel(src.data() + first, length, &counts); });
    return classesOf(counts, src.size());
}

Census census(std::span<const float> src, ExponentHistogram& histogram)
{
    const kernels::Counting kernel = kernels::active().countFloat32;
    kernels::BoundaryCounts counts {};
    ExponentCounter exponents;
    inPieces(src.size(), [&](std::size_t first, std::size_t length) {
        kernel(src.data() + first, length, &counts);
        exponents.add(src.data() + first, length);
    });
    exponents.addTo(histogram);
    return classesOf(counts, src.size());
}

} // namespace mantissa
