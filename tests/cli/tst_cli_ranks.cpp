// mpirun -n R mantissa-cli: the same bits as R ranks in one process, and what becomes of a run whose ranks die.
#include "mpi_runner.h"

#include <QDir>
#include <QFile>
#include <QJsonValue>
#include <QStandardPaths>

#include <csignal>

using namespace mantissa::tests;

namespace {

constexpr int patienceMs = 120'000; // for a loaded machine; nothing here takes so long

/// All that ranks can exchange, in lanes of a few milliseconds. Batch norm and dropout are what ranks do apart.
QString parallelExperiment(const QString& extra = {})
{
    return QStringLiteral(R"({"mantissa": 1, "name": "ranks", "seed": 5, "steps": 14, %1
        "data": {"kind": "spirals", "samples": 160, "batch": 16},
        "model": {"kind": "layers", "layers": [{"kind": "linear", "features": 12}, "batch_norm", "relu",
            {"kind": "dropout", "p": 0.1}, "linear"]}, "optimizer": {"kind": "adamw", "lr": 0.01},
        "precision": {"policy": "fp16"}, "scaler": {"init_scale": 65536, "growth_interval": 3},
        "lanes": [
            {"name": "FP32", "parallel": {"communication": "fp32", "scaler": "synchronised"}},
            {"name": "FP16", "parallel": {"communication": "fp16", "scaler": "synchronised"}},
            {"name": "BF16", "parallel": {"communication": "bf16", "scaler": "synchronised", "divide": "after"}},
            {"name": "FP32 each", "parallel": {"communication": "fp32", "scaler": "independent"}},
            {"name": "FP16 each", "parallel": {"communication": "fp16", "scaler": "independent", "divide": "after"}},
            {"name": "BF16 each", "parallel": {"communication": "bf16", "scaler": "independent"}},
            {"name": "apart", "parallel": {"gradients": "local"}},
            {"name": "often", "accumulation": {"steps": 2}, "parallel": {"every_micro_batch": true,
                "batch_norm": "synchronised"}}],
        "events": [{"step": 7, "lane": "FP16", "set": {"optimizer.lr": 0.02}}]})")
        .arg(extra);
}

/// One lane that goes on until something ends it.
QString endlessExperiment()
{
    return QStringLiteral(R"({"mantissa": 1, "name": "endless", "seed": 5, "steps": 100000000,
        "data": {"kind": "spirals", "samples": 240, "batch": 24}, "model": {"kind": "layers",
            "layers": [{"kind": "linear", "features": 12}, "batch_norm", "relu", "linear"]},
        "optimizer": {"kind": "adamw", "lr": 0.001},
        "lanes": [{"name": "endless", "precision": {"policy": "fp16"}, "scaler": {}}]})");
}

QMap<QString, QJsonObject> byLane(const QJsonObject& result)
{
    QMap<QString, QJsonObject> runs;
    for (const QJsonValue run : result.value("runs").toArray()) {
        runs.insert(run["lane"].toString(), run.toObject());
    }
    return runs;
}

} // namespace

class TestCliRanks : public QObject
{
    Q_OBJECT

private:
    Cli m_cli;

    void start(QProcess& process, int ranks, const QStringList& arguments, const QString& program = MANTISSA_CLI,
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment()) const
    {
        startRanks(process, m_cli, ranks, program, arguments, std::move(environment));
    }

    [[nodiscard]] CliResult run(int ranks, const QStringList& arguments, const QString& program = MANTISSA_CLI) const
    {
        QProcess process;
        start(process, ranks, arguments, program);
        process.closeWriteChannel();
        return Cli::finish(process);
    }

    [[nodiscard]] qint64 linesOf(const QString& file) const
    {
        QFile lines(file);
        return lines.open(QIODevice::ReadOnly) ? lines.readAll().count('\n') : 0;
    }

    /// An endless run over three ranks, under way.
    void startEndless(QProcess& process, const QString& name,
        const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment())
    {
        const QString file = m_cli.write(name + ".json", endlessExperiment());
        const QString metrics = m_cli.path(name + ".metrics");
        start(process, 3, {"run", file, "--db", m_cli.path(name + ".db"), "--metrics", metrics, "--json"}, MANTISSA_CLI,
            environment);
        QTRY_VERIFY_WITH_TIMEOUT(linesOf(metrics) > 20, patienceMs);
        QVERIFY(processOf(1, file) > 0);
    }

