// Formats bit by bit: FP16 and BF16 as the engine's own types have them over all bits, FP32 as the machine has it, FP8
// and TF32 by the tables of their specifications.
#include "engine/formats/bfloat16.h"
#include "engine/formats/float16.h"
#include "engine/formats/float_format.h"
#include "engine/formats/format_play.h"

#include <QtTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

using namespace mantissa;

namespace {

const FloatFormat& format(std::string_view name)
{
    return *std::ranges::find(floatFormats(), name, &FloatFormat::name);
}

bool same(double a, double b)
{
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

} // namespace

class TestFloatFormat : public QObject
{
    Q_OBJECT

private slots:

    void halvesAreTheEnginesOwn()
    {
        for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            QVERIFY(same(format("fp16").value(bits), Float16::fromBits(half).toDouble()));
            QVERIFY(same(format("bf16").value(bits), BFloat16::fromBits(half).toDouble()));
        }
        std::mt19937_64 random(std::random_device {}());
        for (int i = 0; i < 200'000; ++i) {
            const double value = std::ldexp(
                std::uniform_real_distribution(-2.0, 2.0)(random), std::uniform_int_distribution(-150, 130)(random));
            QCOMPARE(format("fp16").nearest(value), std::uint32_t {Float16::fromDouble(value).bits});
            QCOMPARE(format("bf16").nearest(value), std::uint32_t {BFloat16::fromDouble(value).bits});
            QCOMPARE(format("fp32").nearest(value), std::bit_cast<std::uint32_t>(static_cast<float>(value)));
        }
    }

    /// Every number of a format is its own nearest, and halfway points go to the even neighbour.
    void everyNumberIsItsOwnNearest()
    {
        for (const FloatFormat& f : floatFormats()) {
            if (f.bits() > 19) {
                continue;
            }
            for (std::uint32_t bits = 0; bits < std::uint32_t {1} << f.bits(); ++bits) {
                const double value = f.value(bits);
                if (std::isnan(value)) {
                    QVERIFY(std::isnan(f.value(f.nearest(value))));
                    continue;
                }
                QCOMPARE(f.nearest(value), bits);
                const double next = f.value(bits + 1);
                if (std::isfinite(value) && std::isfinite(next)
                    && (bits + 1) >> (f.bits() - 1) == bits >> (f.bits() - 1)) {
                    const std::uint32_t tie = f.nearest(value + (next - value) / 2);
                    QCOMPARE(tie, bits % 2 == 0 ? bits : bits + 1);
                    QCOMPARE(f.neighbour(value, next > value), next);
                    QCOMPARE(f.spacing(value), std::abs(next - value));
                }
            }
        }
    }

    /// OFP8 revision 1.0, table 1; FP16 and BF16: IEEE 754 and design.md; TF32: FP32's range.
    void limitsAreThePublishedOnes()
    {
        QCOMPARE(format("e4m3").largest(), 448.0);
        QCOMPARE(format("e4m3").smallestNormal(), 0x1p-6);
        QCOMPARE(format("e4m3").smallest(), 0x1p-9);
        QCOMPARE(format("e5m2").largest(), 57344.0);
        QCOMPARE(format("e5m2").smallestNormal(), 0x1p-14);
        QCOMPARE(format("e5m2").smallest(), 0x1p-16);
        QCOMPARE(format("fp16").largest(), 65504.0);
        QCOMPARE(format("fp16").smallest(), 0x1p-24);
        QCOMPARE(format("bf16").largest(), 3.3895313892515355e38);
        QCOMPARE(format("tf32").smallestNormal(), 0x1p-126);
        QCOMPARE(format("fp32").smallest(), 0x1p-149);
        QVERIFY(std::isnan(format("e4m3").value(0x7F)) && std::isnan(format("e4m3").value(0xFF)));
        QVERIFY(std::isinf(format("e5m2").value(0x7C)));
        QVERIFY(std::isnan(format("e4m3").value(format("e4m3").nearest(465)))); // beyond 464, halfway to 480
        QCOMPARE(format("e4m3").value(format("e4m3").nearest(463)), 448.0);
        QVERIFY(std::isinf(format("fp16").value(format("fp16").nearest(65520))));
        QCOMPARE(format("fp16").value(format("fp16").nearest(0.12345)), 0.12347412109375); // C01
    }

    /// FP32 arithmetic as the machine does it, and the well-known places where sums of halves stop.
    void calculationsRoundEachResult()
    {
        const FloatFormat& fp32 = format("fp32");
        std::mt19937_64 random(std::random_device {}());
        const auto draw = [&random] {
            return std::ldexp(static_cast<float>(std::uniform_real_distribution(-2.0, 2.0)(random)),
                std::uniform_int_distribution(-20, 20)(random));
        };
        for (int i = 0; i < 100'000; ++i) {
            const float a = draw();
            const float b = draw();
            const float c = draw();
            QCOMPARE(addIn(fp32, a, b), double {a + b});
            QCOMPARE(multiplyIn(fp32, a, b), double {a * b});
            QCOMPARE(multiplyAddIn(fp32, a, b, c, true), double {std::fma(a, b, c)});
            const volatile float product = a * b;
            QCOMPARE(multiplyAddIn(fp32, a, b, c, false), double {product + c});
        }
        const RunningSum ones = runningSum(format("fp16"), 1, 10'000);
        QCOMPARE(ones.result, 2048.0);
        QCOMPARE(*ones.stuckAfter, std::int64_t {2048});
        QCOMPARE(runningSum(format("bf16"), 1, 10'000).result, 256.0);
        QCOMPARE(runningSum(fp32, 1, 10'000).result, 10'000.0);
        QVERIFY(!runningSum(fp32, 1, 10'000).stuckAfter);
        QCOMPARE(runningSum(format("fp16"), 60'000, 3).result, static_cast<double>(INFINITY));
        QVERIFY(std::isnan(runningSum(format("e4m3"), 300, 3).result));
    }
};

QTEST_APPLESS_MAIN(TestFloatFormat)
#include "tst_float_format.moc"
