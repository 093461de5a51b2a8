// A step that is not finite is traced to where it broke, and the least that would have mended it is named.
#include "engine/backends/backend_registry.h"
#include "engine/train/blame.h"
#include "engine/train/lane.h"

#include <QtTest>

#include <algorithm>
#include <cmath>

using namespace mantissa;

namespace {

using json = nlohmann::json;

Lane laneOf(const json& settings = json::object())
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    json document {{"name", "a"}, {"steps", 40}, {"model", {{"hidden", {24, 24, 16}}}}, {"data", {{"batch", 16}}},
        {"optimizer", {{"kind", "sgd"}, {"lr", 0.01}}}};
    document.merge_patch(settings);
    return {0, parseLane(document, ""), {}, data, backendByName("cpu"), 1};
}

json amp(const char* policy, double scale)
{
    return {{"precision", {{"policy", policy}}}, {"scaler", {{"family", "pytorch"}, {"init_scale", scale}}}};
}

/// Makes the outputs of a layer `factor` times as large, without a word to the lane.
void blowUp(Lane& lane, const std::string& parameter, float factor)
{
    for (const ValueId id : lane.stepGraph().parameters) {
        const Value& value = lane.stepGraph().graph.value(id);
        if (value.name == parameter) {
            std::vector<float> values = lane.executor().readFloats(id);
            for (float& each : values) {
                each *= factor;
            }
            lane.executor().writeFloats(id, values);
        }
    }
}

} // namespace

class TestBlame : public QObject
{
    Q_OBJECT

private slots:

    void aHealthyStepIsNotBlamed()
    {
        Lane lane = laneOf(amp("fp16", 1024));
        lane.step();
        const std::string before = lane.weightsHash();
        const Blame blame = blameOf(lane);
        QVERIFY(blame.cause == BlameCause::Nothing && !blame.origin && blame.fix.is_null());
        QCOMPARE(blame.step, 1);
        QCOMPARE(blame.trials, 1);
        QCOMPARE(lane.weightsHash(), before);
    }

    void badSamplesAreNamed()
    {
        Lane lane = laneOf(amp("fp16", 1024));
        lane.step();
        lane.set("fault.nan_sample", 2);
        const Blame blame = blameOf(lane);
        QVERIFY(blame.cause == BlameCause::Data);
        QCOMPARE(blame.samples, (std::vector<std::int64_t> {0, 1}));
        QVERIFY(blame.text.find("sample 0, 1") != std::string::npos);
    }

    void brokenWeightsAreNamed()
    {
        Lane lane = laneOf(amp("fp16", 1024));
        blowUp(lane, "fc2.weight", std::numeric_limits<float>::infinity());
        const Blame blame = blameOf(lane);
        QVERIFY(blame.cause == BlameCause::Weights);
        QCOMPARE(blame.weights, (std::vector<std::string> {"fc2.weight"}));
    }

    void aScaleThatIsTooHighIsTheScalesFault()
    {
        Lane lane = laneOf(amp("fp16", std::ldexp(1.0, 30)));
        const Blame blame = blameOf(lane);
        QVERIFY2(blame.cause == BlameCause::Scale, blame.text.c_str());
        QVERIFY(blame.origin && blame.origin->phase == Phase::Backward);
        // Brute force: finite there, not finite at twice that.
        for (const auto& [scale, isFinite] :
            {std::pair(blame.safeScale, true), std::pair(2 * blame.safeScale, false)}) {
            const auto copy = lane.fork(1, "b");
            copy->set("scaler.scale", scale);
            QCOMPARE(!copy->step().foundInf, isFinite);
        }
    }