    [[nodiscard]] QJsonObject onlyRun(const QString& name) const
    {
        const QJsonArray runs
            = m_cli.run({"runs", "list", "--db", m_cli.path(name + ".db"), "--json"}).json().value("runs").toArray();
        return runs.size() == 1 ? runs[0].toObject() : QJsonObject();
    }

    /// The run can be resumed by three processes, and by one with three ranks, to the same bits.
    void goesOn(const QString& name)
    {
        const QJsonObject run = onlyRun(name);
        const QString id = QString::number(run.value("id").toInteger());
        const QString steps = QString::number(run.value("steps").toInteger() + 5);
        const QStringList arguments {
            "resume", id, "--db", m_cli.path(name + ".db"), "--steps", steps, "--no-checkpoints", "--json"};
        const CliResult alone = m_cli.run(arguments);
        QVERIFY2(alone.code == 0, qPrintable(alone.err));
        const CliResult together = this->run(3, arguments);
        QVERIFY2(together.code == 0, qPrintable(together.err));
        const QJsonObject expected = byLane(alone.json()).value("endless");
        const QJsonObject got = byLane(together.json()).value("endless");
        QCOMPARE(got.value("status").toString(), "finished");
        QCOMPARE(got.value("steps").toInteger(), steps.toLongLong());
        QVERIFY(!got.value("weights_hash").toString().isEmpty());
        QCOMPARE(got.value("weights_hash"), expected.value("weights_hash"));
    }

private slots:

    void initTestCase()
    {
#ifndef MANTISSA_HAS_MPI
        QSKIP("built without MPI");
#endif
        if (QStandardPaths::findExecutable("mpirun").isEmpty()) {
            QSKIP("there is no mpirun here");
        }
    }

