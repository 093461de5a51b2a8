// Looking at a step changes nothing of it, and what is seen is what brute force counts.
#include "engine/backends/backend_registry.h"
#include "engine/formats/bfloat16.h"
#include "engine/formats/float16.h"
#include "engine/probe/corridor.h"
#include "engine/store/run_store.h"
#include "engine/train/lane.h"
#include "engine/train/scale_trial.h"
#include "engine/train/session.h"
#include "engine/train/step_sample.h"
#include "engine/train/watch_expression.h"
#include "tests/support/run_recorder.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace mantissa;

namespace {

using json = nlohmann::json;

json documentOf(const json& settings)
{
    json document {{"name", "a"}, {"steps", 40}, {"model", {{"hidden", {24, 16}}}}, {"data", {{"batch", 16}}},
        {"optimizer", {{"kind", "adam"}, {"lr", 0.01}}}};
    document.merge_patch(settings);
    return document;
}

Lane laneOf(const json& settings = json::object())
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    return {0, parseLane(documentOf(settings), ""), {}, data, backendByName("cpu"), 1};
}

const TensorSample& sampleOf(const StepSample& sample, TensorRole role, const std::string& tensor)
{
    const auto found = std::ranges::find_if(
        sample.tensors, [&](const TensorSample& each) { return each.role == role && each.tensor == tensor; });
    if (found == sample.tensors.end()) {
        qFatal("no %s of %s", std::string(nameOf(role)).c_str(), tensor.c_str());
    }
    return *found;
}

json amp(const char* policy, double scale)
{
    return {{"precision", {{"policy", policy}}}, {"scaler", {{"family", "pytorch"}, {"init_scale", scale}}}};
}

double rounded(DType format, double value)
{
    return format == DType::Float16 ? Float16::fromDouble(value).toDouble() : BFloat16::fromDouble(value).toDouble();
}

bool isSame(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

bool isSameSample(const TensorSample& a, const TensorSample& b)
{
    return a.tensor == b.tensor && a.role == b.role && a.format == b.format && a.elements == b.elements
        && a.census == b.census && a.largest == b.largest && a.smallest == b.smallest && a.norm == b.norm
        && a.firstExponent == b.firstExponent && a.exponents == b.exponents && isSame(a.dead, b.dead)
        && isSame(a.saturated, b.saturated) && isSame(a.cosine, b.cosine) && isSame(a.relativeError, b.relativeError)
        && isSame(a.ratio, b.ratio) && isSame(a.unmoved, b.unmoved) && isSame(a.belowHalfUlp, b.belowHalfUlp);
}

} // namespace

class TestStepSample : public QObject
{
    Q_OBJECT

private slots:

    void measuringIsCounting()
    {
        std::mt19937 random(3);
        std::uniform_real_distribution<float> exponent(-140, 127);
        std::vector<float> values;
        for (int i = 0; i < 5000; ++i) {
            const float sign = random() % 2 == 0 ? 1.0F : -1.0F;
            values.push_back(random() % 9 == 0 ? 0 : sign * std::exp2(exponent(random)));
        }
        values[7] = std::numeric_limits<float>::infinity();
        values[8] = std::numeric_limits<float>::quiet_NaN();
        for (const DType format : {DType::Float32, DType::Float16, DType::BFloat16}) {
            TensorSample sample;
            sample.format = format;
            measure(values, sample);
            Census expected;
            std::map<int, std::uint32_t> bins;
            double largest = 0;
            double smallest = std::numeric_limits<double>::infinity();
            double squares = 0;
            for (const double value : values) {
                const double magnitude = std::abs(value);
                if (std::isnan(value)) {
                    ++expected.nan;
                } else if (std::isinf(value)) {
                    ++expected.infinite;
                } else if (value == 0) {
                    ++expected.zero;
                } else {
                    ++(magnitude < limitsOf(format).minNormal ? expected.subnormal : expected.normal);
                    ++bins[std::max(-127, std::ilogb(magnitude))];
                    largest = std::max(largest, magnitude);
                    smallest = std::min(smallest, magnitude);
                    squares += value * value;
                }
            }
            QVERIFY(sample.census == expected);
            QCOMPARE(sample.elements, values.size());
            QCOMPARE(sample.largest, largest);
            QCOMPARE(sample.smallest, smallest);
            QVERIFY(std::abs(sample.norm - std::sqrt(squares)) <= 1e-9 * std::sqrt(squares));
            QCOMPARE(sample.firstExponent, bins.begin()->first);
            for (std::size_t i = 0; i < sample.exponents.size(); ++i) {
                QCOMPARE(sample.exponents[i], bins[sample.firstExponent + static_cast<int>(i)]);
            }
            QCOMPARE(sample.firstExponent + static_cast<int>(sample.exponents.size()) - 1, bins.rbegin()->first);
        }
        TensorSample empty;
        measure(std::vector<float>(10, 0.0F), empty);
        QVERIFY(empty.exponents.empty() && empty.largest == 0 && empty.smallest == 0);
        QVERIFY(!forecast(empty, 30, DType::Float16).overflows);
    }

