/// The scalar conversions against first principles, and every bulk path against the scalar ones.
#include "engine/core/cpu_features.h"
#include "engine/core/error.h"
#include "engine/formats/convert.h"
#include "engine/formats/dtype.h"
#include "tests/engine/formats_reference.h"

#include <QtTest>

#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

using namespace mantissa;
using mantissa::test::ReferenceFormat;

namespace {

const ReferenceFormat& reference(DType dtype)
{
    static const ReferenceFormat float16(5, 10);
    static const ReferenceFormat bfloat16(8, 7);
    return dtype == DType::Float16 ? float16 : bfloat16;
}

template <typename Half> constexpr DType dtypeOf = std::is_same_v<Half, Float16> ? DType::Float16 : DType::BFloat16;

std::uint32_t bitsOf(float value)
{
    return std::bit_cast<std::uint32_t>(value);
}

std::vector<CpuIsa> levelsOfThisMachine()
{
    std::vector<CpuIsa> levels;
    for (int level = 0; level <= static_cast<int>(detectedCpuIsa()); ++level) {
        levels.push_back(static_cast<CpuIsa>(level));
    }
    return levels;
}

/// A stride over all 2^32 patterns, and every pattern within 3 of a power of two, of a value of either format or of
/// the midpoint between two, both signs.
std::vector<float> telling32BitPatterns()
{
    std::vector<float> values;
    for (std::uint64_t bits = 0; bits < (std::uint64_t {1} << 32U); bits += 1021) {
        values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    const auto addAround = [&](std::uint32_t centre) {
        for (std::uint32_t offset = 0; offset <= 6; ++offset) {
            const std::uint32_t magnitude = (centre + offset - 3) & 0x7fffffffU;
            values.push_back(std::bit_cast<float>(magnitude));
            values.push_back(std::bit_cast<float>(magnitude | 0x80000000U));
        }
    };
    for (std::uint32_t exponent = 0; exponent <= 255; ++exponent) {
        addAround(exponent << 23U);
    }
    for (const DType dtype : {DType::Float16, DType::BFloat16}) {
        for (std::uint16_t bits = 0; bits < reference(dtype).infinity(); ++bits) {
            const double low = reference(dtype).decode(bits);
            const double high = reference(dtype).decode(static_cast<std::uint16_t>(bits + 1));
            addAround(bitsOf(static_cast<float>(low)));
            if (std::isfinite(high)) {
                addAround(bitsOf(static_cast<float>(0.5 * (low + high))));
            }
        }
    }
    addAround(bitsOf(65520.0F));
    addAround(bitsOf(0x1.ffp127F));
    return values;
}

template <typename Half> void compareHalvesWithReference()
{
    for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
        const auto half = Half::fromBits(static_cast<std::uint16_t>(bits));
        const double expected = reference(dtypeOf<Half>).decode(half.bits);
        if (std::isnan(expected)) {
            QVERIFY(half.isNan() && std::isnan(half.toFloat()));
            QCOMPARE(Half::fromFloat(half.toFloat()).bits, std::uint16_t {0x7fff});
            continue;
        }
        QVERIFY(!half.isNan());
        QCOMPARE(half.isInfinite(), std::isinf(expected));
        QCOMPARE(half.isFinite(), std::isfinite(expected));
        QCOMPARE(half.isZero(), expected == 0.0);
        QCOMPARE(half.isSubnormal(), expected != 0.0 && std::fabs(expected) < limitsOf(dtypeOf<Half>).minNormal);
        QCOMPARE(half.isNegative(), std::signbit(expected));
        QCOMPARE(std::bit_cast<std::uint64_t>(half.toDouble()), std::bit_cast<std::uint64_t>(expected));
        QCOMPARE(Half::fromFloat(half.toFloat()).bits, half.bits);
        QCOMPARE(Half::fromDouble(expected).bits, half.bits);
    }
}

template <typename Half> void compareScalarRounding(const std::vector<float>& values)
{
    for (const float value : values) {
        const std::uint16_t expected = reference(dtypeOf<Half>).round(static_cast<double>(value));
        if (Half::fromFloat(value).bits != expected || Half::fromDouble(static_cast<double>(value)).bits != expected) {
            QFAIL(qPrintable(QStringLiteral("0x%1 should round to 0x%2, rounds to 0x%3")
                                 .arg(bitsOf(value), 8, 16, QLatin1Char('0'))
                                 .arg(expected, 4, 16, QLatin1Char('0'))
                                 .arg(Half::fromFloat(value).bits, 4, 16, QLatin1Char('0'))));
        }
    }
}

template <typename Half> void comparePathRounding(const std::vector<float>& values)
{
    std::vector<Half> rounded(values.size());
    convert(values, rounded);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (rounded[i].bits != Half::fromFloat(values[i]).bits) {
            QFAIL(qPrintable(QStringLiteral("0x%1 should round to 0x%2, rounds to 0x%3")
                                 .arg(bitsOf(values[i]), 8, 16, QLatin1Char('0'))
                                 .arg(Half::fromFloat(values[i]).bits, 4, 16, QLatin1Char('0'))
                                 .arg(rounded[i].bits, 4, 16, QLatin1Char('0'))));
        }
    }
}

