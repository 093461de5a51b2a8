// Sweeps: from a file to points, what is wrong with one said in words, and the points trained, stopped and continued.
#include "engine/core/error.h"
#include "engine/store/run_store.h"
#include "engine/sweep/sweep.h"
#include "engine/sweep/sweep_run.h"
#include "engine/sweep/sweep_table.h"

#include <QTemporaryDir>
#include <QtTest>

#include <fmt/format.h>

#include <atomic>
#include <set>

using namespace mantissa;

namespace {

const std::string experiment = R"({"mantissa": 1, "name": "tiny", "seed": 3, "steps": 12,
    "data": {"kind": "spirals", "samples": 80, "batch": 16}, "model": {"hidden": [8]},
    "optimizer": {"kind": "sgd", "lr": 0.1, "momentum": 0.9},
    "lanes": [{"name": "FP32"},
              {"name": "AMP", "precision": {"policy": "fp16"}, "scaler": {"init_scale": 1024, "growth_interval": 4}}],
    "events": [{"step": 6, "lane": "AMP", "set": {"optimizer.lr": 0.05}}],
    "expect": [{"that": "it learns", "left": {"lane": "FP32", "metric": "loss_drop"}, "op": ">", "right": 0}]})";

std::string sweepText(const std::string& rest)
{
    return R"({"mantissa_sweep": 1, "name": "s", "experiment": )" + experiment + rest + "}";
}

Sweep parse(const std::string& rest)
{
    return parseSweep(sweepText(rest), "s.json", {});
}

