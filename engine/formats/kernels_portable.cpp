/// The kernels for any CPU: branch-free integer masks, which compilers turn into vector code by themselves.
#include "engine/formats/kernels.h"

#include <bit>

namespace mantissa::kernels {

namespace {

constexpr std::uint32_t magnitudeMask = 0x7fffffffU;
constexpr std::uint32_t infinity32 = Float32Bounds::infinity;

/// All bits set where the condition holds.
constexpr std::uint32_t maskOf(bool condition)
{
    return 0U - static_cast<std::uint32_t>(condition);
}

constexpr std::uint32_t select(std::uint32_t mask, std::uint32_t whenSet, std::uint32_t otherwise)
{
    return (whenSet & mask) | (otherwise & ~mask);
}

/// Magnitudes fit a signed word, and baseline x86 compares only those.
constexpr bool above(std::uint32_t magnitude, std::uint32_t bound)
{
    return static_cast<std::int32_t>(magnitude) > static_cast<std::int32_t>(bound);
}

/// The borrow of a subtraction; a comparison would become a branch.
constexpr std::uint32_t oneIfAbove(std::uint32_t magnitude, std::uint32_t bound)
{
    return (bound - magnitude) >> 31U;
}

struct Float16Format : Float16Bounds
{
    static constexpr std::uint32_t belowMinNormal = 0x387fffffU;

    static std::uint16_t round(float value)
    {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t magnitude = bits & magnitudeMask;
        // Rebias the exponent from 127 to 15; half an ulp, less one at an even last bit, makes the shift round.
        const std::uint32_t normal = (magnitude - (112U << 23U) + 0xfffU + ((magnitude >> 13U) & 1U)) >> 13U;
        // At 0.5 the FP32 adder rounds to 2^-24, the spacing of the subnormals.
        const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
        const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(aligned) - std::bit_cast<std::uint32_t>(0.5F);
        std::uint32_t result = select(maskOf(above(magnitude, belowMinNormal)), normal, subnormal);
        result = select(maskOf(above(magnitude, largestToFinite)), Float16Bounds::infinity, result);
        const std::uint32_t isNan = maskOf(above(magnitude, infinity32));
        return static_cast<std::uint16_t>(select(isNan, 0x7fffU, result | ((bits >> 16U) & 0x8000U)));
    }

    static float widen(std::uint16_t half)
    {
        const std::uint32_t magnitude = half & 0x7fffU;
        const std::uint32_t sign = (half & 0x8000U) << 16U;
        const std::uint32_t normal = (magnitude << 13U) + (112U << 23U);
        const std::uint32_t subnormal
            = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
        std::uint32_t result = select(maskOf(above(magnitude, 0x3ffU)), normal, subnormal);
        result = select(maskOf(above(magnitude, 0x7bffU)), infinity32, result) | sign;
        return std::bit_cast<float>(select(maskOf(above(magnitude, 0x7c00U)), magnitudeMask, result));
    }
};

struct BFloat16Format : BFloat16Bounds
{
    static std::uint16_t round(float value)
    {
        const auto bits = std::bit_cast<std::uint32_t>(value);
        const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
        const std::uint32_t isNan = maskOf(above(bits & magnitudeMask, infinity32));
        return static_cast<std::uint16_t>(select(isNan, 0x7fffU, rounded));
    }

    static float widen(std::uint16_t half) { return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16U); }
};

// Kept apart from the counting: fused with it, compilers turn the masks into branches.
template <typename Format> [[gnu::noinline]] void roundAll(const float* src, std::uint16_t* dst, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        dst[i] = Format::round(src[i]);
    }
}

template <typename Format> void widenAll(const std::uint16_t* src, float* dst, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i) {
        dst[i] = Format::widen(src[i]);
    }
}

template <typename Bounds> void countSpecial(const float* src, std::size_t n, BoundaryCounts* counts)
{
    std::uint32_t result = 0;
    std::uint32_t source = 0;
    std::uint32_t nan = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(src[i]) & magnitudeMask;
        result += oneIfAbove(magnitude, Bounds::largestToFinite);
        source += oneIfAbove(magnitude, Float32Bounds::largestToFinite);
        nan += oneIfAbove(magnitude, infinity32);
    }
    counts->resultSpecial += result;
    counts->sourceSpecial += source;
    counts->nan += nan;
}

