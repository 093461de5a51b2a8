// Philox against the known-answer vectors of Random123 (Salmon et al., SC 2011), and the properties built on it.
#include "engine/core/philox.h"
#include "engine/core/portable_math.h"

#include <QtTest>

#include <cmath>
#include <numbers>
#include <set>

using namespace mantissa;

class TestPhilox : public QObject
{
    Q_OBJECT

private slots:

    void matchesKnownAnswers()
    {
        // Random123 kat_vectors, philox4x32 10: counter, key -> result.
        QCOMPARE(Philox(0, 0)(0), (std::array<std::uint32_t, 4> {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
        const std::uint64_t ones = ~std::uint64_t {0};
        QCOMPARE(
            Philox(ones, ones)(ones), (std::array<std::uint32_t, 4> {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
        QCOMPARE(Philox(0x299f31d0a4093822, 0x0370734413198a2e)(0x85a308d3243f6a88),
            (std::array<std::uint32_t, 4> {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
    }

    void permutationHoldsEveryIndexOnceAndDiffersByEpoch()
    {
        const Philox random(7, randomStream(RandomPurpose::Shuffle));
        const auto first = permutation(1000, random, 0);
        const auto second = permutation(1000, random, 1);
        QCOMPARE(std::set<std::uint32_t>(first.begin(), first.end()).size(), std::size_t {1000});
        QVERIFY(first != second);
        QCOMPARE(permutation(1000, random, 0), first);
    }

    void normalValuesAreTheSameEverywhere()
    {
        // Python: an independent Philox, math.log, math.cos and math.sin, rounded to float.
        const std::vector<float> expected {-0x1.74da56p-1F, 0x1.4bbd38p-1F, 0x1.8758dap+0F, 0x1.02abdp-1F,
            -0x1.606e9ap-1F, 0x1.f58eeep-1F, -0x1.39daa2p-1F, 0x1.f35eeep-1F};
        std::vector<float> values(8);
        fillNormal(values, 0, 1, Philox(1, randomStream(RandomPurpose::Init, "tok_embed.weight")));
        QCOMPARE(values, expected);
    }

    void portableFunctionsAreThoseOfTheLibrary()
    {
        for (int i = 1; i < 100'000; ++i) {
            const double x = i / 1e5;
            const double log = std::log(x * x * x);
            QVERIFY(std::abs(portableLog(x * x * x) - log) <= 4e-16 * std::max(std::abs(log), x));
            const auto [sine, cosine] = portableSineCosine(x);
            QVERIFY(std::abs(sine - std::sin(2 * std::numbers::pi * x)) < 1e-15);
            QVERIFY(std::abs(cosine - std::cos(2 * std::numbers::pi * x)) < 1e-15);
        }
        QCOMPARE(portableLog(1), 0.0);
        QCOMPARE(portableLog(0x1p-32), -32 * std::numbers::ln2);
    }

    void uniformAndNormalHaveTheirMoments()
    {
        const Philox random(11, randomStream(RandomPurpose::Init, "w"));
        std::vector<float> values(100'000);
        const auto moments = [&values] {
            double sum = 0;
            double squares = 0;
            for (const float v : values) {
                sum += v;
                squares += static_cast<double>(v) * v;
            }
            const double n = static_cast<double>(values.size());
            return std::pair(sum / n, squares / n - (sum / n) * (sum / n));
        };
        // Five standard errors of the mean (sigma / sqrt n) and of the variance (about sigma^2 sqrt(2 / n)).
        fillUniform(values, -1, 1, random);
        auto [mean, variance] = moments();
        QVERIFY(std::abs(mean) < 5 * 0.577 / std::sqrt(1e5));
        QVERIFY(std::abs(variance - 1.0 / 3) < 5 * 0.3 / std::sqrt(1e5));
        fillNormal(values, 0, 1, random);
        std::tie(mean, variance) = moments();
        QVERIFY(std::abs(mean) < 5 / std::sqrt(1e5));
        QVERIFY(std::abs(variance - 1) < 5 * std::sqrt(2 / 1e5));
    }
};

QTEST_APPLESS_MAIN(TestPhilox)
#include "tst_philox.moc"
