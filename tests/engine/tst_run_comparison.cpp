// Two stored runs compared: what differs is named, losses are averaged as said, and the noise of seeds is that of runs
// that differ in nothing else.
#include "engine/core/error.h"
#include "engine/store/run_comparison.h"
#include "engine/train/session.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <map>

using namespace mantissa;

namespace {

constexpr const char* experimentText = R"({"mantissa": 1, "name": "two", "seed": 1, "steps": 50,
    "data": {"kind": "spirals", "batch": 16, "samples": 200}, "model": {"kind": "mlp", "hidden": [12]},
    "lanes": [{"name": "FP32"},
              {"name": "FP16", "precision": {"policy": "fp16"}, "scaler": {"family": "pytorch", "init_scale": 1e12}}]})";

void train(const std::string& text, const std::filesystem::path& database)
{
    RunWriter writer(database);
    Session session(parseExperiment(text, "t"), {.threads = 1, .observers = {&writer}});
    session.run();
    session.waitUntilIdle();
}

std::string with(const std::string& what, const std::string& value)
{
    std::string text = experimentText;
    const std::size_t at = text.find(what);
    return text.replace(at, what.size(), value);
}

RunId newest(const RunStore& store, const std::string& lane)
{
    for (const RunInfo& run : store.runs()) {
        if (run.lane == lane) {
            return run.id;
        }
    }
    return 0;
}

} // namespace

class TestRunComparison : public QObject
{
    Q_OBJECT

private slots:

