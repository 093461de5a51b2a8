/// The census of every bulk path against a plain count by the definitions in census.h.
#include "engine/core/cpu_features.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/formats/convert.h"
#include "engine/formats/dtype.h"
#include "engine/formats/extent.h"
#include "engine/formats/round_census.h"

#include <QtTest>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace mantissa;

namespace {

/// Any bit pattern: every class of both formats occurs, those at FP16's narrow range about equally often.
std::vector<float> anyPatterns(std::size_t n, std::uint64_t seed)
{
    const Philox random(seed, randomStream(RandomPurpose::Data, "census"));
    std::vector<float> values;
    for (std::size_t i = 0; i < n; ++i) {
        const std::array<std::uint32_t, 4> numbers = random(i);
        std::uint32_t bits = numbers[0];
        const std::uint32_t sign = bits & 0x80000000U;
        switch (numbers[1] % 8) {
        case 0:
            bits = sign;
            break;
        case 1:
            bits = sign | 0x7f800000U;
            break;
        case 2:
            bits = sign | 0x7f800000U | numbers[2] % 5;
            break;
        case 3: // FP32 and BF16 subnormals
            bits &= 0x80ffffffU;
            break;
        case 4: // from what FP16 flushes to what overflows it
            bits = std::bit_cast<std::uint32_t>(std::ldexp(1.0F, static_cast<int>(numbers[2] % 48) - 30))
                | (bits & 0x807fffffU);
            break;
        default:
            break;
        }
        values.push_back(std::bit_cast<float>(bits));
    }
    return values;
}

/// What training rounds: zeros from ReLU, and finite values well inside the format.
std::vector<float> tamePatterns(std::size_t n)
{
    std::vector<float> values(n);
    fillNormal(values, 0.0F, 0.01F, Philox(5, randomStream(RandomPurpose::Data, "tame")));
    for (float& value : values) {
        value = std::max(value, 0.0F);
    }
    return values;
}

/// Every edge of every class, one step to each side, both signs.
std::vector<float> edges()
{
    std::vector<float> values {0.0F, -0.0F, std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()};
    for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
        const FormatLimits& limits = limitsOf(dtype);
        for (const double edge : {limits.maxFinite, limits.minNormal, limits.minSubnormal, limits.overflowsFrom,
                 limits.flushesUpTo, limits.minNormal - 0.5 * limits.minSubnormal}) {
            const auto value = static_cast<float>(edge);
            for (const float near : {value, std::nextafter(value, 0.0F), std::nextafter(value, INFINITY)}) {
                values.push_back(near);
                values.push_back(-near);
            }
        }
    }
    return values;
}

/// The definitions of census.h, one element at a time; `result` is the value after rounding.
void countOne(float source, double result, double minNormal, Census& counts)
{
    if (std::isnan(source)) {
        ++counts.nan;
    } else if (std::isinf(source)) {
        ++counts.infinite;
    } else if (std::isinf(result)) {
        ++counts.overflowed;
    } else if (source == 0.0F) {
        ++counts.zero;
    } else if (result == 0.0) {
        ++counts.flushed;
    } else if (std::fabs(result) < minNormal) {
        ++counts.subnormal;
    } else {
        ++counts.normal;
    }
}

ExponentHistogram plainHistogram(const std::vector<float>& values)
{
    ExponentHistogram bins {};
    for (const float value : values) {
        if (!std::isfinite(value)) {
            ++bins[255];
        } else if (std::fabs(value) < 0x1p-126F) {
            ++bins[0];
        } else {
            ++bins[static_cast<std::size_t>(std::ilogb(value) + 127)];
        }
    }
    return bins;
}

QString text(const Census& counts)
{
    return QStringLiteral("zero %1, flushed %2, subnormal %3, normal %4, overflowed %5, infinite %6, nan %7")
        .arg(counts.zero)
        .arg(counts.flushed)
        .arg(counts.subnormal)
        .arg(counts.normal)
        .arg(counts.overflowed)
        .arg(counts.infinite)
        .arg(counts.nan);
}

void verifyEqual(const Census& actual, const Census& expected)
{
    QVERIFY2(actual == expected, qPrintable(text(actual) + QStringLiteral(" instead of ") + text(expected)));
}

template <typename Half> void verifyRounding(const std::vector<float>& values, DType dtype)
{
    Census expected;
    for (const float value : values) {
        countOne(value, Half::fromFloat(value).toDouble(), limitsOf(dtype).minNormal, expected);
    }
    QCOMPARE(expected.total(), values.size());

    std::vector<Half> converted(values.size());
    convert(values, converted);
    std::vector<Half> rounded(values.size() + 1, Half::fromBits(0x5a5a));
    Census counts;
    roundWithCensus(values, std::span(rounded).first(values.size()), counts);
    verifyEqual(counts, expected);
    for (std::size_t i = 0; i < values.size(); ++i) {
        QCOMPARE(rounded[i].bits, converted[i].bits);
    }
    QCOMPARE(rounded.back().bits, std::uint16_t {0x5a5a});

    std::vector<Half> again(values.size());
    ExponentHistogram histogram {};
    roundWithCensus(values, again, counts, histogram);
    Census twice = expected;
    twice += expected;
    verifyEqual(counts, twice);
    QVERIFY(histogram == plainHistogram(values));
    for (std::size_t i = 0; i < values.size(); ++i) {
        QCOMPARE(again[i].bits, converted[i].bits);
    }
}

