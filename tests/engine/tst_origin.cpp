// Where a step stops being finite: the first 16-bit value in order of execution, told once per place.
#include "engine/train/session.h"
#include "tests/support/run_recorder.h"

#include <QtTest>

#include <cmath>
#include <vector>

using namespace mantissa;

namespace {

struct Trained
{
    std::vector<StepRecord> records;
    std::vector<Event> origins; ///< Numerics events
};

Trained train(const nlohmann::json& settings)
{
    nlohmann::json document {{"mantissa", 1}, {"name", "t"}, {"steps", 12},
        {"data", {{"kind", "digits"}, {"batch", 32}}}, {"model", {{"kind", "mlp"}, {"hidden", {16}}}},
        {"lanes", {{{"name", "a"}}}}};
    document.merge_patch(settings);
    RunRecorder recorder;
    SessionOptions options;
    options.observers = {&recorder};
    Session session(parseExperiment(document.dump(), "test"), options);
    session.run();
    session.waitUntilIdle();
    std::erase_if(recorder.events, [](const Event& event) { return event.kind != EventKind::Numerics; });
    return {recorder.records, recorder.events};
}

bool hasText(const Event& event, const char* text)
{
    return event.text.find(text) != std::string::npos;
}

} // namespace

class TestOrigin : public QObject
{
    Q_OBJECT

private slots:

    void finiteStepsHaveNone()
    {
        const Trained run = train({{"precision", {{"policy", "fp16"}}}, {"scaler", nlohmann::json::object()}});
        QVERIFY(!run.records.empty());
        QVERIFY(run.origins.empty());
    }

    void batchNormSumsOverflowInTheForwardPass()
    {
        const nlohmann::json model {{"kind", "layers"},
            {"layers",
                {{{"kind", "conv2d"}, {"channels", 8}, {"kernel", 3}, {"init_std", 60}}, "batch_norm", "relu",
                    "flatten", "linear"}}};
        const nlohmann::json sums {{"batch_norm", "fp16"}, {"batch_norm.accumulate", "fp16"}};
        const Trained run = train({{"model", model}, {"scaler", nlohmann::json::object()},
            {"precision", {{"policy", "fp16"}, {"overrides", sums}}}});
        QCOMPARE(run.origins.size(), std::size_t {1}); // the same place in every step
        const Event& origin = run.origins.front();
        QCOMPARE(origin.step, std::int64_t {0});
        QVERIFY2(hasText(origin, "The loss is not finite; first in bn1.out (batch_norm, forward, fp16)"),
            origin.text.c_str());
        QVERIFY2(hasText(origin, "NaN of"), origin.text.c_str());
    }

    void aScaleTooLargeOverflowsInTheBackwardPass()
    {
        const Trained run
            = train({{"precision", {{"policy", "fp16"}}}, {"scaler", {{"family", "fixed"}, {"init_scale", 1e12}}}});
        QVERIFY(!run.origins.empty());
        const Event& origin = run.origins.front();
        QVERIFY2(hasText(origin, "A gradient is not finite; first in "), origin.text.c_str());
        QVERIFY2(hasText(origin, "backward, fp16"), origin.text.c_str());
        QVERIFY2(hasText(origin, "overflowed"), origin.text.c_str());
        QVERIFY(run.records.front().skipped);
    }

    void withoutSixteenBitValuesItIsSaidToBeFp32()
    {
        const Trained run = train({{"optimizer", {{"kind", "sgd"}, {"lr", 1e6}}}, {"loss_weight", 1e30}});
        QVERIFY(!run.origins.empty());
        QVERIFY2(hasText(run.origins.front(), "not by a rounding to 16 bits"), run.origins.front().text.c_str());
    }

    void aGradientThatDiesIsFoundWhereItDied()
    {
        // The loss's gradient, 1e-8 / 32 at most, is below half of FP16's smallest number.
        const Trained run = train({{"precision", {{"policy", "fp16"}}}, {"loss_weight", 1e-8}});
        QCOMPARE(run.origins.size(), std::size_t {1});
        const Event& origin = run.origins.front();
        QVERIFY2(hasText(origin, "The whole gradient is zero; first in "), origin.text.c_str());
        QVERIFY2(hasText(origin, "backward, fp16): 320 flushed to zero of 320 elements"), origin.text.c_str());
    }

    void figuresOfAStepThatIsNotFiniteAreNotFinite()
    {
        const Trained run = train({{"precision", {{"policy", "pure-fp16"}}}, {"optimizer", {{"lr", 1e5}}}});
        const StepRecord& last = run.records.back();
        QVERIFY(run.records.size() < 12); // it diverged
        QVERIFY(!std::isfinite(last.updateRatio));
        for (const StepRecord& record : run.records) {
            QCOMPARE(std::isnan(record.gradNorm) && !std::isnan(record.gradMax), false);
        }
    }

    void masksOfAttentionAreNoFault()
    {
        const Trained run = train(
            {{"steps", 2}, {"data", {{"kind", "copy"}, {"length", 4}, {"symbols", 4}, {"batch", 8}, {"samples", 64}}},
                {"model",
                    {{"kind", "gpt"}, {"hidden", nullptr}, {"width", 16}, {"heads", 2}, {"depth", 1},
                        {"fused_attention", false}}},
                {"precision", {{"policy", "pure-fp16"}}}, {"scaler", {{"family", "fixed"}, {"init_scale", 1e30}}}});
        QVERIFY(!run.origins.empty());
        QVERIFY2(!hasText(run.origins.front(), "scale_mask"), run.origins.front().text.c_str());
        QVERIFY2(hasText(run.origins.front(), "backward"), run.origins.front().text.c_str());
    }
};

QTEST_APPLESS_MAIN(TestOrigin)
#include "tst_origin.moc"
