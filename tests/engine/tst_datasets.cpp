// Data sets and batches. Literals of generated sets and shuffles were computed by an independent Philox in Python;
// those of the digits by NumPy from sklearn.datasets.load_digits().
#include "engine/core/error.h"
#include "engine/data/batch_source.h"
#include "engine/data/dataset.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

using namespace mantissa;

namespace {

DataConfig config(const std::string& kind)
{
    DataConfig result;
    result.kind = kind;
    return result;
}

Dataset load(const DataConfig& settings, std::uint64_t seed = 1)
{
    return loadDataset(settings, seed, ".");
}

QString refusal(const DataConfig& settings)
{
    try {
        load(settings);
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

std::vector<std::uint32_t> everyIndexOnce(std::int64_t samples)
{
    std::vector<std::uint32_t> all(static_cast<std::size_t>(samples));
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

std::vector<std::uint32_t> draw(BatchSource& source, std::int64_t firstStep, std::int64_t steps, std::int64_t micro = 1)
{
    std::vector<std::uint32_t> drawn;
    for (std::int64_t step = firstStep; step < firstStep + steps; ++step) {
        for (std::int64_t i = 0; i < micro; ++i) {
            const auto indices = source.next(step, i);
            drawn.insert(drawn.end(), indices.begin(), indices.end());
        }
    }
    return drawn;
}

std::uint64_t fnvOfBytes(const std::vector<std::uint8_t>& bytes)
{
    return fnv1a(std::as_bytes(std::span(bytes)));
}

} // namespace

class TestDatasets : public QObject
{
    Q_OBJECT

private slots:

    void digitsAreThoseOfScikitLearn()
    {
        const Dataset digits = load(config("digits"));
        QCOMPARE(digits.samples, std::int64_t {1797});
        QCOMPARE(digits.sampleShape, (Shape {8, 8}));
        QCOMPARE(digits.features, std::int64_t {64});
        QCOMPARE(digits.classes, std::int64_t {10});
        QCOMPARE(digits.classNames.size(), std::size_t {10});
        QVERIFY(digits.targets.empty());

        std::vector<std::uint8_t> pixels;
        std::vector<std::uint32_t> all(1797);
        std::iota(all.begin(), all.end(), 0U);
        std::vector<float> inputs(all.size() * 64);
        gatherInputs(digits, all, inputs);
        for (const float value : inputs) {
            QVERIFY(value >= 0 && value <= 1);
            pixels.push_back(static_cast<std::uint8_t>(value * 16));
            QVERIFY(static_cast<float>(pixels.back()) == value * 16);
        }
        const std::vector<std::uint8_t> labels(digits.labels.begin(), digits.labels.end());
        QCOMPARE(fnvOfBytes(pixels), std::uint64_t {0x493fa2f67df550a1});
        QCOMPARE(fnvOfBytes(labels), std::uint64_t {0x5c66ed875b0a9785});
        const std::vector<std::uint8_t> secondRowOfTheFirst {0, 0, 13, 15, 10, 15, 5, 0};
        QVERIFY(std::equal(secondRowOfTheFirst.begin(), secondRowOfTheFirst.end(), pixels.begin() + 8));
    }

    void generatedSetsHaveTheirLiterals()
    {
        const Dataset spirals = load(config("spirals"));
        QCOMPARE(std::vector(spirals.inputs.begin(), spirals.inputs.begin() + 4),
            (std::vector {-0.916086972F, 0.206373513F, 0.263655573F, 1.93588543F}));
        QCOMPARE(
            std::vector(spirals.inputs.end() - 2, spirals.inputs.end()), (std::vector {1.34979987F, -0.20356366F}));
        const Dataset moons = load(config("moons"));
        QCOMPARE(std::vector(moons.inputs.begin(), moons.inputs.begin() + 4),
            (std::vector {-0.0774877891F, 0.961087227F, 0.68983829F, -0.376141995F}));
        const Dataset regression = load(config("regression"));
        QCOMPARE(regression.targets[0], -0.151889294F);
        QCOMPARE(regression.targets[1], -0.792366266F);
        QCOMPARE(regression.targets[1999], -2.71887302F);
        QCOMPARE(regression.inputs[7], -0.519701362F);
        QVERIFY(load(config("spirals"), 2).inputs != spirals.inputs);
    }

    void spiralsLieOnTheirArms()
    {
        DataConfig settings = config("spirals");
        settings.noise = 0;
        settings.classes = 5;
        settings.samples = 1001;
        const Dataset spirals = load(settings);
        QCOMPARE(spirals.classes, std::int64_t {5});
        QCOMPARE(spirals.classNames.size(), std::size_t {5});
        for (std::size_t i = 0; i < 1001; ++i) {
            QCOMPARE(spirals.labels[i], static_cast<std::int32_t>(i % 5));
            const auto x = static_cast<double>(spirals.inputs[2 * i]);
            const auto y = static_cast<double>(spirals.inputs[2 * i + 1]);
            const double turns = std::hypot(x, y) / 2;
            const double angle = 2 * std::numbers::pi * (turns + spirals.labels[i] / 5.0);
            QVERIFY(turns < 1);
            QVERIFY(std::abs(x - 2 * turns * std::cos(angle)) < 1e-6);
            QVERIFY(std::abs(y - 2 * turns * std::sin(angle)) < 1e-6);
        }
    }

    void moonsLieOnTheirHalfCircles()
    {
        DataConfig settings = config("moons");
        settings.noise = 0;
        const Dataset moons = load(settings);
        QCOMPARE(moons.classes, std::int64_t {2});
        for (std::size_t i = 0; i < static_cast<std::size_t>(moons.samples); ++i) {
            const bool lower = moons.labels[i] == 1;
            const double x = static_cast<double>(moons.inputs[2 * i]) - (lower ? 1 : 0);
            const double y = static_cast<double>(moons.inputs[2 * i + 1]) - (lower ? 0.5 : 0);
            QVERIFY(std::abs(std::hypot(x, y) - 1) < 1e-6);
            QVERIFY(lower ? y <= 1e-6 : y >= -1e-6);
        }
    }

    void noiseHasItsDeviation_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::newRow("spirals") << "spirals";
        QTest::newRow("moons") << "moons";
        QTest::newRow("regression") << "regression";
    }

    void noiseHasItsDeviation()
    {
        QFETCH(const QString, kind);
        DataConfig settings = config(kind.toStdString());
        settings.samples = 20'000;
        settings.noise = 0;
        const Dataset clean = load(settings);
        settings.noise = 0.5;
        const Dataset noisy = load(settings);
        QCOMPARE(noisy.labels, clean.labels);
        const auto& before = kind == "regression" ? clean.targets : clean.inputs;
        const auto& after = kind == "regression" ? noisy.targets : noisy.inputs;
        double sum = 0;
        double squares = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const double change = static_cast<double>(after[i]) - static_cast<double>(before[i]);
            sum += change;
            squares += change * change;
        }
        const auto n = static_cast<double>(before.size());
        // Five standard errors of a normal sample's mean and variance.
        QVERIFY(std::abs(sum / n) < 5 * 0.5 / std::sqrt(n));
        QVERIFY(std::abs(squares / n - 0.25) < 5 * 0.25 * std::sqrt(2 / n));
    }

    void theSplitIsFairAndBelongsToTheSeed()
    {
        const Dataset first = load(config("digits"), 3);
        QCOMPARE(first.validation.size(), std::size_t {359}); // 0.2 * 1797 = 359.4
        QVERIFY(std::is_sorted(first.train.begin(), first.train.end()));
        QVERIFY(std::is_sorted(first.validation.begin(), first.validation.end()));
        std::vector<std::uint32_t> all = first.train;
        all.insert(all.end(), first.validation.begin(), first.validation.end());
        std::sort(all.begin(), all.end());
        QCOMPARE(all, everyIndexOnce(1797));

        DataConfig otherBatch = config("digits");
        otherBatch.batch = 7;
        QCOMPARE(load(otherBatch, 3).validation, first.validation);
        QVERIFY(load(config("digits"), 4).validation != first.validation);
    }

    void theSplitMayBeEmptyOrNearlyAll()
    {
        DataConfig settings = config("moons");
        settings.samples = 10;
        settings.validationShare = 0;
        QVERIFY(load(settings).validation.empty());
        QCOMPARE(load(settings).train, everyIndexOnce(10));
        settings.validationShare = 0.3;
        // The first three of the independent shuffle 8 3 7 6 4 1 9 0 5 2.
        QCOMPARE(load(settings, 7).validation, (std::vector<std::uint32_t> {3, 7, 8}));
        settings.validationShare = 0.999;
        QCOMPARE(load(settings).train.size(), std::size_t {1});
    }

    void settingsAreCheckedByName_data()
    {
        QTest::addColumn<DataConfig>("settings");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* named, const std::string& kind, auto change) {
            DataConfig settings = config(kind);
            change(settings);
            QTest::newRow(named) << settings << QString(named);
        };
        row("data.kind is \"digit\"; it must be one of digits, spirals, ", "digit", [](DataConfig&) {});
        row("data.batch is 0;", "digits", [](DataConfig& c) { c.batch = 0; });
        row("data.samples is 1;", "moons", [](DataConfig& c) { c.samples = 1; });
        row("data.samples is 1000000000000;", "moons", [](DataConfig& c) { c.samples = 1'000'000'000'000; });
        row("data.classes is 1;", "spirals", [](DataConfig& c) { c.classes = 1; });
        row("data.features is 0;", "regression", [](DataConfig& c) { c.features = 0; });
        row("data.samples is 1000000, which makes 5000000000 numbers with the 5000 of each sample;", "regression",
            [](DataConfig& c) {
                c.samples = 1'000'000;
                c.features = 5000;
            });
        row("data.noise is -1;", "moons", [](DataConfig& c) { c.noise = -1; });
        row("data.noise is nan;", "moons", [](DataConfig& c) { c.noise = std::nan(""); });
        row("data.validation_share is 1;", "digits", [](DataConfig& c) { c.validationShare = 1; });
        row("data.validation_share is nan;", "digits", [](DataConfig& c) { c.validationShare = std::nan(""); });
        row("data.path is missing; mnist is read from a folder of yours: name the one with train-images", "mnist",
            [](DataConfig&) {});
        row("data.path is missing; csv is read from a file of yours", "csv", [](DataConfig&) {});
        row("data.length is 7; it must be even", "brackets", [](DataConfig& c) { c.length = 7; });
        row("data.modulus is 1;", "modular_addition", [](DataConfig& c) { c.modulus = 1; });
        row("data.samples is 1000000, which makes 256000000 numbers", "copy", [](DataConfig& c) {
            c.samples = 1'000'000;
            c.length = 128;
        });
        row("data.symbols is 1;", "sort", [](DataConfig& c) { c.symbols = 1; });
        row("data.context is 0;", "text", [](DataConfig& c) { c.context = 0; });
        row("data.stride is -1;", "text", [](DataConfig& c) { c.stride = -1; });
        row("data.path: /nowhere/at/all is not a folder", "mnist", [](DataConfig& c) { c.path = "/nowhere/at/all"; });
    }

