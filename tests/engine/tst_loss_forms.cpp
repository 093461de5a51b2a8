// Cross entropy in one op and in parts: equal in FP32, and what 16-bit parts lose.
// Source of the numbers: a probability of at most 2^-25 rounds to 0 in FP16, which is a gap of 25 ln 2 = 17.3287.
#include "engine/backends/backend_registry.h"
#include "engine/backends/executor.h"
#include "engine/formats/float16.h"
#include "engine/train/step_graph.h"

#include <QtTest>

#include <array>
#include <cmath>
#include <limits>

using namespace mantissa;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Loss and largest gradient of one sample whose logits are its two features: an identity as the only layer.
struct Outcome
{
    double loss = 0;
    double gradient = 0;
};

Outcome outcomeOf(const char* backend, const nlohmann::json& settings, std::array<float, 2> logits, std::int32_t label)
{
    nlohmann::json document {{"name", "a"}, {"data", {{"batch", 1}}},
        {"model", {{"kind", "layers"}, {"layers", {{{"kind", "linear"}, {"bias", false}}}}}}};
    document.merge_patch(settings);
    const LaneConfig lane = parseLane(document, "");
    ModelTask task;
    task.batch = 1;
    task.sample.shape = {2};
    task.outputs = 2;
    task.loss = lane.loss;
    task.lossForm = lane.lossForm;
    task.labelSmoothing = lane.labelSmoothing;
    const StepGraph step = buildStepGraph(lane, task);
    Executor executor(step.graph, backendByName(backend), 1);
    executor.writeFloats(step.parameters[0], std::array {1.0F, 0.0F, 0.0F, 1.0F});
    executor.writeFloats(step.input, logits);
    executor.write(step.target, std::as_bytes(std::span(&label, 1)));
    executor.synchronize();
    executor.setScalar(step.lossScale, 1.0F);
    executor.setScalar(step.inverseScale, 1.0F);
    executor.setScalar(step.lr, 0.0F);
    executor.uploadStepInputs();
    for (const Phase phase : {Phase::WeightCast, Phase::Forward, Phase::Backward, Phase::Unscale}) {
        executor.run(phase);
    }
    executor.downloadStepOutputs();
    return {executor.scalar(step.loss), executor.scalar(step.foundInf) != 0 ? infinity : executor.scalar(step.maxAbs)};
}

nlohmann::json settings(const char* form, const char* policy, const nlohmann::json& overrides)
{
    return {{"loss_form", form}, {"precision", {{"policy", policy}, {"overrides", overrides}}}};
}

const nlohmann::json halfParts {{"softmax", "fp16"}, {"log", "fp16"}};

} // namespace

class TestLossForms : public QObject
{
    Q_OBJECT

private slots:

    void agreeInFp32()
    {
        for (const char* backend : {"cpu", "reference"}) {
            for (const float gap : {0.0F, 1.0F, 9.5F}) {
                const double expected = std::log1p(std::exp(-gap)) + gap;
                for (const char* form : {"fused", "log_softmax", "log_of_softmax"}) {
                    const Outcome outcome = outcomeOf(backend, settings(form, "fp32", {}), {0, gap}, 0);
                    // The softmax's relative error becomes an absolute one of its logarithm.
                    QVERIFY(std::abs(outcome.loss - expected) <= 8 * 0x1p-24 * std::max(1.0, expected));
                    // d loss / d w = (p - target) x, whose largest element is x's times 1 - p(label).
                    const double slope = gap * (1 - std::exp(-expected));
                    QVERIFY(std::abs(outcome.gradient - slope) <= 32 * 0x1p-24 * slope);
                }
            }
        }
    }

