// Judging a lane while it trains: what is noted, in which precision, and that training does not notice.
#include "engine/backends/backend_registry.h"
#include "engine/store/run_store.h"
#include "engine/train/lane.h"
#include "engine/train/session.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

using namespace mantissa;

namespace {

std::shared_ptr<const Dataset> digits()
{
    static const auto data = std::make_shared<const Dataset>(loadDataset({}, 1, {}));
    return data;
}

LaneConfig laneWith(const char* patch)
{
    nlohmann::json document = nlohmann::json::parse(R"({"name": "a", "data": {"kind": "digits", "batch": 50},
        "model": {"kind": "mlp", "hidden": [32], "dropout": 0.1}, "optimizer": {"lr": 0.01}})");
    document.merge_patch(nlohmann::json::parse(patch));
    return parseLane(document, "test");
}

Lane laneOf(const char* patch)
{
    return {0, laneWith(patch), {}, digits(), backendByName("cpu"), 1};
}

std::vector<StepRecord> train(Lane& lane, int steps)
{
    std::vector<StepRecord> records;
    for (int i = 0; i < steps; ++i) {
        records.push_back(lane.step());
        lane.validateIfDue(records.back());
    }
    return records;
}

} // namespace

class TestEvaluation : public QObject
{
    Q_OBJECT

private slots:

    void trainingDoesNotNotice_data()
    {
        QTest::addColumn<QString>("precision");
        QTest::newRow("fp32") << R"("fp32"}, "evaluation": {"every": 3})";
        QTest::newRow("fp16") << R"("fp16"}, "scaler": {}, "evaluation": {"every": 1, "policy": "fp32"})";
        QTest::newRow("bf16") << R"("bf16"}, "evaluation": {"every": 2, "policy": "fp16", "samples": 7})";
    }

    void trainingDoesNotNotice()
    {
        QFETCH(const QString, precision);
        const std::string patch = R"({"precision": {"policy": )" + precision.toStdString() + "}";
        Lane judged = laneOf(patch.c_str());
        Lane left = laneOf((patch.substr(0, patch.find(R"(, "evaluation")")) + "}").c_str());
        for (int step = 0; step < 12; ++step) {
            StepRecord a = judged.step();
            judged.validateIfDue(a);
            const StepRecord b = left.step();
            QCOMPARE(a.loss, b.loss);
            QCOMPARE(a.gradNorm, b.gradNorm);
            QCOMPARE(judged.weightsHash(), left.weightsHash());
        }
        QVERIFY(judged.bytes().workspace > left.bytes().workspace);
        QCOMPARE(judged.bytes().weights, left.bytes().weights);
    }

    void isNotedWhereItIsDue()
    {
        Lane lane = laneOf(R"({"evaluation": {"every": 5}})");
        for (const StepRecord& record : train(lane, 12)) {
            QCOMPARE(record.wasValidated(), record.step == 4 || record.step == 9);
            QCOMPARE(record.timeMs.evaluationMs > 0, record.wasValidated());
        }
        lane.set("evaluation.every", 2);
        const std::vector<StepRecord> more = train(lane, 2);
        QVERIFY(!more[0].wasValidated());
        QVERIFY(more[1].wasValidated());
        const Validation now = lane.validate();
        QCOMPARE(more[1].validationLoss, now.loss);
        QCOMPARE(more[1].validationAccuracy, now.accuracy);
        QVERIFY(now.accuracy > 0.5 && now.accuracy <= 1);
        lane.set("evaluation.every", 0);
        QVERIFY(!train(lane, 1)[0].wasValidated());
        QVERIFY(!std::isnan(lane.validate().loss));
    }

    void usesTheWantedPrecision()
    {
        // The same weights: a half lane judged in FP32 must give what an FP32 lane gives for them.
        Lane half = laneOf(R"({"precision": {"policy": "bf16"}})");
        train(half, 6);
        const double own = half.validate().loss;
        half.set("evaluation.policy", "fp32");
        const double exact = half.validate().loss;
        half.set("evaluation.policy", "lane");
        QCOMPARE(half.validate().loss, own);
        half.set("precision.policy", "fp32");
        QCOMPARE(half.validate().loss, exact);
        QVERIFY(own != exact);
        QVERIFY(std::abs(own - exact) < 0.05 * exact); // three layers of rounding at 2^-9 each, and a margin
    }

