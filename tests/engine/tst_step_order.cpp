// Orders of a step and its switches: what each wrong one does to the numbers, and that none of them breaks the promise
// that a lane can be copied and resumed to the last bit.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/train/checkpoint.h"
#include "engine/train/lane.h"

#include <QTemporaryDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace mantissa;

namespace {

using json = nlohmann::json;

std::shared_ptr<const Dataset> digits()
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    return data;
}

LaneConfig configOf(const json& settings)
{
    json document {{"name", "a"}, {"model", {{"hidden", {24}}}}, {"data", {{"batch", 16}}},
        {"optimizer", {{"kind", "sgd"}, {"lr", 0.05}}}};
    document.merge_patch(settings);
    return parseLane(document, "");
}

Lane laneOf(const json& settings = json::object(), std::vector<ScriptedEvent> events = {})
{
    return {0, configOf(settings), std::move(events), digits(), backendByName("cpu"), 1};
}

std::vector<StepRecord> train(Lane& lane, int steps)
{
    std::vector<StepRecord> records;
    for (int i = 0; i < steps; ++i) {
        lane.applyScripted();
        records.push_back(lane.step());
    }
    return records;
}

json order(std::initializer_list<const char*> blocks)
{
    return {{"order", blocks}};
}

json merged(json a, const json& b)
{
    a.merge_patch(b);
    return a;
}

json fixedScale(double scale)
{
    return {{"scaler", {{"family", "fixed"}, {"init_scale", scale}}}};
}

std::vector<float> weightsOf(Lane& lane)
{
    std::vector<float> weights;
    lane.readWeights(weights);
    return weights;
}

/// The last step's change of every parameter.
std::vector<double> updateOf(const json& settings)
{
    Lane lane = laneOf(settings);
    const std::vector<float> before = weightsOf(lane);
    lane.step();
    const std::vector<float> after = weightsOf(lane);
    std::vector<double> update;
    for (std::size_t i = 0; i < before.size(); ++i) {
        update.push_back(double {after[i]} - before[i]);
    }
    return update;
}

double norm(std::span<const double> values)
{
    double sum = 0;
    for (const double value : values) {
        sum += value * value;
    }
    return std::sqrt(sum);
}

