// Expectations: what a file may say, what each metric is, and how they are judged.
#include "engine/core/error.h"
#include "engine/train/experiment.h"
#include "engine/verify/judge.h"

#include <QtTest>

#include <limits>

using namespace mantissa;
using nlohmann::json;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

const std::vector<std::string> lanes {"A", "B"};

/// Twelve steps: loss 12, 11, ... 1; a skip at steps 3 and 7, a NaN loss at step 3.
LaneOutcome outcome(const std::string& name)
{
    LaneOutcome result;
    result.lane = name;
    for (int step = 0; step < 12; ++step) {
        StepRecord record;
        record.step = step;
        record.loss = 12 - step;
        record.scale = step < 4 ? 8 : step < 8 ? 4 : 16;
        record.gradNorm = step + 1;
        record.gradNormClipped = 1;
        record.flushed = step < 6 ? 0.5 : 0.25;
        record.subnormal = 0.125;
        record.overflowed = step == 7 ? 0.6 : 0;
        record.updateRatio = step == 5 ? 0 : 0.01 * step;
        record.baselineDistance = step % 4 == 0 ? 0.1 * step : missing;
        record.droppedMicroBatches = step == 2 ? 3 : 0;
        record.timeMs.dataMs = 2;
        record.timeMs.forwardMs = 1;
        record.timeMs.backwardMs = 4;
        record.timeMs.evaluationMs = 100; // no part of a step
        if (step == 3 || step == 7) {
            record.skipped = true;
            record.foundInf = true;
            record.gradNorm = inf;
        }
        if (step == 3) {
            record.loss = missing;
        }
        result.records.push_back(record);
    }
    for (int step = 0; step < 12; ++step) {
        for (int rank = 0; rank < 2; ++rank) {
            const bool isBad = rank == 1 && step == 6;
            result.ranks.push_back({.step = step,
                .rank = rank,
                .foundInf = isBad,
                .skipped = isBad,
                .loss = 1.0 + rank,
                .scale = isBad ? 2.0 : 4.0,
                .gradNorm = isBad ? inf : 3.0 + rank,
                .flushed = 0.25 * rank,
                .distance = step % 4 == 0 ? 0.01 * step * rank : missing});
        }
    }
    // Looked at in steps 0, 5 and 10: fc1 does not move in the last of them.
    for (int step = 0; step < 12; step += 5) {
        LayerFigures fc1 {"fc1"};
        LayerFigures fc2 {"fc2"};
        fc1.values.fill(missing);
        fc2.values.fill(missing);
        const auto set = [](LayerFigures& layer, LayerMeasure measure, double value) {
            layer.values[static_cast<std::size_t>(measure)] = value;
        };
        set(fc1, LayerMeasure::GradientNorm, step == 5 ? inf : step + 2);
        set(fc1, LayerMeasure::Flushed, step == 10 ? 0.25 : 0.5);
        set(fc1, LayerMeasure::UpdateRatio, step == 10 ? 0 : 0.01 * (step + 1));
        set(fc1, LayerMeasure::Cosine, step == 0 ? missing : 0.5 + 0.02 * step);
        set(fc2, LayerMeasure::UpdateRatio, 1);
        result.sampled.push_back({step, {fc1, fc2}});
    }
    RunSummary& s = result.summary;
    s.steps = 12;
    s.status = RunStatus::Finished;
    s.validationLoss = 0.5;
    s.validationAccuracy = 0.875;
    s.finalScale = 32;
    s.weightsHash = "00ff";
    s.stepsPerSecond = 100;
    s.castsPerStep = 7;
    s.bytes = {.weights = 1, .copies = 2, .gradients = 3, .optimizer = 4, .activations = 5, .workspace = 6};
    return result;
}

json expectation(const std::string& left, const std::string& op, const std::string& right)
{
    return {{"that", "t"}, {"left", json::parse(left)}, {"op", op}, {"right", json::parse(right)}};
}