    void judgesTheFirstSamplesOnly()
    {
        Lane lane = laneOf(R"({"evaluation": {"samples": 1}})");
        train(lane, 3);
        const double one = lane.validate().accuracy;
        QVERIFY(one == 0 || one == 1);
        lane.set("evaluation.samples", 1'000'000);
        const double all = lane.validate().accuracy;
        lane.set("evaluation.samples", 0);
        QCOMPARE(lane.validate().accuracy, all);
        const double samples = static_cast<double>(digits()->validation.size());
        QCOMPARE(std::round(all * samples), all * samples);
    }

    void anInterruptEndsIt()
    {
        Lane lane = laneOf(R"({"evaluation": {"every": 1}})");
        const std::atomic<bool> interrupt {true};
        const Validation cut = lane.validate(interrupt);
        QVERIFY(std::isnan(cut.loss) && std::isnan(cut.accuracy));
        QVERIFY(!std::isnan(lane.validate().loss));
        StepRecord record = lane.step();
        lane.validateIfDue(record, interrupt);
        QVERIFY(!record.wasValidated());
    }

    void nextTokensAreJudgedOneByOne()
    {
        // Two tokens that alternate: after the first step of training nothing is known, after some nothing is left.
        auto data = std::make_shared<Dataset>();
        data->name = "tokens";
        data->sampleShape = {4};
        data->samples = 8;
        data->features = 4;
        data->tokenStride = 4;
        data->vocabulary = 3;
        data->classes = 3;
        data->labelsTokens = true;
        for (int i = 0; i < 32; ++i) {
            data->tokens.push_back(i % 2);
            data->labels.push_back(i % 4 == 0 ? ignoredLabel : 1 - i % 2);
        }
        data->train = {0, 1, 2, 3, 4};
        data->validation = {5, 6, 7};
        const LaneConfig config = laneWith(
            R"({"data": {"kind": "copy", "batch": 2}, "model": {"kind": "gpt", "hidden": null, "width": 8, "depth": 1, "heads": 2,
                "dropout": 0}, "optimizer": {"lr": 0.05}})");
        Lane lane(0, config, {}, data, backendByName("cpu"), 1);
        const Validation before = lane.validate();
        QVERIFY(std::abs(before.loss - std::log(3.0)) < 0.1); // small initial weights: all three tokens alike
        train(lane, 60);
        const Validation after = lane.validate();
        QCOMPARE(after.accuracy, 1.0);
        QVERIFY(after.loss < 0.1);
        // The answers that are not asked count nowhere: 3 samples of 3 tokens.
        const double share = before.accuracy * 9;
        QCOMPARE(std::round(share), share);
    }

    void isStoredAndReadBack()
    {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath(QStringLiteral("runs.db")).toStdString();
        Experiment experiment = parseExperiment(R"({"mantissa": 1, "name": "judged", "steps": 25,
            "data": {"kind": "digits", "batch": 50}, "model": {"kind": "mlp", "hidden": [16]},
            "evaluation": {"every": 10}, "lanes": [{"name": "a"}]})",
            "test");
        RunWriter writer(file);
        Session session(std::move(experiment), {.observers = {&writer}});
        session.run();
        session.waitUntilIdle();
        std::vector<StepRecord> records;
        session.takeRecords(records);
        writer.flush();
        const RunStore store(file, StoreAccess::ReadOnly);
        const RunId run = store.runs().front().id;
        const RunColumns columns = store.columns(run);
        QCOMPARE(columns.validations.size(), std::size_t {2});
        QCOMPARE(columns.validations[1].step, std::int64_t {19});
        QCOMPARE(columns.validations[1].loss, records[19].validationLoss);
        QCOMPARE(columns.validations[0].accuracy, records[9].validationAccuracy);
        QCOMPARE(store.records(run)[19].validationLoss, records[19].validationLoss);
        QVERIFY(std::isnan(store.records(run)[18].validationLoss));
    }
};

QTEST_APPLESS_MAIN(TestEvaluation)
#include "tst_evaluation.moc"