    void settingsAreCheckedByName()
    {
        QFETCH(const DataConfig, settings);
        QFETCH(const QString, named);
        QVERIFY2(refusal(settings).startsWith(named), qPrintable(refusal(settings)));
    }

    void labelsBecomeTargets()
    {
        Dataset moons = load(config("moons"));
        labelsToTargets(moons);
        QCOMPARE(moons.targetWidth, std::int64_t {1});
        QCOMPARE(std::vector(moons.targets.begin(), moons.targets.begin() + 4), (std::vector {0.0F, 1.0F, 0.0F, 1.0F}));
        QCOMPARE(moons.classes, std::int64_t {2});

        Dataset spirals = load(config("spirals"));
        labelsToTargets(spirals);
        QCOMPARE(spirals.targetWidth, std::int64_t {3});
        QCOMPARE(std::vector(spirals.targets.begin(), spirals.targets.begin() + 6),
            (std::vector {1.0F, 0.0F, 0.0F, 0.0F, 1.0F, 0.0F}));
        QCOMPARE(spirals.labels, load(config("spirals")).labels);

        Dataset regression = load(config("regression"));
        labelsToTargets(regression);
        QCOMPARE(regression.targets, load(config("regression")).targets);
    }

    void gatherCopiesTheRows()
    {
        const Dataset regression = load(config("regression"));
        const std::vector<std::uint32_t> indices {5, 1999, 5};
        std::vector<float> inputs(24);
        std::vector<float> targets(3);
        gatherInputs(regression, indices, inputs);
        gatherTargets(regression, indices, targets);
        for (std::size_t i = 0; i < 3; ++i) {
            QCOMPARE(targets[i], regression.targets[indices[i]]);
            QVERIFY(std::equal(inputs.begin() + static_cast<std::ptrdiff_t>(8 * i),
                inputs.begin() + static_cast<std::ptrdiff_t>(8 * i + 8),
                regression.inputs.begin() + 8 * static_cast<std::ptrdiff_t>(indices[i])));
        }
        std::vector<std::int32_t> labels(2);
        const Dataset digits = load(config("digits"));
        gatherLabels(digits, std::vector<std::uint32_t> {1796, 4}, labels);
        QCOMPARE(labels, (std::vector<std::int32_t> {8, 4}));
        QVERIFY_THROWS_EXCEPTION(Error, gatherLabels(digits, indices, labels));
    }

