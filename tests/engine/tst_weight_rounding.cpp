// 16-bit weights that do not lose small updates: stochastic rounding and Kahan compensation; moving averages of
// weights.
#include "engine/backends/backend_registry.h"
#include "engine/formats/convert.h"
#include "engine/formats/round_stochastic.h"
#include "engine/train/lane.h"
#include "tests/support/op_runner.h"
#include "tests/support/random_values.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr std::array halfFormats {DType::Float16, DType::BFloat16};

double valueOfBits(DType format, std::uint16_t bits)
{
    float value = 0;
    toFloats(format, std::as_bytes(std::span(&bits, 1)), std::span(&value, 1));
    return value;
}

HostTensor counterOf(std::int32_t step)
{
    HostTensor counter({DType::Int32, Shape {}});
    counter.set(0, step);
    return counter;
}

/// One weight tensor under SGD without momentum, stepped with its rounding.
struct SgdWeights
{
    HostTensor weights;
    HostTensor compensation;
    SgdAttributes attributes;
    std::int32_t step = 0;

    SgdWeights(HostTensor start, WeightRounding rounding)
        : weights(std::move(start))
        , compensation(weights.type())
    {
        attributes.rounding = rounding;
        attributes.seed = 7;
    }

    void train(Backend& backend, double learningRate, const HostTensor& gradient, bool foundInf = false)
    {
        OpCall call {Op::SgdUpdate, attributes,
            {HostTensor::scalar(DType::Float32, learningRate), HostTensor::scalar(DType::Float32, foundInf ? 1 : 0),
                gradient, weights},
            {{weights, 3}}};
        if (attributes.rounding == WeightRounding::Compensated) {
            call.inputs.push_back(compensation);
            call.outputs.push_back({compensation, 4});
        } else if (attributes.rounding == WeightRounding::Stochastic) {
            call.inputs.push_back(counterOf(step++));
        }
        for (int i = 0; i < 2; ++i) {
            call.outputs.push_back({HostTensor({DType::Float64, Shape {}}), std::nullopt});
        }
        const std::vector<HostTensor> out = runOp(backend, call).outputs;
        weights = out[0];
        if (attributes.rounding == WeightRounding::Compensated) {
            compensation = out[1];
        }
    }
};

Lane laneOf(const nlohmann::json& settings)
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    nlohmann::json document {{"name", "a"}, {"model", {{"hidden", {32}}}}, {"precision", {{"policy", "bf16"}}},
        {"optimizer", {{"kind", "sgd"}, {"lr", 0.05}}}};
    document.merge_patch(settings);
    return {0, parseLane(document, ""), {}, data, backendByName("cpu"), 1};
}

/// How much the mean loss of twenty steps falls.
double lossDrop(const nlohmann::json& settings, int steps)
{
    Lane lane = laneOf(settings);
    double drop = 0;
    constexpr int judged = 20;
    for (int i = 0; i < steps; ++i) {
        const double loss = lane.step().loss / judged;
        drop += i < judged ? loss : i >= steps - judged ? -loss : 0;
    }
    return drop;
}

} // namespace

class TestWeightRounding : public QObject
{
    Q_OBJECT

private slots:

    void everyHalfValueStaysAsItIs()
    {
        for (const DType format : halfFormats) {
            for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
                const double value = valueOfBits(format, static_cast<std::uint16_t>(bits));
                for (const double uniform : {0.0, 0.5, 1 - 0x1p-24}) {
                    const double rounded = roundStochastic(format, value, uniform);
                    QVERIFY(std::isnan(value) ? std::isnan(rounded)
                                              : rounded == value && std::signbit(rounded) == std::signbit(value));
                }
            }
        }
    }

    /// With uniform numbers on a grid, the farther neighbour is taken as often as its share says, to one grid point.
    void theShareRoundedUpIsTheDistance()
    {
        std::mt19937_64 random(20260101);
        for (const DType format : halfFormats) {
            const FormatLimits& limits = limitsOf(format);
            for (int trial = 0; trial < 400; ++trial) {
                const double magnitude = std::ldexp(std::uniform_real_distribution(1.0, 2.0)(random),
                    std::uniform_int_distribution(2 - limits.bias - limits.fractionBits - 3, limits.bias - 1)(random));
                const auto value = static_cast<double>(static_cast<float>(trial % 2 == 0 ? magnitude : -magnitude));
                constexpr int points = 4096;
                double sum = 0;
                double lowest = std::numeric_limits<double>::infinity();
                double highest = -lowest;
                for (int i = 0; i < points; ++i) {
                    const double rounded = roundStochastic(format, value, (i + 0.5) / points);
                    QCOMPARE(roundValue(format, rounded), rounded);
                    sum += rounded / points;
                    lowest = std::min(lowest, rounded);
                    highest = std::max(highest, rounded);
                }
                const double gap = highest - lowest;
                QVERIFY2(lowest <= value && value <= highest, qPrintable(QString::number(value, 'g', 17)));
                QVERIFY(std::abs(sum - value) <= std::max(gap, limits.minSubnormal) * 1.0 / points);
                // Neighbours: nothing of the format lies between.
                QVERIFY(gap == 0 || roundValue(format, lowest + gap / 2) == lowest
                    || roundValue(format, lowest + gap / 2) == highest);
            }
        }
    }

    void whatIsBeyondTheRangeRoundsToNearest()
    {
        QCOMPARE(roundStochastic(DType::Float16, 65519, 0), 65504.0);
        QCOMPARE(roundStochastic(DType::Float16, 65520, 0.999), static_cast<double>(INFINITY));
        QVERIFY(std::isnan(roundStochastic(DType::BFloat16, NAN, 0.5)));
    }

    /// The CPU's kernel draws the same numbers as the reference; where FP32 arithmetic comes out on the other side of a
    /// draw, it is one unit in the last place away, and that is rare.
    void theBackendsRoundAlike()
    {
        RandomValues random(5);
        for (const DType format : halfFormats) {
            const HostTensor start = random.tensor(format, Shape {5000}, Fill::Plain, 4);
            const HostTensor gradient = random.tensor(DType::Float32, Shape {5000}, Fill::Plain, 4);
            SgdWeights reference(start, WeightRounding::Stochastic);
            SgdWeights cpu(start, WeightRounding::Stochastic);
            reference.train(backendByName("reference"), 0.01, gradient);
            cpu.train(backendByName("cpu"), 0.01, gradient);
            int different = 0;
            for (std::int64_t i = 0; i < start.size(); ++i) {
                const double a = reference.weights.at(i);
                const double b = cpu.weights.at(i);
                different += a == b ? 0 : 1;
                QVERIFY(std::abs(a - b)
                    <= 2 * limitsOf(format).epsilon * std::max(std::abs(a), limitsOf(format).minNormal));
            }
            QVERIFY2(different < 25, qPrintable(QString::number(different)));
            SgdWeights skipping(start, WeightRounding::Stochastic);
            skipping.attributes.skipOnNonFinite = true;
            skipping.train(backendByName("cpu"), 0.01, gradient, true);
            QCOMPARE(skipping.weights.values(), start.values());
        }
    }

    /// A thousand updates of a hundredth of half an ulp: nearest rounding loses all, the others keep the sum.
    void smallUpdatesAreKept()
    {
        for (const DType format : halfFormats) {
            const double ulp = limitsOf(format).epsilon; // of 1 to 2
            const double update = ulp / 200;
            constexpr int steps = 1000;
            const std::int64_t elements = 4096;
            HostTensor start({format, Shape {elements}});
            HostTensor gradient({DType::Float32, Shape {elements}});
            for (std::int64_t i = 0; i < elements; ++i) {
                start.set(i, 1.5);
                gradient.set(i, -update);
            }
            for (const char* name : {"cpu", "reference"}) {
                Backend& backend = backendByName(name);
                SgdWeights nearest(start, WeightRounding::Nearest);
                SgdWeights kahan(start, WeightRounding::Compensated);
                SgdWeights stochastic(start, WeightRounding::Stochastic);
                const int done = QByteArray(name) == "cpu" ? steps : 50;
                for (int i = 0; i < done; ++i) {
                    nearest.train(backend, 1, gradient);
                    kahan.train(backend, 1, gradient);
                    stochastic.train(backend, 1, gradient);
                }
                const double wanted = 1.5 + done * update;
                double mean = 0;
                for (std::int64_t i = 0; i < elements; ++i) {
                    QCOMPARE(nearest.weights.at(i), 1.5);
                    // Each step rounds the compensation, at most half an ulp of 1, to 8 or 11 bits.
                    QVERIFY(std::abs(kahan.weights.at(i) + kahan.compensation.at(i) - wanted) <= done * ulp / 4 * ulp);
                    QVERIFY(std::abs(kahan.weights.at(i) - wanted) <= ulp);
                    mean += stochastic.weights.at(i) / static_cast<double>(elements);
                }
                // The mean of independent walks: each draw's deviation is below half an ulp; six standard errors.
                const double deviation = 0.5 * ulp * std::sqrt(done / static_cast<double>(elements));
                QVERIFY2(std::abs(mean - wanted) < 6 * deviation, qPrintable(QString::number((mean - wanted) / ulp)));
            }
        }
    }

    /// BF16 weights at a small rate: nearest rounding stalls where the two others follow the masters (Zamirai et al.).
    void lanesLearnWhereNearestRoundingStalls()
    {
        const auto with = [](const char* weights) {
            return nlohmann::json {{"optimizer", {{"kind", "sgd"}, {"lr", 0.002}}},
                {"precision", {{"policy", "bf16"}, {"weights", weights}}}};
        };
        constexpr int steps = 600;
        const double master = lossDrop(with("master"), steps);
        const double half = lossDrop(with("half"), steps);
        const double kahan = lossDrop(with("half-kahan"), steps);
        const double stochastic = lossDrop(with("half-stochastic"), steps);
        const QByteArray all = QByteArray::number(master) + " " + QByteArray::number(half) + " "
            + QByteArray::number(kahan) + " " + QByteArray::number(stochastic);
        QVERIFY2(half < 0.25 * master, all.constData());
        QVERIFY2(std::abs(kahan - master) < 0.05 * master, all.constData());
        QVERIFY2(std::abs(stochastic - master) < 0.1 * master, all.constData());
    }

    void compensationCostsTwoBytesAWeight()
    {
        Lane half = laneOf({{"precision", {{"weights", "half"}}}});
        Lane kahan = laneOf({{"precision", {{"weights", "half-kahan"}}}});
        QCOMPARE(kahan.bytes().weights, half.bytes().weights);
        QCOMPARE(half.bytes().optimizer, std::uint64_t {0});
        QVERIFY(kahan.bytes().optimizer >= half.bytes().weights);
    }

    void averagesFollowTheWeightsUnlessTheirFormatIsTooCoarse()
    {
        const nlohmann::json judged {{"evaluation", {{"weights", "ema"}}}, {"optimizer", {{"lr", 0.1}}}};
        const auto lossOfAverage = [&judged](double decay, const char* format) {
            nlohmann::json settings = judged;
            settings["ema"] = {{"decay", decay}, {"format", format}};
            Lane lane = laneOf(settings);
            for (int i = 0; i < 300; ++i) {
                lane.step();
            }
            return lane.validate().loss;
        };
        const double still = laneOf(nlohmann::json::object()).validate().loss;
        QVERIFY(lossOfAverage(0.99, "fp32") < 0.6 * still);
        // (1 - 0.9999) (w - average) is far below half an ulp of a BF16 average, which therefore stays at the start.
        QVERIFY(std::abs(lossOfAverage(0.9999, "bf16") - still) < 0.01 * still);
        QVERIFY(lossOfAverage(0.9999, "fp32") < lossOfAverage(0.9999, "bf16"));
    }

    /// Every average is the double recurrence over the weights that the lane really had.
    void anAverageIsItsRecurrence()
    {
        Lane lane = laneOf({{"ema", {{"decay", 0.9}}}});
        std::vector<float> weights;
        lane.readWeights(weights);
        std::vector<double> expected(weights.begin(), weights.end());
        for (int step = 0; step < 20; ++step) {
            lane.step();
            lane.readWeights(weights);
            for (std::size_t i = 0; i < expected.size(); ++i) {
                expected[i] += (1 - static_cast<double>(0.9F)) * (weights[i] - expected[i]);
            }
        }
        std::size_t at = 0;
        for (const StateTensor& tensor : lane.state().tensors) {
            if (tensor.name.ends_with(".ema")) {
                std::vector<float> average(static_cast<std::size_t>(tensor.type.shape.elements()));
                toFloats(tensor.type.dtype, tensor.bytes, average);
                for (const float value : average) {
                    QVERIFY(std::abs(value - expected[at]) <= 1e-6 * (std::abs(expected[at]) + 1e-3));
                    ++at;
                }
            }
        }
        QCOMPARE(at, expected.size());
    }
};

QTEST_GUILESS_MAIN(TestWeightRounding)
#include "tst_weight_rounding.moc"