    void forecastsAreWhatRoundingDoes()
    {
        std::mt19937 random(4);
        std::uniform_real_distribution<float> exponent(-45, 20);
        std::vector<float> values;
        for (int i = 0; i < 20000; ++i) {
            values.push_back(random() % 10 == 0 ? 0 : std::exp2(exponent(random)));
        }
        TensorSample sample;
        measure(values, sample);
        for (const DType format : {DType::Float16, DType::BFloat16}) {
            for (int shift = -24; shift <= 24; ++shift) {
                double flushed = 0;
                double subnormal = 0;
                double overflowed = 0;
                for (const double value : values) {
                    const double result = rounded(format, std::ldexp(value, shift));
                    flushed += value != 0 && result == 0 ? 1 : 0;
                    subnormal += result != 0 && result < limitsOf(format).minNormal ? 1 : 0;
                    overflowed += std::isinf(result) ? 1 : 0;
                }
                const RoundingForecast seen = forecast(sample, shift, format);
                const auto all = static_cast<double>(values.size());
                // What lies within half a spacing of a class's end: fewer than one in a thousand of an octave.
                QVERIFY(std::abs(seen.flushed - flushed / all) < 2e-4);
                QVERIFY(std::abs(seen.subnormal - subnormal / all) < 2e-4);
                QVERIFY(std::abs(seen.overflowed - overflowed / all) < 2e-4);
                QCOMPARE(seen.overflows, overflowed > 0);
            }
        }
    }

    void mergingIsMeasuringTogether()
    {
        std::mt19937 random(6);
        std::uniform_real_distribution<float> exponent(-40, 20);
        TensorSample merged;
        std::vector<float> all;
        for (const std::size_t count : {0U, 50U, 1U, 3000U, 7U}) {
            std::vector<float> part;
            for (std::size_t i = 0; i < count; ++i) {
                part.push_back(random() % 4 == 0 ? 0 : std::exp2(exponent(random)));
            }
            TensorSample sample;
            measure(part, sample);
            merge(merged, sample);
            all.insert(all.end(), part.begin(), part.end());
        }
        TensorSample together;
        measure(all, together);
        QVERIFY(std::abs(merged.norm - together.norm) <= 1e-12 * together.norm);
        merged.norm = together.norm;
        QVERIFY(isSameSample(merged, together));
    }