QString complaint(const std::function<void()>& action)
{
    try {
        action();
    } catch (const Error& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

} // namespace

class TestStepOrder : public QObject
{
    Q_OBJECT

private slots:

    // --- settings ---

    void ordersArePermutations()
    {
        QCOMPARE(orderFromNames(namesOf(rightOrder)), std::optional(rightOrder));
        QVERIFY(!orderFromNames({"unscale", "check", "clip", "step", "update"}));
        QVERIFY(!orderFromNames({"unscale", "check", "clip", "step", "update", "update"}));
        QVERIFY(!orderFromNames({"unscale", "check", "clip", "step", "update", "backward"}));
        QVERIFY(
            complaint([] { configOf(order({"step"})); }).contains("order is [\"step\"]; it must be a list of unscale"));
    }

    /// The clipping's place is named by two settings; whichever was set last holds, and neither can contradict the
    /// other.
    void theClippingHasOnePlace()
    {
        LaneConfig lane = configOf({{"clip", {{"order", "unscale-then-clip"}, {"max_norm", 1}}}});
        QCOMPARE(lane.order, rightOrder);
        lane = withSetting(lane, "clip.order", "clip-then-unscale");
        QCOMPARE(clipOrderOf(lane.order), ClipOrder::ClipThenUnscale);
        QVERIFY(comesBefore(lane.order, StepBlock::Unscale, StepBlock::Check));
        lane = withSetting(lane, "order", namesOf(rightOrder));
        QVERIFY(lane.clip.order == ClipOrder::UnscaleThenClip);
        lane = withSetting(lane, "order", {"clip", "step", "unscale", "check", "update", "schedule"});
        QVERIFY(lane.clip.order == ClipOrder::ClipThenUnscale);
        lane = withSetting(lane, "clip.order", "unscale-then-clip");
        QCOMPARE(
            namesOf(lane.order), (std::vector<std::string> {"step", "unscale", "check", "clip", "update", "schedule"}));
        lane = withSetting(lane, "order", nullptr);
        QCOMPARE(lane.order, rightOrder);
        const QString wrong = complaint([] {
            configOf({{"clip", {{"order", "unscale-then-clip"}, {"max_norm", 1}}},
                {"order", {"clip", "unscale", "check", "step", "update", "schedule"}}});
        });
        QVERIFY2(wrong.contains("order puts the clipping before the unscaling"), qPrintable(wrong));
    }

    void documentsKeepTheOrder()
    {
        const LaneConfig lane = configOf(merged(order({"step", "clip", "check", "unscale", "schedule", "update"}),
            {{"clip", {{"order", "clip-then-unscale"}, {"max_value", 1}}},
                {"ema", {{"decay", 0.5}, {"format", "bf16"}}},
                {"accumulation", {{"divide", false}, {"zero_gradients", false}}}}));
        Experiment experiment;
        experiment.lanes = {lane};
        const json document = composeExperiment(experiment);
        const Experiment again = parseExperiment(document.dump(), "t");
        QCOMPARE(again.lanes[0].order, lane.order);
        QVERIFY(again.lanes[0].clip == lane.clip);
        QVERIFY(again.lanes[0].ema == lane.ema);
        QVERIFY(again.lanes[0].accumulation == lane.accumulation);
    }

    // --- orders ---

    /// A step on gradients that still carry the scale: the learning rate acts as that many times larger.
    void aStepBeforeUnscalingHasTheRateTimesTheScale()
    {
        Lane wrong
            = laneOf(merged(fixedScale(1024), order({"step", "unscale", "check", "clip", "update", "schedule"})));
        Lane same = laneOf({{"optimizer", {{"kind", "sgd"}, {"lr", 0.05 * 1024}}}});
        for (int i = 0; i < 3; ++i) {
            wrong.step();
            same.step();
            QCOMPARE(wrong.weightsHash(), same.weightsHash());
        }
    }

    /// A check behind the optimizer cannot stop it: one infinite gradient reaches the weights.
    void aCheckAfterTheStepComesTooLate()
    {
        const std::vector<ScriptedEvent> fault {{2, "a", {{"fault.gradient_inf", "body.0"}}}};
        const json scaler {{"scaler", {{"family", "pytorch"}}}};
        Lane right = laneOf(scaler, {{2, "a", {{"fault.gradient_inf", parameterOf(scaler)}}}});
        const std::vector<StepRecord> good = train(right, 4);
        QVERIFY(good[2].foundInf && good[2].skipped && !right.hasDiverged());
        QCOMPARE(good[3].scale, 32768.0);
        Lane late = laneOf(merged(scaler, order({"unscale", "clip", "step", "check", "update", "schedule"})),
            {{2, "a", {{"fault.gradient_inf", parameterOf(scaler)}}}});
        const std::vector<StepRecord> bad = train(late, 3);
        QVERIFY(bad[2].foundInf && !bad[2].skipped && late.hasDiverged());
        QCOMPARE(late.scale(), 32768.0); // the scaler, behind the check, still hears of it
    }

    /// Without faults it makes no difference where the check is.
    void whereTheCheckIsChangesNothingElse()
    {
        const json scaler {{"scaler", {{"family", "pytorch"}, {"init_scale", 256}, {"growth_interval", 3}}},
            {"precision", {{"policy", "fp16"}}}};
        Lane right = laneOf(scaler);
        Lane first = laneOf(merged(scaler, order({"check", "unscale", "clip", "step", "update", "schedule"})));
        Lane last = laneOf(merged(scaler, order({"unscale", "clip", "step", "check", "update", "schedule"})));
        const std::vector<StepRecord> records = train(right, 12);
        train(first, 12);
        train(last, 12);
        QVERIFY(std::ranges::none_of(records, &StepRecord::foundInf));
        QCOMPARE(first.weightsHash(), right.weightsHash());
        QCOMPARE(last.weightsHash(), right.weightsHash());
        QCOMPARE(last.scale(), right.scale());
    }

    /// Clamping hides an infinity from a check behind it: the step is taken, at the threshold.
    void aCheckAfterClippingByValueMissesInfinity()
    {
        const json clip {{"clip", {{"order", "clip-then-unscale"}, {"max_value", 100}}}};
        const json scaler = merged(fixedScale(8), clip);
        Lane lane = laneOf(merged(scaler, order({"clip", "check", "unscale", "step", "update", "schedule"})),
            {{0, "a", {{"fault.gradient_inf", parameterOf(scaler)}}}});
        const StepRecord record = train(lane, 1)[0];
        QVERIFY(!record.foundInf && !record.skipped && !lane.hasDiverged());
    }

    /// The scaler moved between scaling and unscaling: where it grows, the gradient comes out halved.
    void anUpdateBeforeUnscalingDividesByAnotherScale()
    {
        const json scaler {{"scaler", {{"family", "pytorch"}, {"init_scale", 64}, {"growth_interval", 2}}}};
        Lane right = laneOf(scaler);
        Lane wrong = laneOf(merged(scaler, order({"update", "unscale", "check", "clip", "step", "schedule"})));
        const StepRecord a = right.step();
        const StepRecord b = wrong.step();
        QCOMPARE(a.gradNorm, b.gradNorm);
        const StepRecord c = right.step();
        const StepRecord d = wrong.step(); // the second finite step: grows to 128 before it unscales what 64 scaled
        QCOMPARE(c.scale, 64.0);
        QCOMPARE(d.scale, 64.0);
        QCOMPARE(d.gradNorm, c.gradNorm / 2);
    }

    /// Before its check the scaler knows only what the step before found.
    void anUpdateBeforeTheCheckIsAStepLate()
    {
        const json scaler = merged(
            {{"scaler", {{"family", "pytorch"}}}}, order({"update", "unscale", "check", "clip", "step", "schedule"}));
        Lane lane = laneOf(scaler, {{1, "a", {{"fault.gradient_inf", parameterOf(scaler)}}}});
        train(lane, 2);
        QCOMPARE(lane.scale(), 65536.0);
        train(lane, 1);
        QCOMPARE(lane.scale(), 32768.0);
    }

    void aScheduleBeforeTheStepIsAStepEarly()
    {
        const json schedule {{"schedule", {{"kind", "step"}, {"every", 2}, {"gamma", 0.5}}}};
        Lane right = laneOf(schedule);
        Lane wrong = laneOf(merged(schedule, order({"unscale", "check", "clip", "schedule", "step", "update"})));
        const std::vector<StepRecord> a = train(right, 6);
        const std::vector<StepRecord> b = train(wrong, 5);
        for (std::size_t i = 0; i < b.size(); ++i) {
            QCOMPARE(b[i].lr, a[i + 1].lr);
        }
        QVERIFY(right.weightsHash() != wrong.weightsHash());
    }

    void clippingAfterTheStepDoesNothing()
    {
        const json clip {{"clip", {{"order", "unscale-then-clip"}, {"max_norm", 1e-6}}}};
        Lane off = laneOf();
        Lane late = laneOf(merged(clip, order({"unscale", "check", "step", "clip", "update", "schedule"})));
        Lane right = laneOf(clip);
        train(off, 3);
        train(late, 3);
        train(right, 3);
        QCOMPARE(late.weightsHash(), off.weightsHash());
        QVERIFY(right.weightsHash() != off.weightsHash());
    }

    // --- switches ---

    /// C20: on clean steps twice the update; on a skipped one infinity is applied.
    void theStrayStepDoublesAndHeedsNoOverflow()
    {
        const std::vector<double> once = updateOf(json::object());
        const std::vector<double> twice = updateOf({{"optimizer", {{"extra_step", true}}}});
        std::vector<double> difference;
        for (std::size_t i = 0; i < once.size(); ++i) {
            difference.push_back(twice[i] - 2 * once[i]);
        }
        QVERIFY(norm(once) > 0);
        QVERIFY(norm(difference) < 1e-5 * norm(once) + 1e-6);
        const json scaler {{"scaler", {{"family", "pytorch"}}}, {"optimizer", {{"extra_step", true}}}};
        Lane lane = laneOf(scaler, {{1, "a", {{"fault.gradient_inf", parameterOf(scaler)}}}});
        const std::vector<StepRecord> records = train(lane, 2);
        QVERIFY(records[1].skipped && lane.hasDiverged());
    }

    /// Each layer's gradient is clipped by its own norm. With a rate of 1 SGD's update is the clipped gradient.
    void clippingPerLayerBoundsEveryLayer()
    {
        constexpr double limit = 0.05;
        const json rate {{"optimizer", {{"kind", "sgd"}, {"lr", 1}}}};
        const std::vector<double> whole = updateOf(rate);
        const std::vector<double> clipped = updateOf(
            merged(rate, {{"clip", {{"order", "unscale-then-clip"}, {"max_norm", limit}, {"per_layer", true}}}}));
        const Lane lane = laneOf();
        std::map<std::string, std::pair<double, double>> squares; // by layer: whole, clipped
        std::size_t at = 0;
        for (const Value& value : lane.graph()->values()) {
            if (value.kind == ValueKind::Parameter) {
                auto& [before, after] = squares[value.name.substr(0, value.name.rfind('.'))];
                for (std::int64_t i = 0; i < value.type.shape.elements(); ++i, ++at) {
                    before += whole[at] * whole[at];
                    after += clipped[at] * clipped[at];
                }
            }
        }
        QVERIFY(squares.size() >= 2);
        for (const auto& [layer, sums] : squares) {
            const double wanted = std::min(limit, std::sqrt(sums.first));
            QVERIFY2(std::abs(std::sqrt(sums.second) - wanted) < 1e-3 * wanted, layer.c_str());
        }
        QVERIFY(complaint([] {
            configOf({{"clip", {{"order", "unscale-then-clip"}, {"max_value", 1}, {"per_layer", true}}}});
        }).contains("clip.per_layer is true, but clip.max_value"));
    }

    void notDividingMakesTheGradientTheSum()
    {
        Lane mean = laneOf({{"accumulation", {{"steps", 4}}}});
        Lane sum = laneOf({{"accumulation", {{"steps", 4}, {"divide", false}}}});
        const StepRecord a = mean.step();
        const StepRecord b = sum.step();
        QCOMPARE(b.loss, a.loss); // a mean in both
        QVERIFY(std::abs(b.gradNorm / a.gradNorm - 4) < 1e-5);
    }

    void aScalerPerMicroBatchCountsThemAll()
    {
        const json settings {{"accumulation", {{"steps", 4}, {"scaler_per_micro_batch", true}}},
            {"scaler", {{"family", "pytorch"}, {"init_scale", 64}, {"growth_interval", 8}}}};
        Lane lane = laneOf(settings);
        const std::vector<StepRecord> records = train(lane, 4);
        QCOMPARE(records[0].growthTracker, 4);
        QCOMPARE(records[1].growthTracker, 0);
        QCOMPARE(records[2].scale, 128.0); // eight micro-batches, two steps
        QCOMPARE(lane.scale(), 256.0);
    }

    /// zero_grad() forgotten, without a scaler: the second step's gradient is the sum of both.
    void keptGradientsAddUp()
    {
        const json rate {{"optimizer", {{"kind", "sgd"}, {"lr", 0}}}};
        const json kept {{"accumulation", {{"zero_gradients", false}}}};
        Lane fresh = laneOf(rate);
        Lane adding = laneOf(merged(rate, kept));
        const StepRecord a = fresh.step();
        const StepRecord b = adding.step();
        QCOMPARE(b.gradNorm, a.gradNorm);
        QCOMPARE(b.loss, a.loss);
        const StepRecord c = fresh.step();
        const StepRecord d = adding.step();
        QCOMPARE(d.loss, c.loss);
        QVERIFY(d.gradNorm > 1.2 * c.gradNorm && d.gradNorm <= (a.gradNorm + c.gradNorm) * 1.000001);
        // A scaler hides it: what is kept has been unscaled, and is divided by the scale once more.
        Lane scaled = laneOf(merged(merged(rate, kept), fixedScale(65536)));
        scaled.step();
        QVERIFY(std::abs(scaled.step().gradNorm / c.gradNorm - 1) < 1e-3);
    }

    void optimizerStateInHalfHalvesItsMemory()
    {
        const auto with = [](const char* format) {
            return json {{"optimizer", {{"kind", "adamw"}, {"lr", 0.003}, {"state_format", format}}},
                {"precision", {{"policy", "bf16"}}}};
        };
        Lane full = laneOf(with("fp32"));
        Lane half = laneOf(with("bf16"));
        QVERIFY(half.bytes().optimizer * 9 < full.bytes().optimizer * 5);
        QCOMPARE(half.bytes().weights, full.bytes().weights);
        const double fullLoss = train(full, 100).back().loss;
        const double halfLoss = train(half, 100).back().loss;
        QVERIFY2(std::abs(halfLoss - fullLoss) < 0.1 * fullLoss && halfLoss != fullLoss,
            qPrintable(QString("%1 %2").arg(halfLoss).arg(fullLoss)));
    }

    /// 1e-8 is 0 in FP16. Pixels that are always black have no gradient, so their second moment is 0: 0 / 0.
    void anEpsilonInHalfIsZero()
    {
        const auto with = [](const char* format) {
            return json {{"optimizer", {{"kind", "adam"}, {"lr", 0.001}, {"epsilon_format", format}}}};
        };
        Lane full = laneOf(with("fp32"));
        Lane half = laneOf(with("fp16"));
        full.step();
        half.step();
        QVERIFY(!full.hasDiverged());
        QVERIFY(half.hasDiverged());
    }

    void theAverageNeedNotCountSkippedSteps()
    {
        const auto averages = [](bool counts) {
            const json settings {
                {"scaler", {{"family", "pytorch"}}}, {"ema", {{"decay", 0.5}, {"count_skipped", counts}}}};
            Lane lane = laneOf(settings, {{3, "a", {{"fault.gradient_inf", parameterOf(settings)}}}});
            train(lane, 3);
            const LaneState before = lane.state();
            train(lane, 1);
            const LaneState after = lane.state();
            for (std::size_t i = 0; i < before.tensors.size(); ++i) {
                if (before.tensors[i].name.ends_with(".ema")) {
                    return before.tensors[i].bytes == after.tensors[i].bytes;
                }
            }
            return false;
        };
        QVERIFY(averages(false));
        QVERIFY(!averages(true));
    }

    // --- bits ---

    /// Whatever the order and the switches: a copy goes on from the same bits, in memory and through a file.
    void copiesGoOnFromTheSameBits_data()
    {
        QTest::addColumn<json>("settings");
        std::mt19937_64 random(2026);
        const auto coin = [&random] { return (random() & 1U) != 0; };
        for (int i = 0; i < 24; ++i) {
            std::vector<std::string> blocks = namesOf(rightOrder);
            std::ranges::shuffle(blocks, random);
            const bool clipsFirst = std::ranges::find(blocks, "clip") < std::ranges::find(blocks, "unscale");
            const std::array weights {"master", "half", "half-stochastic", "half-kahan"};
            const std::array formats {"weights", "fp32", "fp16", "bf16"};
            json settings {{"order", blocks}, {"precision", {{"policy", "bf16"}, {"weights", weights[random() % 4]}}},
                {"optimizer",
                    {{"kind", coin() ? "sgd" : "adamw"}, {"lr", 0.001}, {"momentum", coin() ? 0.9 : 0.0},
                        {"extra_step", coin()}, {"state_format", formats[random() % 4]}}},
                {"accumulation",
                    {{"steps", 1 + static_cast<int>(random() % 3)}, {"guard", coin()}, {"divide", coin()},
                        {"scaler_per_micro_batch", coin()}, {"zero_gradients", coin()}}},
                {"ema",
                    {{"decay", coin() ? 0.9 : 0.0}, {"format", coin() ? "bf16" : "fp32"}, {"count_skipped", coin()}}},
                {"scaler", {{"family", "pytorch"}, {"init_scale", 4}, {"growth_interval", 3}}},
                {"schedule", {{"kind", "cosine"}, {"count_skipped", coin()}}}};
            if (coin()) {
                settings["clip"] = {{"order", clipsFirst ? "clip-then-unscale" : "unscale-then-clip"},
                    {"max_norm", 0.5}, {"per_layer", coin()}};
            }
            QTest::newRow(qPrintable(QString::number(i) + " " + QString::fromStdString(settings.dump()).left(200)))
                << settings;
        }
    }

    void copiesGoOnFromTheSameBits()
    {
        QFETCH(json, settings);
        const std::vector<ScriptedEvent> fault {{4, "a", {{"fault.gradient_inf", parameterOf(settings)}}},
            {9, "a", {{"fault.gradient_inf", parameterOf(settings)}}}};
        Lane straight = laneOf(settings, fault);
        train(straight, 7);
        const std::unique_ptr<Lane> fork = straight.fork(1, "b");
        const LaneState state = straight.state();
        QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("state.safetensors").toStdString();
        const bool hasBroken = straight.hasDiverged(); // a file of broken weights is refused when it is read
        if (!hasBroken) {
            writeCheckpoint(file, {"t", "", configOf(settings), state, straight.weightsHash(), "", 1});
        }
        const std::vector<StepRecord> a = train(straight, 6);
        const std::vector<StepRecord> b = train(*fork, 6);
        QCOMPARE(fork->weightsHash(), straight.weightsHash());
        QCOMPARE(fork->scale(), straight.scale());
        for (std::size_t i = 0; i < a.size(); ++i) {
            QCOMPARE(b[i].lr, a[i].lr);
            QCOMPARE(b[i].skipped, a[i].skipped);
        }
        if (!hasBroken) {
            Lane resumed(2, readCheckpoint(file).state, digits(), backendByName("cpu"), 1);
            train(resumed, 6);
            QCOMPARE(resumed.weightsHash(), straight.weightsHash());
            QCOMPARE(resumed.scale(), straight.scale());
        }
    }

    void aForkStaysTheSameForFiveHundredSteps()
    {
        const json settings {{"precision", {{"policy", "fp16"}}}, {"model", {{"dropout", 0.2}}},
            {"optimizer", {{"kind", "adamw"}, {"lr", 0.002}}}, {"ema", {{"decay", 0.99}}},
            {"accumulation", {{"steps", 2}}}, {"scaler", {{"family", "pytorch"}, {"growth_interval", 40}}},
            {"clip", {{"order", "unscale-then-clip"}, {"max_norm", 1}}}};
        Lane lane = laneOf(settings);
        train(lane, 30);
        const std::unique_ptr<Lane> fork = lane.fork(1, "b");
        for (int i = 0; i < 500; ++i) {
            const StepRecord a = lane.step();
            const StepRecord b = fork->step();
            QCOMPARE(b.loss, a.loss);
            QCOMPARE(b.scale, a.scale);
            QCOMPARE(b.skipped, a.skipped);
        }
        QCOMPARE(fork->weightsHash(), lane.weightsHash());
    }

private:
    /// The first layer's name.
    static std::string parameterOf(const json& settings)
    {
        static std::map<std::string, std::string> known;
        std::string& name = known[settings.dump()];
        if (name.empty()) {
            const Lane lane = laneOf(settings);
            for (const Value& value : lane.graph()->values()) {
                if (value.kind == ValueKind::Parameter) {
                    name = value.name.substr(0, value.name.rfind('.'));
                    break;
                }
            }
        }
        return name;
    }
};

QTEST_GUILESS_MAIN(TestStepOrder)
#include "tst_step_order.moc"
