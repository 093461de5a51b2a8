/// Our conversions against the host functions of NVIDIA's cuda_fp16.h and cuda_bf16.h, NaN included.
/// Built only where the CUDA toolkit's headers are installed.
#include "engine/formats/convert.h"
#include "tests/engine/nvidia_formats.h"

#include <QtTest>

#include <bit>
#include <vector>

using namespace mantissa;
using mantissa::test::nvidiaRound;

namespace {

std::uint16_t nvidiaRoundDouble(double value, Float16 /*format*/)
{
    return static_cast<__half_raw>(__double2half(value)).x;
}

std::uint16_t nvidiaRoundDouble(double value, BFloat16 /*format*/)
{
    return static_cast<__nv_bfloat16_raw>(__double2bfloat16(value)).x;
}

float nvidiaWiden(Float16 value)
{
    __half_raw raw;
    raw.x = value.bits;
    return __half2float(raw);
}

float nvidiaWiden(BFloat16 value)
{
    __nv_bfloat16_raw raw;
    raw.x = value.bits;
    return __bfloat162float(raw);
}

template <typename Half> void compareWidening()
{
    std::vector<Half> halves;
    for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
        halves.push_back(Half::fromBits(static_cast<std::uint16_t>(bits)));
    }
    std::vector<float> widened(halves.size());
    convert(halves, widened);
    for (std::size_t i = 0; i < halves.size(); ++i) {
        QCOMPARE(std::bit_cast<std::uint32_t>(widened[i]), std::bit_cast<std::uint32_t>(nvidiaWiden(halves[i])));
    }
}

template <typename Half> void compareRounding(std::uint32_t stride)
{
    std::vector<float> values;
    for (std::uint64_t bits = 0; bits < (std::uint64_t {1} << 32U); bits += stride) {
        values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    std::vector<Half> rounded(values.size());
    convert(values, rounded);
    for (std::size_t i = 0; i < values.size(); ++i) {
        QCOMPARE(rounded[i].bits, nvidiaRound(values[i], Half {}));
    }
}

/// Every midpoint of two neighbours, moved by one double to each side and not at all.
template <typename Half> void compareDoubles()
{
    for (Half low = Half::fromBits(0); nextUp(low).isFinite(); low = nextUp(low)) {
        const double midpoint = 0.5 * (low.toDouble() + nextUp(low).toDouble());
        for (const double value : {midpoint, std::nextafter(midpoint, 0.0), std::nextafter(midpoint, INFINITY)}) {
            QCOMPARE(Half::fromDouble(value).bits, nvidiaRoundDouble(value, Half {}));
            QCOMPARE(Half::fromDouble(-value).bits, nvidiaRoundDouble(-value, Half {}));
        }
    }
}

} // namespace

class TestFormatsNvidia : public QObject
{
    Q_OBJECT

private slots:
    void widensEveryHalfAlike();
    void roundsAlike_data();
    void roundsAlike();
    void roundsDoublesAlike();
};

void TestFormatsNvidia::widensEveryHalfAlike()
{
    compareWidening<Float16>();
    compareWidening<BFloat16>();
}

void TestFormatsNvidia::roundsAlike_data()
{
    QTest::addColumn<std::uint32_t>("stride");
    QTest::newRow("every 509th float") << std::uint32_t {509};
    QTest::newRow("every tie of FP16") << std::uint32_t {1U << 12U};
    QTest::newRow("every tie of BF16") << std::uint32_t {1U << 15U};
}

void TestFormatsNvidia::roundsAlike()
{
    QFETCH(std::uint32_t, stride);
    compareRounding<Float16>(stride);
    compareRounding<BFloat16>(stride);
}

void TestFormatsNvidia::roundsDoublesAlike()
{
    compareDoubles<Float16>();
    compareDoubles<BFloat16>();
}

QTEST_APPLESS_MAIN(TestFormatsNvidia)
#include "tst_formats_nvidia.moc"