    void batchesFollowTheShuffledEpochs()
    {
        // Three epochs of five samples, cut by four: the second and third batch cross a border.
        BatchSource source({2, 3, 5, 7, 11}, 4, 1, 7);
        QCOMPARE(draw(source, 0, 3), (std::vector<std::uint32_t> {11, 2, 3, 5, 7, 11, 2, 5, 7, 3, 5, 11}));
        QCOMPARE(source.fingerprint(), std::uint64_t {0x410ee8b3e1db69bb});
    }

    void everyEpochHasEverySampleOnce()
    {
        const Dataset digits = load(config("digits"));
        BatchSource source(digits.train, 64, 1, 1);
        const std::size_t n = digits.train.size();
        const std::vector<std::uint32_t> drawn = draw(source, 0, static_cast<std::int64_t>(3 * n / 64 + 1));
        std::set<std::vector<std::uint32_t>> orders;
        for (std::size_t epoch = 0; epoch < 3; ++epoch) {
            const auto begin = drawn.begin() + static_cast<std::ptrdiff_t>(epoch * n);
            std::vector<std::uint32_t> order(begin, begin + static_cast<std::ptrdiff_t>(n));
            orders.insert(order);
            std::sort(order.begin(), order.end());
            QCOMPARE(order, digits.train);
        }
        QCOMPARE(orders.size(), std::size_t {3});
    }

