// Scaler families in a lane that trains: changing them, and where their rules reach into the step.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/train/lane.h"

#include <QtTest>

#include <cmath>

using namespace mantissa;
using nlohmann::json;

namespace {

std::shared_ptr<const Dataset> digits()
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    return data;
}

/// The digits with SGD in FP32, where a power of two as the scale rounds nothing.
Lane laneWith(const json& scaler, const json& more = json::object())
{
    json document {{"name", "A"}, {"model", {{"hidden", {16}}}}, {"optimizer", {{"kind", "sgd"}, {"lr", 0.1}}},
        {"scaler", scaler}};
    document.merge_patch(more);
    return {0, parseLane(document, ""), {}, digits(), backendByName("cpu"), 1};
}

} // namespace

class TestLaneScalers : public QObject
{
    Q_OBJECT

private slots:

    void changingTheFamilyKeepsTheScale()
    {
        for (const std::string& before : scalerFamilies()) {
            for (const std::string& after : scalerFamilies()) {
                Lane lane = laneWith({{"family", before}});
                if (before != "none") {
                    lane.set("scaler.scale", 384);
                }
                lane.set("scaler.family", after);
                QCOMPARE(lane.config()->scaler->family, after);
                const double expected = after == "none" ? 1
                    : before == "none"                  ? *findScalerFamily(after)->parameters[0].byDefault
                                                        : 384;
                QCOMPARE(lane.scale(), expected);
                QCOMPARE(lane.step().skipped, false);
            }
        }
    }

    void aScaleThatIsLostStartsAnew()
    {
        Lane lane = laneWith(
            {{"family", "keras"}, {"init_scale", 0x1p126}, {"growth_interval", 1}}, {{"loss_weight", 1e-30}});
        // Its gradients are small enough to stay finite at such a scale.
        for (int step = 0; step < 2; ++step) {
            QVERIFY(!lane.step().foundInf);
        }
        QVERIFY(std::isinf(lane.scale()));
        lane.set("scaler.family", "pytorch");
        QCOMPARE(lane.scale(), 0x1p126); // the first scale, which both families have
    }

    void parametersChangeWhileItTrains()
    {
        Lane lane = laneWith({{"family", "megatron"}});
        QCOMPARE(lane.set("scaler.hysteresis", 5).before, std::string("2"));
        QCOMPARE(lane.step().hysteresis, std::int32_t {2}); // counters stay
        lane.set("scaler", {{"family", "paddle"}, {"hysteresis", 3}});
        QCOMPARE(lane.step().hysteresis, std::int32_t {3});
        QVERIFY_EXCEPTION_THROWN(lane.set("scaler.tolerance", 0.5), Error);
        lane.set("scaler.growth_tracker", 7);
        QCOMPARE(lane.step().growthTracker, std::int32_t {8});
        lane.set("scaler.family", "fairseq");
        QVERIFY_EXCEPTION_THROWN(lane.set("scaler.growth_tracker", 7), Error);
    }

    void deepspeedAppliesHalfTheGradientWhereItGrows()
    {
        Lane fixed = laneWith({{"family", "fixed"}, {"init_scale", 1024}});
        Lane deepspeed = laneWith({{"family", "deepspeed"}, {"init_scale", 1024}, {"growth_interval", 2}});
        for (int step = 0; step < 2; ++step) {
            QCOMPARE(deepspeed.step().gradNorm, fixed.step().gradNorm);
        }
        const StepRecord right = fixed.step();
        const StepRecord grown = deepspeed.step();
        QCOMPARE(grown.scale, 1024.0);
        QCOMPARE(deepspeed.scale(), 2048.0);
        QCOMPARE(grown.gradNorm, right.gradNorm / 2);
        QVERIFY(grown.updateRatio < 0.51 * right.updateRatio);
        QVERIFY(deepspeed.weightsHash() != fixed.weightsHash());
    }

    void deepspeedEndsAtItsMinimum()
    {
        Lane lane = laneWith({{"family", "deepspeed"}, {"init_scale", 2}, {"hysteresis", 1}},
            {{"loss_weight", 1e10}, {"precision", {{"policy", "fp16"}}}});
        QVERIFY(lane.step().skipped);
        QCOMPARE(lane.scale(), 1.0);
        QVERIFY_EXCEPTION_THROWN(lane.step(), Error);
    }

    void theLossDrivenOneAppliesWhatOverflowed()
    {
        Lane lane
            = laneWith({{"family", "loss-driven"}, {"growth_interval", 1}}, {{"precision", {{"policy", "fp16"}}}});
        StepRecord record;
        for (int step = 0; step < 40 && !lane.hasDiverged(); ++step) {
            record = lane.step();
        }
        QVERIFY(record.foundInf);
        QVERIFY(!record.skipped);
        QVERIFY(lane.hasDiverged());
    }
};

QTEST_GUILESS_MAIN(TestLaneScalers)
#include "tst_lane_scalers.moc"
