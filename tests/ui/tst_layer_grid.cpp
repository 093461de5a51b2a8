/// What the layer view computes, against brute force: a layer's figures are those of its tensors taken as one, the
/// stages of a gradient add up, the ledger counts what a list of steps counts.
#include "engine/formats/float16.h"
#include "ui/layers/heat_painter.h"
#include "ui/layers/layer_grid.h"
#include "ui/layers/layer_table_model.h"
#include "ui/layers/layer_words.h"
#include "ui/layers/skip_ledger.h"
#include "ui/layers/survival.h"
#include "ui/style/theme.h"

#include <QAbstractItemModelTester>
#include <QPainter>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

using namespace mantissa;

namespace {

constexpr double scaleOfStep = 256;

/// A parameter as a lane in FP16 has it.
struct Parameter
{
    std::string name;
    std::vector<float> weight;
    std::vector<float> reference;
    std::vector<float> scaled; ///< rounded to FP16
    std::vector<float> update;
};

TensorSample tensorOf(const std::string& name, TensorRole role, const std::vector<float>& elements)
{
    TensorSample sample;
    sample.tensor = name;
    sample.role = role;
    measure(elements, sample);
    return sample;
}

double norm(const std::vector<float>& elements)
{
    return std::sqrt(std::accumulate(elements.begin(), elements.end(), 0.0,
        [](double sum, float element) { return sum + double {element} * element; }));
}

Parameter makeParameter(const std::string& name, std::size_t size, std::mt19937& random)
{
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> exponent(-30, 2);
    Parameter parameter {name, {}, {}, {}, {}};
    for (std::size_t i = 0; i < size; ++i) {
        const float gradient = i % 7 == 0 ? 0 : normal(random) * std::exp2(exponent(random));
        parameter.weight.push_back(normal(random));
        parameter.reference.push_back(gradient);
        parameter.scaled.push_back(Float16::fromFloat(gradient * static_cast<float>(scaleOfStep)).toFloat());
        parameter.update.push_back(i % 3 == 0 ? 0 : -0.01F * gradient);
    }
    return parameter;
}

void addTo(StepSample& sample, const Parameter& parameter)
{
    std::vector<float> unscaled;
    double product = 0;
    double difference = 0;
    Census rounding;
    for (std::size_t i = 0; i < parameter.scaled.size(); ++i) {
        const double ours = parameter.scaled[i] / scaleOfStep;
        unscaled.push_back(static_cast<float>(ours));
        product += ours * parameter.reference[i];
        difference += (ours - parameter.reference[i]) * (ours - parameter.reference[i]);
        const float magnitude = std::abs(parameter.scaled[i]);
        const bool wasZero = parameter.reference[i] == 0;
        ++(wasZero                                               ? rounding.zero
                : magnitude == 0                                 ? rounding.flushed
                : std::isinf(magnitude)                          ? rounding.overflowed
                : magnitude < limitsOf(DType::Float16).minNormal ? rounding.subnormal
                                                                 : rounding.normal);
    }
    sample.tensors.push_back(tensorOf(parameter.name, TensorRole::Weight, parameter.weight));
    TensorSample scaled = tensorOf(parameter.name, TensorRole::Scaled, parameter.scaled);
    scaled.format = DType::Float16;
    scaled.census = rounding;
    scaled.cosine = product / (norm(unscaled) * norm(parameter.reference));
    scaled.relativeError = std::sqrt(difference) / norm(parameter.reference);
    sample.tensors.push_back(scaled);
    sample.tensors.push_back(tensorOf(parameter.name, TensorRole::Reference, parameter.reference));
    sample.tensors.push_back(tensorOf(parameter.name, TensorRole::Unscaled, unscaled));
    TensorSample update = tensorOf(parameter.name, TensorRole::Update, parameter.update);
    double wanted = 0;
    double kept = 0;
    for (std::size_t i = 0; i < unscaled.size(); ++i) {
        wanted += unscaled[i] != 0 || parameter.update[i] != 0 ? 1 : 0;
        kept += unscaled[i] != 0 && parameter.update[i] == 0 ? 1 : 0;
    }
    update.unmoved = kept / wanted;
    update.ratio = norm(parameter.update) / norm(parameter.weight);
    update.belowHalfUlp = 0.25;
    sample.tensors.push_back(update);
}

Parameter joined(const Parameter& a, const Parameter& b)
{
    Parameter both = a;
    const auto append
        = [](std::vector<float>& to, const std::vector<float>& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(both.weight, b.weight);
    append(both.reference, b.reference);
    append(both.scaled, b.scaled);
    append(both.update, b.update);
    return both;
}

StepSample emptySample(std::int64_t step = 0)
{
    StepSample sample;
    sample.step = step;
    sample.lower = DType::Float16;
    sample.scale = scaleOfStep;
    return sample;
}

const LayerFigures& rowNamed(const std::vector<LayerFigures>& figures, const std::string& name)
{
    const auto found = std::ranges::find(figures, name, &LayerFigures::name);
    if (found == figures.end()) {
        qFatal("no row %s", name.c_str());
    }
    return *found;
}

bool isNear(double a, double b)
{
    return (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-6 * std::max(std::abs(a), std::abs(b));
}

std::vector<std::string> namesOf(const std::vector<LayerFigures>& figures)
{
    std::vector<std::string> names;
    std::ranges::transform(figures, std::back_inserter(names), &LayerFigures::name);
    return names;
}

/// A step with two layers of two parameters each, and activations between them.
SamplePtr modelSample(std::int64_t step, unsigned seed)
{
    std::mt19937 random(seed);
    StepSample sample = emptySample(step);
    for (const char* name : {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}) {
        addTo(sample, makeParameter(name, 50, random));
    }
    for (const char* node : {"fc1", "act1", "fc2"}) {
        TensorSample activation = tensorOf(node, TensorRole::Activation, {1, -2.5F, 0});
        if (std::string(node) == "act1") {
            activation.dead = 0.375;
        }
        sample.tensors.push_back(activation);
    }
    return std::make_shared<const StepSample>(std::move(sample));
}

} // namespace

class TestLayerGrid : public QObject
{
    Q_OBJECT

private slots:
    void aLayerIsItsTensorsTakenAsOne();
    void rowsFollowTheForwardPass();
    void whatIsNotFiniteHasAnInfiniteNorm();
    void aZeroGradientHasNoCosine();
    void gridKeepsWhatItHas();
    void scalesSuitTheirMeasure();
    void shadesAreEven();
    void manyStepsOnAPixelShowTheWorst();
    void stagesAddUpToOne();
    void stagesCountWhatIsLost();
    void fp32HasNothingToLose();
    void nothingMovedIsSaid();
    void ledgerCountsAsAListDoes();
    void ledgerStartsAnewWhereStepsComeAgain();
    void aPersonsScaleIsNoGrowth();
    void scheduleLeadFollowsTheSetting();
    void causesAreRemembered();
    void modelSortsFiltersAndPins();
};

void TestLayerGrid::aLayerIsItsTensorsTakenAsOne()
{
    std::mt19937 random(5);
    const Parameter weight = makeParameter("fc.weight", 400, random);
    const Parameter bias = makeParameter("fc.bias", 60, random);
    StepSample apart = emptySample();
    addTo(apart, weight);
    addTo(apart, bias);
    StepSample together = emptySample();
    Parameter both = joined(weight, bias);
    both.name = "fc.weight";
    addTo(together, both);
    const LayerFigures layer = rowNamed(figuresOf(apart, LayerGrouping::Layers), "fc");
    const LayerFigures one = rowNamed(figuresOf(together, LayerGrouping::Tensors), "fc.weight");
    for (const LayerMeasure measure : allLayerMeasures) {
        QVERIFY2(isNear(layer[measure], one[measure]),
            qPrintable(QStringLiteral("%1: %2 and %3").arg(titleOf(measure)).arg(layer[measure]).arg(one[measure])));
    }
    // And the figures of one tensor are its sample's.
    const TensorSample& scaled = together.tensors[1];
    const TensorSample& update = together.tensors[4];
    QVERIFY(isNear(one[LayerMeasure::Cosine], scaled.cosine));
    QVERIFY(isNear(one[LayerMeasure::RelativeError], scaled.relativeError));
    QVERIFY(isNear(one[LayerMeasure::UpdateRatio], update.ratio));
    QVERIFY(isNear(one[LayerMeasure::Unmoved], update.unmoved));
    QVERIFY(isNear(one[LayerMeasure::GradientNorm], together.tensors[3].norm));
    QVERIFY(isNear(
        one[LayerMeasure::Flushed], static_cast<double>(scaled.census.flushed) / static_cast<double>(scaled.elements)));
    QVERIFY(scaled.census.flushed > 0 && scaled.census.subnormal > 0);
}

void TestLayerGrid::rowsFollowTheForwardPass()
{
    const SamplePtr sample = modelSample(0, 1);
    QCOMPARE(namesOf(figuresOf(*sample, LayerGrouping::Layers)), (std::vector<std::string> {"fc1", "act1", "fc2"}));
    QCOMPARE(namesOf(figuresOf(*sample, LayerGrouping::Tensors)),
        (std::vector<std::string> {"fc1", "fc1.weight", "fc1.bias", "act1", "fc2", "fc2.weight", "fc2.bias"}));
    const auto layers = figuresOf(*sample, LayerGrouping::Layers);
    QCOMPARE(rowNamed(layers, "act1")[LayerMeasure::Dead], 0.375);
    QVERIFY(std::isnan(rowNamed(layers, "act1")[LayerMeasure::GradientNorm]));
    QVERIFY(std::isnan(rowNamed(layers, "fc1")[LayerMeasure::Dead]));
    QCOMPARE(rowNamed(layers, "fc1")[LayerMeasure::ActivationLargest], 2.5);
}

void TestLayerGrid::whatIsNotFiniteHasAnInfiniteNorm()
{
    StepSample sample = emptySample();
    sample.tensors.push_back(tensorOf("fc.weight", TensorRole::Unscaled, {1, std::numeric_limits<float>::infinity()}));
    QVERIFY(std::isinf(figuresOf(sample, LayerGrouping::Layers).front()[LayerMeasure::GradientNorm]));
}

void TestLayerGrid::aZeroGradientHasNoCosine()
{
    StepSample sample = emptySample();
    TensorSample scaled = tensorOf("fc.weight", TensorRole::Scaled, {0, 0});
    scaled.relativeError = 1;
    sample.tensors.push_back(scaled);
    sample.tensors.push_back(tensorOf("fc.weight", TensorRole::Reference, {3, 4}));
    const LayerFigures figures = figuresOf(sample, LayerGrouping::Layers).front();
    QVERIFY(std::isnan(figures[LayerMeasure::Cosine]));
    QCOMPARE(figures[LayerMeasure::RelativeError], 1.0);
}

void TestLayerGrid::gridKeepsWhatItHas()
{
    LayerGrid grid;
    std::vector<SamplePtr> samples {modelSample(0, 1), modelSample(50, 2), modelSample(100, 3)};
    QVERIFY(grid.follow(samples, LayerGrouping::Layers));
    QCOMPARE(grid.rows(), (std::vector<std::string> {"fc1", "act1", "fc2"}));
    QCOMPARE(grid.columns(), std::size_t {3});
    QCOMPARE(grid.step(1), std::int64_t {50});
    QCOMPARE(grid.columnAt(49), std::size_t {0});
    QCOMPARE(grid.columnAt(50), std::size_t {1});
    QCOMPARE(grid.columnAt(1000), std::size_t {2});
    QCOMPARE(grid.columnAt(-1), std::size_t {0});
    QVERIFY(grid.applies(0, LayerMeasure::GradientNorm) && !grid.applies(1, LayerMeasure::GradientNorm));
    // A sample that came, one that was let go, and one in place of another.
    samples.erase(samples.begin() + 1);
    samples.back() = modelSample(100, 4);
    samples.push_back(modelSample(150, 5));
    QVERIFY(!grid.follow(samples, LayerGrouping::Layers));
    QCOMPARE(grid.columns(), std::size_t {3});
    for (std::size_t column = 0; column < samples.size(); ++column) {
        QCOMPARE(grid.sample(column), samples[column]);
        const auto figures = figuresOf(*samples[column], LayerGrouping::Layers);
        for (std::size_t row = 0; row < grid.rows().size(); ++row) {
            for (const LayerMeasure measure : allLayerMeasures) {
                const double value = grid.value(row, column, measure);
                const double expected = rowNamed(figures, grid.rows()[row])[measure];
                QVERIFY(value == expected || (std::isnan(value) && std::isnan(expected)));
            }
        }
    }
    QVERIFY(grid.follow(samples, LayerGrouping::Tensors));
    QCOMPARE(grid.rows().size(), std::size_t {7});
    QVERIFY(grid.follow({}, LayerGrouping::Tensors));
    QVERIFY(grid.rows().empty());
}

void TestLayerGrid::scalesSuitTheirMeasure()
{
    HeatScale norms {.lower = 0.01, .upper = 1, .isLog = true};
    QCOMPARE(norms.strength(0.01), 0.0);
    QCOMPARE(norms.strength(0.1), 0.5);
    QCOMPARE(norms.strength(1), 1.0);
    QCOMPARE(norms.strength(0), 0.0);
    QCOMPARE(norms.strength(std::numeric_limits<double>::infinity()), 1.0);
    HeatScale cosines {.lower = 0.8, .upper = 1, .isReversed = true};
    QCOMPARE(cosines.strength(1), 0.0);
    QCOMPARE(cosines.strength(0.9), 0.5);
    QCOMPARE(cosines.strength(0.8), 1.0);
    QCOMPARE(HeatScale {}.strength(3), 0.0);

    LayerGrid grid;
    grid.follow({modelSample(0, 1), modelSample(50, 2)}, LayerGrouping::Layers);
    double greatest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t column : {0U, 1U}) {
        for (const std::size_t row : {0U, 2U}) {
            greatest = std::max(greatest, grid.value(row, column, LayerMeasure::Flushed));
            least = std::min(least, grid.value(row, column, LayerMeasure::GradientNorm));
        }
    }
    const HeatScale flushed = heatScale(grid, LayerMeasure::Flushed);
    QCOMPARE(flushed.lower, 0.0);
    QCOMPARE(flushed.upper, greatest);
    QVERIFY(!flushed.isLog);
    QCOMPARE(heatScale(grid, LayerMeasure::GradientNorm).lower, least);
    QVERIFY(heatScale(grid, LayerMeasure::GradientNorm).isLog);
    QCOMPARE(heatScale(grid, LayerMeasure::Cosine).upper, 1.0);
}

void TestLayerGrid::shadesAreEven()
{
    for (const QPalette& palette : {lightPalette(), darkPalette()}) {
        const HeatPainter painter(QFont(), palette);
        double before = -1;
        for (int i = 0; i <= 10; ++i) {
            const QColor shade = painter.shade(i / 10.0);
            QCOMPARE(shade.red(), shade.green());
            QCOMPARE(shade.green(), shade.blue());
            const double channel = shade.redF();
            const double luminance = channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
            const double lightness = luminance > 0.008856 ? 116 * std::cbrt(luminance) - 16 : 903.3 * luminance;
            if (before >= 0) {
                QVERIFY(std::abs(std::abs(lightness - before) - (isDark(palette) ? 7.7 : 8.5)) < 0.4);
            }
            before = lightness;
        }
        // Zero is not blank.
        QVERIFY(contrastRatio(painter.shade(0), palette.color(QPalette::Base)) > 1.08);
    }
}

void TestLayerGrid::manyStepsOnAPixelShowTheWorst()
{
    std::vector<SamplePtr> samples;
    for (int step = 0; step < 500; ++step) {
        StepSample sample = emptySample(step);
        TensorSample scaled = tensorOf("fc.weight", TensorRole::Scaled, {1, 1});
        if (step == 333) {
            scaled.census = {.flushed = 2};
        }
        sample.tensors.push_back(scaled);
        samples.push_back(std::make_shared<const StepSample>(sample));
    }
    LayerGrid grid;
    grid.follow(samples, LayerGrouping::Layers);
    const HeatContent content {&grid, LayerMeasure::Flushed, heatScale(grid, LayerMeasure::Flushed)};
    QImage image(100, 1, QImage::Format_RGB32);
    image.fill(Qt::red);
    const HeatPainter heat(QFont(), lightPalette());
    QPainter painter(&image);
    heat.paintRow(painter, {0, 0, 100, 1}, content, 0);
    painter.end();
    for (int x = 0; x < 100; ++x) {
        QCOMPARE(image.pixelColor(x, 0).rgb(), heat.shade(x == 66 ? 1 : 0).rgb());
    }
    // Every column's cell leads back to it.
    for (const double width : {100.0, 500.0, 777.0, 2000.0}) {
        for (std::size_t column = 0; column < 500; ++column) {
            const double x = HeatPainter::left(column, 500, width);
            if (HeatPainter::left(column + 1, 500, width) > x) {
                QCOMPARE(HeatPainter::columnAt(x, 500, width), column);
            }
        }
    }
}

void TestLayerGrid::stagesAddUpToOne()
{
    const SamplePtr sample = modelSample(0, 9);
    const auto stages = survivalOf(*sample);
    QCOMPARE(stages.size(), std::size_t {5});
    const std::vector kinds {
        SurvivalKind::Raw, SurvivalKind::Scaled, SurvivalKind::Cast, SurvivalKind::Unscaled, SurvivalKind::Applied};
    for (std::size_t i = 0; i < stages.size(); ++i) {
        QVERIFY(stages[i].kind == kinds[i]);
        const SurvivalStage& stage = stages[i];
        QVERIFY(std::abs(stage.normal + stage.subnormal + stage.flushed + stage.zero + stage.overflowed - 1) < 1e-9);
    }
}

void TestLayerGrid::stagesCountWhatIsLost()
{
    // FP16 flushes up to 2^-25 and is subnormal below 2^-14; the scale is 2^8.
    const std::vector<float> gradient {0, std::exp2(-40.0F), std::exp2(-30.0F), std::exp2(-20.0F), 1, 512};
    std::vector<float> scaled;
    std::vector<float> unscaled;
    for (const float element : gradient) {
        scaled.push_back(Float16::fromFloat(element * 256).toFloat());
        unscaled.push_back(scaled.back() / 256);
    }
    StepSample sample = emptySample();
    sample.tensors.push_back(tensorOf("a.weight", TensorRole::Reference, gradient));
    sample.tensors.push_back(tensorOf("b.weight", TensorRole::Reference, {1, 1}));
    TensorSample cast = tensorOf("a.weight", TensorRole::Scaled, scaled);
    cast.census = {.zero = 1, .flushed = 1, .subnormal = 1, .normal = 2, .overflowed = 1};
    sample.tensors.push_back(cast);
    sample.tensors.push_back(tensorOf("b.weight", TensorRole::Scaled, {256, 256}));
    sample.tensors.push_back(tensorOf("a.weight", TensorRole::Unscaled, unscaled));
    sample.tensors.push_back(tensorOf("b.weight", TensorRole::Unscaled, {1, 1}));
    const auto stages = survivalOf(sample);
    QCOMPARE(stages.size(), std::size_t {4});
    const SurvivalStage& raw = stages[0];
    QCOMPARE(raw.flushed * 8, 2.0); // 2^-40 and 2^-30
    QCOMPARE(raw.subnormal * 8, 1.0);
    QCOMPARE(raw.zero * 8, 1.0);
    QCOMPARE(raw.overflowed, 0.0);
    const SurvivalStage& times = stages[1];
    QCOMPARE(times.flushed * 8, 1.0); // 2^-40
    QCOMPARE(times.subnormal * 8, 1.0); // 2^-30
    QCOMPARE(times.overflowed * 8, 1.0); // 512 * 256
    for (const std::size_t stage : {2U, 3U}) {
        QCOMPARE(stages[stage].flushed * 8, 1.0);
        QCOMPARE(stages[stage].zero * 8, 1.0);
        QCOMPARE(stages[stage].overflowed * 8, 1.0);
        QCOMPARE(stages[stage].worst.size(), std::size_t {1});
        QCOMPARE(stages[stage].worst.front().first, std::string("a"));
        QCOMPARE(stages[stage].worst.front().second * 6, 2.0);
    }
    // Divided by the scale again, what is left is normal in FP32.
    QCOMPARE(stages[2].subnormal * 8, 1.0);
    QCOMPARE(stages[3].subnormal, 0.0);
}

void TestLayerGrid::fp32HasNothingToLose()
{
    StepSample sample;
    sample.tensors.push_back(tensorOf("fc.weight", TensorRole::Scaled, {1, 0, 2}));
    sample.tensors.push_back(tensorOf("fc.weight", TensorRole::Unscaled, {1, 0, 2}));
    const auto stages = survivalOf(sample);
    QCOMPARE(stages.size(), std::size_t {2});
    QVERIFY(stages[0].kind == SurvivalKind::Cast);
    QCOMPARE(stages[0].lost(), 0.0);
    QCOMPARE(stages[0].zero * 3, 1.0);
    QVERIFY(stages[0].worst.empty());
    QVERIFY(worstText(stages[0]).isEmpty());
    QVERIFY(survivalOf(StepSample {}).empty());
}

void TestLayerGrid::nothingMovedIsSaid()
{
    StepSample sample = emptySample();
    sample.tensors.push_back(tensorOf("fc.weight", TensorRole::Reference, {1, 0, 2, 3}));
    sample.tensors.push_back(tensorOf("fc.weight", TensorRole::Weight, {1, 1, 1, 1}));
    sample.tensors.push_back(tensorOf("fc.weight", TensorRole::Unscaled, {1, 0, 0, 3}));
    TensorSample update = tensorOf("fc.weight", TensorRole::Update, {0, 0, 0, 0});
    update.unmoved = 1;
    sample.tensors.push_back(update);
    QCOMPARE(figuresOf(sample, LayerGrouping::Layers).front()[LayerMeasure::Unmoved], 1.0);
    const SurvivalStage applied = survivalOf(sample).back();
    QVERIFY(applied.kind == SurvivalKind::Applied);
    QCOMPARE(applied.normal, 0.0);
    QCOMPARE(applied.flushed, 0.75);
    QCOMPARE(applied.zero, 0.25);
    QVERIFY2(sharesText(applied).startsWith(QStringLiteral("75 % unmoved")), qPrintable(sharesText(applied)));
}

void TestLayerGrid::ledgerCountsAsAListDoes()
{
    std::mt19937 random(2);
    SkipLedger ledger;
    std::vector<StepRecord> records;
    double scale = 1024;
    for (std::int64_t step = 10; step < 1500; ++step) {
        StepRecord record;
        record.step = step;
        record.scale = scale;
        record.skipped = random() % 5 == 0;
        ledger.add(record);
        records.push_back(record);
        scale *= record.skipped ? 0.5 : random() % 9 == 0 ? 2 : 1;
    }
    const auto brute = [&](std::int64_t first, std::int64_t last) {
        LedgerCount count;
        for (std::size_t i = 0; i < records.size(); ++i) {
            if (records[i].step < first || records[i].step > last) {
                continue;
            }
            ++(records[i].skipped ? count.skipped : count.taken);
            count.grown += i > 0 && records[i].scale > records[i - 1].scale ? 1 : 0;
            count.backedOff += i > 0 && records[i].scale < records[i - 1].scale ? 1 : 0;
        }
        return count;
    };
    for (int trial = 0; trial < 300; ++trial) {
        const auto first = static_cast<std::int64_t>(random() % 1600);
        const auto last = first + static_cast<std::int64_t>(random() % 200);
        const LedgerCount count = ledger.count(first, last);
        const LedgerCount expected = brute(first, last);
        QCOMPARE(count.taken, expected.taken);
        QCOMPARE(count.skipped, expected.skipped);
        QCOMPARE(count.grown, expected.grown);
        QCOMPARE(count.backedOff, expected.backedOff);
    }
    QCOMPARE(ledger.count(2000, 3000).taken, std::int64_t {0});
    const std::int64_t skip = ledger.nextSkip(700);
    QVERIFY(skip >= 700 && ledger.isSkipped(skip));
    QCOMPARE(ledger.skipBefore(skip + 1), skip);
    QVERIFY(ledger.skipBefore(skip) < skip);
    QCOMPARE(ledger.skipBefore(0), std::int64_t {-1});
}

void TestLayerGrid::ledgerStartsAnewWhereStepsComeAgain()
{
    SkipLedger ledger;
    const auto add = [&ledger](std::int64_t step, bool isSkipped, double scale) {
        StepRecord record;
        record.step = step;
        record.skipped = isSkipped;
        record.scale = scale;
        ledger.add(record);
    };
    for (std::int64_t step = 0; step < 10; ++step) {
        add(step, true, std::exp2(static_cast<double>(-step)));
    }
    add(4, false, 1);
    QCOMPARE(ledger.lastStep(), std::int64_t {4});
    QCOMPARE(ledger.count(0, 100).skipped, std::int64_t {4});
    QCOMPARE(ledger.count(0, 100).taken, std::int64_t {1});
    QCOMPARE(ledger.count(0, 3).backedOff, std::int64_t {3});
    RunColumns columns;
    columns.step = {0, 1, 2};
    columns.scale = {4, 2, 2};
    columns.skipped = {1, 0, 0};
    ledger.setColumns(columns);
    QCOMPARE(ledger.lastStep(), std::int64_t {2});
    QCOMPARE(ledger.count(0, 9).skipped, std::int64_t {1});
    QCOMPARE(ledger.count(0, 9).backedOff, std::int64_t {1});
}

void TestLayerGrid::aPersonsScaleIsNoGrowth()
{
    SkipLedger ledger;
    ledger.add(Event {.kind = EventKind::Set, .step = 2, .path = "scaler.scale", .before = "1", .after = "8"});
    for (std::int64_t step = 0; step < 5; ++step) {
        StepRecord record;
        record.step = step;
        record.scale = step < 2 ? 1 : step < 4 ? 8 : 16;
        ledger.add(record);
    }
    QCOMPARE(ledger.count(0, 4).grown, std::int64_t {1});
}

void TestLayerGrid::scheduleLeadFollowsTheSetting()
{
    SkipLedger ledger;
    for (std::int64_t step = 0; step < 10; ++step) {
        StepRecord record;
        record.step = step;
        record.skipped = step % 2 == 0;
        ledger.add(record);
    }
    ledger.setCountsSkipped(false);
    QCOMPARE(ledger.scheduleLead(), std::int64_t {0});
    ledger.setCountsSkipped(true);
    QCOMPARE(ledger.scheduleLead(), std::int64_t {5});
    QVERIFY2(ledgerSentence(ledger).contains(QStringLiteral("5 ahead of the optimizer")),
        qPrintable(ledgerSentence(ledger)));
    ledger.add(Event {
        .kind = EventKind::Set, .step = 6, .path = "schedule.count_skipped", .before = "true", .after = "false"});
    QCOMPARE(ledger.scheduleLead(), std::int64_t {3}); // steps 0, 2, 4
}

void TestLayerGrid::causesAreRemembered()
{
    SkipLedger ledger;
    for (std::int64_t step = 0; step < 10; ++step) {
        StepRecord record;
        record.step = step;
        record.skipped = step == 3 || step == 7;
        ledger.add(record);
    }
    QVERIFY(ledger.causeOf(9) == nullptr);
    ledger.add(
        Event {.kind = EventKind::Numerics, .step = 3, .path = "fc1.backward", .text = "Infinite; first in fc1."});
    QVERIFY(ledger.causeOf(2) == nullptr);
    QCOMPARE(ledger.causeOf(3)->path, std::string("fc1.backward"));
    QVERIFY(ledgerStepsText(ledger, 3, 3).endsWith(QStringLiteral("\nInfinite; first in fc1.")));
    QVERIFY(ledgerStepsText(ledger, 7, 7).contains(QStringLiteral("As at step 3: Infinite")));
    QVERIFY(!ledgerStepsText(ledger, 5, 5).contains(QStringLiteral("Infinite")));
    QVERIFY(ledgerStepsText(ledger, 20, 30).isEmpty());
}

void TestLayerGrid::modelSortsFiltersAndPins()
{
    LayerTableModel model;
    LayerOrder order(&model);
    QAbstractItemModelTester tester(&order);
    const std::vector<SamplePtr> samples {modelSample(0, 1), modelSample(50, 2)};
    model.setSamples(samples, LayerGrouping::Tensors);
    model.setMeasure(LayerMeasure::GradientNorm);
    order.measureChanged();
    const auto shown = [&order] {
        QStringList names;
        for (int row = 0; row < order.rowCount(); ++row) {
            names << order.index(row, 0).data().toString();
        }
        return names;
    };
    order.sort(0, Qt::AscendingOrder);
    const QStringList parameters {QStringLiteral("fc1.weight"), QStringLiteral("fc1.bias"),
        QStringLiteral("fc2.weight"), QStringLiteral("fc2.bias")};
    QCOMPARE(shown(), parameters); // activations have no gradient norm
    order.sort(LayerTableModel::columnOf(LayerMeasure::GradientNorm), Qt::DescendingOrder);
    std::vector<double> values;
    for (int row = 0; row < order.rowCount(); ++row) {
        values.push_back(order.index(row, 1).data(LayerTableModel::SortRole).toDouble());
    }
    QVERIFY(std::is_sorted(values.rbegin(), values.rend()));
    const QString last = shown().last();
    for (int row = 0; row < model.rowCount(); ++row) {
        if (model.index(row, 0).data().toString() == last) {
            model.setPinned(row, true);
        }
    }
    QCOMPARE(shown().first(), last);
    order.sort(0, Qt::AscendingOrder);
    QCOMPARE(shown().first(), last);
    order.setWords(QStringLiteral("BIAS fc2"));
    QCOMPARE(shown(), QStringList {QStringLiteral("fc2.bias")});
    order.setWords({});
    model.setMeasure(LayerMeasure::Dead);
    order.measureChanged();
    QCOMPARE(shown(), QStringList {QStringLiteral("act1")});
}

QTEST_MAIN(TestLayerGrid)
#include "tst_layer_grid.moc"