    /// Planted in every layer in turn: activations that FP16 cannot hold, at a scale of 1.
    void theOpThatOverflowsIsNamed()
    {
        for (const auto& [parameter, op] :
            {std::pair("fc1.weight", "fc1"), std::pair("fc2.weight", "fc2"), std::pair("fc3.weight", "fc3")}) {
            json settings = amp("fp16", 1);
            settings["model"] = {{"activation", "relu"}};
            Lane lane = laneOf(settings);
            // Weights and what comes in fit, their products do not.
            blowUp(lane, "fc1.weight", op == std::string("fc1") ? 3e5F : 2e3F);
            blowUp(lane, parameter, op == std::string("fc1") ? 1.0F : 2e3F);
            const Blame blame = blameOf(lane);
            QVERIFY2(blame.cause == BlameCause::Formats, blame.text.c_str());
            QVERIFY(blame.origin);
            QCOMPARE(blame.origin->op, std::string(op));
            QCOMPARE(blame.origin->kind, std::string("linear"));
            QVERIFY(blame.origin->phase == Phase::Forward && blame.origin->format == DType::Float16);
            QVERIFY(blame.origin->infinite > 0 && !blame.origin->samples.empty());
            for (const TracedOperand& operand : blame.origin->inputs) {
                QVERIFY(std::isfinite(operand.largest));
            }
            QVERIFY(std::ranges::find(blame.ops, op) != blame.ops.end());
            checkSmallest(lane, blame);
        }
    }

    void aWeightThatItsFormatCannotHoldIsNamed()
    {
        Lane lane = laneOf(amp("fp16", 1));
        blowUp(lane, "fc2.weight", 3e6F);
        const Blame blame = blameOf(lane);
        QVERIFY2(blame.cause == BlameCause::Formats, blame.text.c_str());
        QVERIFY(blame.origin && blame.origin->phase == Phase::WeightCast);
        QCOMPARE(blame.origin->inputs.at(0).name, std::string("fc2.weight"));
        QVERIFY(std::ranges::find(blame.ops, "fc2") != blame.ops.end());
        checkSmallest(lane, blame);
    }

    void whatFp32DoesTooIsNotThePrecision()
    {
        Lane lane = laneOf(amp("fp16", 1));
        blowUp(lane, "fc1.weight", 1e38F);
        blowUp(lane, "fc2.weight", 1e38F);
        blowUp(lane, "fc3.weight", 1e38F);
        const Blame blame = blameOf(lane);
        QVERIFY2(blame.cause == BlameCause::NotPrecision, blame.text.c_str());
        QVERIFY(blame.fix.is_null() && blame.ops.empty());

        Lane plain = laneOf();
        plain.set("fault.gradient_inf", "fc1");
        QVERIFY(blameOf(plain).cause == BlameCause::NotPrecision);
    }

    void aLogOfAFlushedProbabilityIsTraced()
    {
        json settings = amp("fp16", 1);
        settings["loss_form"] = "log_of_softmax";
        settings["precision"]["overrides"] = {{"softmax", "fp16"}, {"log", "fp16"}};
        Lane lane = laneOf(settings);
        blowUp(lane, "fc4.weight", 300.0F);
        const Blame blame = blameOf(lane);
        QVERIFY2(blame.cause == BlameCause::Formats, blame.text.c_str());
        QVERIFY(blame.origin);
        QCOMPARE(blame.origin->kind, std::string("log"));
        checkSmallest(lane, blame);
    }

    void itCanBeCancelled()
    {
        Lane lane = laneOf(amp("fp16", 1));
        blowUp(lane, "fc1.weight", 3e6F);
        const Blame blame = blameOf(lane, [] { return true; });
        QVERIFY(blame.cause == BlameCause::Formats);
        QVERIFY(blame.trials <= 4);
    }

private:
    /// The fix mends the step, and none of its ops can be left out.
    static void checkSmallest(Lane& lane, const Blame& blame)
    {
        const auto isFiniteWith = [&lane](const json& overrides) {
            const auto copy = lane.fork(1, "b");
            copy->set("precision.overrides", overrides);
            const StepRecord record = copy->step();
            return record.lossFinite && !record.foundInf;
        };
        const json& fix = blame.fix.at("precision").at("overrides");
        QCOMPARE(fix.size(), blame.ops.size());
        QVERIFY(isFiniteWith(fix));
        for (const std::string& op : blame.ops) {
            json without = fix;
            without.erase(op);
            QVERIFY2(without.empty() || !isFiniteWith(without), op.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestBlame)
#include "tst_blame.moc"
