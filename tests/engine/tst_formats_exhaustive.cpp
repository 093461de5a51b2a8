/// All 2^32 floats through every conversion path of this machine, against first principles and, where the CUDA
/// toolkit's headers are installed, against NVIDIA's host functions. Takes some minutes, so ctest does not run it:
///     cmake --build --preset release --target tst_formats_exhaustive && build/release/bin/tst_formats_exhaustive
/// With an argument n it takes every n-th block of 2^16 floats.
#include "engine/core/cpu_features.h"
#include "engine/formats/convert.h"
#include "engine/formats/dtype.h"
#include "engine/formats/round_census.h"
#include "tests/engine/formats_reference.h"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <vector>

#ifdef MANTISSA_NVIDIA_HEADERS
#include "tests/engine/nvidia_formats.h"
#endif

using namespace mantissa;
using mantissa::test::ReferenceFormat;

namespace {

constexpr std::uint32_t blockLength = 1U << 16U;
constexpr std::uint32_t blocks = 1U << 16U;

const ReferenceFormat& referenceOf(Float16 /*format*/)
{
    static const ReferenceFormat format(5, 10);
    return format;
}

const ReferenceFormat& referenceOf(BFloat16 /*format*/)
{
    static const ReferenceFormat format(8, 7);
    return format;
}

#ifdef MANTISSA_NVIDIA_HEADERS
constexpr bool hasNvidia = true;
#else
constexpr bool hasNvidia = false;
#endif

/// Rounds the floats of one block in every way and counts where the ways disagree.
template <typename Half> class BlockCheck
{
public:
    std::uint64_t differences() const { return m_differences; }

    void check(std::span<const float> values)
    {
        setExpected(values);
        for (int level = 0; level <= static_cast<int>(detectedCpuIsa()); ++level) {
            const ScopedCpuIsa forced(static_cast<CpuIsa>(level));
            convert(values, m_actual);
            compare(values, nameOf(cpuIsa()).data());
            Census counts;
            roundWithCensus(values, m_actual, counts);
            compare(values, "census");
            checkCensus(values, counts);
        }
    }

private:
    void setExpected(std::span<const float> values)
    {
        std::size_t below = m_below;
        for (std::size_t i = 0; i < values.size(); ++i) {
            m_expected[i] = m_reference.roundRising(static_cast<double>(values[i]), below);
            m_actual[i] = Half::fromFloat(values[i]);
        }
        m_below = std::signbit(values.front()) ? below : m_below;
        compare(values, "scalar");
#ifdef MANTISSA_NVIDIA_HEADERS
        for (std::size_t i = 0; i < values.size(); ++i) {
            m_actual[i] = Half::fromBits(mantissa::test::nvidiaRound(values[i], Half {}));
        }
        compare(values, "NVIDIA");
#endif
    }

    void compare(std::span<const float> values, const char* way)
    {
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (m_actual[i].bits != m_expected[i]) {
                report(values[i], way, m_actual[i].bits, m_expected[i]);
            }
        }
    }

    void report(float value, const char* way, unsigned actual, unsigned expected)
    {
        constexpr std::uint64_t shown = 20;
        if (m_differences++ < shown) {
            std::printf(
                "  0x%08x, %s: 0x%04x instead of 0x%04x\n", std::bit_cast<std::uint32_t>(value), way, actual, expected);
        }
    }

    void checkCensus(std::span<const float> values, const Census& counts)
    {
        Census expected;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const Half result = Half::fromBits(m_expected[i]);
            std::uint64_t& count = std::isnan(values[i]) ? expected.nan
                : std::isinf(values[i])                  ? expected.infinite
                : result.isInfinite()                    ? expected.overflowed
                : values[i] == 0.0F                      ? expected.zero
                : result.isZero()                        ? expected.flushed
                : result.isSubnormal()                   ? expected.subnormal
                                                         : expected.normal;
            ++count;
        }
        if (!(counts == expected)) {
            ++m_differences;
            std::printf("  the census of the block at 0x%08x differs\n", std::bit_cast<std::uint32_t>(values.front()));
        }
    }

    const ReferenceFormat& m_reference = referenceOf(Half {});
    std::vector<std::uint16_t> m_expected = std::vector<std::uint16_t>(blockLength);
    std::vector<Half> m_actual = std::vector<Half>(blockLength);
    std::size_t m_below = 0; ///< the reference's place, moved on after both signs of a block
    std::uint64_t m_differences = 0;
};

std::uint64_t checkEvery(std::uint32_t step)
{
    BlockCheck<Float16> float16;
    BlockCheck<BFloat16> bfloat16;
    std::vector<float> values(blockLength);
    for (std::uint32_t block = 0; block < blocks / 2; block += step) {
        for (const std::uint32_t sign : {0U, 0x80000000U}) {
            for (std::uint32_t i = 0; i < blockLength; ++i) {
                values[i] = std::bit_cast<float>(sign | (block * blockLength + i));
            }
            float16.check(values);
            bfloat16.check(values);
        }
        if (block % 2048 == 0) {
            std::printf("%u of %u blocks\n", block, blocks / 2);
            std::fflush(stdout);
        }
    }
    return float16.differences() + bfloat16.differences();
}

} // namespace

int main(int argc, char** argv)
{
    try {
        const long step = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 1;
        if (step < 1 || step > static_cast<long>(blocks)) {
            std::printf("expected a step from 1 to %u\n", blocks);
            return 2;
        }
        const std::uint64_t differences = checkEvery(static_cast<std::uint32_t>(step));
        std::printf("paths up to %s%s: %llu differences\n", nameOf(detectedCpuIsa()).data(),
            hasNvidia ? ", with NVIDIA's host functions" : "", static_cast<unsigned long long>(differences));
        return differences == 0 ? 0 : 1;
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
        return 2;
    }
}