double number(const std::string& metric, const std::string& steps = "", const std::string& layer = "")
{
    const std::string left = R"({"lane": "A", "metric": ")" + metric + "\""
        + (layer.empty() ? "" : ", \"layer\": \"" + layer + "\"") + (steps.empty() ? "" : ", \"steps\": " + steps)
        + "}";
    const auto read = readExpectations(json::array({expectation(left, "<", "0")}), lanes, "");
    return std::get<double>(valueOf(read.at(0).left, outcome("A")));
}

bool isMet(const json& entry, const std::vector<LaneOutcome>& outcomes)
{
    return judge(readExpectations(json::array({entry}), lanes, "").at(0), outcomes).isMet;
}

QString messageOf(const std::function<void()>& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.code() == ErrorCode::InvalidArgument ? QString::fromUtf8(error.what()) : "another code";
    }
    return "no error";
}

} // namespace

class TestVerify : public QObject
{
    Q_OBJECT

private slots:

    void measuresLayers_data()
    {
        QTest::addColumn<QString>("metric");
        QTest::addColumn<QString>("layer");
        QTest::addColumn<QString>("steps");
        QTest::addColumn<double>("value");
        const auto row = [](const char* metric, const char* layer, const char* steps, double value) {
            QTest::addRow("%s %s %s", metric, layer, steps)
                << QString(metric) << QString(layer) << QString(steps) << value;
        };
        row("mean_grad_norm", "fc1", "", 7); // the infinite one is left out
        row("max_grad_norm", "fc1", "", 12);
        row("flushed", "fc1", "", 1.25 / 3);
        row("flushed", "fc1", "[0, 9]", 0.5);
        row("update_ratio", "fc1", "", 0.01);
        row("max_update_ratio", "fc1", "", 0.06);
        row("max_update_ratio", "fc1", "[6, 11]", 0);
        row("unmoved_steps", "fc1", "", 1);
        row("unmoved_steps", "fc2", "", 0);
        row("cosine", "fc1", "", 0.65);
        row("cosine", "fc2", "", missing);
        row("subnormal", "fc1", "", missing);
        row("flushed", "fc9", "", missing); // which no model check has seen
    }

    void measuresLayers()
    {
        QFETCH(const QString, metric);
        QFETCH(const QString, layer);
        QFETCH(const QString, steps);
        QFETCH(const double, value);
        const double is = number(metric.toStdString(), steps.toStdString(), layer.toStdString());
        QVERIFY2(std::isnan(value) ? std::isnan(is) : std::abs(is - value) < 1e-12, qPrintable(QString::number(is)));
    }