template <typename Half> void comparePathWidening()
{
    std::vector<Half> halves;
    for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
        halves.push_back(Half::fromBits(static_cast<std::uint16_t>(bits)));
    }
    std::vector<float> widened(halves.size());
    convert(halves, widened);
    for (std::size_t i = 0; i < halves.size(); ++i) {
        QCOMPARE(bitsOf(widened[i]), bitsOf(halves[i].toFloat()));
    }
}

/// Every length up to a few vectors at every alignment: nothing outside is touched, everything inside is right.
template <typename Half> void compareLengthsAndOffsets()
{
    constexpr std::size_t longest = 70;
    constexpr std::size_t offsets = 3;
    constexpr std::uint16_t untouched = 0x5a5a;
    std::vector<float> values;
    for (std::size_t i = 0; i < longest + offsets; ++i) {
        values.push_back(std::ldexp(1.0F + static_cast<float>(i) * 0.0137F, static_cast<int>(i) - 30));
    }
    for (std::size_t offset = 0; offset < offsets; ++offset) {
        for (std::size_t n = 0; n <= longest; ++n) {
            std::vector<Half> rounded(longest + 2 * offsets, Half::fromBits(untouched));
            convert(std::span(values).subspan(offset, n), std::span(rounded).subspan(offset, n));
            std::vector<float> widened(longest + 2 * offsets, -1.0F);
            convert(std::span<const Half>(rounded).subspan(offset, n), std::span(widened).subspan(offset, n));
            for (std::size_t i = 0; i < rounded.size(); ++i) {
                const bool inside = i >= offset && i < offset + n;
                QCOMPARE(rounded[i].bits, inside ? Half::fromFloat(values[i]).bits : untouched);
                QCOMPARE(widened[i], inside ? rounded[i].toFloat() : -1.0F);
            }
        }
    }
}

template <typename Half> void compareNeighbours()
{
    const std::uint16_t infinity = reference(dtypeOf<Half>).infinity();
    for (std::uint32_t bits = 0; bits <= 0xffffU; ++bits) {
        const auto half = Half::fromBits(static_cast<std::uint16_t>(bits));
        const double value = half.toDouble();
        if (half.isNan()) {
            QCOMPARE(nextUp(half).bits, half.bits);
            QCOMPARE(nextDown(half).bits, half.bits);
        } else if (half.bits == infinity) {
            QCOMPARE(nextUp(half).bits, half.bits);
        } else {
            QVERIFY(nextUp(half).toDouble() > value);
            QCOMPARE(nextDown(nextUp(half)).toDouble(), value);
        }
    }
    QCOMPARE(nextUp(Half::fromFloat(-0.0F)).toDouble(), limitsOf(dtypeOf<Half>).minSubnormal);
    QCOMPARE(nextDown(Half::fromFloat(0.0F)).toDouble(), -limitsOf(dtypeOf<Half>).minSubnormal);
    QCOMPARE(nextUp(Half::fromDouble(limitsOf(dtypeOf<Half>).maxFinite)).bits, infinity);
    QCOMPARE(nextDown(Half::fromBits(infinity)).toDouble(), limitsOf(dtypeOf<Half>).maxFinite);
    QCOMPARE(nextUp(Half::fromFloat(1.0F)).toDouble(), 1.0 + limitsOf(dtypeOf<Half>).epsilon);
}

