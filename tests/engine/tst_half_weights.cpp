// Lanes whose weights are 16-bit: what they hold, what their records show, and that changing the format keeps the run.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/formats/round_value.h"
#include "engine/train/lane.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <ranges>

using namespace mantissa;

namespace {

std::shared_ptr<const Dataset> digits()
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    return data;
}

/// The digits under a policy; `more` is merged into the lane's document.
Lane laneOf(const char* policy, const nlohmann::json& more = nlohmann::json::object(), const char* backend = "cpu")
{
    nlohmann::json document {{"name", policy}, {"model", {{"hidden", {48}}}}, {"precision", {{"policy", policy}}},
        {"optimizer", {{"kind", "sgd"}, {"lr", 0.1}, {"momentum", 0.9}}}};
    document.merge_patch(more);
    return {0, parseLane(document, ""), {}, digits(), backendByName(backend), 1};
}

std::vector<float> weightsOf(Lane& lane)
{
    std::vector<float> weights;
    lane.readWeights(weights);
    return weights;
}

std::vector<float> rounded(DType format, std::vector<float> values)
{
    for (float& value : values) {
        value = static_cast<float>(roundValue(format, value));
    }
    return values;
}

StepRecord train(Lane& lane, int steps)
{
    StepRecord record;
    for (int step = 0; step < steps; ++step) {
        record = lane.step();
    }
    return record;
}

const nlohmann::json scaled {{"scaler", {{"family", "fixed"}, {"init_scale", 65536}}}};

} // namespace

class TestHalfWeights : public QObject
{
    Q_OBJECT

private slots:

    void startFromTheFp32DrawRoundedOnce()
    {
        Lane full = laneOf("fp32");
        for (const auto& [policy, format] : {std::pair {"pure-fp16", DType::Float16}, std::pair {"O3", DType::Float16},
                 std::pair {"pure-bf16", DType::BFloat16}}) {
            Lane half = laneOf(policy);
            QCOMPARE(weightsOf(half), rounded(format, weightsOf(full)));
            QCOMPARE(half.initialWeightsHash(), full.initialWeightsHash());
            QVERIFY(half.weightsHash() != full.weightsHash());
        }
        QCOMPARE(full.initialWeightsHash(), full.weightsHash());
    }

    void takeHalfTheMemory()
    {
        const nlohmann::json adam {{"optimizer", {{"kind", "adamw"}, {"momentum", 0}}}};
        const MemoryBytes full = laneOf("fp32", adam).bytes();
        const MemoryBytes mixed = laneOf("bf16", adam).bytes();
        const MemoryBytes half = laneOf("pure-bf16", adam).bytes();
        QCOMPARE(2 * half.weights, full.weights);
        QCOMPARE(2 * half.gradients, full.gradients);
        // Both moments, and the count of steps, which stays FP32.
        QCOMPARE(half.optimizer - sizeof(float), (full.optimizer - sizeof(float)) / 2);
        QCOMPARE(half.copies, std::uint64_t {0});
        // Masters and their copies: more than FP32 alone.
        QCOMPARE(mixed.weights, full.weights);
        QCOMPARE(2 * mixed.copies, full.weights);
    }

    void runningStatisticsAreHalfToo()
    {
        const nlohmann::json model {{"model", {{"kind", "resnet"}, {"width", 4}, {"depth", 1}, {"stages", 1}}}};
        Lane full = laneOf("fp32", model);
        Lane half = laneOf("pure-fp16", model);
        QCOMPARE(2 * half.bytes().weights, full.bytes().weights);
        const std::string before = half.weightsHash();
        train(half, 3);
        QVERIFY(half.weightsHash() != before);
        QVERIFY(std::isfinite(half.validate().loss));
    }

    void learn_data()
    {
        QTest::addColumn<QString>("policy");
        QTest::addColumn<QString>("kind");
        for (const char* policy : {"pure-fp16", "pure-bf16", "O3"}) {
            for (const char* kind : {"mlp", "cnn", "resnet", "vit"}) {
                QTest::newRow((std::string(policy) + " " + kind).c_str()) << policy << kind;
            }
        }
    }

    void learn()
    {
        QFETCH(const QString, policy);
        QFETCH(const QString, kind);
        // Adam's default epsilon is 0 in FP16, which tst_update_ops shows; this one is not.
        nlohmann::json more {{"model", {{"kind", kind.toStdString()}}}, {"scaler", {{"init_scale", 1024}}},
            {"optimizer", {{"kind", "adamw"}, {"lr", 0.005}, {"epsilon", 1e-4}, {"momentum", 0}}}};
        if (kind == QStringLiteral("mlp")) {
            more["model"]["hidden"] = {64};
        } else {
            more["model"]["width"] = kind == QStringLiteral("vit") ? 32 : 8;
            more["model"]["depth"] = 1;
        }
        Lane lane = laneOf(qPrintable(policy), more);
        const StepRecord last = train(lane, 100);
        QVERIFY(!lane.hasDiverged());
        QVERIFY(last.updateRatio > 0);
        const double accuracy = lane.validate().accuracy;
        QVERIFY2(accuracy > 0.6, qPrintable(QString::number(accuracy)));
    }