    /// Judged by rounding the elements at every scale.
    void theCorridorIsWhereRoundingIsHarmless()
    {
        std::mt19937 random(7);
        for (int trial = 0; trial < 40; ++trial) {
            const auto centre = static_cast<float>(random() % 60) - 50;
            std::normal_distribution<float> exponent(centre, 1 + static_cast<float>(random() % 8));
            std::vector<float> values;
            for (int i = 0; i < 3000; ++i) {
                values.push_back(std::exp2(exponent(random)));
            }
            TensorSample sample;
            measure(values, sample);
            for (const DType format : {DType::Float16, DType::BFloat16}) {
                const Corridor corridor = corridorOf(sample, format, 0.01);
                for (int shift = -40; shift <= 90; ++shift) {
                    std::size_t flushed = 0;
                    bool overflows = false;
                    for (const double value : values) {
                        const double result = rounded(format, std::ldexp(value, shift));
                        flushed += result == 0 ? 1 : 0;
                        overflows = overflows || std::isinf(result);
                    }
                    QCOMPARE(overflows, std::exp2(shift) >= corridor.ceiling);
                    const double share = static_cast<double>(flushed) / 3000;
                    if (std::abs(share - 0.01) > 1e-3) {
                        QCOMPARE(share <= 0.01, std::exp2(shift) >= corridor.floor);
                    }
                }
            }
        }
        TensorSample nothing;
        measure(std::vector<float>(8, 0.0F), nothing);
        const Corridor any = corridorOf(nothing, DType::Float16, 0.01);
        QVERIFY(any.exists() && any.floor == 0 && std::isinf(any.ceiling));
        TensorSample wide;
        measure(std::vector<float> {1e-30F, 1e-30F, 1e6F}, wide);
        QVERIFY(!corridorOf(wide, DType::Float16, 0.01).exists());
    }

    void thinningKeepsHundreds()
    {
        const SamplingPlan plan {.every = 5};
        int count = 0;
        std::int64_t previous = 0;
        for (std::int64_t step = 0; step < 3'000'000; ++step) {
            if (plan.isDue(step)) {
                QVERIFY(step == 0 || step - previous <= std::max<std::int64_t>(5, step / 40));
                previous = step;
                ++count;
            }
        }
        QVERIFY2(count > 300 && count < 1500, qPrintable(QString::number(count)));
        const SamplingPlan all {.every = 5, .thins = false};
        QVERIFY(all.isDue(2'999'995) && !all.isDue(2'999'996) && !SamplingPlan {}.isDue(0));
    }

    void lookingChangesNothing_data()
    {
        QTest::addColumn<QString>("settings");
        const auto add = [](const char* name, const json& settings) {
            QTest::newRow(name) << QString::fromStdString(settings.dump());
        };
        add("fp32", json::object());
        add("fp16", amp("fp16", 65536));
        add("bf16", {{"precision", {{"policy", "bf16"}}}});
        add("pure-bf16", {{"precision", {{"policy", "pure-bf16"}}}});
        add("pure-fp16", {{"precision", {{"policy", "pure-fp16"}}}, {"optimizer", {{"epsilon", 1e-4}}}});
        json clipped = amp("fp16", 1024);
        clipped["clip"] = {{"order", "clip-then-unscale"}, {"max_norm", 1.0}};
        add("wrong order", clipped);
        clipped["clip"] = {{"order", "unscale-then-clip"}, {"max_norm", 0.1}};
        clipped["accumulation"] = {{"steps", 3}, {"guard", true}};
        add("clipped, accumulated", clipped);
        json kept = amp("fp16", 1024);
        kept["accumulation"] = {{"steps", 2}, {"zero_gradients", false}, {"scaler_per_micro_batch", true}};
        add("gradients kept", kept);
        json dropout = amp("fp16", 1024);
        dropout["model"] = {{"dropout", 0.2}, {"activation", "tanh"}};
        add("dropout", dropout);
        json cnn = amp("fp16", 1024);
        cnn["model"] = {{"kind", "cnn"}, {"hidden", nullptr}};
        add("cnn", cnn);
        json vit = amp("bf16", 1024);
        vit["model"] = {{"kind", "vit"}, {"hidden", nullptr}, {"checkpointing", true}};
        add("vit, checkpointed", vit);
    }

