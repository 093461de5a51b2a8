// mantissa-cli sweep and runs merge: points trained here, interrupted and continued, and as a job array.
#include "cli_runner.h"

#include <csignal>
#include <set>

using namespace mantissa::tests;

namespace {

QString sweepOf(const QString& rest)
{
    return R"({"mantissa_sweep": 1, "name": "s", "experiment": )" + tinyExperiment() + ", " + rest + "}";
}

const QString fourPoints = R"("lanes": ["FP32"], "grid": {"optimizer.lr": [0.1, 0.2], "seed": [1, 2]})";

QJsonArray runsOf(const CliResult& result)
{
    return result.json()["runs"].toArray();
}

/// The uuids of runs in a database.
std::set<QString> uuidsIn(const Cli& cli, const QString& database)
{
    std::set<QString> all;
    for (const QJsonValue& run : runsOf(cli.run({"runs", "list", "--json", "--db", database}))) {
        all.insert(run["uuid"].toString());
    }
    return all;
}

struct BashResult
{
    int code = -1;
    QString err;
};

BashResult bash(const QStringList& arguments, const QStringList& variables = {})
{
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const QString& variable : variables) {
        environment.insert(variable.section('=', 0, 0), variable.section('=', 1));
    }
    process.setProcessEnvironment(environment);
    process.start("bash", arguments);
    if (!process.waitForFinished(120000)) {
        return {};
    }
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardError())};
}

} // namespace

class TestCliSweep : public QObject
{
    Q_OBJECT

private slots:

    void trainsEveryPointOnceAndShowsATable()
    {
        const QString file = m_cli.write("s.json", sweepOf(fourPoints));
        const CliResult first = m_cli.run({"sweep", file, "--db", "once.db"});
        QCOMPARE(first.code, 0);
        QVERIFY2(first.err.startsWith("s: 4 points\n"), qPrintable(first.err));
        QVERIFY(first.err.contains("point 2 of 4 (optimizer.lr=0.1, seed=2): done"));
        const QStringList lines = first.out.trimmed().split('\n');
        QCOMPARE(lines.size(), 5);
        QVERIFY2(lines[0].simplified().startsWith("point optimizer.lr seed status run steps final loss"),
            qPrintable(lines[0]));
        QVERIFY2(lines[3].simplified().startsWith("3 0.2 1 finished"), qPrintable(lines[3]));

        const CliResult again = m_cli.run({"sweep", file, "--db", "once.db", "--json"});
        QCOMPARE(again.code, 0);
        QVERIFY(again.err.contains("4 points were done already"));
        QCOMPARE(again.json()["were_done"].toInt(), 4);
        QCOMPARE(again.json()["trained"].toInt(), 0);
        const QJsonArray rows = runsOf(again);
        QCOMPARE(rows.size(), 4);
        QCOMPARE(rows[3]["settings"].toObject(), (QJsonObject {{"optimizer.lr", 0.2}, {"seed", 2}}));
        QCOMPARE(rows[3]["status"].toString(), QString("finished"));
        QVERIFY(rows[3]["run"]["final_loss"].isDouble());
        QCOMPARE(rows[3]["run"]["seed"].toInt(), 2);

        // They are runs like any other, and say where they belong.
        const QJsonArray runs = runsOf(m_cli.run({"runs", "list", "--json", "--db", "once.db"}));
        QCOMPARE(runs.size(), 4);
        QCOMPARE(runs[0]["tags"].toArray(), (QJsonArray {"sweep s", "optimizer.lr=0.2", "seed=2"}));
        QCOMPARE(runs[0]["sweep"]["point"].toInt(), 4);
        QCOMPARE(uuidsIn(m_cli, "once.db").size(), std::size_t {4});
    }

    void listsWithoutTraining()
    {
        const QString file = m_cli.write("s.json", sweepOf(R"("grid": {"seed": [1, 2, 3]})"));
        const CliResult list = m_cli.run({"sweep", file, "--list", "--db", "none.db"});
        QCOMPARE(list.code, 0);
        QVERIFY2(list.out.endsWith("3 points, 6 runs\n"), qPrintable(list.out));
        QVERIFY(!QFile::exists(m_cli.path("none.db")));
        QCOMPARE(runsOf(m_cli.run({"sweep", file, "--list", "--json", "--db", "none.db"})).size(), 6);
    }