    void exchangesBitForBit_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::newRow("1") << 1;
        QTest::newRow("2") << 2;
        QTest::newRow("3") << 3;
        QTest::newRow("4") << 4;
    }

    void exchangesBitForBit()
    {
        QFETCH(const int, ranks);
        const CliResult result = run(ranks, {}, MANTISSA_MPI_CHECK);
        QVERIFY2(result.code == 0, qPrintable(result.err));
        QCOMPARE(result.out.trimmed(), "ok");
    }

    void tellsOfRanksThatDoNotTakePart_data()
    {
        QTest::addColumn<QString>("words");
        QTest::newRow("leaves") << "has ended: it had enough";
        QTest::newRow("differs") << "does something else than this one";
        QTest::newRow("leaves elsewhere") << "has ended: it had enough";
        QTest::newRow("differs elsewhere") << "does something else than this one";
    }

    void tellsOfRanksThatDoNotTakePart()
    {
        QFETCH(const QString, words);
        const CliResult result = run(3, {QTest::currentDataTag()}, MANTISSA_MPI_CHECK);
        QCOMPARE(result.code, 1);
        const QRegularExpression expected(QStringLiteral("rank 0 got: rank 2 \\(process \\d+ on .*\\) %1").arg(words));
        QVERIFY2(expected.match(result.err).hasMatch(), qPrintable(result.err));
    }

    void trainsAsRanksOfOneProcess_data()
    {
        QTest::addColumn<int>("ranks");
        QTest::newRow("2") << 2;
        QTest::newRow("4") << 4;
    }

    void trainsAsRanksOfOneProcess()
    {
        QFETCH(const int, ranks);
        const QString file = m_cli.write("parallel.json", parallelExperiment());
        const QString metrics = m_cli.path("parallel.metrics");
        const QString database = m_cli.path(QStringLiteral("parallel%1.db").arg(ranks));
        const CliResult alone
            = m_cli.run({"run", file, "--set", QStringLiteral("parallel.ranks=%1").arg(ranks), "--no-db", "--json"});
        QVERIFY2(alone.code == 0, qPrintable(alone.err));
        const CliResult together
            = run(ranks, {"run", "parallel.json", "--db", database, "--metrics", metrics, "--json"});
        QVERIFY2(together.code == 0, qPrintable(together.err));
        const auto expected = byLane(alone.json());
        const auto got = byLane(together.json());
        QCOMPARE(got.size(), 8);
        QCOMPARE(got.keys(), expected.keys());
        for (const QString& lane : got.keys()) {
            QVERIFY2(!got[lane].value("weights_hash").toString().isEmpty(), qPrintable(lane));
            for (const char* key : {"weights_hash", "status", "steps", "final_loss", "min_loss", "validation",
                     "skipped_steps", "final_scale"}) {
                QVERIFY2(got[lane].value(key) == expected[lane].value(key), qPrintable(lane + ": " + key));
            }
        }
        // Rank 0 alone writes.
        QCOMPARE(linesOf(metrics), 8 * 14);
        QCOMPARE(m_cli.run({"runs", "list", "--db", database, "--json"}).json().value("runs").toArray().size(),
            qsizetype {8});
    }

    void refusesAnotherNumberOfRanks()
    {
        const QString file = m_cli.write("four.json", parallelExperiment(R"("parallel": {"ranks": 4},)"));
        const CliResult result = run(2, {"run", file, "--no-db"});
        QCOMPARE(result.code, 2);
        QVERIFY2(result.err.contains("parallel.ranks is 4, but mpirun started 2 processes"), qPrintable(result.err));
        QCOMPARE(result.err.count("parallel.ranks is 4"), 1);
    }

    void refusesBatchesThatDoNotDivide()
    {
        const CliResult result
            = run(3, {"run", m_cli.write("parallel.json", parallelExperiment()), "--lane", "FP32", "--no-db"});
        QCOMPARE(result.code, 2);
        QVERIFY2(
            result.err.contains("over 3 processes: ") && result.err.contains("data.batch"), qPrintable(result.err));
    }

    void refusesWhatRankZeroCannotRead()
    {
        const CliResult result = run(2, {"run", m_cli.path("missing.json"), "--no-db"});
        QCOMPARE(result.code, 2);
        QCOMPARE(result.err.count("mantissa-cli: "), 1);
        QVERIFY2(result.err.contains("missing.json"), qPrintable(result.err));
    }

    /// Each rank reads the table in its working folder.
    void refusesDataThatDiffer_data()
    {
        QTest::addColumn<QString>("other");
        QTest::addColumn<QString>("words");
        QTest::newRow("other") << "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n7,a\n9,b\n"
                               << "rank 1 does not agree with rank 0 in the data of lane";
        QTest::newRow("missing") << ""
                                 << "rank 1: ";
    }

    void refusesDataThatDiffer()
    {
        QFETCH(const QString, other);
        QFETCH(const QString, words);
        QDir(m_cli.path({})).mkpath("here");
        QDir(m_cli.path({})).mkpath("there");
        QFile::remove(m_cli.path("there/table.csv"));
        m_cli.write("here/table.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n7,a\n8,b\n");
        if (!other.isEmpty()) {
            m_cli.write("there/table.csv", other);
        }
        const QString file = m_cli.write("table.json",
            R"({"mantissa": 1, "name": "table", "steps": 3, "data": {"kind": "csv", "batch": 2,
                "path": "/proc/self/cwd/table.csv"}, "model": {"hidden": [4]}, "lanes": [{"name": "FP32"}]})");
        const QString script = m_cli.write("start",
            QStringLiteral("#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 1 ] && cd there || cd here\nexec %1 \"$@\"\n")
                .arg(MANTISSA_CLI));
        QVERIFY(QFile::setPermissions(script, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        const CliResult result = run(2, {"run", file, "--no-db"}, script);
        QCOMPARE(result.code, 2);
        QVERIFY2(result.err.contains(words), qPrintable(result.err));
        QCOMPARE(result.err.count("mantissa-cli"), 1);
    }

    void saysWhatWatchpointsCannotDo()
    {
        const QString file = m_cli.write("parallel.json", parallelExperiment());
        const CliResult result = run(2,
            {"run", file, "--lane", "FP32", "--no-db", "--watch", "step >= 3 -> fork", "--watch",
                "step >= 5 -> set optimizer.lr=0.5", "--json"});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        QVERIFY2(result.err.contains("pause and set only"), qPrintable(result.err));
        // The others have set it too, or the weights would not be those of one process.
        const CliResult alone = m_cli.run({"run", file, "--lane", "FP32", "--no-db", "--set", "parallel.ranks=2",
            "--watch", "step >= 5 -> set optimizer.lr=0.5", "--json"});
        QCOMPARE(
            byLane(result.json())["FP32"].value("weights_hash"), byLane(alone.json())["FP32"].value("weights_hash"));
    }

    void savesWhenARankDies_data()
    {
        QTest::addColumn<int>("rank");
        QTest::addColumn<int>("how");
        QTest::newRow("killed") << 1 << SIGKILL;
        QTest::newRow("stopped") << 2 << SIGSTOP;
    }

    void savesWhenARankDies()
    {
        QFETCH(const int, rank);
        QFETCH(const int, how);
        const QString name = QTest::currentDataTag();
        // mpirun grants its processes one second to end, which a busy machine's do not save in. It always waits so
        // long.
        QProcessEnvironment patient = QProcessEnvironment::systemEnvironment();
        patient.insert("OMPI_MCA_odls_base_sigkill_timeout", "15");
        QProcess process;
        startEndless(process, name, patient);
        QVERIFY(!QTest::currentTestFailed());
        QCOMPARE(::kill(processOf(rank, m_cli.path(name + ".json")), how), 0);
        const CliResult result = Cli::finish(process);
        QVERIFY(result.code != 0);
        const QString said = result.out + result.err;
        QVERIFY2(said.contains(QRegularExpression(QStringLiteral("rank %1 \\(process \\d+ on .*\\) ").arg(rank))),
            qPrintable(said));
        const QJsonObject run = onlyRun(name);
        const QString status = run.value("status").toString();
        QVERIFY2(status == "failed", qPrintable(status + '\n' + said));
        QVERIFY(run.value("steps").toInteger() > 20);
        goesOn(name);
    }

    void stopsAllRanks_data()
    {
        QTest::addColumn<int>("signal");
        QTest::newRow("interrupt") << SIGINT;
        QTest::newRow("terminate") << SIGTERM;
    }

    void stopsAllRanks()
    {
        QFETCH(const int, signal);
        const QString name = QTest::currentDataTag();
        QProcess process;
        startEndless(process, name);
        QVERIFY(!QTest::currentTestFailed());
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), signal), 0);
        const CliResult result = Cli::finish(process);
        QVERIFY(result.code != 0);
        QCOMPARE(processOf(1, m_cli.path(name + ".json")), 0);
        QCOMPARE(onlyRun(name).value("status").toString(), "stopped");
        goesOn(name);
    }

    void stopsWhenItsInputEnds()
    {
        const QString file = m_cli.write("attached.json", endlessExperiment());
        QProcess process;
        start(process, 2, {"run", file, "--db", m_cli.path("attached.db"), "--attached", "--json"});
        QTRY_VERIFY_WITH_TIMEOUT(process.canReadLine(), patienceMs);
        const QJsonObject begun = QJsonDocument::fromJson(process.readLine()).object();
        QCOMPARE(begun.value("lane").toString(), "endless");
        QCOMPARE(begun.value("run").toInteger(), onlyRun("attached").value("id").toInteger());
        process.closeWriteChannel();
        const CliResult result = Cli::finish(process);
        QCOMPARE(result.code, 1);
        QCOMPARE(byLane(result.json())["endless"].value("status").toString(), "stopped");
    }

    void resumesOnlyOverAsManyRanks()
    {
        const QString file = m_cli.write("parallel.json", parallelExperiment());
        const QString folder = m_cli.path("kept");
        const CliResult trained = run(2,
            {"run", file, "--lane", "apart", "--no-db", "--checkpoints", folder, "--checkpoint-every", "5",
                "--checkpoints-kept", "9", "--json"});
        QVERIFY2(trained.code == 0, qPrintable(trained.err));
        const QString checkpoint = folder + "/apart/step-00000005.safetensors";
        QVERIFY2(QFile::exists(checkpoint), qPrintable(QDir(folder + "/apart").entryList().join(' ')));
        const CliResult wrong = run(3, {"resume", checkpoint, "--no-db"});
        QCOMPARE(wrong.code, 2);
        QVERIFY2(wrong.err.contains("trained by 2 ranks, but mpirun started 3"), qPrintable(wrong.err));
        const CliResult resumed = run(2, {"resume", checkpoint, "--no-db", "--no-checkpoints", "--json"});
        QVERIFY2(resumed.code == 0, qPrintable(resumed.err));
        QCOMPARE(byLane(resumed.json())["apart"].value("weights_hash"),
            byLane(trained.json())["apart"].value("weights_hash"));
    }
};

QTEST_GUILESS_MAIN(TestCliRanks)
#include "tst_cli_ranks.moc"
