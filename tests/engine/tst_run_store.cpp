// The database of runs: numbers come back bit for bit, nothing is lost to a killed program, and every refusal says why.
#include "engine/core/error.h"
#include "engine/store/migrations.h"
#include "engine/store/run_export.h"
#include "store_fixture.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <thread>

using namespace mantissa;
using storetest::identical;
using storetest::recordAt;
using storetest::startOf;

namespace {

/// What an Error says; empty if none was thrown.
template <typename Call> std::string complaintOf(Call&& call)
{
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

bool contains(const std::string& text, const std::string& part)
{
    if (text.find(part) != std::string::npos) {
        return true;
    }
    qWarning("\"%s\" does not mention \"%s\"", text.c_str(), part.c_str());
    return false;
}

/// Steps 0 .. n-1 of a lane, each as recordAt() made it.
bool isCompleteUpTo(const std::vector<StepRecord>& records, std::uint32_t lane)
{
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (!identical(records[i], recordAt(lane, static_cast<std::int64_t>(i)))) {
            qWarning("record %zu differs", i);
            return false;
        }
    }
    return true;
}

void recordSteps(RunWriter& writer, std::uint32_t lane, std::int64_t first, std::int64_t end)
{
    for (std::int64_t step = first; step < end; ++step) {
        const StepRecord record = recordAt(lane, step);
        writer.stepsRecorded(std::span(&record, 1));
    }
}

Event setEvent(std::uint32_t lane, std::int64_t step, const std::string& path, const std::string& after, bool scripted)
{
    Event event;
    event.lane = lane;
    event.step = step;
    event.path = path;
    event.before = "null";
    event.after = after;
    event.scripted = scripted;
    event.unixSeconds = 1.7e9 + static_cast<double>(step);
    event.command = 0xFFFFFFFFFFFFFFFFULL;
    return event;
}

/// As a person without special rights, which root has for files otherwise.
class AsOrdinaryUser
{
public:
    AsOrdinaryUser()
        : m_before(::setfsuid(65534))
    {
    }

    ~AsOrdinaryUser() { ::setfsuid(static_cast<uid_t>(m_before)); }

    AsOrdinaryUser(const AsOrdinaryUser&) = delete;
    AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;

private:
    int m_before;
};

/// Files of this process can't grow past a size: the disk is full as far as it can tell.
class FullDisk
{
public:
    explicit FullDisk(rlim_t bytes)
    {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit {bytes, m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }

    ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &m_before); }

    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;

private:
    rlimit m_before {};
};

} // namespace