    void lookingChangesNothing()
    {
        QFETCH(QString, settings);
        const json parsed = json::parse(settings.toStdString());
        Lane alone = laneOf(parsed);
        Lane watched = laneOf(parsed);
        StepSampler sampler;
        for (int step = 0; step < 12; ++step) {
            if (step == 6) {
                for (Lane* lane : {&alone, &watched}) {
                    lane->set("fault.nan_sample", 1);
                    lane->set("optimizer.lr", 0.02);
                }
            }
            const StepRecord expected = alone.step();
            StepSample sample;
            const StepRecord record = step % 2 == 0 ? sampler.step(watched, sample, true) : watched.step();
            QVERIFY(isSameStep(record, expected));
            if (step % 2 == 0) {
                checkAgainstElements(sample);
                checkAgainstRecord(sample, record, *watched.config());
            }
        }
        QCOMPARE(watched.weightsHash(), alone.weightsHash());
        QCOMPARE(watched.state().scaler, alone.state().scaler);
    }

    /// Neither does switching off what counts roundings, at any step, whatever else happens there.
    void countingChangesNothing_data() { lookingChangesNothing_data(); }

    void countingChangesNothing()
    {
        QFETCH(QString, settings);
        const json parsed = json::parse(settings.toStdString());
        Lane counting = laneOf(parsed);
        Lane other = laneOf(parsed);
        for (int step = 0; step < 12; ++step) {
            if (step == 6) {
                for (Lane* lane : {&counting, &other}) {
                    lane->set("optimizer.weight_decay", 0.01); // compiles the step anew
                    lane->set("fault.nan_sample", 1);
                }
            }
            const bool counts = step % 3 == 0;
            other.setCounting(counts);
            StepRecord expected = counting.step();
            const StepRecord record = other.step();
            if (!counts) {
                QVERIFY(std::isnan(record.flushed) && std::isnan(record.subnormal) && std::isnan(record.overflowed));
                QVERIFY(std::isnan(other.layerShares("fc1").flushed));
                expected.flushed = expected.subnormal = expected.overflowed = record.flushed;
            }
            QVERIFY(isSameStep(record, expected));
        }
        QCOMPARE(other.weightsHash(), counting.weightsHash());
    }

    void withoutCountingTheOriginIsUnknownAndSaysSo()
    {
        Lane lane = laneOf(amp("fp16", 1024));
        lane.setCounting(false);
        lane.set("fault.nan_sample", 1);
        static_cast<void>(lane.step());
        const auto unknown = lane.takeOrigin();
        QVERIFY(unknown && unknown->path.empty());
        QVERIFY(unknown->text.find("not counted") != std::string::npos);
        lane.set("fault.nan_sample", 1);
        static_cast<void>(lane.step());
        QVERIFY(!lane.takeOrigin()); // said once
        lane.setCounting(true);
        lane.set("fault.nan_sample", 1);
        static_cast<void>(lane.step());
        const auto found = lane.takeOrigin();
        QVERIFY(found && !found->path.empty());
    }

    void aSessionCountsInSampledStepsAtLeast()
    {
        json document {{"mantissa", 1}, {"name", "t"}};
        document.merge_patch(documentOf(amp("fp16", 65536)));
        document["name"] = "t";
        document["lanes"] = {{{"name", "a"}}, {{"name", "b"}, {"precision", {{"policy", "fp32"}}}}};
        SessionOptions options;
        options.sampling = {.every = 4, .thins = false, .countsEveryStep = false};
        Session session(parseExperiment(document.dump(), "test"), options);
        session.waitUntilIdle();
        session.runSteps(10);
        session.waitUntilIdle();
        session.setSampling({.every = 0});
        session.runSteps(2);
        session.waitUntilIdle();
        std::vector<StepRecord> records;
        session.takeRecords(records);
        QCOMPARE(records.size(), 24U);
        for (const StepRecord& record : records) {
            QCOMPARE(!std::isnan(record.flushed), record.step % 4 == 0 || record.step >= 10);
        }
    }