    void areJudgedInAnyPolicy()
    {
        Lane lane = laneOf("pure-bf16");
        train(lane, 20);
        const double own = lane.validate().loss;
        lane.set("evaluation.policy", "pure-bf16");
        QCOMPARE(lane.validate().loss, own);
        // BF16 activations are within a few roundings of FP32 ones.
        lane.set("evaluation.policy", "fp32");
        QVERIFY(std::abs(lane.validate().loss - own) <= 16 * 0x1p-8 * own);
        Lane masters = laneOf("fp32", {{"evaluation", {{"policy", "pure-fp16"}}}});
        QVERIFY(std::isfinite(masters.validate().loss));
    }

    void updatesBelowHalfAnUlpAreLost()
    {
        // Weights are below 1/8, so half an ulp of BF16 is up to 2^-12; the norm of the whole update stays below that.
        const nlohmann::json slow {{"optimizer", {{"lr", 1e-7}}}};
        Lane masters = laneOf("bf16", slow);
        Lane half = laneOf("pure-bf16", slow);
        const std::vector<float> before = weightsOf(half);
        QVERIFY(train(masters, 5).updateRatio > 0);
        const StepRecord record = train(half, 5);
        QVERIFY(record.gradNorm > 0);
        QVERIFY2(record.updateRatio < 1e-3 * train(masters, 1).updateRatio, "all but updates of weights near zero");
        const std::vector<float> after = weightsOf(half);
        std::ptrdiff_t lost = 0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            lost += before[i] == after[i] && std::abs(before[i]) > 0.001F ? 1 : 0;
        }
        const auto large = std::ranges::count_if(before, [](float weight) { return std::abs(weight) > 0.001F; });
        QCOMPARE(lost, large);
    }

    void aScaleDoesNotHelpHalfGradients()
    {
        const nlohmann::json small {{"loss_weight", 1e-5}};
        nlohmann::json smallAndScaled = small;
        smallAndScaled.merge_patch(scaled);
        Lane plainMasters = laneOf("fp16", small);
        Lane scaledMasters = laneOf("fp16", smallAndScaled);
        Lane plain = laneOf("pure-fp16", small);
        Lane scaledHalf = laneOf("pure-fp16", smallAndScaled);
        const double lost = plainMasters.step().flushed;
        QVERIFY(lost > 0.01);
        QVERIFY(scaledMasters.step().flushed < lost / 10);
        QVERIFY(plain.step().flushed > lost / 2);
        // Unscaling puts them back where FP16 cannot hold them: those up to 2^-25 go, and others are subnormal.
        const StepRecord scaledRecord = scaledHalf.step();
        QVERIFY2(scaledRecord.flushed > lost / 2, qPrintable(QString::number(scaledRecord.flushed)));
        QVERIFY2(scaledRecord.subnormal > 0.1, qPrintable(QString::number(scaledRecord.subnormal)));
        QVERIFY(scaledRecord.flushed + scaledRecord.subnormal <= 1);
        QCOMPARE(scaledRecord.overflowed, 0.0);
    }

    void overflowingGradientsAreFoundAndSkipped()
    {
        Lane lane = laneOf("pure-fp16", {{"scaler", {{"init_scale", 1e6}}}});
        const std::string before = lane.weightsHash();
        // The logits' gradients, at most 1e6 / 64, fit into FP16; sums of them over the batch do not.
        const StepRecord record = lane.step();
        QVERIFY(record.foundInf);
        QVERIFY(record.skipped);
        QVERIFY(record.overflowed > 0);
        QCOMPARE(lane.scale(), 5e5);
        QCOMPARE(lane.weightsHash(), before);
    }

    void clippingReadsHalfGradients_data()
    {
        QTest::addColumn<QString>("clip");
        QTest::addColumn<QString>("order");
        for (const char* order : {"unscale-then-clip", "clip-then-unscale"}) {
            QTest::addRow("norm, %s", order) << "max_norm" << order;
            QTest::addRow("value, %s", order) << "max_value" << order;
        }
    }

    void clippingReadsHalfGradients()
    {
        QFETCH(const QString, clip);
        QFETCH(const QString, order);
        const bool isRight = order == QStringLiteral("unscale-then-clip");
        constexpr double scale = 64;
        const double threshold = 0.01;
        nlohmann::json more {{"scaler", {{"family", "fixed"}, {"init_scale", scale}}},
            {"clip", {{"order", order.toStdString()}, {clip.toStdString(), isRight ? threshold : threshold * scale}}}};
        for (const char* policy : {"pure-fp16", "pure-bf16"}) {
            Lane lane = laneOf(policy, more);
            const StepRecord record = lane.step();
            QVERIFY(record.gradNorm > 10 * threshold);
            QVERIFY(record.gradNormClipped < record.gradNorm);
            if (clip == QStringLiteral("max_norm")) {
                // Each element was rounded after the multiplication.
                const double roundoff = policy == std::string_view("pure-fp16") ? 0x1p-11 : 0x1p-8;
                QVERIFY(std::abs(record.gradNormClipped / threshold - 1) <= 2 * roundoff);
            }
        }
    }

    void microBatchesAddUpInHalf()
    {
        // Four micro-batches against one batch of the same samples: the sums differ by roundings to the format, of
        // each part and of each sum, which are all at most as large as the largest gradient.
        for (const auto& [policy, roundoff] : {std::pair {"pure-fp16", 0x1p-11}, std::pair {"pure-bf16", 0x1p-8}}) {
            Lane one = laneOf(policy, {{"data", {{"batch", 64}}}});
            Lane four = laneOf(policy, {{"data", {{"batch", 16}}}, {"accumulation", {{"steps", 4}}}});
            const StepRecord whole = one.step();
            const StepRecord parts = four.step();
            QVERIFY(std::abs(whole.loss - parts.loss) <= 16 * roundoff * whole.loss);
            QVERIFY(std::abs(whole.gradNorm - parts.gradNorm) <= 16 * roundoff * whole.gradNorm);
            QVERIFY(parts.flushed >= 0 && parts.flushed + parts.subnormal <= 1);
        }
    }

    void changingTheFormatKeepsTheRun()
    {
        Lane lane = laneOf("bf16");
        train(lane, 5);
        const std::vector<float> masters = weightsOf(lane);
        lane.set("precision.weights", "half");
        QCOMPARE(weightsOf(lane), rounded(DType::BFloat16, masters));
        lane.set("precision.weights", "master");
        QCOMPARE(weightsOf(lane), rounded(DType::BFloat16, masters));
        lane.set("precision.policy", "pure-fp16"); // masters, since they were asked for
        QCOMPARE(weightsOf(lane), rounded(DType::BFloat16, masters));
        train(lane, 2);
        QVERIFY(!lane.hasDiverged());
        // From a policy that implies 16-bit weights to one that has none.
        Lane pure = laneOf("pure-bf16");
        train(pure, 3);
        const std::vector<float> stored = weightsOf(pure);
        pure.set("precision.policy", "fp32");
        QCOMPARE(pure.config()->precision.weights, std::string("master"));
        QCOMPARE(weightsOf(pure), stored);
        train(pure, 1);
        pure.set("precision.policy", "fp16");
        const nlohmann::json noFormat {{"policy", "fp32"}, {"weights", "half"}};
        QVERIFY_THROWS_EXCEPTION(Error, pure.set("precision", noFormat));
        QCOMPARE(pure.config()->precision.policy, std::string("fp16"));
    }

    void forksAndTheirParentsGoOnAlike()
    {
        const nlohmann::json model {{"model", {{"kind", "resnet"}, {"width", 4}, {"depth", 1}, {"stages", 1}}}};
        for (const char* policy : {"pure-fp16", "pure-bf16"}) {
            Lane lane = laneOf(policy, model);
            train(lane, 3);
            const auto fork = lane.fork(1, "fork");
            QCOMPARE(fork->weightsHash(), lane.weightsHash());
            QCOMPARE(fork->validate().loss, lane.validate().loss);
            train(lane, 3);
            train(*fork, 3);
            QCOMPARE(fork->weightsHash(), lane.weightsHash());
        }
    }

    void backendsAgree()
    {
        for (const auto& [policy, roundoff] :
            {std::pair {"pure-fp16", 0x1p-11}, std::pair {"pure-bf16", 0x1p-8}, std::pair {"O3", 0x1p-11}}) {
            const nlohmann::json small {
                {"data", {{"batch", 16}}}, {"model", {{"hidden", {16}}}}, {"scaler", {{"init_scale", 256}}}};
            Lane cpu = laneOf(policy, small);
            Lane reference = laneOf(policy, small, "reference");
            for (int step = 0; step < 4; ++step) {
                const StepRecord a = cpu.step();
                const StepRecord b = reference.step();
                // As in tst_session: a flipped rounding of a weight or an activation, a few steps on.
                QVERIFY2(std::abs(a.loss - b.loss) < 16 * roundoff * b.loss, policy);
                QCOMPARE(a.skipped, b.skipped);
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestHalfWeights)
#include "tst_half_weights.moc"
