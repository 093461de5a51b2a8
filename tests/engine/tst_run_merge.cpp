// Databases that were written at the same time become one, with nothing lost, doubled or half there.
#include "engine/core/error.h"
#include "engine/store/migrations.h"
#include "engine/store/run_merge.h"
#include "engine/store/run_store.h"
#include "store_fixture.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <fstream>
#include <future>
#include <map>
#include <set>
#include <thread>

using namespace mantissa;
using storetest::identical;
using storetest::recordAt;
using storetest::startOf;

namespace {

namespace fs = std::filesystem;

std::string complaintOf(const std::function<void()>& work)
{
    try {
        work();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

bool contains(const std::string& text, const std::string& part)
{
    if (!QString::fromStdString(text).contains(QString::fromStdString(part))) {
        qWarning("'%s' is not in '%s'", part.c_str(), text.c_str());
        return false;
    }
    return true;
}

std::shared_ptr<const StepSample> sampleAt(std::uint32_t lane, std::int64_t step)
{
    auto sample = std::make_shared<StepSample>();
    sample->lane = lane;
    sample->step = step;
    sample->scale = 1024;
    TensorSample tensor;
    tensor.tensor = "fc1.weight";
    tensor.norm = static_cast<double>(step);
    sample->tensors = {tensor, tensor};
    return sample;
}

Event eventAt(std::uint32_t lane, std::int64_t step)
{
    Event event;
    event.kind = EventKind::Checkpoint;
    event.lane = lane;
    event.step = step;
    event.path = "/tmp/checkpoint-" + std::to_string(step) + ".safetensors";
    event.unixSeconds = 1.7e9;
    return event;
}

void record(RunWriter& writer, std::uint32_t lane, std::int64_t first, std::int64_t end)
{
    for (std::int64_t step = first; step < end; ++step) {
        writer.stepsRecorded(std::array {recordAt(lane, step)});
        if (step % 100 == 0) {
            writer.stepSampled(sampleAt(lane, step));
            writer.eventHappened(eventAt(lane, step));
        }
    }
}

/// Lanes 0 and 1 with records, samples, events, tags and a note.
void makeRuns(const fs::path& file, std::int64_t steps, const std::string& name)
{
    std::vector<RunId> ids;
    {
        RunWriter writer(file);
        for (const std::uint32_t lane : {0U, 1U}) {
            writer.runStarted(startOf(lane, name));
            record(writer, lane, 0, steps);
            writer.runEnded(lane, {});
            ids.push_back(writer.runOf(lane));
        }
    }
    RunStore store(file);
    store.setTags(ids[0], {"one", "two"});
    store.setNote(ids[1], "a note of " + name);
}

/// All rows of a query as text.
std::vector<std::string> rowsOf(SQLite::Database& database, const std::string& sql)
{
    std::vector<std::string> rows;
    SQLite::Statement query(database, sql);
    while (query.executeStep()) {
        std::string row;
        for (int i = 0; i < query.getColumnCount(); ++i) {
            row += std::string(1, static_cast<char>('0' + query.getColumn(i).getType()))
                + query.getColumn(i).getString() + '|';
        }
        rows.push_back(row);
    }
    return rows;
}

/// Everything that belongs to each run, by its uuid: its row without numbers of rows, its experiment, and the rows of
/// every table that has any.
std::map<std::string, std::vector<std::string>> contentsOf(const fs::path& file)
{
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
    std::vector<std::string> tables;
    SQLite::Statement query(database,
        "SELECT name FROM sqlite_schema AS tables WHERE type = 'table' AND EXISTS (SELECT 1 FROM "
        "pragma_table_info(tables.name) AS columns WHERE columns.name = 'run_id') ORDER BY name");
    while (query.executeStep()) {
        tables.push_back(query.getColumn(0).getString());
    }
    const auto columnsOf = [&database](const std::string& table, const std::string& without) {
        std::string columns;
        SQLite::Statement names(database, "SELECT name FROM pragma_table_info(?)");
        names.bind(1, table);
        while (names.executeStep()) {
            const std::string name = names.getColumn(0).getString();
            if ((',' + without + ',').find(',' + name + ',') == std::string::npos) {
                columns += (columns.empty() ? "" : ", ") + name;
            }
        }
        return columns;
    };
    std::map<std::string, std::vector<std::string>> all;
    SQLite::Statement runs(database, "SELECT id, uuid FROM runs");
    while (runs.executeStep()) {
        const std::string id = std::to_string(runs.getColumn(0).getInt64());
        std::vector<std::string>& content = all[runs.getColumn(1).getString()];
        content = rowsOf(
            database, "SELECT " + columnsOf("runs", "id,experiment_id,writer_id") + " FROM runs WHERE id = " + id);
        const auto add = [&](const std::string& sql) {
            for (std::string& row : rowsOf(database, sql)) {
                content.push_back(std::move(row));
            }
        };
        add("SELECT hash, name, document FROM experiments WHERE id = (SELECT experiment_id FROM runs WHERE id = " + id
            + ")");
        add("SELECT pid, host, started_at FROM writers WHERE id = (SELECT writer_id FROM runs WHERE id = " + id + ")");
        for (const std::string& table : tables) {
            content.push_back(table);
            const std::string columns = columnsOf(table, "id,run_id");
            // Events come in the order of their numbers; of the others every row has a place of its own.
            add("SELECT " + columns + " FROM " + table + " WHERE run_id = " + id
                + (table == "events" ? " ORDER BY id" : " ORDER BY " + columns.substr(0, columns.find(','))));
        }
    }
    return all;
}

std::string integrityOf(const fs::path& file)
{
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    const std::string broken = std::to_string(rowsOf(database, "PRAGMA foreign_key_check").size());
    return database.execAndGet("PRAGMA integrity_check").getString() + " " + broken;
}

} // namespace

class TestRunMerge : public QObject
{
    Q_OBJECT

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void everyTableOfRunsIsCopied()
    {
        makeRuns(file("a.db"), 30, "A");
        SQLite::Database database(file("a.db").string(), SQLite::OPEN_READWRITE);
        const std::set<std::string> shared {"runs", "experiments", "writers"}; // carried over row by row
        std::vector<std::string> tables;
        for (const std::string& row :
            rowsOf(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")) {
            const std::string table = row.substr(1, row.size() - 2);
            const bool hasRun
                = !rowsOf(database, "SELECT 1 FROM pragma_table_info('" + table + "') WHERE name = 'run_id'").empty();
            QVERIFY2(hasRun || shared.contains(table),
                qPrintable(QString::fromStdString(table
                    + " has no column run_id: 'runs merge' would leave it behind. Give it one, or teach "
                      "run_merge.cpp.")));
            if (hasRun) {
                tables.push_back(table);
            }
        }
        // One row in each, whatever a table holds.
        const std::int64_t run = database.execAndGet("SELECT max(id) FROM runs").getInt64();
        database.exec("PRAGMA foreign_keys = OFF");
        for (const std::string& table : tables) {
            std::string values;
            for (const std::string& column :
                rowsOf(database, "SELECT name, type, pk FROM pragma_table_info('" + table + "')")) {
                const QStringList parts = QString::fromStdString(column).split('|');
                const QString name = parts[0].mid(1);
                const QString type = parts[1].mid(1);
                const QString number = name == "id" ? "NULL" : name == "run_id" ? QString::number(run) : "77";
                values += (values.empty() ? "" : ", ")
                    + (type == "TEXT"        ? std::string("'seventy'")
                            : type == "BLOB" ? std::string("x'0001'")
                                             : number.toStdString());
            }
            database.exec("INSERT INTO " + table + " VALUES (" + values + ")");
        }
        const std::array from {file("a.db")};
        mergeRuns(file("all.db"), from);
        SQLite::Database merged(file("all.db").string(), SQLite::OPEN_READONLY);
        for (const std::string& table : tables) {
            QVERIFY2(merged.execAndGet("SELECT count(*) FROM " + table).getInt()
                    == database.execAndGet("SELECT count(*) FROM " + table).getInt(),
                table.c_str());
        }
        QCOMPARE(contentsOf(file("all.db")), contentsOf(file("a.db")));
    }

    void filesWrittenByTwoProgramsAreMergedWithNothingLostOrDoubled()
    {
        // Two programs write at the same time, and are merged while they do, and when they have ended.
        std::array<QProcess, 2> writers;
        const std::array files {file("a.db"), file("b.db")};
        for (std::size_t i = 0; i < 2; ++i) {
            writers[i].start(writerProgram(), {QString::fromStdString(files[i].string()), "2", "6000", "6000"});
        }
        for (QProcess& writer : writers) {
            QVERIFY(writer.waitForStarted());
        }
        QTRY_VERIFY_WITH_TIMEOUT(countIn(files[0], "step_chunks") >= 4 && countIn(files[1], "step_chunks") >= 4, 60000);
        const std::vector<MergedRuns> early = mergeRuns(file("all.db"), files);
        QCOMPARE(early[0].added, std::int64_t {2});
        QCOMPARE(early[1].added, std::int64_t {2});
        for (const RunInfo& run : RunStore(file("all.db"), StoreAccess::ReadOnly).runs()) {
            QCOMPARE(run.status, RunStatus::Interrupted); // as far as it is; nobody writes it here
            QVERIFY(isCompleteUpTo(file("all.db"), run, run.steps));
        }
        for (QProcess& writer : writers) {
            QVERIFY(writer.waitForFinished(120000));
            QCOMPARE(writer.exitCode(), 0);
        }
        const std::vector<MergedRuns> late = mergeRuns(file("all.db"), files);
        QCOMPARE(late[0].completed + late[1].completed, std::int64_t {4});
        QCOMPARE(late[0].added + late[1].added, std::int64_t {0});
        const std::vector<RunInfo> runs = RunStore(file("all.db"), StoreAccess::ReadOnly).runs();
        QCOMPARE(runs.size(), std::size_t {4});
        for (const RunInfo& run : runs) {
            QCOMPARE(run.status, RunStatus::Finished);
            QVERIFY(isCompleteUpTo(file("all.db"), run, 6000));
        }
        auto expected = contentsOf(files[0]);
        expected.merge(contentsOf(files[1]));
        QCOMPARE(contentsOf(file("all.db")), expected);
        QCOMPARE(integrityOf(file("all.db")), std::string("ok 0"));

        // Once more: nothing is added, not even a row that no run needs.
        const auto rows = [this] {
            return std::array {countIn(file("all.db"), "runs"), countIn(file("all.db"), "experiments"),
                countIn(file("all.db"), "writers"), countIn(file("all.db"), "step_chunks")};
        };
        const auto before = rows();
        const std::vector<MergedRuns> again = mergeRuns(file("all.db"), files);
        QCOMPARE(again[0].unchanged + again[1].unchanged, std::int64_t {4});
        QCOMPARE(rows(), before);
        QCOMPARE(contentsOf(file("all.db")), expected);
    }

    void mergedDatabasesCanBeMergedOn()
    {
        makeRuns(file("a.db"), 1500, "A");
        makeRuns(file("b.db"), 20, "B");
        const std::array first {file("a.db")};
        const std::array both {file("b.db"), file("c.db")};
        mergeRuns(file("c.db"), first);
        QCOMPARE(mergeRuns(file("a.db"), both)[1].unchanged, std::int64_t {2}); // its own runs come back
        QCOMPARE(contentsOf(file("a.db")).size(), std::size_t {4});
    }

    void wordsAreKeptOnBothSides()
    {
        makeRuns(file("a.db"), 20, "A");
        const std::array from {file("a.db")};
        mergeRuns(file("all.db"), from);
        {
            RunStore source(file("a.db"));
            source.setTags(1, {"one", "three"});
            source.setNote(1, "from there");
            source.setNote(2, "another note");
            RunStore target(file("all.db"));
            target.setTags(1, {"mine"});
        }
        mergeRuns(file("all.db"), from);
        const RunStore store(file("all.db"));
        QCOMPARE(store.run(1)->tags, (std::vector<std::string> {"mine", "one", "three"}));
        QCOMPARE(store.run(1)->note, std::string("from there"));
        QCOMPARE(store.run(2)->note, std::string("a note of A")); // a person's own words are not written over
    }

    void deletedRunsStayDeleted()
    {
        makeRuns(file("a.db"), 20, "A");
        const std::array from {file("a.db")};
        const std::array second {RunId {2}};
        mergeRuns(file("all.db"), from);
        RunStore(file("all.db")).markDeleted(second);
        QCOMPARE(mergeRuns(file("all.db"), from)[0].unchanged, std::int64_t {2});
        QCOMPARE(RunStore(file("all.db")).runs().size(), std::size_t {1});
        RunStore(file("a.db")).markDeleted(second);
        QCOMPARE(mergeRuns(file("other.db"), from)[0].added, std::int64_t {1});
    }

    void anOlderCopyDoesNotSetARunBack()
    {
        {
            RunWriter writer(file("a.db"));
            writer.runStarted(startOf(0));
            record(writer, 0, 0, 500);
            writer.flush();
            copyOf("a.db", "early.db");
            record(writer, 0, 500, 2500);
            writer.runEnded(0, {});
            writer.flush();
            // An event that follows the end belongs to the run as well.
            copyOf("a.db", "ended.db");
            writer.eventHappened(eventAt(0, 2500));
        }
        for (const auto& [name, events] :
            {std::pair("early.db", 5), std::pair("ended.db", 25), std::pair("a.db", 26), std::pair("early.db", 26)}) {
            const std::array from {file(name)};
            mergeRuns(file("all.db"), from);
            const RunStore store(file("all.db"));
            QCOMPARE(store.runs().size(), std::size_t {1});
            QCOMPARE(store.events(1).size(), static_cast<std::size_t>(events));
        }
        QCOMPARE(contentsOf(file("all.db")), contentsOf(file("a.db")));
        QCOMPARE(RunStore(file("all.db")).run(1)->status, RunStatus::Finished);
    }

    void filesOfOlderVersionsAreUpgradedInACopy()
    {
        makeRuns(file("a.db"), 30, "A");
        {
            SQLite::Database raw(file("a.db").string(), SQLite::OPEN_READWRITE);
            raw.exec("DROP INDEX runs_by_uuid; ALTER TABLE runs DROP COLUMN uuid; ALTER TABLE runs DROP COLUMN sweep; "
                     "DROP TABLE rank_chunks");
            raw.exec("PRAGMA user_version = 4; PRAGMA wal_checkpoint(TRUNCATE)");
        }
        fs::copy_file(file("a.db"), file("twin.db"));
        const std::string before = bytesOf(file("a.db"));
        const std::array from {file("a.db")};
        QCOMPARE(mergeRuns(file("all.db"), from)[0].added, std::int64_t {2});
        QCOMPARE(bytesOf(file("a.db")), before);
        {
            SQLite::Database raw(file("a.db").string(), SQLite::OPEN_READONLY);
            QCOMPARE(schemaVersion(raw), 4);
        }
        // Copies of one file agree on who its runs are, upgraded one by one or in a copy.
        const RunStore upgraded(file("twin.db"));
        const std::array twin {file("twin.db")};
        QCOMPARE(mergeRuns(file("all.db"), twin)[0].unchanged, std::int64_t {2});
        QCOMPARE(contentsOf(file("all.db")), contentsOf(file("twin.db")));
    }

    void badFilesChangeNothing_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("missing") << "missing"
                                 << "There is no database of runs at";
        QTest::newRow("damaged") << "damaged"
                                 << "is damaged";
        QTest::newRow("cut off") << "cut off"
                                 << "damaged";
        QTest::newRow("no database") << "no database"
                                     << "not a database of runs";
        QTest::newRow("newer") << "newer"
                               << "A newer Mantissa wrote";
        QTest::newRow("another program's") << "another's"
                                           << "another program's database";
        QTest::newRow("a folder") << "a folder"
                                  << "is a folder, not a database";
        QTest::newRow("itself") << "itself"
                                << "cannot be merged into itself";
    }

    void badFilesChangeNothing()
    {
        QFETCH(QString, kind);
        QFETCH(QString, complaint);
        makeRuns(file("good.db"), 30, "A");
        makeRuns(file("bad.db"), 3000, "B");
        makeRuns(file("all.db"), 30, "C");
        const auto alter
            = [this](const char* sql) { SQLite::Database(file("bad.db").string(), SQLite::OPEN_READWRITE).exec(sql); };
        alter("PRAGMA wal_checkpoint(TRUNCATE)");
        std::array from {file("good.db"), file("bad.db")};
        if (kind == "missing") {
            from[1] = file("none.db");
        } else if (kind == "a folder") {
            from[1] = file("");
        } else if (kind == "damaged") {
            std::fstream bytes(file("bad.db"), std::ios::in | std::ios::out | std::ios::binary);
            const auto size = static_cast<std::streamoff>(fs::file_size(file("bad.db")));
            for (std::streamoff at = 4096; at + 4096 < size; at += 8192) {
                bytes.seekp(at);
                bytes << std::string(2000, '\xA5');
            }
        } else if (kind == "cut off") {
            fs::resize_file(file("bad.db"), fs::file_size(file("bad.db")) / 2);
        } else if (kind == "no database") {
            std::ofstream(file("bad.db")) << std::string(5000, 'x');
        } else if (kind == "newer") {
            alter("PRAGMA user_version = 999");
        } else if (kind == "another's") {
            alter("PRAGMA application_id = 7");
        } else {
            from[1] = file("all.db");
        }
        const auto before = contentsOf(file("all.db"));
        const std::string said = complaintOf([&] { mergeRuns(file("all.db"), from); });
        QVERIFY(contains(said, complaint.toStdString()));
        QVERIFY(contains(said, from[1].string()));
        QCOMPARE(contentsOf(file("all.db")), before);
        // Nor is a database made that was not there.
        if (kind != "itself") {
            QVERIFY(!complaintOf([&] { mergeRuns(file("fresh.db"), from); }).empty());
            QVERIFY(!fs::exists(file("fresh.db")));
        }
    }

    void aFullDiskChangesNothing()
    {
        makeRuns(file("a.db"), 3000, "A");
        makeRuns(file("all.db"), 30, "C");
        const auto before = contentsOf(file("all.db"));
        const std::array from {file("a.db")};
        {
            const QProcess unused; // Qt's own signal handlers, if any, before ours
            ::signal(SIGXFSZ, SIG_IGN);
            rlimit usual {};
            ::getrlimit(RLIMIT_FSIZE, &usual);
            const rlimit limit {fs::file_size(file("all.db")) + 40'000, usual.rlim_max};
            ::setrlimit(RLIMIT_FSIZE, &limit);
            const std::string said = complaintOf([&] { mergeRuns(file("all.db"), from); });
            ::setrlimit(RLIMIT_FSIZE, &usual);
            QVERIFY(contains(said, file("all.db").string()));
        }
        QCOMPARE(contentsOf(file("all.db")), before);
        QCOMPARE(mergeRuns(file("all.db"), from)[0].added, std::int64_t {2});
    }

    void killedInTheMidstItLeavesAValidFileAndARepeatCompletesIt()
    {
        std::vector<fs::path> from;
        for (int i = 0; i < 6; ++i) {
            from.push_back(file(("from" + std::to_string(i) + ".db").c_str()));
            makeRuns(from.back(), 20'000, "A" + std::to_string(i));
        }
        makeRuns(file("all.db"), 30, "C");
        QStringList arguments {"merge", QString::fromStdString(file("all.db").string())};
        for (const fs::path& path : from) {
            arguments << QString::fromStdString(path.string());
        }
        QElapsedTimer whole;
        whole.start();
        copyOf("all.db", "trial.db");
        mergeRuns(file("trial.db"), from);
        const qint64 duration = whole.elapsed();
        int killed = 0;
        for (int part = 1; part <= 6; ++part) {
            QProcess process;
            process.start(writerProgram(), arguments);
            QVERIFY(process.waitForStarted());
            std::this_thread::sleep_for(std::chrono::milliseconds(duration * part / 7));
            ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
            QVERIFY(process.waitForFinished());
            killed += process.exitStatus() == QProcess::CrashExit ? 1 : 0;
            QCOMPARE(integrityOf(file("all.db")), std::string("ok 0"));
            const std::size_t runs = contentsOf(file("all.db")).size();
            QVERIFY(runs == 2 || runs == 14); // none of them or all
        }
        QVERIFY(killed > 0);
        mergeRuns(file("all.db"), from);
        const auto merged = contentsOf(file("all.db"));
        QCOMPARE(merged.size(), std::size_t {14});
        for (const fs::path& path : from) {
            for (const auto& [uuid, content] : contentsOf(path)) {
                QVERIFY(merged.at(uuid) == content);
            }
        }
    }

    void twoMergesAndAWriterAtOnceAllSucceed()
    {
        makeRuns(file("a.db"), 12'000, "A");
        makeRuns(file("b.db"), 12'000, "B");
        RunWriter writer(file("all.db"));
        writer.runStarted(startOf(0, "C"));
        record(writer, 0, 0, 100);
        writer.flush();
        const auto merge = [this](const char* name) {
            return std::async(std::launch::async, [this, name] {
                const std::array from {file(name)};
                return mergeRuns(file("all.db"), from)[0].added;
            });
        };
        auto first = merge("a.db");
        auto second = merge("b.db");
        auto third = merge("a.db");
        record(writer, 0, 100, 3000);
        QCOMPARE(first.get() + third.get(), std::int64_t {2}); // one of them came first
        QCOMPARE(second.get(), std::int64_t {2});
        writer.runEnded(0, {});
        writer.flush();
        QCOMPARE(writer.problem(), std::string());
        QCOMPARE(contentsOf(file("all.db")).size(), std::size_t {5});
        QCOMPARE(RunStore(file("all.db"), StoreAccess::ReadOnly).records(writer.runOf(0)).size(), std::size_t {3000});
    }

    void aRunThatIsWrittenHereIsLeftToItsWriter()
    {
        RunWriter writer(file("all.db"));
        writer.runStarted(startOf(0));
        record(writer, 0, 0, 100);
        writer.flush();
        copyOf("all.db", "copy.db");
        {
            // As if the copy had gone on by itself.
            SQLite::Database(file("copy.db").string(), SQLite::OPEN_READWRITE)
                .exec("UPDATE runs SET updated_at = updated_at + 1000, steps = 7");
        }
        const std::array from {file("copy.db")};
        QCOMPARE(mergeRuns(file("all.db"), from)[0].unchanged, std::int64_t {1});
        QCOMPARE(RunStore(file("all.db"), StoreAccess::ReadOnly).run(1)->steps, std::int64_t {100});
    }

    void aRunOfADeadProgramDoesNotComeAlive()
    {
        QProcess process;
        process.start(writerProgram(), {QString::fromStdString(file("a.db").string()), "1", "1000", "0"});
        QVERIFY(process.waitForStarted());
        QTRY_VERIFY_WITH_TIMEOUT(countIn(file("a.db"), "step_chunks") >= 1, 60000);
        process.kill();
        QVERIFY(process.waitForFinished());
        // A program that writes the target holds the lock of its own writer, of whatever number.
        RunWriter writer(file("all.db"));
        writer.runStarted(startOf(0, "C"));
        writer.flush();
        const std::array from {file("a.db")};
        mergeRuns(file("all.db"), from);
        const RunStore store(file("all.db"), StoreAccess::ReadOnly);
        QCOMPARE(store.run(1)->status, RunStatus::Running);
        QCOMPARE(store.run(2)->status, RunStatus::Interrupted);
    }

private:
    [[nodiscard]] fs::path file(const char* name) const
    {
        return m_folder->filePath(QLatin1String(name)).toStdString();
    }

    static QString writerProgram() { return QCoreApplication::applicationDirPath() + "/store_writer"; }

    static std::string bytesOf(const fs::path& path)
    {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    void copyOf(const char* name, const char* copy) const
    {
        SQLite::Database source(file(name).string(), SQLite::OPEN_READONLY);
        source.exec("VACUUM INTO '" + file(copy).string() + "'");
        SQLite::Database(file(copy).string(), SQLite::OPEN_READWRITE).exec("PRAGMA journal_mode = WAL");
    }

    static std::int64_t countIn(const fs::path& path, const std::string& table)
    {
        try {
            SQLite::Database database(path.string(), SQLite::OPEN_READONLY, 2000);
            return database.execAndGet("SELECT count(*) FROM " + table).getInt64();
        } catch (const SQLite::Exception&) {
            return 0;
        }
    }

    static bool isCompleteUpTo(const fs::path& path, const RunInfo& run, std::int64_t steps)
    {
        const RunStore store(path, StoreAccess::ReadOnly);
        const std::vector<StepRecord> records = store.records(run.id);
        const std::uint32_t lane = run.lane == "FP32" ? 0 : 1;
        bool isComplete = static_cast<std::int64_t>(records.size()) == steps;
        for (std::size_t i = 0; i < records.size(); ++i) {
            isComplete = isComplete && identical(records[i], recordAt(lane, static_cast<std::int64_t>(i)));
        }
        return isComplete;
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestRunMerge)
#include "tst_run_merge.moc"