    /// The same while settings change that compile the step anew, switch scalers, and reorder clipping.
    void lookingChangesNothingWhileKnobsTurn()
    {
        std::mt19937_64 random(11);
        const auto pick = [&random](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
        for (int trial = 0; trial < 6; ++trial) {
            Lane alone = laneOf(amp("fp16", 1024));
            Lane watched = laneOf(amp("fp16", 1024));
            StepSampler sampler;
            for (int step = 0; step < 150; ++step) {
                std::pair<std::string, json> change {"", nullptr};
                switch (pick(12)) {
                case 0:
                    change = {"optimizer.lr", std::pow(10.0, -1.5 - pick(3))};
                    break;
                case 1:
                    change = {"scaler.scale", std::ldexp(1.0, pick(24))};
                    break;
                case 2:
                    change = {
                        "precision.policy", std::array {"fp32", "fp16", "bf16"}.at(static_cast<std::size_t>(pick(3)))};
                    break;
                case 3:
                    change = {"scaler.family", pick(2) == 0 ? "pytorch" : "fixed"};
                    break;
                case 4:
                    change = {"clip",
                        {{"order", pick(2) == 0 ? "unscale-then-clip" : "clip-then-unscale"}, {"max_norm", 0.5}}};
                    break;
                default:
                    break;
                }
                if (!change.first.empty()) {
                    alone.set(change.first, change.second);
                    watched.set(change.first, change.second);
                }
                const StepRecord expected = alone.step();
                StepSample sample;
                const StepRecord record = pick(5) == 0 ? sampler.step(watched, sample) : watched.step();
                QVERIFY2(isSameStep(record, expected), qPrintable(QString::number(step)));
            }
            QCOMPARE(watched.weightsHash(), alone.weightsHash());
        }
    }

    void theReferenceIsTheFp32Gradient()
    {
        Lane fp32 = laneOf();
        Lane fp16 = laneOf(amp("fp16", 65536));
        StepSampler one;
        StepSampler other;
        StepSample plain;
        StepSample scaled;
        one.step(fp32, plain, true);
        other.step(fp16, scaled, true);
        for (const char* name : {"fc1.weight", "fc1.bias", "fc2.weight", "fc3.weight"}) {
            QVERIFY(
                sampleOf(plain, TensorRole::Scaled, name).kept == sampleOf(scaled, TensorRole::Reference, name).kept);
            const TensorSample& gradient = sampleOf(scaled, TensorRole::Scaled, name);
            QVERIFY(gradient.cosine > 0.999 && gradient.cosine < 1.0 + 1e-12);
            QVERIFY(gradient.relativeError > 0 && gradient.relativeError < 0.02);
        }
        QVERIFY(std::ranges::none_of(
            plain.tensors, [](const TensorSample& each) { return each.role == TensorRole::Reference; }));
    }

    void lostGradientsShowAsLost()
    {
        json tiny = amp("fp16", 1);
        tiny["loss_weight"] = 1e-7;
        Lane lane = laneOf(tiny);
        StepSampler sampler;
        StepSample sample;
        sampler.step(lane, sample);
        const TensorSample& gradient = sampleOf(sample, TensorRole::Scaled, "fc1.weight");
        QVERIFY(gradient.census.flushed + gradient.census.zero > gradient.elements / 2);
        QVERIFY(gradient.relativeError > 0.3);
        const TensorSample& reference = sampleOf(sample, TensorRole::Reference, "fc1.weight");
        QVERIFY(forecast(reference, 0, DType::Float16).flushed > 0.5);
        QVERIFY(forecast(reference, 24, DType::Float16).flushed < 0.1);
    }

    void deadAndSaturatedUnitsAreFound()
    {
        Lane relu = laneOf();
        relu.set("fault.exploding_init", 1.0);
        StepSampler sampler;
        StepSample sample;
        sampler.step(relu, sample, true);
        const TensorSample& act = sampleOf(sample, TensorRole::Activation, "act1");
        std::set<std::size_t> alive;
        for (std::size_t i = 0; i < act.kept.size(); ++i) {
            if (act.kept[i] != 0) {
                alive.insert(i % 24);
            }
        }
        QCOMPARE(act.dead, 1 - static_cast<double>(alive.size()) / 24);
        QVERIFY(std::isnan(act.saturated));

        Lane tanh = laneOf({{"model", {{"activation", "tanh"}}}});
        tanh.set("fault.saturation", 1000.0);
        StepSampler second;
        second.step(tanh, sample, true);
        QVERIFY(sampleOf(sample, TensorRole::Activation, "act1").saturated > 0.8);
        QVERIFY(sampleOf(sample, TensorRole::Activation, "act2").saturated < 0.5);
    }

    void updatesThat16BitWeightsWouldLose()
    {
        json settings = amp("bf16", 1);
        settings["optimizer"] = {{"kind", "sgd"}, {"lr", 1e-6}};
        Lane lane = laneOf(settings);
        StepSampler sampler;
        StepSample sample;
        sampler.step(lane, sample);
        QVERIFY(sampleOf(sample, TensorRole::Update, "fc1.weight").belowHalfUlp > 0.9);
        settings["optimizer"]["lr"] = 10.0;
        Lane fast = laneOf(settings);
        StepSampler second;
        second.step(fast, sample);
        QVERIFY(sampleOf(sample, TensorRole::Update, "fc1.weight").belowHalfUlp < 0.3);
    }

    void triedScalesAreTheStepAtThatScale()
    {
        json settings = amp("fp16", 1024);
        settings["clip"] = {{"order", "unscale-then-clip"}, {"max_norm", 0.1}};
        Lane lane = laneOf(settings);
        lane.step();
        const std::string before = lane.weightsHash();
        const auto copy = lane.fork(1, "a");
        const std::vector<double> scales {1, 1024, 65536, std::ldexp(1.0, 30)};
        const std::vector<ScaleTrial> trials = tryScales(*copy, scales);
        QCOMPARE(lane.weightsHash(), before);
        QCOMPARE(trials.size(), scales.size());
        QVERIFY(trials.back().overflows && !trials[0].overflows);
        QVERIFY(trials[0].flushed >= trials[1].flushed);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto fork = lane.fork(2, "b");
            fork->set("scaler.scale", scales[i]);
            const StepRecord record = fork->step();
            QCOMPARE(trials[i].gradNorm, record.gradNorm);
            QCOMPARE(trials[i].flushed, record.flushed);
            QCOMPARE(trials[i].clipFactor, record.gradNormClipped / record.gradNorm);
        }
        QVERIFY(trials[1].clipFactor < 1);
    }