    void agreeInFp32WhenSmoothed()
    {
        constexpr double share = 0.2;
        for (const char* backend : {"cpu", "reference"}) {
            for (const float gap : {0.0F, 1.0F, 9.5F}) {
                // The label's -log p is low, the other's low + gap; each class gets half of the share.
                const double low = std::log1p(std::exp(-gap));
                const double expected = (1 - share / 2) * low + share / 2 * (low + gap);
                for (const char* form : {"fused", "log_softmax", "log_of_softmax"}) {
                    nlohmann::json document = settings(form, "fp32", {});
                    document["label_smoothing"] = share;
                    const Outcome outcome = outcomeOf(backend, document, {0, gap}, 1);
                    QVERIFY(std::abs(outcome.loss - expected) <= 16 * 0x1p-24 * std::max(1.0, expected));
                    const double slope = gap * std::abs(std::exp(-low) - (1 - share / 2));
                    QVERIFY(std::abs(outcome.gradient - slope) <= 64 * 0x1p-24 * gap);
                }
            }
        }
    }

    void smoothingNeedsTheLogarithmOfEveryClass()
    {
        for (const char* backend : {"cpu", "reference"}) {
            // The net is right, and the other class's probability is flushed to 0.
            nlohmann::json document = settings("log_of_softmax", "fp16", halfParts);
            QCOMPARE(outcomeOf(backend, document, {0, 20}, 1).loss, 0.0);
            document["label_smoothing"] = 0.1;
            QCOMPARE(outcomeOf(backend, document, {0, 20}, 1).loss, infinity);
            document["loss_form"] = "fused";
            QVERIFY(std::abs(outcomeOf(backend, document, {0, 20}, 1).loss - 1.0) <= 1e-6);
        }
    }

    void smallProbabilitiesBecomeInfiniteLosses()
    {
        for (const char* backend : {"cpu", "reference"}) {
            const auto lossOf = [backend](const char* form, float gap) {
                return outcomeOf(backend, settings(form, "fp16", halfParts), {0, gap}, 0).loss;
            };
            QCOMPARE(lossOf("log_of_softmax", 20), infinity);
            QCOMPARE(lossOf("fused", 20), 20.0);
            // The last logit of FP16 below 25 ln 2 and the first one above.
            QCOMPARE(lossOf("log_of_softmax", 17.328125F), roundedLog(0x1p-24));
            QCOMPARE(lossOf("log_of_softmax", 17.34375F), infinity);
            // exp(-17) = 4.14e-8 is rounded to 2^-24, whose logarithm is -16.636.
            QCOMPARE(lossOf("log_of_softmax", 17), roundedLog(0x1p-24));
            const nlohmann::json onlySoftmax {{"softmax", "fp16"}, {"log", "fp32"}};
            const double kept = outcomeOf(backend, settings("log_of_softmax", "fp16", onlySoftmax), {0, 17}, 0).loss;
            QVERIFY(std::abs(kept - 24 * std::log(2.0)) <= 4 * 0x1p-24 * kept);
            // The lists alone keep both in FP32.
            const double safe = outcomeOf(backend, settings("log_of_softmax", "fp16", {}), {0, 20}, 0).loss;
            QVERIFY(std::abs(safe - 20) <= 8 * 0x1p-24 * 20);
            // Pure FP16 needs no overrides; log_softmax is only rounded.
            QCOMPARE(outcomeOf(backend, settings("log_of_softmax", "pure-fp16", {}), {0, 20}, 0).loss, infinity);
            QCOMPARE(outcomeOf(backend, settings("log_softmax", "pure-fp16", {}), {0, 20}, 0).loss, 20.0);
        }
    }

    void anInfiniteLossHasNoUsableGradient()
    {
        for (const char* backend : {"cpu", "reference"}) {
            const auto gradientOf = [backend](const char* form) {
                return outcomeOf(backend, settings(form, "fp16", halfParts), {0, 20}, 0).gradient;
            };
            QCOMPARE(gradientOf("log_of_softmax"), infinity);
            QCOMPARE(gradientOf("fused"), 20.0);
        }
    }

private:
    static double roundedLog(double probability) { return Float16::fromDouble(-std::log(probability)).toDouble(); }
};

QTEST_APPLESS_MAIN(TestLossForms)
#include "tst_loss_forms.moc"