template <typename Half> void compareLimits()
{
    const FormatLimits& limits = limitsOf(dtypeOf<Half>);
    const ReferenceFormat& format = reference(dtypeOf<Half>);
    QCOMPARE(limits.exponentBits + limits.fractionBits, 15);
    QCOMPARE(limits.bias, (1 << (limits.exponentBits - 1)) - 1);
    QCOMPARE(limits.maxFinite, format.decode(static_cast<std::uint16_t>(format.infinity() - 1)));
    QCOMPARE(limits.minNormal, format.decode(static_cast<std::uint16_t>(1U << limits.fractionBits)));
    QCOMPARE(limits.minSubnormal, format.decode(1));
    QCOMPARE(limits.epsilon, std::ldexp(1.0, -limits.fractionBits));

    QCOMPARE(format.round(limits.overflowsFrom), format.infinity());
    QCOMPARE(format.decode(format.round(std::nextafter(limits.overflowsFrom, 0.0))), limits.maxFinite);
    QCOMPARE(format.round(limits.flushesUpTo), std::uint16_t {0});
    QCOMPARE(format.round(std::nextafter(limits.flushesUpTo, 1.0)), std::uint16_t {1});
}

} // namespace

static_assert(std::is_trivially_copyable_v<Float16> && std::is_trivially_copyable_v<BFloat16>);
static_assert(Float16::fromFloat(65519.99F).bits == 0x7bff && Float16::fromFloat(65520.0F).bits == 0x7c00);

class TestFormats : public QObject
{
    Q_OBJECT

private slots:
    void decodesAndEncodesEveryHalf();
    void roundsFloatsLikeFirstPrinciples();
    void roundsDoublesOnce_data();
    void roundsDoublesOnce();
    void givesCanonicalNan();
    void findsNeighbours();
    void statesLimits();
    void statesFloat32Limits();
    void namesDtypes();
    void bulkPathsMatchScalar_data();
    void bulkPathsMatchScalar();
    void refusesUnequalLengths();

private:
    std::vector<float> m_patterns = telling32BitPatterns();
};

void TestFormats::decodesAndEncodesEveryHalf()
{
    compareHalvesWithReference<Float16>();
    compareHalvesWithReference<BFloat16>();
}

void TestFormats::roundsFloatsLikeFirstPrinciples()
{
    compareScalarRounding<Float16>(m_patterns);
    compareScalarRounding<BFloat16>(m_patterns);
}

void TestFormats::roundsDoublesOnce_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<bool>("throughFloatDiffers");
    // A double just beside a midpoint that rounding to FP32 first would move onto it.
    QTest::newRow("fp16, above a tie to even") << 1.0 + 0x1p-11 + 0x1p-40 << true;
    QTest::newRow("fp16, below a tie to odd") << 1.0 + 0x3p-11 - 0x1p-40 << true;
    QTest::newRow("fp16, just under overflow") << 65520.0 - 0x1p-30 << true;
    QTest::newRow("fp16, just above half the smallest") << 0x1p-25 + 0x1p-70 << true;
    QTest::newRow("fp16, subnormal tie") << 0x5p-25 - 0x1p-60 << false;
    QTest::newRow("bf16, above a tie to even") << 1.0 + 0x1p-8 + 0x1p-40 << true;
    QTest::newRow("bf16, just under overflow") << 0x1.ffp127 - 0x1p80 << true;
    QTest::newRow("bf16, just above half the smallest") << 0x1p-134 + 0x1p-170 << true;
    QTest::newRow("both, plain") << 3.14159265358979 << false;
    QTest::newRow("both, smallest double") << 0x1p-1074 << false;
    QTest::newRow("both, largest double") << 0x1.fffffffffffffp1023 << false;
}