    void layersAreCheckedWhenTheFileIsRead_data()
    {
        QTest::addColumn<QString>("left");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* left, const char* message) {
            QTest::addRow("%s", left) << QString(left) << QString(message);
        };
        row(R"({"lane": "A", "metric": "flushed", "layer": "fc1"})", "no error");
        row(R"({"lane": "A", "metric": "flushed", "layer": "fc9"})",
            "f: expect[0].left.layer is \"fc9\", but the model of lane \"A\" has no such layer; did you mean \"fc1\"?");
        row(R"({"lane": "A", "metric": "flushed", "layer": ""})", "f: expect[0].left.layer is \"\"; it must be a text");
        row(R"({"lane": "A", "metric": "flushed", "layer": 1})", "f: expect[0].left.layer is 1");
        row(R"({"lane": "A", "metric": "loss_drop", "layer": "fc1"})",
            "f: expect[0].left.layer cannot restrict loss_drop, which is not known by layer");
        row(R"({"lane": "A", "metric": "cosine"})",
            "f: expect[0].left.layer is missing; cosine is known by layer alone");
        row(R"({"lane": "A", "metric": "flushed", "lyaer": "fc1"})", "did you mean \"layer\"?");
        row(R"({"lane": "gpt", "metric": "cosine", "layer": "blocks.0.mlp.fc1"})", "no error");
        row(R"({"lane": "gpt", "metric": "cosine", "layer": "blocks.9.mlp.fc1"})", "has no such layer");
        row(R"({"lane": "cnn", "metric": "cosine", "layer": "conv2"})", "no error");
        row(R"({"lane": "cnn", "metric": "cosine", "layer": "act1"})", "has no such layer"); // nothing to learn in it
    }

    void layersAreCheckedWhenTheFileIsRead()
    {
        QFETCH(const QString, left);
        QFETCH(const QString, message);
        const std::string text = R"({"mantissa": 1, "lanes": [{"name": "A"},
            {"name": "gpt", "data": {"kind": "modular_addition"}, "model": {"kind": "gpt"}}, {"name": "cnn", "model": {"kind": "cnn"}}],
            "expect": [{"that": "t", "op": "<", "right": 1, "left": )"
            + left.toStdString() + "}]}";
        const QString is = messageOf([&] { parseExperiment(text, "f"); });
        QVERIFY2(is.contains(message), qPrintable(is));
    }

    void measures_data()
    {
        QTest::addColumn<QString>("metric");
        QTest::addColumn<QString>("steps");
        QTest::addColumn<double>("value");
        const auto row = [](const char* metric, const char* steps, double value) {
            QTest::addRow("%s %s", metric, steps) << QString(metric) << QString(steps) << value;
        };
        row("final_loss", "", 1);
        row("max_update_ratio", "", 0.11);
        row("final_loss", "[0, 2]", 10);
        row("min_loss", "", 1);
        row("min_loss", "[2, 5]", 7);
        row("mean_loss", "[0, 2]", 11);
        row("mean_loss", "", missing); // one is NaN
        row("loss_drop", "[0, 1]", 0.5);
        row("loss_drop", "[4, 11]", 8 - 4.5);
        row("loss_drop", "", missing);
        row("bad_losses", "", 1);
        row("bad_losses", "[4, 11]", 0);
        row("first_bad_loss", "", 3);
        row("first_bad_loss", "[4, 11]", -1);
        row("skipped_steps", "", 2);
        row("first_skip", "", 3);
        row("first_skip", "[4, 6]", -1);
        row("last_skip", "", 7);
        row("last_skip", "[0, 6]", 3);
        row("overflow_steps", "", 2);
        row("dropped_micro_batches", "", 3);
        row("min_scale", "", 4);
        row("max_scale", "", 16);
        row("max_scale", "[0, 7]", 8);
        row("growths", "", 1);
        row("mean_grad_norm", "[0, 3]", 2); // 1, 2, 3: not the skipped one
        row("max_grad_norm", "", 12);
        row("mean_grad_norm_clipped", "", 1);
        row("flushed", "[0, 5]", 0.5);
        row("flushed", "", (5 * 0.5 + 5 * 0.25) / 10);
        row("subnormal", "", 0.125);
        row("overflowed", "[7, 8]", 0.3);
        row("update_ratio", "[8, 10]", 0.09);
        row("unmoved_steps", "[1, 11]", 1);
        row("weights_distance", "", 0.8);
        row("weights_distance", "[0, 7]", 0.4);
        row("weights_distance", "[1, 3]", missing);
        row("data_ms", "", 2);
        row("step_ms", "", 7);
        row("steps", "", 12);
        row("diverged", "", 0);
        row("failed", "", 0);
        row("final_scale", "", 32);
        row("validation_loss", "", 0.5);
        row("accuracy", "", 0.875);
        row("steps_per_second", "", 100);
        row("casts", "", 7);
        row("bytes.weights", "", 1);
        row("bytes.copies", "", 2);
        row("bytes.gradients", "", 3);
        row("bytes.optimizer", "", 4);
        row("bytes.activations", "", 5);
        row("bytes.workspace", "", 6);
        row("bytes.total", "", 21);
        row("final_loss", "[20, 30]", missing); // no such steps
        row("min_scale", "[20, 30]", missing);
    }

    void measures()
    {
        QFETCH(const QString, metric);
        QFETCH(const QString, steps);
        QFETCH(const double, value);
        const double measured = number(metric.toStdString(), steps.toStdString());
        QVERIFY2(std::isnan(value) ? std::isnan(measured) : std::abs(measured - value) < 1e-12,
            qPrintable(QString::number(measured)));
    }

    void measuresRanks()
    {
        const auto of = [](const std::string& metric, const std::string& rank, const std::string& steps = "[0, 11]") {
            json left {{"lane", "A"}, {"metric", metric}, {"steps", json::parse(steps)}};
            if (!rank.empty()) {
                left["rank"] = json::parse(rank);
            }
            const auto read = readExpectations(json::array({expectation(left.dump(), "<", "0")}), lanes, "");
            return std::get<double>(valueOf(read.at(0).left, outcome("A")));
        };
        QCOMPARE(of("skipped_steps", "0"), 0.0);
        QCOMPARE(of("skipped_steps", "1"), 1.0);
        QCOMPARE(of("first_skip", "1"), 6.0);
        QCOMPARE(of("first_skip", "0"), -1.0);
        QCOMPARE(of("overflow_steps", "1"), 1.0);
        QCOMPARE(of("min_scale", "1"), 2.0);
        QCOMPARE(of("max_scale", "1"), 4.0);
        QCOMPARE(of("mean_grad_norm", "1"), 4.0);
        QCOMPARE(of("max_grad_norm", "0"), 3.0);
        QCOMPARE(of("mean_loss", "1"), 2.0);
        QCOMPARE(of("exchange_flushed", ""), 0.125);
        QCOMPARE(of("exchange_flushed", "1"), 0.25);
        QCOMPARE(of("rank_distance", ""), 0.08);
        QCOMPARE(of("rank_distance", "0"), 0.0);
        QCOMPARE(of("rank_distance", "1", "[0, 5]"), 0.04);
        QCOMPARE(of("rank_overflows", ""), 1.0);
        QVERIFY(std::isnan(of("skipped_steps", "2"))); // there is no such rank
        QVERIFY_EXCEPTION_THROWN(of("loss_drop", "1"), Error);
        QVERIFY_EXCEPTION_THROWN(of("skipped_steps", "-1"), Error);
    }

    void measuresEveryMetricOfTheTable()
    {
        const LaneOutcome one = outcome("A");
        for (const RunMetricInfo& info : runMetricTable()) {
            // Over steps whose numbers are all there: nothing that is listed is without a value.
            const Measure measure {"A", info.metric,
                info.isPerStep ? std::optional(StepInterval {4, 11}) : std::nullopt,
                info.layer == LayerUse::Must ? "fc1" : ""};
            const MetricValue value = valueOf(measure, one);
            const auto* number = std::get_if<double>(&value);
            QVERIFY2(number == nullptr || !std::isnan(*number), std::string(info.name).c_str());
        }
    }

    void tellsHowALaneEnded()
    {
        LaneOutcome ended = outcome("A");
        ended.summary.status = RunStatus::Diverged;
        QCOMPARE(std::get<double>(valueOf({"A", RunMetric::Diverged}, ended)), 1.0);
        ended.summary.status = RunStatus::Failed;
        QCOMPARE(std::get<double>(valueOf({"A", RunMetric::Diverged}, ended)), 0.0);
        QCOMPARE(std::get<double>(valueOf({"A", RunMetric::Failed}, ended)), 1.0);
    }

    void compares_data()
    {
        QTest::addColumn<QString>("op");
        QTest::addColumn<bool>("less");
        QTest::addColumn<bool>("equal");
        QTest::addColumn<bool>("greater");
        QTest::newRow("<") << "<" << true << false << false;
        QTest::newRow("<=") << "<=" << true << true << false;
        QTest::newRow(">") << ">" << false << false << true;
        QTest::newRow(">=") << ">=" << false << true << true;
        QTest::newRow("==") << "==" << false << true << false;
        QTest::newRow("!=") << "!=" << true << false << true;
    }

    void compares()
    {
        QFETCH(const QString, op);
        QFETCH(const bool, less);
        QFETCH(const bool, equal);
        QFETCH(const bool, greater);
        const std::vector<LaneOutcome> outcomes {outcome("A"), outcome("B")};
        const auto met = [&](const char* right) {
            return isMet(expectation(R"({"lane": "A", "metric": "casts"})", op.toStdString(), right), outcomes);
        };
        QCOMPARE(met("8"), less);
        QCOMPARE(met("7"), equal);
        QCOMPARE(met("6.5"), greater);
        // A NaN satisfies nothing, on either side.
        const char* noNumber = R"({"lane": "A", "metric": "mean_loss"})";
        QVERIFY(!isMet(expectation(noNumber, op.toStdString(), "7"), outcomes));
        QVERIFY(!met(noNumber));
        QVERIFY(!isMet(expectation(noNumber, op.toStdString(), noNumber), outcomes));
    }

    void comparesLanes()
    {
        std::vector<LaneOutcome> outcomes {outcome("A"), outcome("B")};
        outcomes[1].summary.castsPerStep = 10;
        const char* left = R"({"lane": "A", "metric": "casts"})";
        QVERIFY(isMet(expectation(left, "<", R"({"lane": "B", "metric": "casts"})"), outcomes));
        QVERIFY(isMet(expectation(left, ">", R"({"lane": "B", "metric": "casts", "times": 0.5})"), outcomes));
        QVERIFY(isMet(expectation(left, "<", R"({"lane": "B", "metric": "casts", "times": 0.75})"), outcomes));
        const json entry = expectation(left, "==", R"({"lane": "B", "metric": "casts", "times": 0.5})");
        const Judgement judged = judge(readExpectations(json::array({entry}), lanes, "").at(0), outcomes);
        QCOMPARE(std::get<double>(judged.left), 7.0);
        QCOMPARE(std::get<double>(judged.right), 5.0);
        QCOMPARE(judged.that, std::string("t"));
    }

    void comparesInfinities()
    {
        std::vector<LaneOutcome> outcomes {outcome("A"), outcome("B")};
        outcomes[0].summary.validationLoss = inf;
        QVERIFY(isMet(expectation(R"({"lane": "A", "metric": "validation_loss"})", ">", "1e300"), outcomes));
        QVERIFY(!isMet(expectation(R"({"lane": "A", "metric": "validation_loss"})", "<", "1e300"), outcomes));
    }

    void comparesHashes()
    {
        std::vector<LaneOutcome> outcomes {outcome("A"), outcome("B")};
        const char* left = R"({"lane": "A", "metric": "weights_hash"})";
        const char* right = R"({"lane": "B", "metric": "weights_hash"})";
        QVERIFY(isMet(expectation(left, "==", right), outcomes));
        QVERIFY(!isMet(expectation(left, "!=", right), outcomes));
        outcomes[1].summary.weightsHash = "00fe";
        QVERIFY(!isMet(expectation(left, "==", right), outcomes));
        QVERIFY(isMet(expectation(left, "!=", right), outcomes));
        // A lane that failed has none: that is no difference and no equality.
        outcomes[0].summary.weightsHash.clear();
        outcomes[1].summary.weightsHash.clear();
        QVERIFY(!isMet(expectation(left, "==", right), outcomes));
        QVERIFY(!isMet(expectation(left, "!=", right), outcomes));
    }

    void needsTheLane()
    {
        const json entry = expectation(R"({"lane": "A", "metric": "casts"})", "<", "1");
        QVERIFY(messageOf([&] { isMet(entry, {outcome("B")}); }).contains("no lane \"A\" was trained"));
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("expect");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* expect, const char* message) {
            QTest::addRow("%s", message) << QString(expect) << QString(message);
        };
        row("{}", "x.json: expect is {}; it must be a list of at most 1000 expectations");
        row("[3]", "x.json: expect[0] is 3; it must be an object with that, left, op and right");
        row(R"([{"that": "t", "lft": {}}])",
            "x.json: expect[0].lft is not a key of an expectation (its value: {}); did you mean \"left\"?");
        row(R"([{"that": "t", "op": "<", "right": 1}])", "x.json: expect[0].left is missing");
        row(R"([{"that": 5, "left": {"lane": "A", "metric": "casts"}, "op": "<", "right": 1}])",
            "x.json: expect[0].that is 5; it must be a text");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "final_los"}, "op": "<", "right": 1}])",
            R"(x.json: expect[0].left.metric is "final_los", which is no metric; did you mean "final_loss"?)");
        row(R"([{"that": "t", "left": {"lane": "C", "metric": "casts"}, "op": "<", "right": 1}])",
            R"(x.json: expect[0].left.lane is "C", which is no lane; did you mean "A"?)");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "casts", "times": 2}, "op": "<", "right": 1}])",
            "x.json: expect[0].left.times is not a key of a side of an expectation");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "casts"}, "op": "=<", "right": 1}])",
            R"(x.json: expect[0].op is "=<", which is no comparison; )");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "casts"}, "op": "<", "right": "1"}])",
            R"(x.json: expect[0].right is "1"; it must be a number, or an object with lane and metric)");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "casts"}, "op": "<", "right": {"lane": "B", "metric": "casts", "times": "2"}}])",
            R"(x.json: expect[0].right.times is "2"; it must be the number)");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "casts", "steps": [0, 1]}, "op": "<", "right": 1}])",
            "x.json: expect[0].left.steps cannot restrict casts");
        for (const char* steps : {"[3]", "[3, 2]", "[-1, 2]", "[0, 0.5]", "4"}) {
            QTest::addRow("steps %s", steps) << QString(
                R"([{"that": "t", "left": {"lane": "A", "metric": "flushed", "steps": %1}, "op": "<", "right": 1}])")
                                                    .arg(steps)
                                             << QString("x.json: expect[0].left.steps is ");
        }
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "weights_hash"}, "op": "<", "right": {"lane": "B", "metric": "weights_hash"}}])",
            R"(x.json: expect[0].op is "<"; hashes are compared by == or !=)");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "weights_hash"}, "op": "==", "right": 1}])",
            "x.json: expect[0].right is 1; it must be the weights_hash of another lane");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "casts"}, "op": "==", "right": {"lane": "B", "metric": "weights_hash"}}])",
            R"(x.json: expect[0].right.metric is "weights_hash", but a weights_hash can only be compared with another)");
        row(R"([{"that": "t", "left": {"lane": "A", "metric": "weights_hash"}, "op": "==", "right": {"lane": "B", "metric": "weights_hash", "times": 2}}])",
            "x.json: expect[0].right.times is 2; it must be left out for a weights_hash");
    }

    void refuses()
    {
        QFETCH(const QString, expect);
        QFETCH(const QString, message);
        const QString file
            = QString(R"({"mantissa": 1, "lanes": [{"name": "A"}, {"name": "B"}], "expect": %1})").arg(expect);
        const QString said = messageOf([&] { parseExperiment(file.toStdString(), "x.json"); });
        QVERIFY2(said.startsWith(message), qPrintable(said));
    }

    void refusesClaims_data()
    {
        QTest::addColumn<QString>("claim");
        QTest::addColumn<QString>("message");
        QTest::newRow("text") << R"("C1")"
                              << R"(x.json: claim is "C1"; it must be an object with id, says and verdict)";
        QTest::newRow("no verdict") << R"({"id": "C1", "says": "s"})"
                                    << "x.json: claim.verdict is missing";
        QTest::newRow("wrong verdict")
            << R"({"id": "C1", "says": "s", "verdict": "hold"})"
            << R"(x.json: claim.verdict is "hold", which is no verdict; did you mean "holds"?)";
        QTest::newRow("no id") << R"({"id": "", "says": "s", "verdict": "holds"})"
                               << R"(x.json: claim.id is "")";
        QTest::newRow("another key") << R"({"id": "C1", "says": "s", "verdict": "holds", "sys": 1})"
                                     << "x.json: claim.sys is not a key of a claim";
    }

    void refusesClaims()
    {
        QFETCH(const QString, claim);
        QFETCH(const QString, message);
        const QString file = QString(R"({"mantissa": 1, "claim": %1})").arg(claim);
        const QString said = messageOf([&] { parseExperiment(file.toStdString(), "x.json"); });
        QVERIFY2(said.startsWith(message), qPrintable(said));
    }
};

QTEST_APPLESS_MAIN(TestVerify)
#include "tst_verify.moc"