    void whatDiffersIsNamed()
    {
        const QTemporaryDir folder;
        const std::filesystem::path database = folder.filePath("r.db").toStdString();
        train(with("\"lanes\"", R"("events": [{"step": 20, "lane": "FP32", "set": {"optimizer.lr": 0.5}},
                                              {"step": 30, "set": {"optimizer.lr": 0.25}}], "lanes")"),
            database);
        const RunStore store(database, StoreAccess::ReadOnly);
        const RunComparison comparison = compareRuns(store, newest(store, "FP32"), newest(store, "FP16"));
        std::map<std::string, SettingDifference> found;
        for (const SettingDifference& each : comparison.settings) {
            found[each.path] = each;
        }
        QCOMPARE(found.at("precision.policy").a, nlohmann::json("fp32"));
        QCOMPARE(found.at("precision.policy").b, nlohmann::json("fp16"));
        QCOMPARE(found.at("scaler.family").b, nlohmann::json("pytorch"));
        // The change that one made alone; not the one that both made.
        QCOMPARE(found.at("optimizer.lr").a, nlohmann::json(0.5));
        QVERIFY(found.at("optimizer.lr").b.is_null());
        QCOMPARE(found.at("optimizer.lr").step, std::int64_t {20});
        QVERIFY(!found.contains("data.batch"));
        QVERIFY_THROWS_EXCEPTION(Error, compareRuns(store, 1, 4711));
    }

    /// Windows of one step are the records themselves.
    void stepsAreTheRecords()
    {
        const QTemporaryDir folder;
        const std::filesystem::path database = folder.filePath("r.db").toStdString();
        train(experimentText, database);
        const RunStore store(database, StoreAccess::ReadOnly);
        const RunId a = newest(store, "FP32");
        const RunId b = newest(store, "FP16");
        const RunComparison comparison = compareRuns(store, a, b);
        QCOMPARE(comparison.steps.window, std::int64_t {1});
        QCOMPARE(comparison.steps.size(), std::size_t {50});
        const auto recordsA = store.records(a);
        const auto recordsB = store.records(b);
        std::int64_t skipped = 0;
        double sumA = 0;
        for (std::size_t i = 0; i < 50; ++i) {
            QCOMPARE(comparison.steps.lossA[i], recordsA[i].loss);
            QCOMPARE(comparison.steps.lossB[i], recordsB[i].loss);
            QCOMPARE(comparison.steps.scaleB[i], recordsB[i].scale);
            skipped += recordsB[i].skipped ? 1 : 0;
            QCOMPARE(comparison.steps.skippedB[i], skipped);
            sumA += i < 45 ? 0 : recordsA[i].loss;
            if (!std::isnan(recordsB[i].baselineDistance)) {
                QCOMPARE(comparison.steps.distance[i], recordsB[i].baselineDistance);
            }
        }
        QVERIFY(skipped > 3); // 1e12 is far too large
        QVERIFY(std::ranges::any_of(comparison.steps.distance, [](double value) { return value > 0; }));
        QVERIFY(std::abs(gapAtEnd(comparison).lossA - sumA / 5) < 1e-12);
        QVERIFY(std::isnan(gapAtEnd(comparison).noise));
        QVERIFY(comparison.noise.empty() && comparison.pairGap.empty());
    }

    void otherSeedsMakeTheNoise()
    {
        const QTemporaryDir folder;
        const std::filesystem::path database = folder.filePath("r.db").toStdString();
        train(experimentText, database);
        for (const int seed : {2, 3, 4}) {
            train(with("\"seed\": 1", "\"seed\": " + std::to_string(seed)), database);
        }
        train(with("\"hidden\": [12]", "\"hidden\": [13]"), database); // not one of them, nor is the next
        train(with("\"seed\": 1, \"steps\": 50", "\"seed\": 9, \"steps\": 49"), database);
        const RunStore store(database, StoreAccess::ReadOnly);
        const RunComparison comparison = compareRuns(store, 1, 2);
        QCOMPARE(comparison.otherSeeds, (std::vector<RunId> {3, 5, 7}));
        QCOMPARE(comparison.pairs, (std::vector<std::pair<RunId, RunId>> {{3, 4}, {5, 6}, {7, 8}}));

        // By hand, at the middle of the run.
        constexpr std::size_t at = 25;
        std::vector<std::vector<StepRecord>> fp32;
        std::vector<std::vector<StepRecord>> fp16;
        for (const RunId run : {1, 3, 5, 7}) {
            fp32.push_back(store.records(run));
            fp16.push_back(store.records(run + 1));
        }
        double variance = 0;
        for (std::size_t window = at - 4; window <= at + 4; ++window) {
            double mean = 0;
            for (const auto& run : fp32) {
                mean += run[window].loss / 4;
            }
            for (const auto& run : fp32) {
                variance += std::pow(run[window].loss - mean, 2) / 3 / 9;
            }
        }
        QVERIFY(std::abs(comparison.noise[at] - 2 * std::sqrt(2 * variance)) < 1e-12);
        double gap = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            gap += (fp16[i][at].loss - fp32[i][at].loss) / 4;
        }
        QVERIFY(std::abs(comparison.pairGap[at] - gap) < 1e-12);
        double error = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            error += std::pow(fp16[i][at].loss - fp32[i][at].loss - gap, 2) / 3;
        }
        QVERIFY(std::abs(comparison.pairError[at] - std::sqrt(error / 4)) < 1e-12);
        QVERIFY(gapAtEnd(comparison).noise > 0);
    }

    void longRunsAreAveraged()
    {
        const QTemporaryDir folder;
        const std::filesystem::path database = folder.filePath("r.db").toStdString();
        train(with("\"steps\": 50", "\"steps\": 1000"), database);
        const RunStore store(database, StoreAccess::ReadOnly);
        const RunComparison comparison = compareRuns(store, 1, 2);
        QCOMPARE(comparison.steps.window, std::int64_t {3});
        QCOMPARE(comparison.steps.size(), std::size_t {334});
        const auto records = store.records(1);
        QVERIFY(
            std::abs(comparison.steps.lossA[1] - (records[3].loss + records[4].loss + records[5].loss) / 3) < 1e-12);
        QCOMPARE(comparison.steps.lossA[333], records[999].loss);
    }
};

QTEST_GUILESS_MAIN(TestRunComparison)
#include "tst_run_comparison.moc"