    void aSessionReportsStoresAndThinsThem()
    {
        QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("runs.db").toStdString();
        std::vector<std::shared_ptr<const StepSample>> taken;
        RunId run = 0;
        {
            RunWriter writer(file);
            json document {{"mantissa", 1}, {"name", "t"}};
            document.merge_patch(documentOf(amp("fp16", 65536)));
            document["name"] = "t";
            // Gradients that are all zero, and broken ones, are stored too.
            document["lanes"] = {{{"name", "a"}}, {{"name", "b"}, {"precision", {{"policy", "fp32"}}}},
                {{"name", "zero"}, {"loss_weight", 1e-30}}, {{"name", "broken"}, {"scaler", nullptr}}};
            document["events"] = {{{"step", 12}, {"lane", "broken"}, {"set", {{"fault.nan_sample", 16}}}}};
            SessionOptions options;
            options.observers = {&writer};
            options.sampling = {.every = 10};
            Session session(parseExperiment(document.dump(), "test"), options);
            session.waitUntilIdle();
            session.runSteps(15);
            session.waitUntilIdle();
            session.setSampling({});
            session.sampleNext();
            session.runSteps(15);
            session.waitUntilIdle();
            auto trials = session.tryScales(0, {1, 65536});
            QCOMPARE(trials.get().size(), 2U);
            QVERIFY_THROWS_EXCEPTION(Error, session.tryScales(77, {1}).get());
            session.takeSamples(taken);
            QCOMPARE(session.takeSamples(taken), 0U);
            writer.flush();
            QCOMPARE(writer.problem(), std::string());
            run = writer.runOf(0);
        }
        std::erase_if(taken, [](const auto& sample) { return sample->lane != 0; });
        QCOMPARE(taken.size(), 3U);
        const RunStore store(file, StoreAccess::ReadOnly);
        QCOMPARE(store.sampledSteps(run), (std::vector<std::int64_t> {0, 10, 15}));
        const std::vector<StepSample> stored = store.samples(run, 0, 100);
        QCOMPARE(stored.size(), 3U);
        for (std::size_t i = 0; i < stored.size(); ++i) {
            QCOMPARE(stored[i].step, taken[i]->step);
            QCOMPARE(stored[i].scale, taken[i]->scale);
            QCOMPARE(stored[i].lower, DType::Float16);
            QCOMPARE(stored[i].tensors.size(), taken[i]->tensors.size());
            for (std::size_t j = 0; j < stored[i].tensors.size(); ++j) {
                QVERIFY(isSameSample(stored[i].tensors[j], taken[i]->tensors[j]));
            }
        }
        QCOMPARE(store.samples(run, 5, 12).size(), 1U);
    }

private:
    static void checkAgainstElements(const StepSample& sample)
    {
        for (const TensorSample& tensor : sample.tensors) {
            QCOMPARE(tensor.kept.size(), tensor.elements);
            std::uint64_t zeros = 0;
            std::uint64_t subnormal = 0;
            std::uint64_t normal = 0;
            std::uint64_t infinite = 0;
            std::uint64_t nan = 0;
            for (const double value : tensor.kept) {
                zeros += value == 0 ? 1 : 0;
                infinite += std::isinf(value) ? 1 : 0;
                nan += std::isnan(value) ? 1 : 0;
                const double magnitude = std::abs(value);
                const bool isSubnormal = magnitude > 0 && magnitude < limitsOf(tensor.format).minNormal;
                subnormal += isSubnormal ? 1 : 0;
                normal += std::isfinite(value) && value != 0 && !isSubnormal ? 1 : 0;
            }
            const Census& census = tensor.census;
            if (census.total() == tensor.elements) { // rounded once: no other micro-batch is in it
                if (tensor.role != TensorRole::Scaled && tensor.role != TensorRole::Unscaled
                    && tensor.role != TensorRole::Clipped) {
                    QCOMPARE(census.zero + census.flushed, zeros);
                    QCOMPARE(census.subnormal, subnormal);
                    QCOMPARE(census.normal, normal);
                    QCOMPARE(census.overflowed + census.infinite, infinite);
                    QCOMPARE(census.nan, nan);
                }
            } else {
                QCOMPARE(census.total() % tensor.elements, 0U);
            }
        }
    }

    /// The norms of what is seen layer by layer make up the record's.
    static void checkAgainstRecord(const StepSample& sample, const StepRecord& record, const LaneConfig& config)
    {
        if (!std::isfinite(record.gradNorm) || config.clip.order == ClipOrder::ClipThenUnscale) {
            return;
        }
        double squares = 0;
        double largest = 0;
        for (const TensorSample& tensor : sample.tensors) {
            if (tensor.role == TensorRole::Unscaled) {
                squares += tensor.norm * tensor.norm;
                largest = std::max(largest, tensor.largest);
            }
        }
        QVERIFY(std::abs(std::sqrt(squares) - record.gradNorm) <= 1e-5 * record.gradNorm);
        QCOMPARE(static_cast<float>(largest), static_cast<float>(record.gradMax));
    }
};

QTEST_GUILESS_MAIN(TestStepSample)
#include "tst_step_sample.moc"