    void trainsAShareOfThePoints()
    {
        const QString file = m_cli.write("s.json", sweepOf(fourPoints));
        QCOMPARE(m_cli.run({"sweep", file, "--db", "share.db", "--task", "2/3"}).code, 0); // the second of three
        QCOMPARE(m_cli.run({"sweep", file, "--db", "share.db", "--only", "4", "--only", "2"}).code, 0);
        std::set<int> done;
        for (const QJsonValue& row : runsOf(m_cli.run({"sweep", file, "--db", "share.db", "--list", "--json"}))) {
            if (row["status"].isString()) {
                done.insert(row["point"].toInt());
            }
        }
        QCOMPARE(done, (std::set<int> {2, 4}));
        QCOMPARE(m_cli.run({"sweep", file, "--db", "share.db", "--task", "5/9"}).code, 0); // nothing is left for it
        for (const char* wrong : {"0/3", "4/3", "3", "a/b", "1/2/3", "-1/2"}) {
            const CliResult refused = m_cli.run({"sweep", file, "--db", "share.db", QString("--task=") + wrong});
            QCOMPARE(refused.code, 2);
            QVERIFY(refused.err.contains("write I/N"));
        }
        const CliResult refused = m_cli.run({"sweep", file, "--only", "5"});
        QCOMPARE(refused.code, 2);
        QVERIFY(refused.err.contains("the sweep has points 1 to 4"));
    }

    void goesOnWhereItWasInterrupted()
    {
        const QString file = m_cli.write(
            "long.json", sweepOf(R"("lanes": ["FP32"], "grid": {"seed": [1, 2, 3, 4, 5, 6], "steps": [1500]})"));
        QProcess process;
        m_cli.start(process, {"sweep", file, "--db", "long.db", "--jobs", "2"});
        QVERIFY(process.waitForStarted());
        QByteArray err;
        QTRY_VERIFY_WITH_TIMEOUT((err += process.readAllStandardError()).contains(": done"), 120000);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        const CliResult stopped = Cli::finish(process);
        QCOMPARE(stopped.code, 1);
        QVERIFY2((QString::fromUtf8(err) + stopped.err).contains("the same command goes on from here"),
            qPrintable(stopped.err));
        const auto finished = [&] {
            std::set<QString> uuids;
            for (const QJsonValue& run : runsOf(m_cli.run({"runs", "list", "--json", "--db", "long.db"}))) {
                if (run["status"].toString() == "finished") {
                    uuids.insert(run["uuid"].toString());
                }
            }
            return uuids;
        };
        const std::set<QString> before = finished();
        QVERIFY(!before.empty() && before.size() < 6);
        const CliResult rest = m_cli.run({"sweep", file, "--db", "long.db", "--json"});
        QCOMPARE(rest.code, 0);
        QCOMPARE(rest.json()["were_done"].toInt(), static_cast<int>(before.size()));
        QCOMPARE(rest.json()["trained"].toInt(), 6 - static_cast<int>(before.size()));
        const std::set<QString> after = finished();
        QCOMPARE(after.size(), std::size_t {6});
        for (const QString& uuid : before) {
            QVERIFY(after.contains(uuid));
        }
        for (const QJsonValue& row : runsOf(rest)) {
            QCOMPARE(row["status"].toString(), QString("finished"));
            QCOMPARE(row["run"]["steps"].toInt(), 1500);
        }
    }

    void aPointThatFailsDoesNotEndIt()
    {
        const QString file = m_cli.write("fails.json",
            sweepOf(R"("lanes": ["FP32"], "list": [{"data": {"kind": "csv", "path": "/none.csv"}}, {"seed": 2}])"));
        const CliResult result = m_cli.run({"sweep", file, "--db", "fails.db", "--json"});
        QCOMPARE(result.code, 1);
        QCOMPARE(result.json()["failed"].toInt(), 1);
        QCOMPARE(runsOf(result).at(0)["status"].toString(), QString("failed"));
        QVERIFY(runsOf(result).at(0)["message"].toString().contains("/none.csv"));
        QCOMPARE(runsOf(result).at(1)["status"].toString(), QString("finished"));
        const CliResult table = m_cli.run({"sweep", file, "--db", "fails.db"});
        QVERIFY(table.out.contains("point 1: "));
    }

    void whatIsWrongIsSaidInWords()
    {
        const CliResult key
            = m_cli.run({"sweep", m_cli.write("wrong.json", sweepOf(R"("grid": {"optimizer.lrr": [0.1]})"))});
        QCOMPARE(key.code, 2);
        QVERIFY2(
            key.err.contains("wrong.json: grid.optimizer.lrr is not a setting (its value: 0.1); did you mean \"lr\"?"),
            qPrintable(key.err));
        QVERIFY(m_cli.run({"sweep", "none.json"}).err.contains("none.json"));
        QCOMPARE(m_cli.run({"sweep", "none.json"}).code, 2);
        const CliResult experiment = m_cli.run({"sweep", m_cli.write("e.json", tinyExperiment())});
        QCOMPARE(experiment.code, 2);
        QVERIFY(experiment.err.contains("the file is an experiment"));
        const CliResult sweep = m_cli.run({"run", m_cli.write("s.json", sweepOf(fourPoints))});
        QCOMPARE(sweep.code, 2);
        QVERIFY(sweep.err.contains("the file is a sweep"));
    }