template <typename Bounds> [[gnu::noinline]] void countAll(const float* src, std::size_t n, BoundaryCounts* counts)
{
    std::uint32_t sourceNonzero = 0;
    std::uint32_t resultNonzero = 0;
    std::uint32_t atLeastNormal = 0;
    std::uint32_t special = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(src[i]) & magnitudeMask;
        sourceNonzero += oneIfAbove(magnitude, 0);
        resultNonzero += oneIfAbove(magnitude, Bounds::largestToZero);
        atLeastNormal += oneIfAbove(magnitude, Bounds::largestToSubnormal);
        special += oneIfAbove(magnitude, Bounds::largestToFinite);
    }
    counts->sourceNonzero += sourceNonzero;
    counts->resultNonzero += resultNonzero;
    counts->atLeastNormal += atLeastNormal;
    if (special != 0) {
        countSpecial<Bounds>(src, n, counts);
    }
}

template <typename Format>
void roundCounting(const float* src, std::uint16_t* dst, std::size_t n, BoundaryCounts* counts)
{
    roundAll<Format>(src, dst, n);
    countAll<Format>(src, n, counts);
}

/// Counts in several histograms in turn, so that equal neighbours do not wait for each other's increment.
void countExponents(const float* src, std::size_t n, std::uint64_t* bins)
{
    constexpr std::size_t ways = 8;
    constexpr std::size_t binCount = 256;
    const auto exponentOf = [](float value) { return (std::bit_cast<std::uint32_t>(value) >> 23U) & 0xffU; };

    std::size_t i = 0;
    if (n >= ways * binCount) { // else adding the histograms up would cost more than the waiting
        std::uint16_t counts[ways][binCount] = {};
        for (; i + ways <= n; i += ways) {
            for (std::size_t way = 0; way < ways; ++way) {
                ++counts[way][exponentOf(src[i + way])];
            }
        }
        for (const auto& way : counts) {
            for (std::size_t bin = 0; bin < binCount; ++bin) {
                bins[bin] += way[bin];
            }
        }
    }
    for (; i < n; ++i) {
        ++bins[exponentOf(src[i])];
    }
}

/// Block by block, in loops without branches that a compiler makes vectors of.
void measureExtent(const float* src, std::size_t n, float minNormal, Extent* extent)
{
    constexpr std::size_t block = 256;
    constexpr std::size_t width = Extent::parts;
    constexpr float infinity = std::bit_cast<float>(infinity32);
    float finite[block]; // magnitudes; 0 for what does not count
    float largest[width] = {};
    float smallest[width];
    std::uint32_t belowNormal[width] = {};
    for (float& value : smallest) {
        value = infinity;
    }
    for (std::size_t first = 0; first < n; first += block) {
        const std::size_t size = n - first < block ? n - first : block;
        for (std::size_t i = 0; i < size; ++i) {
            const float magnitude = std::bit_cast<float>(std::bit_cast<std::uint32_t>(src[first + i]) & magnitudeMask);
            finite[i] = magnitude < infinity ? magnitude : 0; // NaN compares false
        }
        for (std::size_t i = size; i < block; ++i) {
            finite[i] = 0;
        }
        for (std::size_t i = 0; i < block; i += width) {
            for (std::size_t k = 0; k < width; ++k) {
                const float positive = finite[i + k] > 0 ? finite[i + k] : infinity;
                largest[k] = finite[i + k] > largest[k] ? finite[i + k] : largest[k];
                smallest[k] = positive < smallest[k] ? positive : smallest[k];
                belowNormal[k] += positive < minNormal ? 1U : 0U;
            }
        }
        for (std::size_t i = 0; i < block; i += width) {
            for (std::size_t k = 0; k < width; ++k) {
                extent->squares[k] += double {finite[i + k]} * double {finite[i + k]};
            }
        }
    }
    for (std::size_t k = 0; k < width; ++k) {
        extent->largest = largest[k] > extent->largest ? largest[k] : extent->largest;
        extent->smallest = smallest[k] < extent->smallest ? smallest[k] : extent->smallest;
        extent->belowNormal += belowNormal[k];
    }
}

} // namespace

const Table portable {
    .floatToFloat16 = roundAll<Float16Format>,
    .float16ToFloat = widenAll<Float16Format>,
    .floatToBFloat16 = roundAll<BFloat16Format>,
    .bfloat16ToFloat = widenAll<BFloat16Format>,
    .roundFloat16 = roundCounting<Float16Format>,
    .roundBFloat16 = roundCounting<BFloat16Format>,
    .countFloat32 = countAll<Float32Bounds>,
    .countExponents = countExponents,
    .measureExtent = measureExtent,
};

} // namespace mantissa::kernels
