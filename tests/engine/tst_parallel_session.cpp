// A session with data-parallel lanes: what its ranks report arrives everywhere, and stored runs repeat to the last bit.
#include "engine/store/run_store.h"
#include "engine/train/session.h"

#include <QTemporaryDir>
#include <QtTest>

#include <bit>
#include <map>

using namespace mantissa;

namespace {

constexpr const char* experimentText = R"({"mantissa": 1, "name": "ranks", "seed": 3, "steps": 40,
    "data": {"kind": "digits", "batch": 24}, "precision": {"policy": "fp16"},
    "scaler": {"family": "pytorch", "init_scale": 4096, "growth_interval": 7},
    "model": {"kind": "layers", "layers": ["flatten", {"kind": "linear", "features": 12}, "batch_norm", "relu",
        {"kind": "dropout", "p": 0.1}, {"kind": "linear"}]},
    "lanes": [{"name": "one"},
        {"name": "averaged", "parallel": {"ranks": 3, "communication": "bf16", "batch_norm": "synchronised"}},
        {"name": "local", "parallel": {"ranks": 2, "gradients": "local", "shards": [10, 14]}}],
    "events": [{"step": 9, "lane": "averaged", "set": {"fault.at_rank": 2, "fault.gradient_inf": "fc1"}},
        {"step": 9, "lane": "local", "set": {"fault.at_rank": 1, "fault.nan_sample": 2}},
        {"step": 20, "set": {"optimizer.lr": 0.0005}}]})";

bool sameBits(double a, double b)
{
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

std::map<std::string, RunInfo> newestByLane(const RunStore& store)
{
    std::map<std::string, RunInfo> found;
    for (const RunInfo& run : store.runs()) {
        found.emplace(run.lane, run);
    }
    return found;
}

} // namespace

class TestParallelSession : public QObject
{
    Q_OBJECT

private slots:

    void ranksAreReportedAndStored()
    {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("runs.db").toStdString();
        std::vector<RankRecord> taken;
        {
            RunWriter writer(file);
            Session session(parseExperiment(experimentText, ""), {.threads = 3, .observers = {&writer}});
            session.run();
            session.waitUntilIdle();
            session.takeRankRecords(taken);
        }
        QCOMPARE(taken.size(), std::size_t {40 * (3 + 2)});
        const RunStore store(file);
        const auto runs = newestByLane(store);
        QVERIFY(store.ranks(runs.at("one").id).empty());
        const std::vector<RankRecord> averaged = store.ranks(runs.at("averaged").id);
        QCOMPARE(averaged.size(), std::size_t {120});
        std::size_t at = 0;
        for (const RankRecord& record : taken) {
            if (record.lane == 1) {
                const RankRecord& stored = averaged.at(at++);
                QVERIFY(stored.step == record.step && stored.rank == record.rank && sameBits(stored.loss, record.loss)
                    && sameBits(stored.gradNorm, record.gradNorm) && stored.skipped == record.skipped);
                QVERIFY(record.skipped == (record.step == 9));
            } else if (record.step == 9) {
                QCOMPARE(record.skipped, record.rank == 1);
            }
        }
        // The lane's own record says what all did; its origin which rank began it.
        QCOMPARE(runs.at("averaged").skippedSteps, std::int64_t {1});
        QCOMPARE(runs.at("local").skippedSteps, std::int64_t {0});
        for (const char* const lane : {"averaged", "local"}) {
            std::string text;
            for (const Event& event : store.events(runs.at(lane).id)) {
                text += event.kind == EventKind::Numerics ? event.text : std::string();
            }
            QVERIFY2(text.starts_with(std::string(lane) == "local" ? "Rank 1: " : "Rank 2: "), text.c_str());
        }
        QVERIFY(runs.at("averaged").bytes.weights > 2 * runs.at("one").bytes.weights);
    }

    /// Whatever the number of compute threads: each lane has so many of its own.
    void storedRunsRepeat()
    {
        const QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("runs.db").toStdString();
        const auto train = [&file](const Experiment& experiment) {
            RunWriter writer(file);
            Session session(experiment, {.threads = 1, .observers = {&writer}});
            session.run();
            session.waitUntilIdle();
        };
        train(parseExperiment(experimentText, ""));
        for (const char* const lane : {"averaged", "local"}) {
            const RunInfo before = newestByLane(RunStore(file)).at(lane);
            train(parseExperiment(RunStore(file).replayExperiment(before.id).dump(), ""));
            const RunStore store(file);
            const RunInfo after = newestByLane(store).at(lane);
            QVERIFY(after.id != before.id);
            QCOMPARE(after.weightsHash, before.weightsHash);
            const auto a = store.ranks(before.id);
            const auto b = store.ranks(after.id);
            QCOMPARE(a.size(), b.size());
            for (std::size_t i = 0; i < a.size(); ++i) {
                QVERIFY(sameBits(a[i].loss, b[i].loss) && sameBits(a[i].gradNorm, b[i].gradNorm)
                    && sameBits(a[i].scale, b[i].scale));
            }
        }
    }

    /// Copies, walks, trials and blame run on ranks of their own and change nothing.
    void copiesAreLanesOfSeveralRanksToo()
    {
        Session session(parseExperiment(experimentText, ""), {.threads = 1, .observers = {}, .snapshotInterval = 5});
        session.runSteps(9);
        session.waitUntilIdle();
        QCOMPARE(session.walkStep(1).get().record.step, std::int64_t {9});
        QCOMPARE(session.tryScales(1, {1.0, 1024.0}).get().size(), std::size_t {2});
        QVERIFY(session.blame(2, 9).get().trials > 0); // its next step has NaN samples on rank 1
        session.duplicateLane(2, "copy");
        session.duplicateLane(1, "back", 6);
        session.run();
        session.waitUntilIdle();
        const auto status = session.status();
        QCOMPARE(status->lanes.size(), std::size_t {5});
        for (const LaneStatus& lane : status->lanes) {
            QVERIFY2(lane.status == RunStatus::Finished, lane.message.c_str());
        }
        QCOMPARE(status->lanes[3].summary->weightsHash, status->lanes[2].summary->weightsHash);
    }
};

QTEST_APPLESS_MAIN(TestParallelSession)
#include "tst_parallel_session.moc"