    void aBatchMayExceedTheData()
    {
        BatchSource source({1, 2, 3}, 8, 1, 1);
        const std::vector<std::uint32_t> drawn = draw(source, 0, 3);
        for (const std::uint32_t sample : {1U, 2U, 3U}) {
            QCOMPARE(std::count(drawn.begin(), drawn.end(), sample), 8);
        }
    }

    void aStepDoesNotDependOnWhatCameBefore()
    {
        const std::vector<std::uint32_t> samples = everyIndexOnce(100);
        BatchSource whole(samples, 32, 2, 9);
        draw(whole, 0, 40, 2);
        const std::uint64_t before = whole.fingerprint();
        const std::vector<std::uint32_t> later = draw(whole, 40, 5, 2);

        BatchSource resumed(samples, 32, 2, 9);
        resumed.restoreFingerprint(before);
        QCOMPARE(draw(resumed, 40, 5, 2), later);
        QCOMPARE(resumed.fingerprint(), whole.fingerprint());
        QCOMPARE(draw(resumed, 40, 5, 2), later); // backwards, too
        BatchSource otherSeed(samples, 32, 2, 10);
        QVERIFY(draw(otherSeed, 40, 5, 2) != later);
    }

    void microBatchesCutTheSameSequence()
    {
        const std::vector<std::uint32_t> samples = everyIndexOnce(77);
        BatchSource large(samples, 32, 1, 5);
        BatchSource small(samples, 8, 4, 5);
        QCOMPARE(draw(small, 0, 20, 4), draw(large, 0, 20));
        QCOMPARE(small.fingerprint(), large.fingerprint());
    }

    void emptyBatchesAreRefused()
    {
        QVERIFY_THROWS_EXCEPTION(Error, BatchSource({}, 4, 1, 1));
        QVERIFY_THROWS_EXCEPTION(Error, BatchSource({1}, 0, 1, 1));
        QVERIFY_THROWS_EXCEPTION(Error, BatchSource({1}, 4, -1, 1));
    }
};

QTEST_APPLESS_MAIN(TestDatasets)
#include "tst_datasets.moc"