void verifyFloat32(const std::vector<float>& values)
{
    Census expected;
    for (const float value : values) {
        countOne(value, static_cast<double>(value), limitsOf(DType::Float32).minNormal, expected);
    }
    verifyEqual(census(values), expected);
    ExponentHistogram histogram {};
    verifyEqual(census(values, histogram), expected);
    QVERIFY(histogram == plainHistogram(values));
}

void verifyExtent(const std::vector<float>& values, float minNormal)
{
    Extent expected;
    std::array<double, 8> squares {};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float magnitude = std::fabs(values[i]);
        if (std::isfinite(magnitude) && magnitude > 0) {
            squares[i % squares.size()] += double {magnitude} * double {magnitude};
            expected.largest = std::max(expected.largest, magnitude);
            expected.smallest = std::min(expected.smallest, magnitude);
            expected.belowNormal += magnitude < minNormal ? 1U : 0U;
        }
    }
    expected.squares = std::accumulate(squares.begin(), squares.end(), 0.0);
    const Extent extent = extentOf(values, minNormal);
    QCOMPARE(std::bit_cast<std::uint64_t>(extent.squares), std::bit_cast<std::uint64_t>(expected.squares));
    QCOMPARE(std::bit_cast<std::uint32_t>(extent.largest), std::bit_cast<std::uint32_t>(expected.largest));
    QCOMPARE(std::bit_cast<std::uint32_t>(extent.smallest), std::bit_cast<std::uint32_t>(expected.smallest));
    QCOMPARE(extent.belowNormal, expected.belowNormal);
}

void verifyAll(const std::vector<float>& values)
{
    verifyExtent(values, static_cast<float>(limitsOf(DType::Float16).minNormal));
    verifyExtent(values, static_cast<float>(limitsOf(DType::Float32).minNormal));
    verifyRounding<Float16>(values, DType::Float16);
    verifyRounding<BFloat16>(values, DType::BFloat16);
    verifyFloat32(values);
}

} // namespace

class TestCensus : public QObject
{
    Q_OBJECT

private slots:
    void matchesPlainCount_data();
    void matchesPlainCount();
    void namesTheClassOfEachEdge();
    void refusesUnequalLengths();
};

void TestCensus::matchesPlainCount_data()
{
    QTest::addColumn<int>("level");
    for (int level = 0; level <= static_cast<int>(detectedCpuIsa()); ++level) {
        QTest::newRow(nameOf(static_cast<CpuIsa>(level)).data()) << level;
    }
}

void TestCensus::matchesPlainCount()
{
    QFETCH(int, level);
    const ScopedCpuIsa forced(static_cast<CpuIsa>(level));
    for (std::size_t n = 0; n <= 70; ++n) {
        verifyAll(anyPatterns(n, n));
    }
    for (const std::size_t n : {4095U, 4096U, 4097U, 8192U, 200'003U}) {
        verifyAll(anyPatterns(n, n));
        verifyAll(tamePatterns(n));
        verifyAll(std::vector<float>(n, 1.0F));
        verifyAll(std::vector<float>(n, 0x1p-30F));
        verifyAll(std::vector<float>(n, std::numeric_limits<float>::infinity()));
    }
    verifyAll(edges());
}

void TestCensus::namesTheClassOfEachEdge()
{
    const std::vector<float> values {
        0.0F, -0.0F, 0x1p-25F, 0x1.000002p-25F, 0x1p-14F, 65504.0F, 65519.996F, 65520.0F, INFINITY, NAN};
    std::vector<Float16> rounded(values.size());
    Census counts;
    roundWithCensus(values, rounded, counts);
    const Census expected {
        .zero = 2, .flushed = 1, .subnormal = 1, .normal = 3, .overflowed = 1, .infinite = 1, .nan = 1};
    verifyEqual(counts, expected);
    QCOMPARE(counts.total(), values.size());
}

void TestCensus::refusesUnequalLengths()
{
    const std::vector<float> three(3);
    std::vector<BFloat16> two(2);
    Census counts;
    QVERIFY_THROWS_EXCEPTION(Error, roundWithCensus(three, two, counts));
    QCOMPARE(counts.total(), std::uint64_t {0});
}

QTEST_APPLESS_MAIN(TestCensus)
#include "tst_census.moc"