class TestRunStore : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;

    [[nodiscard]] std::filesystem::path file() const { return m_folder->filePath("runs.db").toStdString(); }

    [[nodiscard]] std::string integrity() const
    {
        SQLite::Database database(file().string(), SQLite::OPEN_READONLY);
        return database.execAndGet("PRAGMA integrity_check").getString();
    }

    void startWriter(QProcess& process, int lanes, double rate, int steps) const
    {
        process.start(QCoreApplication::applicationDirPath() + "/store_writer",
            {QString::fromStdString(file().string()), QString::number(lanes), QString::number(rate),
                QString::number(steps)});
        QVERIFY2(process.waitForStarted(), qPrintable(process.errorString()));
    }

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void ranksComeBack()
    {
        constexpr std::int64_t steps = 1500; // a full chunk and a tail
        const auto rankAt = [](std::int64_t step, int rank) {
            return RankRecord {.step = step,
                .rank = rank,
                .foundInf = step % 50 == rank,
                .skipped = step % 50 == 1,
                .loss = 0.1 * static_cast<double>(step + rank),
                .scale = std::ldexp(1.0, rank),
                .gradNorm = step % 7 == 0 ? std::numeric_limits<double>::infinity() : 1.0 / (1.0 + rank),
                .flushed = 1e-300 * static_cast<double>(step),
                .distance = step % 10 == 0 ? 0.25 * rank : std::nan("")};
        };
        RunId id = 0;
        {
            RunWriter writer(file());
            writer.runStarted(startOf(0));
            writer.runStarted(startOf(1));
            for (std::int64_t step = 0; step < steps; ++step) {
                const std::vector<RankRecord> both {rankAt(step, 0), rankAt(step, 1)};
                writer.ranksRecorded(both);
                recordSteps(writer, 0, step, step + 1);
                recordSteps(writer, 1, step, step + 1);
                if (step == 700) {
                    writer.flush(); // the row that is not full is written more than once
                }
            }
            id = writer.runOf(0);
            QVERIFY(RunStore(file()).ranks(writer.runOf(1)).empty());
        }
        RunStore store(file());
        const std::vector<RankRecord> ranks = store.ranks(id);
        QCOMPARE(ranks.size(), static_cast<std::size_t>(2 * steps));
        const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            const RankRecord expected = rankAt(static_cast<std::int64_t>(i / 2), static_cast<int>(i % 2));
            const RankRecord& read = ranks[i];
            QVERIFY(read.step == expected.step && read.rank == expected.rank && read.foundInf == expected.foundInf
                && read.skipped == expected.skipped && same(read.loss, expected.loss) && read.scale == expected.scale
                && read.gradNorm == expected.gradNorm && read.flushed == expected.flushed
                && same(read.distance, expected.distance));
        }

        std::ostringstream csv;
        exportRanksCsv(csv, store, std::vector {id});
        const std::string text = csv.str();
        QCOMPARE(std::ranges::count(text, '\n'), static_cast<std::ptrdiff_t>(2 * steps + 1));
        QVERIFY(text.find(",FP32,1,1,0.2,2,0.5,1e-300,nan,1,1\n") != std::string::npos);
        std::ostringstream json;
        exportJson(json, store, std::vector {id});
        const auto document = nlohmann::json::parse(json.str());
        const auto& step = document["runs"][0]["records"][10];
        QCOMPARE(step["ranks"].size(), std::size_t {2});
        QCOMPARE(step["ranks"][1]["distance"].get<double>(), 0.25);
        QVERIFY(!document["runs"][0]["records"][11]["ranks"][0].contains("distance"));

        store.markDeleted(std::vector {id});
        store.purgeDeleted();
        SQLite::Database database(file().string(), SQLite::OPEN_READONLY);
        QCOMPARE(database.execAndGet("SELECT count(*) FROM rank_chunks").getInt(), 0);
    }

    void numbersComeBackBitForBit()
    {
        constexpr std::int64_t steps = 2500; // two full chunks and a tail
        RunId ids[2];
        {
            RunWriter writer(file());
            for (std::uint32_t lane : {0U, 1U}) {
                writer.runStarted(startOf(lane));
            }
            for (std::uint32_t lane : {0U, 1U}) {
                recordSteps(writer, lane, 0, 700);
                writer.flush(); // the tail is written, then grows
                recordSteps(writer, lane, 700, steps);
                ids[lane] = writer.runOf(lane);
            }
        }
        const RunStore store(file(), StoreAccess::ReadOnly);
        for (std::uint32_t lane : {0U, 1U}) {
            const auto records = store.records(ids[lane]);
            QCOMPARE(records.size(), std::size_t {steps});
            QVERIFY(isCompleteUpTo(records, lane));
            const RunColumns columns = store.columns(ids[lane]);
            QCOMPARE(columns.step.size(), std::size_t {steps});
            for (std::size_t i = 0; i < records.size(); ++i) {
                StepRecord fromColumns = records[i];
                fromColumns.step = columns.step[i];
                fromColumns.loss = columns.loss[i];
                fromColumns.gradNorm = columns.gradNorm[i];
                fromColumns.gradNormClipped = columns.gradNormClipped[i];
                fromColumns.scale = columns.scale[i];
                fromColumns.skipped = columns.skipped[i] != 0;
                QVERIFY(identical(fromColumns, records[i]));
            }
        }
        QVERIFY(store.columns(12345).step.empty());
    }

    void stepsThatJumpStayApart()
    {
        RunId id = 0;
        {
            RunWriter writer(file());
            writer.runStarted(startOf(0));
            recordSteps(writer, 0, 0, 10);
            recordSteps(writer, 0, 40, 50);
            recordSteps(writer, 0, 5, 8);
            id = writer.runOf(0);
        }
        std::vector<std::int64_t> expected;
        for (const auto& [first, end] : {std::pair(0, 10), std::pair(40, 50), std::pair(5, 8)}) {
            for (int step = first; step < end; ++step) {
                expected.push_back(step);
            }
        }
        QCOMPARE(RunStore(file()).columns(id).step, expected);
    }

    void aRunShowsWhatItCameTo()
    {
        RunWriter writer(file());
        writer.runStarted(startOf(1));
        recordSteps(writer, 1, 0, 60);
        const RunId id = writer.runOf(1);
        writer.flush();
        const RunStore store(file());
        RunInfo run = store.run(id).value();
        QCOMPARE(run.status, RunStatus::Running);
        QCOMPARE(run.experimentName, std::string("Digits"));
        QCOMPARE(run.lane, std::string("FP16 AMP"));
        QCOMPARE(run.color, std::string("#0072B2"));
        QCOMPARE(run.policy, std::string("fp16"));
        QCOMPARE(run.scaler, std::string("pytorch"));
        QCOMPARE(run.instructionSet, std::string("avx2"));
        QCOMPARE(run.threads, 2);
        QCOMPARE(run.seed, std::uint64_t {0xFEDCBA9876543210});
        QCOMPARE(run.steps, std::int64_t {60});
        QCOMPARE(run.finalLoss, recordAt(1, 59).loss);
        QCOMPARE(run.skippedSteps, std::int64_t {1}); // step 7
        QCOMPARE(run.finalScale, 65536.0);
        QCOMPARE(run.bytes, recordAt(1, 59).bytes);

        RunSummary summary;
        summary.status = RunStatus::Diverged;
        summary.message = "The weights are not finite since step 59.";
        summary.steps = 60;
        summary.finalLoss = std::numeric_limits<double>::infinity();
        summary.validationLoss = 0.25;
        summary.validationAccuracy = std::numeric_limits<double>::quiet_NaN();
        summary.skippedSteps = 1;
        summary.finalScale = 32768;
        summary.weightsHash = "fedcba9876543210";
        summary.stepsPerSecond = 412.5;
        summary.bytes = {1, 2, 3, 4, 5, 6};
        summary.castsPerStep = 9;
        summary.unixSeconds = 1.7e9 + 5;
        writer.runEnded(1, summary);
        Event finished = setEvent(1, 60, "", "", false);
        finished.kind = EventKind::Diverged;
        writer.flush();
        writer.eventHappened(finished); // an event after the end must not reopen the run
        writer.flush();
        run = store.run(id).value();
        QCOMPARE(run.status, RunStatus::Diverged);
        QCOMPARE(run.message, summary.message);
        QCOMPARE(run.finalLoss, summary.finalLoss);
        QCOMPARE(run.validationLoss, 0.25);
        QVERIFY(std::isnan(run.validationAccuracy));
        QCOMPARE(run.finalScale, 32768.0);
        QCOMPARE(run.weightsHash, summary.weightsHash);
        QCOMPARE(run.initialWeightsHash, std::string("0123456789abcdef"));
        QCOMPARE(run.stepsPerSecond, 412.5);
        QCOMPARE(run.bytes, summary.bytes);
        QCOMPARE(run.castsPerStep, 9);
        QCOMPARE(run.startedUnixSeconds, 1.7e9);
        QCOMPARE(run.endedUnixSeconds, 1.7e9 + 5);
        QCOMPARE(store.events(id).back().kind, EventKind::Diverged);

        writer.runStarted(startOf(1)); // after a reset: a run of its own
        QVERIFY(writer.runOf(1) > id);
        QCOMPARE(store.runs().size(), std::size_t {2});
        QCOMPARE(store.runs().front().id, writer.runOf(1));
        QVERIFY(contains(complaintOf([&] { writer.runOf(8); }), "has not started"));
    }

    void aReplayHoldsEveryChangeOnceAndInOrder()
    {
        RunWriter writer(file());
        writer.eventHappened(setEvent(1, 0, "scaler.scale", "4096", false)); // before the lane starts
        writer.runStarted(startOf(1));
        writer.runStarted(startOf(0));
        recordSteps(writer, 1, 0, 150);
        writer.eventHappened(setEvent(1, 50, "scaler.frozen", "true", false));
        writer.eventHappened(setEvent(0, 60, "optimizer.lr", "9", false)); // another lane's
        writer.eventHappened(setEvent(1, 100, "scaler.scale", "1024", true));
        writer.eventHappened(setEvent(Event::allLanes, 120, "optimizer.lr", "0.125", false));
        Event refused = setEvent(1, 130, "optimizer.lr", "-1", false);
        refused.kind = EventKind::Refused;
        writer.eventHappened(refused);
        const RunId id = writer.runOf(1);
        writer.flush();

        const RunStore store(file());
        QCOMPARE(store.experiment(id).dump(), startOf(1).experiment.dump());
        const auto events = store.events(id);
        QCOMPARE(events.size(), std::size_t {5});
        QCOMPARE(events[1].path, std::string("scaler.frozen"));
        QCOMPARE(events[1].after, std::string("true"));
        QCOMPARE(events[1].lane, 1U);
        QCOMPARE(events[1].command, std::uint64_t {0xFFFFFFFFFFFFFFFF});
        QCOMPARE(events[1].unixSeconds, 1.7e9 + 50);
        QVERIFY(events[2].scripted && !events[1].scripted);
        QCOMPARE(events[3].lane, Event::allLanes);

        const nlohmann::json expected {{"mantissa", 1}, {"name", "Digits"}, {"text", "What to look at."}, {"seed", 7},
            {"steps", 300}, {"data", {{"kind", "digits"}}}, {"lanes", {{{"name", "FP16 AMP"}, {"color", "#0072B2"}}}},
            {"events",
                {{{"step", 0}, {"lane", "FP16 AMP"}, {"set", {{"scaler.scale", 4096}}}},
                    {{"step", 50}, {"lane", "FP16 AMP"}, {"set", {{"scaler.frozen", true}}}},
                    {{"step", 100}, {"lane", "FP16 AMP"}, {"set", {{"scaler.scale", 1024}}}},
                    {{"step", 120}, {"lane", "FP16 AMP"}, {"set", {{"optimizer.lr", 0.125}}}},
                    {{"step", 150}, {"lane", "FP16 AMP"}, {"set", {{"steps", 150}}}}, // where it ended
                    {{"step", 200}, {"lane", "FP16 AMP"}, {"set", {{"optimizer.lr", 0.5}}}}}}};
        QCOMPARE(store.replayExperiment(id).dump(), expected.dump());
        QVERIFY(contains(complaintOf([&] { (void)store.replayExperiment(99); }), "There is no run 99"));
    }

    void aCopiedLaneThatNeverEndedReplaysToItsLastStep()
    {
        RunWriter writer(file());
        writer.runStarted(startOf(1));
        recordSteps(writer, 1, 40, 50); // a copy begins where its parent was
        const RunId id = writer.runOf(1);
        const auto events = RunStore(file()).replayExperiment(id).at("events");
        const nlohmann::json end = {{"step", 50}, {"lane", "FP16 AMP"}, {"set", {{"steps", 50}}}};
        QCOMPARE(events.at(0).dump(), end.dump());
    }

    void tagsNotesAndDeletionAreKept()
    {
        RunId ids[3];
        {
            RunWriter writer(file());
            for (auto& id : ids) {
                writer.runStarted(startOf(0));
                recordSteps(writer, 0, 0, 2000);
                writer.runEnded(0, {});
                id = writer.runOf(0);
            }
        }
        RunStore store(file());
        const std::vector<std::string> tags {"talk", "a \"quoted\", tag", "größer"};
        store.setTags(ids[0], tags);
        store.setNote(ids[0], "Two\nlines");
        QCOMPARE(store.run(ids[0])->tags, tags);
        QCOMPARE(store.run(ids[0])->note, std::string("Two\nlines"));
        QVERIFY(contains(complaintOf([&] { store.setNote(99, "x"); }), "There is no run 99"));

        store.markDeleted(std::span(ids).first(2));
        QCOMPARE(store.runs().size(), std::size_t {1});
        QVERIFY(!store.run(ids[0]));
        store.restore(std::span(ids).first(1));
        QCOMPARE(store.runs().size(), std::size_t {2});
        QCOMPARE(store.run(ids[0])->tags, tags);
        const auto before = std::filesystem::file_size(file());
        store.purgeDeleted();
        {
            SQLite::Database raw(file().string(), SQLite::OPEN_READWRITE);
            raw.exec("PRAGMA wal_checkpoint(TRUNCATE)");
            QCOMPARE(raw.execAndGet("SELECT count(*) FROM step_chunks").getInt(), 4);
            QCOMPARE(raw.execAndGet("SELECT count(*) FROM experiments").getInt(), 1); // shared by all three
        }
        QVERIFY(std::filesystem::file_size(file()) < before);
        QCOMPARE(store.records(ids[2]).size(), std::size_t {2000});
        QCOMPARE(integrity(), std::string("ok"));
    }

    void aLiveRunSurvivesAPurge()
    {
        RunWriter writer(file());
        writer.runStarted(startOf(0));
        const RunId id = writer.runOf(0);
        RunStore store(file());
        store.markDeleted(std::span(&id, 1));
        store.purgeDeleted();
        recordSteps(writer, 0, 0, 10);
        writer.flush();
        QCOMPARE(writer.problem(), std::string());
        store.restore(std::span(&id, 1));
        QCOMPARE(store.records(id).size(), std::size_t {10});
    }

    void exportsReadBackAsTheSameNumbers()
    {
        RunStart start = startOf(1);
        start.config.name = "a \"b\", c";
        RunWriter writer(file());
        writer.runStarted(start);
        recordSteps(writer, 1, 0, 120);
        const RunId id = writer.runOf(1);
        writer.flush();
        const RunStore store(file());
        std::ostringstream csv;
        exportCsv(csv, store, std::span(&id, 1));
        std::istringstream lines(csv.str());
        std::string line;
        std::getline(lines, line);
        QVERIFY(line.starts_with("run,lane,step,loss,grad_norm,grad_norm_clipped,scale,skipped,"));
        int rows = 0;
        for (; std::getline(lines, line); ++rows) {
            const std::string head = std::to_string(id) + ",\"a \"\"b\"\", c\"," + std::to_string(rows) + ",";
            QVERIFY(line.starts_with(head));
            char* rest = line.data() + head.size();
            const StepRecord record = recordAt(1, rows);
            for (const double expected : {record.loss, record.gradNorm, record.gradNormClipped, record.scale}) {
                const double value = std::strtod(rest, &rest);
                QCOMPARE(value, expected);
                QCOMPARE(*rest++, ',');
            }
        }
        QCOMPARE(rows, 120);
        QVERIFY(csv.str().find(",nan,") != std::string::npos && csv.str().find(",-inf,") != std::string::npos);

        std::ostringstream json;
        exportJson(json, store, std::span(&id, 1));
        const auto document = nlohmann::json::parse(json.str());
        const auto& run = document.at("runs").at(0);
        QCOMPARE(run.at("lane").get<std::string>(), start.config.name);
        QCOMPARE(run.at("records").size(), std::size_t {120});
        QCOMPARE(run.at("records").at(7).at("grad_norm").get<std::string>(), std::string("inf"));
        QCOMPARE(run.at("records").at(8).at("grad_norm").get<double>(), std::sqrt(9.0));
        QCOMPARE(run.at("replay").dump(), store.replayExperiment(id).dump());
    }

    void emptyFilesAreUpgraded()
    {
        std::ofstream(file()).close(); // no bytes: version 0
        RunStore store(file());
        QVERIFY(store.runs().empty());
        SQLite::Database raw(file().string(), SQLite::OPEN_READONLY);
        QCOMPARE(schemaVersion(raw), newestSchemaVersion());
        QCOMPARE(raw.execAndGet("PRAGMA journal_mode").getString(), std::string("wal"));
        QCOMPARE(raw.execAndGet("PRAGMA auto_vacuum").getInt(), 2);
    }

    void aFileFromBeforeImportsIsUpgradedAndKeepsItsRuns()
    {
        RunId id = 0;
        {
            RunWriter writer(file());
            writer.runStarted(startOf(0));
            recordSteps(writer, 0, 0, 30);
            id = writer.runOf(0);
        }
        {
            SQLite::Database raw(file().string(), SQLite::OPEN_READWRITE);
            raw.exec("DROP INDEX runs_by_uuid");
            raw.exec("ALTER TABLE runs DROP COLUMN uuid");
            raw.exec("ALTER TABLE runs DROP COLUMN sweep");
            raw.exec("ALTER TABLE runs DROP COLUMN imported");
            raw.exec("ALTER TABLE step_chunks DROP COLUMN stride");
            raw.exec("DROP TABLE rank_chunks");
            raw.exec("PRAGMA user_version = 3");
        }
        QVERIFY(complaintOf([&] { (void)RunStore(file()).runs(); }).empty()); // upgrades it
        const RunStore store(file(), StoreAccess::ReadOnly);
        QVERIFY(!store.run(id)->imported);
        QCOMPARE(store.run(id)->policy, std::string("fp32"));
        QVERIFY(isCompleteUpTo(store.records(id), 0));
        QCOMPARE(store.columns(id).step.size(), std::size_t {30});
        QVERIFY(store.columns(id).lossFinite.empty());
    }

    void aNewStepOfTheSchemaKeepsOldRuns()
    {
        RunId id = 0;
        {
            RunWriter writer(file());
            writer.runStarted(startOf(0));
            recordSteps(writer, 0, 0, 30);
            id = writer.runOf(0);
        }
        const int version = newestSchemaVersion();
        const std::array more {Migration {version + 1, "ALTER TABLE runs ADD COLUMN extra TEXT NOT NULL DEFAULT 'old'"},
            Migration {version + 2, "ALTER TABLE step_chunks ADD COLUMN extra BLOB; CREATE TABLE t (a); BREAKS HERE"}};
        SQLite::Database raw(file().string(), SQLite::OPEN_READWRITE);
        migrate(raw, file(), std::span(more).first(1));
        QCOMPARE(schemaVersion(raw), version + 1);
        QCOMPARE(raw.execAndGet("SELECT extra FROM runs").getString(), std::string("old"));
        // A step that fails leaves nothing of itself.
        raw.exec("PRAGMA user_version = " + std::to_string(version));
        const std::array broken {more[1]};
        QVERIFY_THROWS_EXCEPTION(SQLite::Exception, migrate(raw, file(), broken));
        QCOMPARE(schemaVersion(raw), version);
        QCOMPARE(raw.execAndGet("SELECT count(*) FROM sqlite_schema WHERE name = 't'").getInt(), 0);
        QVERIFY(isCompleteUpTo(RunStore(file()).records(id), 0));
    }

    void foreignFilesAreRefusedInWords_data()
    {
        QTest::addColumn<QString>("sql");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("newer") << "PRAGMA user_version = 999"
                               << "A newer Mantissa";
        QTest::newRow("another program's") << "PRAGMA application_id = 7"
                                           << "another program's database";
        QTest::newRow("no database") << ""
                                     << "not a database of runs";
    }

    void foreignFilesAreRefusedInWords()
    {
        QFETCH(QString, sql);
        QFETCH(QString, complaint);
        if (sql.isEmpty()) {
            std::ofstream(file()) << "Dear diary, today I trained a network and it went well. "
                                  << std::string(5000, 'x');
        } else {
            RunStore made(file());
            SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec(sql.toStdString());
        }
        const auto bytes = [this] {
            std::ifstream in(file(), std::ios::binary);
            return std::string(std::istreambuf_iterator<char>(in), {});
        };
        const std::string before = bytes();
        for (const auto access : {StoreAccess::ReadOnly, StoreAccess::ReadWrite}) {
            const std::string text = complaintOf([&] { RunStore store(file(), access); });
            QVERIFY(contains(text, complaint.toStdString()));
            QVERIFY(contains(text, file().string()));
        }
        RunWriter writer(file());
        writer.runStarted(startOf(0));
        writer.flush();
        QVERIFY(contains(writer.problem(), complaint.toStdString()));
        QVERIFY(contains(complaintOf([&] { writer.runOf(0); }), complaint.toStdString()));
        QCOMPARE(bytes(), before);
    }

    void damagedFilesAreReported()
    {
        RunId id = 0;
        {
            RunWriter writer(file());
            writer.runStarted(startOf(0));
            recordSteps(writer, 0, 0, 5000);
            id = writer.runOf(0);
        }
        {
            SQLite::Database raw(file().string(), SQLite::OPEN_READWRITE);
            raw.exec("UPDATE step_chunks SET loss = x'66000000' WHERE ordinal = 1");
        }
        QVERIFY(contains(complaintOf([&] { (void)RunStore(file()).columns(id); }), "damaged"));
        QVERIFY(contains(complaintOf([&] { (void)RunStore(file()).records(id); }), "damaged"));
        std::filesystem::resize_file(file(), std::filesystem::file_size(file()) / 2);
        QVERIFY(contains(complaintOf([&] { (void)RunStore(file()).records(id); }), "damaged"));
    }

    void missingAndImpossiblePlacesAreNamed()
    {
        QVERIFY(contains(complaintOf([&] { RunStore store(file(), StoreAccess::ReadOnly); }), "There is no database"));
        const std::filesystem::path nested = file().parent_path() / "new" / "folder" / "runs.db";
        QVERIFY(RunStore(nested).runs().empty());
        QVERIFY(contains(complaintOf([&] { RunStore store(nested.parent_path()); }), "is a folder"));
        QVERIFY(contains(complaintOf([&] { RunStore store(nested / "below" / "runs.db"); }), "cannot be made"));
    }

    void readOnlyPlacesCanBeReadAndSayWhyTheyCannotBeWritten()
    {
        RunId id = 0;
        {
            RunWriter writer(file());
            writer.runStarted(startOf(0));
            recordSteps(writer, 0, 0, 30);
            id = writer.runOf(0);
        }
        ::chmod(m_folder->path().toLocal8Bit().constData(), 0555);
        ::chmod(file().c_str(), 0444);
        {
            const AsOrdinaryUser user;
            const RunStore store(file(), StoreAccess::ReadOnly);
            QVERIFY(isCompleteUpTo(store.records(id), 0));
            QCOMPARE(store.run(id)->status, RunStatus::Interrupted);
            QVERIFY(contains(complaintOf([&] { RunStore writing(file()); }), "read-only"));
        }
        ::chmod(m_folder->path().toLocal8Bit().constData(), 0755);
    }

    void aLockedFileIsWaitedForAndNothingIsLost()
    {
        RunStore store(file());
        RunWriter writer(file());
        writer.runStarted(startOf(0));
        recordSteps(writer, 0, 0, 100);
        const RunId id = writer.runOf(0);
        {
            SQLite::Database other(file().string(), SQLite::OPEN_READWRITE);
            other.exec("BEGIN EXCLUSIVE");
            QVERIFY(contains(complaintOf([&] { store.setNote(id, "x"); }), "locked"));
            recordSteps(writer, 0, 100, 3000);
            writer.runEnded(0, {});
            writer.flush();
            QVERIFY(contains(writer.problem(), "locked"));
            QCOMPARE(store.records(id).size(), std::size_t {100}); // reading goes on
        }
        writer.flush();
        QCOMPARE(writer.problem(), std::string());
        QCOMPARE(store.run(id)->status, RunStatus::Finished);
        QCOMPARE(store.records(id).size(), std::size_t {3000});
        QVERIFY(isCompleteUpTo(store.records(id), 0));
    }

    void aFullDiskIsReportedAndNothingIsLostOnceThereIsSpace()
    {
        RunWriter writer(file());
        writer.runStarted(startOf(0));
        recordSteps(writer, 0, 0, 1500);
        const RunId id = writer.runOf(0);
        {
            const auto log = std::filesystem::file_size(file().string() + "-wal");
            const FullDisk full(log + 10'000);
            recordSteps(writer, 0, 1500, 20'000);
            writer.flush();
            QVERIFY(contains(writer.problem(), "space"));
            QVERIFY(contains(complaintOf([&] { RunStore(file()).setNote(id, std::string(1'000'000, 'x')); }), "space"));
        }
        writer.flush();
        QCOMPARE(writer.problem(), std::string());
        const auto records = RunStore(file()).records(id);
        QCOMPARE(records.size(), std::size_t {20'000});
        QVERIFY(isCompleteUpTo(records, 0));
        QCOMPARE(integrity(), std::string("ok"));
    }

    void memoryStaysBoundedWhenTheFileCannotBeWritten()
    {
        constexpr std::int64_t more = 600'000;
        RunWriter writer(file());
        writer.runStarted(startOf(0));
        const RunId id = writer.runOf(0);
        {
            SQLite::Database other(file().string(), SQLite::OPEN_READWRITE);
            other.exec("BEGIN EXCLUSIVE");
            recordSteps(writer, 0, 0, more); // returns although nothing can be written
        }
        recordSteps(writer, 0, more, more + 1);
        writer.runEnded(0, {});
        writer.flush();
        QCOMPARE(writer.problem(), std::string());
        const auto steps = RunStore(file()).columns(id).step;
        QVERIFY(steps.size() >= 500'000 && steps.size() < more);
        const std::string message = RunStore(file()).run(id)->message;
        QVERIFY(
            contains(message, std::to_string(more + 1 - static_cast<std::int64_t>(steps.size())) + " steps could not"));
    }

    void killedProgramsLoseAtMostTheirLastSecond()
    {
        constexpr double rate = 20'000;
        std::mt19937 random(20240607);
        std::size_t earlierRuns = 0;
        for (int round = 0; round < 8; ++round) {
            QProcess process;
            startWriter(process, 2, rate, 0);
            QVERIFY(process.waitForReadyRead(20'000));
            QTest::qSleep(std::uniform_int_distribution<int>(50, 1300)(random));
            process.kill(); // SIGKILL
            QVERIFY(process.waitForFinished());
            const auto lines = process.readAllStandardOutput().split('\n');
            const std::int64_t handedOver = lines.size() < 2 ? 0 : lines[lines.size() - 2].toLongLong();

            QCOMPARE(integrity(), std::string("ok"));
            const RunStore store(file(), StoreAccess::ReadOnly);
            const auto runs = store.runs();
            QVERIFY(runs.size() >= earlierRuns);
            const std::size_t fresh = runs.size() - earlierRuns; // the newest come first
            // Killed in its first second, a program may have written one of its two runs, or none.
            QVERIFY(fresh == 2 || (fresh < 2 && static_cast<double>(handedOver) < rate));
            earlierRuns = runs.size();
            for (std::size_t i = 0; i < runs.size(); ++i) {
                const RunInfo& run = runs[i];
                QCOMPARE(run.status, RunStatus::Interrupted);
                const auto records = store.records(run.id);
                QCOMPARE(static_cast<std::int64_t>(records.size()), run.steps);
                if (i < fresh) {
                    QVERIFY(isCompleteUpTo(records, run.lane == "FP32" ? 0 : 1));
                    QVERIFY2(static_cast<double>(handedOver - run.steps) < rate,
                        qPrintable(QString("%1 of %2 steps were lost").arg(handedOver - run.steps).arg(handedOver)));
                }
            }
        }
        QVERIFY(earlierRuns > 0);
        RunStore writing(file()); // now the rows themselves say it
        SQLite::Database raw(file().string(), SQLite::OPEN_READONLY);
        QCOMPARE(raw.execAndGet("SELECT count(*) FROM runs WHERE status <> 'interrupted'").getInt(), 0);
    }

    void twoProgramsShareAFile()
    {
        constexpr int steps = 6000;
        QProcess first;
        QProcess second;
        startWriter(first, 2, 4000, steps); // both make the file
        startWriter(second, 2, 4000, steps);
        RunWriter here(file());
        here.runStarted(startOf(0));
        const RunId own = here.runOf(0);
        QVERIFY(first.waitForReadyRead(20'000) && second.waitForReadyRead(20'000));
        std::set<RunId> live;
        while (first.state() == QProcess::Running && second.state() == QProcess::Running) {
            RunStore store(file()); // opening must not take live runs for dead ones
            for (const RunInfo& run : store.runs()) {
                QVERIFY(run.status == RunStatus::Running || run.status == RunStatus::Finished);
                QVERIFY(run.steps <= static_cast<std::int64_t>(store.columns(run.id).step.size()));
                live.insert(run.id);
            }
            QTest::qWait(20);
        }
        for (QProcess* program : {&first, &second}) {
            QVERIFY(program->state() == QProcess::NotRunning || program->waitForFinished());
        }
        QCOMPARE(first.exitCode(), 0);
        QCOMPARE(second.exitCode(), 0);
        QCOMPARE(live.size(), std::size_t {5});
        const RunStore store(file());
        for (const RunInfo& run : store.runs()) {
            if (run.id == own) {
                QCOMPARE(run.status, RunStatus::Running);
            } else {
                QCOMPARE(run.status, RunStatus::Finished);
                QCOMPARE(store.records(run.id).size(), std::size_t {steps});
                QVERIFY(isCompleteUpTo(store.records(run.id), run.lane == "FP32" ? 0 : 1));
            }
        }
        QCOMPARE(integrity(), std::string("ok"));
    }

    void readersAtWorkDoNotDisturbTheWriter()
    {
        RunWriter writer(file());
        writer.runStarted(startOf(0));
        const RunId id = writer.runOf(0);
        std::atomic<bool> done = false;
        std::size_t seen = 0;
        bool ordered = true;
        std::thread reader([&] {
            const RunStore store(file(), StoreAccess::ReadOnly);
            while (!done) {
                const auto steps = store.columns(id).step;
                ordered = ordered && steps.size() >= seen;
                seen = steps.size();
            }
        });
        for (std::int64_t step = 0; step < 40'000; step += 500) {
            recordSteps(writer, 0, step, step + 500);
            writer.flush();
        }
        done = true;
        reader.join();
        QVERIFY(ordered);
        QCOMPARE(RunStore(file()).records(id).size(), std::size_t {40'000});
        // A statement left open would have kept the log from being written back.
        QVERIFY(std::filesystem::file_size(file().string() + "-wal") < 24'000'000);
    }

    void theDefaultPlaceFollowsXdg()
    {
        const QByteArray before = qgetenv("XDG_DATA_HOME");
        qputenv("XDG_DATA_HOME", "/somewhere");
        QCOMPARE(RunStore::defaultPath(), std::filesystem::path("/somewhere/mantissa/runs.db"));
        qunsetenv("XDG_DATA_HOME");
        qputenv("HOME", "/home/ada");
        QCOMPARE(RunStore::defaultPath(), std::filesystem::path("/home/ada/.local/share/mantissa/runs.db"));
        if (!before.isNull()) {
            qputenv("XDG_DATA_HOME", before);
        }
    }
};

QTEST_GUILESS_MAIN(TestRunStore)
#include "tst_run_store.moc"