    void aJobArrayTrainsEveryPointAndIsMerged_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::newRow("plain") << "plain";
        QTest::newRow("hostile") << "it's $(touch hit) `touch hit` \"a\" ; touch hit \\ *\n#SBATCH --x\ntouch hit";
    }

    void aJobArrayTrainsEveryPointAndIsMerged()
    {
        QFETCH(QString, folder);
        QVERIFY(QDir(m_cli.path("")).mkpath(folder));
        const QString file = m_cli.write(folder + "/a sweep's.json", sweepOf(fourPoints));
        const QString script = m_cli.path(folder + "/jo'b.sh");
        const CliResult written = m_cli.run({"sweep", file, "--slurm", script, "--threads", "1", "--json"});
        QCOMPARE(written.code, 0);
        QCOMPARE(written.json()["tasks"].toInt(), 4);
        QVERIFY(QFileInfo(script).isExecutable());
        QFile text(script);
        QVERIFY(text.open(QIODevice::ReadOnly));
        const QByteArray content = text.readAll();
        QVERIFY(content.startsWith("#!/bin/bash\n#SBATCH --job-name=sweep-s\n#SBATCH --array=1-4\n"));
        QCOMPARE(bash({"-n", script}).code, 0);

        // Without a task there is nothing to do, and it says so.
        const BashResult alone = bash({script});
        QVERIFY(alone.code != 0);
        QVERIFY2(alone.err.contains("submit this file as a job array"), qPrintable(alone.err));
        for (int task = 1; task <= 4; ++task) {
            const BashResult ran = bash({script}, {QString("SLURM_ARRAY_TASK_ID=%1").arg(task)});
            QVERIFY2(ran.code == 0, qPrintable(ran.err));
            QVERIFY(QFile::exists(m_cli.path(folder + QString("/jo'b-runs/task-%1.db").arg(task))));
        }
        // Merged, twice: nothing is doubled, and nothing is left to train.
        const QString merged = m_cli.path(folder + "/jo'b.db");
        for (int i = 0; i < 2; ++i) {
            const BashResult ran = bash({script, "merge"});
            QVERIFY2(ran.code == 0, qPrintable(ran.err));
            QCOMPARE(uuidsIn(m_cli, merged).size(), std::size_t {4});
        }
        const CliResult all = m_cli.run({"sweep", file, "--db", merged, "--json"});
        QCOMPARE(all.json()["were_done"].toInt(), 4);
        QVERIFY(QDir(m_cli.path("")).entryList({"hit"}).isEmpty());
        QVERIFY(QDir::current().entryList({"hit"}).isEmpty());
    }

    void runsAreMerged()
    {
        const QString file = m_cli.write("tiny.json", tinyExperiment());
        for (const char* database : {"a.db", "b.db"}) {
            QCOMPARE(m_cli.run({"run", file, "--db", database}).code, 0);
        }
        const CliResult merged = m_cli.run({"runs", "merge", "all.db", "a.db", "b.db", "--json"});
        QCOMPARE(merged.code, 0);
        const QJsonArray files = merged.json()["files"].toArray();
        QCOMPARE(files[0]["added"].toInt(), 2);
        QCOMPARE(files[1]["added"].toInt(), 2);
        std::set<QString> both = uuidsIn(m_cli, "a.db");
        both.merge(uuidsIn(m_cli, "b.db"));
        QCOMPARE(uuidsIn(m_cli, "all.db"), both);
        QCOMPARE(both.size(), std::size_t {4});
        // To the last digit what was stored.
        const auto exported = [this](const char* database, const char* run) {
            QStringList lines = m_cli.run({"runs", "export", run, "--db", database}).out.split('\n');
            for (QString& line : lines) {
                line = line.section(',', 1); // without the number of the run
            }
            return lines;
        };
        QCOMPARE(exported("b.db", "1").size(), 14);
        QCOMPARE(exported("all.db", "3"), exported("b.db", "1"));
        QCOMPARE(m_cli.run({"runs", "merge", "all.db", "b.db"}).out.simplified(),
            QString("file added completed there already b.db 0 0 2"));

        const CliResult missing = m_cli.run({"runs", "merge", "all.db", "a.db", "none.db"});
        QCOMPARE(missing.code, 1);
        QVERIFY(missing.err.contains("none.db"));
        QCOMPARE(m_cli.run({"runs", "merge", "all.db"}).code, 2);
        m_cli.write("text.db", QString(5000, 'x'));
        QVERIFY(m_cli.run({"runs", "merge", "all.db", "text.db"}).err.contains("not a database of runs"));
        QCOMPARE(uuidsIn(m_cli, "all.db"), both);
    }

private:
    Cli m_cli;
};

QTEST_GUILESS_MAIN(TestCliSweep)
#include "tst_cli_sweep.moc"
