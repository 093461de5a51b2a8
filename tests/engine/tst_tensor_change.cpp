/// How gradients and weights differ, against plain sums in long double.
#include "engine/core/philox.h"
#include "engine/formats/float16.h"
#include "engine/probe/tensor_change.h"

#include <QtTest>

#include <cmath>
#include <vector>

using namespace mantissa;

namespace {

std::vector<float> normal(std::size_t n, float spread, std::uint64_t seed)
{
    std::vector<float> values(n);
    fillNormal(values, 0.0F, spread, Philox(seed, randomStream(RandomPurpose::Data, "change")));
    return values;
}

/// The error of a sum of n doubles whose terms have one sign.
double boundOf(std::size_t n)
{
    return static_cast<double>(n + 4) * 0x1p-52;
}

} // namespace

class TestTensorChange : public QObject
{
    Q_OBJECT

private slots:

    void aGradientIsComparedWithItsReference()
    {
        for (const std::size_t n : {1U, 7U, 8U, 9U, 1000U, 4097U}) {
            const std::vector<float> reference = normal(n, 1.0F, n);
            std::vector<float> values = normal(n, 0.01F, n + 1);
            constexpr double scale = 3000.0;
            long double product = 0;
            long double ours = 0;
            long double theirs = 0;
            long double difference = 0;
            for (std::size_t i = 0; i < n; ++i) {
                values[i] = (values[i] + reference[i]) * static_cast<float>(scale);
                const long double a = static_cast<long double>(values[i]) / static_cast<long double>(scale);
                const long double b = reference[i];
                product += a * b;
                ours += a * a;
                theirs += b * b;
                difference += (a - b) * (a - b);
            }
            const Likeness likeness = likenessOf(values, scale, reference);
            QVERIFY(std::fabs(likeness.cosine - static_cast<double>(product / std::sqrt(ours * theirs))) <= boundOf(n));
            const auto error = static_cast<double>(std::sqrt(difference / theirs));
            // a - b keeps what dividing by the scale has rounded.
            QVERIFY(std::fabs(likeness.relativeError - error) <= boundOf(n) * error + 0x1p-50);
        }
        const std::vector<float> zeros(9);
        QVERIFY(std::isnan(likenessOf(zeros, 1.0, normal(9, 1, 1)).cosine));
        QVERIFY(std::isnan(likenessOf(normal(9, 1, 1), 1.0, zeros).relativeError)
            || std::isinf(likenessOf(normal(9, 1, 1), 1.0, zeros).relativeError));
    }

    void aStepOfWeightsIsCounted()
    {
        for (const std::size_t n : {0U, 3U, 8U, 21U, 3001U}) {
            const std::vector<float> before = normal(n, 1.0F, n);
            std::vector<float> after = before;
            std::vector<float> gradients = normal(n, 1e-3F, n + 7);
            std::size_t wanted = 0;
            std::size_t unmoved = 0;
            double squares = 0;
            for (std::size_t i = 0; i < n; ++i) {
                gradients[i] = i % 5 == 0 ? 0.0F : gradients[i];
                after[i] = i % 3 == 0 ? before[i] : before[i] - gradients[i] + (i % 10 == 0 ? 0.5F : 0.0F);
                const bool hasMoved = before[i] != after[i];
                wanted += gradients[i] != 0 || hasMoved ? 1 : 0;
                unmoved += gradients[i] != 0 && !hasMoved ? 1 : 0;
                squares += double {before[i]} * before[i];
            }
            std::vector<float> update(n);
            const WeightChange change = changeOf(before, after, gradients, update);
            QCOMPARE(change.wanted, wanted);
            QCOMPARE(change.unmoved, unmoved);
            QVERIFY(std::fabs(change.squares - squares) <= boundOf(n) * squares);
            for (std::size_t i = 0; i < n; ++i) {
                QCOMPARE(update[i], after[i] - before[i]);
            }
        }
    }

    void whatHalfWeightsWouldLoseIsCounted()
    {
        HalfWeights scratch;
        const std::vector<float> ones(4, 1.0F);
        // Half an ulp of 1 is 2^-11 in FP16 and 2^-8 in BF16; a tie goes to even, which is 1.
        const std::vector<float> updates {0x1p-11F, 0x1.8p-11F, 0x1p-8F, 0.0F};
        QCOMPARE(lostShare(DType::Float16, ones, updates, scratch), 1.0 / 3);
        QCOMPARE(lostShare(DType::BFloat16, ones, updates, scratch), 1.0);
        QVERIFY(std::isnan(lostShare(DType::Float16, ones, std::vector<float>(4), scratch)));
        const std::vector<float> weights = normal(1001, 1.0F, 3);
        const std::vector<float> small = normal(1001, 1e-3F, 4);
        std::size_t lost = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const auto rounded = [](float value) { return Float16::fromFloat(value).toFloat(); };
            lost += rounded(rounded(weights[i]) + small[i]) == rounded(weights[i]) ? 1 : 0;
        }
        QCOMPARE(lostShare(DType::Float16, weights, small, scratch), static_cast<double>(lost) / 1001);
    }
};

QTEST_APPLESS_MAIN(TestTensorChange)
#include "tst_tensor_change.moc"