void TestFormats::roundsDoublesOnce()
{
    QFETCH(double, value);
    QFETCH(bool, throughFloatDiffers);
    for (const double signedValue : {value, -value}) {
        const std::uint16_t half = reference(DType::Float16).round(signedValue);
        const std::uint16_t brain = reference(DType::BFloat16).round(signedValue);
        QCOMPARE(Float16::fromDouble(signedValue).bits, half);
        QCOMPARE(BFloat16::fromDouble(signedValue).bits, brain);
        const auto narrowed = static_cast<float>(signedValue);
        QCOMPARE(Float16::fromFloat(narrowed).bits != half || BFloat16::fromFloat(narrowed).bits != brain,
            throughFloatDiffers);
    }
}

void TestFormats::givesCanonicalNan()
{
    for (const std::uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xff800001U, 0x7fffffffU}) {
        QCOMPARE(Float16::fromFloat(std::bit_cast<float>(bits)).bits, std::uint16_t {0x7fff});
        QCOMPARE(BFloat16::fromFloat(std::bit_cast<float>(bits)).bits, std::uint16_t {0x7fff});
    }
    QCOMPARE(bitsOf(Float16::fromBits(0xfe00).toFloat()), 0x7fffffffU);
    QCOMPARE(bitsOf(BFloat16::fromBits(0xffc1).toFloat()), 0xffc10000U);
}

void TestFormats::findsNeighbours()
{
    compareNeighbours<Float16>();
    compareNeighbours<BFloat16>();
}

void TestFormats::statesLimits()
{
    compareLimits<Float16>();
    compareLimits<BFloat16>();
}

void TestFormats::statesFloat32Limits()
{
    const FormatLimits& limits = limitsOf(DType::Float32);
    QCOMPARE(limits.maxFinite, static_cast<double>(std::numeric_limits<float>::max()));
    QCOMPARE(limits.minNormal, static_cast<double>(std::numeric_limits<float>::min()));
    QCOMPARE(limits.minSubnormal, static_cast<double>(std::numeric_limits<float>::denorm_min()));
    QCOMPARE(limits.epsilon, static_cast<double>(std::numeric_limits<float>::epsilon()));
    QVERIFY(std::isinf(static_cast<float>(limits.overflowsFrom)));
    QVERIFY(std::isfinite(static_cast<float>(std::nextafter(limits.overflowsFrom, 0.0))));
    QCOMPARE(static_cast<float>(limits.flushesUpTo), 0.0F);
    QVERIFY(static_cast<float>(std::nextafter(limits.flushesUpTo, 1.0)) > 0.0F);
    QVERIFY_THROWS_EXCEPTION(Error, limitsOf(DType::Int32));
}

void TestFormats::namesDtypes()
{
    for (const DType dtype :
        {DType::Float32, DType::Float16, DType::BFloat16, DType::Float64, DType::Int32, DType::UInt8}) {
        QCOMPARE(dtypeFromName(nameOf(dtype)), std::optional(dtype));
    }
    QCOMPARE(dtypeFromName("bf16"), std::optional(DType::BFloat16));
    QVERIFY(!dtypeFromName("float16"));
}

void TestFormats::bulkPathsMatchScalar_data()
{
    QTest::addColumn<int>("level");
    for (const CpuIsa isa : levelsOfThisMachine()) {
        QTest::newRow(nameOf(isa).data()) << static_cast<int>(isa);
    }
}

void TestFormats::bulkPathsMatchScalar()
{
    QFETCH(int, level);
    const ScopedCpuIsa forced(static_cast<CpuIsa>(level));
    QCOMPARE(static_cast<int>(cpuIsa()), level);
    comparePathRounding<Float16>(m_patterns);
    comparePathRounding<BFloat16>(m_patterns);
    comparePathWidening<Float16>();
    comparePathWidening<BFloat16>();
    compareLengthsAndOffsets<Float16>();
    compareLengthsAndOffsets<BFloat16>();
}

void TestFormats::refusesUnequalLengths()
{
    const std::vector<float> three(3);
    std::vector<Float16> two(2);
    QVERIFY_THROWS_EXCEPTION(Error, convert(three, two));
}

QTEST_APPLESS_MAIN(TestFormats)
#include "tst_formats.moc"