std::string complaintOf(const std::string& text)
{
    try {
        static_cast<void>(parseSweep(text, "s.json", {}));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

} // namespace

class TestSweep : public QObject
{
    Q_OBJECT

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aGridIsTheProductOfItsLists()
    {
        const Sweep sweep = parse(R"(, "grid": {"optimizer.lr": [0.1, 0.2, 0.3], "seed": [1, 2]})");
        QCOMPARE(sweep.points.size(), std::size_t {6});
        QCOMPARE(sweep.runCount(), std::size_t {12});
        QCOMPARE(describe(sweep.points[0]), std::string("optimizer.lr=0.1, seed=1"));
        QCOMPARE(describe(sweep.points[1]), std::string("optimizer.lr=0.1, seed=2"));
        QCOMPARE(describe(sweep.points[5]), std::string("optimizer.lr=0.3, seed=2"));
        QCOMPARE(sweep.points[5].number, 6);
        QCOMPARE(sweep.points[5].count, 6);
        std::set<std::string> all;
        for (const SweepPoint& point : sweep.points) {
            all.insert(point.settings.dump());
            const Experiment trained = experimentAt(sweep, point);
            QCOMPARE(trained.lanes.size(), std::size_t {2});
            QCOMPARE(trained.lanes[1].optimizer.lr, point.settings.at("optimizer.lr").get<double>());
            QCOMPARE(trained.lanes[0].seed, point.settings.at("seed").get<std::uint64_t>());
            QCOMPARE(trained.events.size(), std::size_t {1});
            QVERIFY(trained.expect.empty()); // those of the file are about its own settings
        }
        QCOMPARE(all.size(), std::size_t {6});
    }

    void aListIsCombinedWithTheGrid()
    {
        const Sweep sweep = parse(R"(, "lanes": ["FP32"], "grid": {"seed": [1, 2]}, "list": [
            {"name": "plain"},
            {"name": "half", "precision.policy": "fp16", "scaler": {"backoff_factor": 0.25, "family": "pytorch"}}])");
        QCOMPARE(sweep.points.size(), std::size_t {4});
        QCOMPARE(sweep.experiment.lanes.size(), std::size_t {1});
        QVERIFY(sweep.experiment.events.empty()); // it was of the lane that is left out
        QCOMPARE(describe(sweep.points[0]), std::string("plain, seed=1"));
        QCOMPARE(describe(sweep.points[3]),
            std::string("half, precision.policy=fp16, scaler.backoff_factor=0.25, scaler.family=pytorch, seed=2"));
        QVERIFY(!experimentAt(sweep, sweep.points[1]).lanes[0].scaler);
        const Experiment half = experimentAt(sweep, sweep.points[3]);
        QCOMPARE(half.lanes[0].precision.policy, std::string("fp16"));
        QVERIFY(half.lanes[0].scaler.has_value());
        QCOMPARE(tagsOf(sweep.points[0]), (std::vector<std::string> {"sweep s", "plain", "seed=1"}));
    }

    void aScalerCanBeTakenAwayOrItsFamilySwept()
    {
        const Sweep sweep = parse(
            R"(, "lanes": ["AMP"], "grid": {"scaler": [null, {"family": "mxnet"}], "precision.policy": ["fp16"]})");
        QVERIFY(!experimentAt(sweep, sweep.points[0]).lanes[0].scaler);
        QCOMPARE(experimentAt(sweep, sweep.points[1]).lanes[0].scaler->family, std::string("mxnet"));
        // The family comes before what depends on it, whatever the order of names.
        const Sweep families = parse(R"(, "lanes": ["FP32"], "grid": {"scaler.family": ["pytorch", "megatron"],
            "scaler.backoff_factor": [0.5]})");
        QCOMPARE(families.points.size(), std::size_t {2});
    }

    void aSweepThatGrowsStaysTheSame()
    {
        const Sweep before = parse(R"(, "grid": {"seed": [1, 2]})");
        const Sweep after = parse(R"(, "grid": {"seed": [1, 2, 3]})");
        QCOMPARE(after.points[0].id, before.points[0].id);
        // Another experiment makes another sweep of it, and so does another name.
        std::string other = sweepText(R"(, "grid": {"seed": [1, 2]})");
        QVERIFY(parseSweep(other.replace(other.find("\"lr\": 0.1"), 9, "\"lr\": 0.2"), "s", {}).points[0].id
            != before.points[0].id);
        std::string renamed = sweepText(R"(, "grid": {"seed": [1, 2]})");
        QVERIFY(parseSweep(renamed.replace(renamed.find("\"s\""), 3, "\"t\""), "s", {}).points[0].id
            != before.points[0].id);
    }

    void whatIsWrongIsSaidInWords_data()
    {
        QTest::addColumn<QString>("rest");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("unknown path")
            << R"(, "grid": {"optimizer.lrr": [0.1]})"
            << R"(s.json: grid.optimizer.lrr is not a setting (its value: 0.1); did you mean "lr"?)";
        QTest::newRow("wrong value") << R"(, "grid": {"optimizer.lr": [0.1, "fast"]})"
                                     << R"(s.json: grid.optimizer.lr is "fast"; it must be a number)";
        QTest::newRow("which value") << R"(, "grid": {"optimizer.lr": [0.1, "fast"]})"
                                     << "(value 2 of 2)";
        QTest::newRow("unknown choice") << R"(, "list": [{"precision.policy": "fp61"}])"
                                        << R"(s.json: list[0].precision.policy is "fp61")";
        QTest::newRow("no list") << R"(, "grid": {"seed": 3})"
                                 << "grid.seed is 3; it must be a list of values";
        QTest::newRow("empty list") << R"(, "grid": {"seed": []})"
                                    << "grid.seed is []; it must be a list of values";
        QTest::newRow("empty grid") << R"(, "grid": {})"
                                    << "it must be an object like";
        QTest::newRow("twice") << R"(, "grid": {"seed": [1, 2, 1]})"
                               << "grid.seed has 1 twice";
        QTest::newRow("same entry") << R"(, "list": [{"seed": 1}, {"seed": 2}, {"seed": 1}])"
                                    << "list[2] has the settings of list[0]";
        QTest::newRow("same name") << R"(, "list": [{"name": "a", "seed": 1}, {"name": "a", "seed": 2}])"
                                   << "list[1] has the name of list[0]";
        QTest::newRow("both") << R"(, "grid": {"seed": [1]}, "list": [{"seed": 2}])"
                              << "grid.seed sets what list[0].seed sets too";
        QTest::newRow("a section and what is in it") << R"(, "grid": {"scaler": [null], "scaler.init_scale": [2]})"
                                                     << "sets what grid.scaler sets too";
        QTest::newRow("neither") << ""
                                 << "grid is missing, and so is \"list\"";
        QTest::newRow("unknown key")
            << R"(, "gird": {"seed": [1]})"
            << R"(gird is not a key of a sweep (its value: {"seed":[1]}); did you mean "grid"?)";
        QTest::newRow("unknown lane") << R"(, "lanes": ["FP23"], "grid": {"seed": [1]})"
                                      << R"(lanes[0] is "FP23", but no lane has that name; did you mean "FP32"?)";
        QTest::newRow("name") << R"(, "grid": {"name": ["x"]})"
                              << "name cannot change";
        QTest::newRow("state") << R"(, "lanes": ["AMP"], "grid": {"scaler.scale": [2]})"
                               << "scaler.scale is not a setting";
        QTest::newRow("a combination") << R"(, "lanes": ["FP32"], "grid": {"seed": [1]},
                "list": [{"clip.order": "unscale-then-clip"}])"
                                       << "s.json: point 1 (clip.order=unscale-then-clip, seed=1): clip";
        QTest::newRow("too many") << R"(, "grid": {"seed": [1,2,3,4,5,6,7,8,9,10], "steps": [1,2,3,4,5,6,7,8,9,10],
                "optimizer.lr": [1,2,3,4,5,6,7,8,9,10], "data.batch": [1,2,3,4,5,6,7,8,9,10]})"
                                  << "grid comes to 20000 runs; at most 4096 are possible";
    }

    void whatIsWrongIsSaidInWords()
    {
        QFETCH(QString, rest);
        QFETCH(QString, complaint);
        const QString said = QString::fromStdString(complaintOf(sweepText(rest.toStdString())));
        QVERIFY2(said.contains(complaint), qPrintable(said));
    }

    void otherFilesAreNoSweeps()
    {
        QVERIFY(QString::fromStdString(complaintOf(experiment)).contains("the file is an experiment"));
        QVERIFY(QString::fromStdString(complaintOf("[]")).contains("a sweep is an object"));
        QVERIFY(QString::fromStdString(complaintOf("{\"mantissa_sweep\": 2}")).contains("it must be 1"));
        QVERIFY(QString::fromStdString(complaintOf("{\"mantissa_sweep\": 1}")).contains("experiment is missing"));
        QVERIFY(QString::fromStdString(complaintOf(R"({"mantissa_sweep": 1, "experiment": {"mantissa": 1, "sed": 2}})"))
                    .contains("s.json: experiment: sed is not"));
        QVERIFY_THROWS_EXCEPTION(Error, parseSweep(R"({"mantissa_sweep": 1, "experiment": "none.json"})", "s", {}));
    }

    void anAstronomicGridIsRefusedAtOnce()
    {
        std::string values;
        for (int i = 0; i < 3000; ++i) {
            values += fmt::format("{}{}", i == 0 ? "" : ",", i + 10);
        }
        std::string grid;
        for (const char* path : {"seed", "steps", "optimizer.lr", "data.batch", "data.samples"}) {
            grid += fmt::format("{}\"{}\": [{}]", grid.empty() ? "" : ", ", path, values);
        }
        QVERIFY(QString::fromStdString(complaintOf(sweepText(", \"grid\": {" + grid + "}"))).contains("more than "));
    }

    void theShippedSweepIsValid()
    {
        const Sweep sweep
            = loadSweep(std::filesystem::path(MANTISSA_SOURCE_DIR) / "experiments/sweeps/precision_and_rate.json");
        QCOMPARE(sweep.points.size(), std::size_t {32});
        QCOMPARE(sweep.runCount(), std::size_t {32});
        const SweepTable table = tableOf(sweep, {});
        QCOMPARE(table.columns, (std::vector<std::string> {"variant", "optimizer.lr", "seed"}));
    }

    void pointsAreTrainedOnceAndStored()
    {
        const Sweep sweep = parse(R"(, "grid": {"optimizer.lr": [0.1, 0.2], "seed": [1, 2]})");
        const SweepPlan plan {.database = file(), .jobs = 2};
        std::set<int> trained;
        const auto tell = [&trained](const PointNews& news) {
            if (news.state == PointState::Done) {
                QVERIFY(trained.insert(news.number).second);
            }
        };
        const SweepOutcome outcome = runSweep(sweep, plan, tell, [] { return true; });
        QCOMPARE(outcome.trained, 4);
        QCOMPARE(trained.size(), std::size_t {4});
        const RunStore store(file(), StoreAccess::ReadOnly);
        const std::vector<RunInfo> runs = store.runs();
        QCOMPARE(runs.size(), std::size_t {8});
        const SweepTable table = tableOf(sweep, runs);
        QCOMPARE(table.rows.size(), std::size_t {8});
        QCOMPARE(table.columns, (std::vector<std::string> {"optimizer.lr", "seed", "lane"}));
        for (const SweepRow& row : table.rows) {
            QVERIFY(row.run && hasEnded(*row.run));
            QCOMPARE(row.run->lane, row.lane);
            QCOMPARE(row.run->sweep, std::optional(row.point));
            QCOMPARE(row.run->seed, row.point.settings.at("seed").get<std::uint64_t>());
            QCOMPARE(row.run->tags, tagsOf(row.point));
            QCOMPARE(row.run->steps, std::int64_t {12});
            QVERIFY(!row.run->uuid.empty());
        }
        const std::vector<SweepTable> stored = storedSweeps(runs);
        QCOMPARE(stored.size(), std::size_t {1});
        QCOMPARE(stored[0].columns, table.columns);
        QCOMPARE(stored[0].rows.size(), std::size_t {8});

        // The same again trains nothing; a grid that has grown trains what is new.
        QCOMPARE(runSweep(sweep, plan, tell, [] { return true; }).wereDone, 4);
        const Sweep larger = parse(R"(, "grid": {"optimizer.lr": [0.1, 0.2, 0.4], "seed": [1, 2]})");
        const SweepOutcome more = runSweep(
            larger, plan, [](const PointNews&) {}, [] { return true; });
        QCOMPARE(more.wereDone, 4);
        QCOMPARE(more.trained, 2);

        // As many at a time as you like: the same weights.
        const SweepPlan alone {.database = file("alone.db")};
        runSweep(
            sweep, alone, [](const PointNews&) {}, [] { return true; });
        const SweepTable other = tableOf(sweep, RunStore(file("alone.db"), StoreAccess::ReadOnly).runs());
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            QCOMPARE(other.rows[i].run->weightsHash, table.rows[i].run->weightsHash);
        }
    }

    void whatWasStoppedBeginsAnew()
    {
        const Sweep sweep = parse(R"(, "lanes": ["FP32"], "grid": {"seed": [1, 2, 3], "steps": [200000]})");
        std::atomic<bool> goOn = true;
        const SweepPlan plan {.database = file(), .points = {2, 3}};
        const SweepOutcome outcome = runSweep(
            sweep, plan, [&goOn](const PointNews& news) { goOn = news.share == 0; }, [&goOn] { return goOn.load(); });
        QVERIFY(outcome.isStopped);
        QCOMPARE(outcome.trained, 0);
        const SweepTable table = tableOf(sweep, RunStore(file(), StoreAccess::ReadOnly).runs());
        QVERIFY(!table.rows[0].run);
        QCOMPARE(table.rows[1].run->status, RunStatus::Stopped);
        QVERIFY(!table.rows[2].run);
        // Shorter, it is another point; the stopped one is trained again when it is asked for.
        goOn = true;
        int started = 0;
        runSweep(
            sweep, plan,
            [&](const PointNews& news) {
                started += news.state == PointState::Trains && news.share == 0 ? 1 : 0;
                goOn = news.share == 0;
            },
            [&goOn] { return goOn.load(); });
        QVERIFY(started >= 1);
    }

    void aPointThatFailsOrDivergesEndsNothing()
    {
        const Sweep sweep = parse(R"(, "lanes": ["FP32"], "grid": {"seed": [1]},
            "list": [{"optimizer.lr": 1e6, "steps": 400}, {"data": {"kind": "csv", "path": "/none.csv"}}, {"optimizer.lr": 0.1}])");
        std::map<int, PointNews> ends;
        const SweepOutcome outcome = runSweep(
            sweep, {.database = file()}, [&ends](const PointNews& news) { ends[news.number] = news; },
            [] { return true; });
        QCOMPARE(outcome.trained, 2);
        QCOMPARE(outcome.failed, 1);
        QVERIFY(!outcome.isStopped);
        QCOMPARE(ends.at(2).state, PointState::Failed);
        QVERIFY(QString::fromStdString(ends.at(2).message).contains("/none.csv"));
        const SweepTable table = tableOf(sweep, RunStore(file(), StoreAccess::ReadOnly).runs());
        QCOMPARE(table.rows[0].run->status, RunStatus::Diverged);
        QVERIFY(!table.rows[1].run);
        QCOMPARE(table.rows[2].run->status, RunStatus::Finished);
        // A failed point is tried again, a diverged one would diverge again.
        const SweepOutcome again = runSweep(
            sweep, {.database = file()}, [](const PointNews&) {}, [] { return true; });
        QCOMPARE(again.wereDone, 2);
        QCOMPARE(again.failed, 1);
    }

    void runsThatCannotBeStoredEndIt()
    {
        const Sweep sweep = parse(R"(, "grid": {"seed": [1, 2]})");
        const auto ignore = [](const PointNews&) {};
        QVERIFY_THROWS_EXCEPTION(
            Error, runSweep(sweep, {.database = "/proc/none/runs.db"}, ignore, [] { return true; }));
        QVERIFY_THROWS_EXCEPTION(
            Error, runSweep(sweep, {.database = file(), .device = "abacus"}, ignore, [] { return true; }));
    }

private:
    [[nodiscard]] std::filesystem::path file(const char* name = "runs.db") const
    {
        return m_folder->filePath(QLatin1String(name)).toStdString();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestSweep)
#include "tst_sweep.moc"
