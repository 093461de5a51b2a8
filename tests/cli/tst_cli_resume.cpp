// mantissa-cli resume: runs go on from their checkpoints to the same bits, whatever ended them.
#include "engine/train/checkpoint.h"
#include "tests/cli/cli_runner.h"

#include <QDirIterator>
#include <QRandomGenerator>

#include <csignal>

using namespace mantissa::tests;

class TestCliResume : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { m_file = m_cli.write("tiny.json", tinyExperiment()); }

    void aRunGoesOnToTheSameBits()
    {
        const QString database = m_cli.path("a.db");
        const CliResult whole = m_cli.run({"run", m_file, "--no-db", "--json", "--steps", "30"});
        const CliResult half = m_cli.run({"run", m_file, "--db", database, "--json", "--checkpoints", "a"});
        QVERIFY2(half.code == 0, qPrintable(half.err));
        for (int lane = 0; lane < 2; ++lane) {
            const QString id = QString::number(half.json()["runs"].toArray().at(lane)["id"].toInt());
            const CliResult rest = m_cli.run({"resume", id, "--db", database, "--steps", "30", "--json"});
            QVERIFY2(rest.code == 0, qPrintable(rest.err));
            QVERIFY2(rest.err.contains("goes on at step 12"), qPrintable(rest.err));
            const QJsonObject run = rest.json()["runs"].toArray().at(0).toObject();
            QCOMPARE(run["weights_hash"], whole.json()["runs"].toArray().at(lane)["weights_hash"]);
            QCOMPARE(run["steps"].toInt(), 30);
            // The stored run knows where it came from, and repeats without its parent.
            const QString resumed = QString::number(run["id"].toInt());
            const CliResult shown = m_cli.run({"runs", "show", resumed, "--db", database});
            QVERIFY2(shown.out.contains("step 12: resumed " + m_cli.path("a")), qPrintable(shown.out));
        }
    }

    void withoutTheScalerItBeginsAnew()
    {
        const QString database = m_cli.path("b.db");
        const CliResult first = m_cli.run(
            {"run", m_file, "--lane", "FP16 AMP", "--db", database, "--json", "--checkpoints", m_cli.path("b")});
        const QJsonObject run = first.json()["runs"].toArray().at(0).toObject();
        QCOMPARE(run["final_scale"].toDouble(), 8192.0); // 1024, grown after 4, 8 and 12 steps
        const QString id = QString::number(run["id"].toInt());
        const auto scaleAfter = [&](const QStringList& options) {
            const CliResult rest
                = m_cli.run(QStringList {"resume", id, "--db", database, "--steps", "14", "--json"} + options);
            return rest.json()["runs"].toArray().at(0)["final_scale"].toDouble();
        };
        QCOMPARE(scaleAfter({}), 8192.0);
        QCOMPARE(scaleAfter({"--without-scaler"}), 1024.0);
        QCOMPARE(scaleAfter({"--set", "scaler.scale=2"}), 2.0);
    }

    void aResumedRunGoesOnWritingCheckpoints()
    {
        const QString database = m_cli.path("d.db");
        const QString folder = m_cli.path("d");
        const CliResult first = m_cli.run({"run", m_file, "--lane", "FP32", "--db", database, "--json", "--checkpoints",
            folder, "--checkpoint-every", "5", "--checkpoints-kept", "1"});
        QVERIFY2(first.code == 0, qPrintable(first.err));
        QCOMPARE(files(folder).size(), 1);
        const QString id = QString::number(first.json()["runs"].toArray().at(0)["id"].toInt());
        const QStringList resume {"resume", id, "--db", database, "--steps", "18", "--json"};
        const CliResult silent = m_cli.run(resume + QStringList {"--no-checkpoints"});
        QVERIFY2(silent.code == 0, qPrintable(silent.err));
        QCOMPARE(files(folder).size(), 1);
        const CliResult rest = m_cli.run(resume);
        QVERIFY2(rest.err.contains("checkpoints go to " + folder), qPrintable(rest.err));
        const QStringList left = files(folder);
        QCOMPARE(left.size(), 2); // the first run's own, and the newest of this one
        const mantissa::Checkpoint last = mantissa::readCheckpoint(left.last().toStdString());
        QCOMPARE(last.state.nextStep, std::int64_t {18});
        QCOMPARE(last.plan.everySteps, std::int64_t {5});
        const QString next = QString::number(rest.json()["runs"].toArray().at(0)["id"].toInt());
        QVERIFY(m_cli.run({"resume", next, "--db", database, "--steps", "20"}).err.contains("goes on at step 18"));
    }

    void aLowerRateForAWhile()
    {
        const QString database = m_cli.path("e.db");
        QCOMPARE(
            m_cli.run({"run", m_file, "--lane", "FP32", "--db", database, "--checkpoints", m_cli.path("e")}).code, 0);
        const CliResult rest = m_cli.run({"resume", "1", "--db", database, "--steps", "20", "--lr-factor", "0.1",
            "--lr-steps", "4", "--metrics", "-"});
        QVERIFY2(rest.code == 0, qPrintable(rest.err));
        const QStringList lines = rest.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 8);
        for (int i = 0; i < lines.size(); ++i) {
            const QJsonObject step = QJsonDocument::fromJson(lines.at(i).toUtf8()).object();
            QCOMPARE(step["lr"].toDouble(), i < 4 ? 0.1 * 0.1 : 0.1);
        }
        const CliResult alone = m_cli.run({"resume", "1", "--db", database, "--steps", "20", "--lr-steps", "4"});
        QVERIFY2(alone.code == 2 && alone.err.contains("--lr-factor"), qPrintable(alone.err));
    }

    void lanesStartFromWeightsInAFile()
    {
        const QString database = m_cli.path("f.db");
        QCOMPARE(m_cli.run({"run", m_file, "--lane", "FP32", "--no-db", "--checkpoints", m_cli.path("f")}).code, 0);
        const QString weights = files(m_cli.path("f")).last();
        const CliResult run = m_cli.run({"run", m_file, "--weights", weights, "--set", "optimizer.lr=0", "--steps", "1",
            "--db", database, "--json"});
        QVERIFY2(run.code == 0, qPrintable(run.err));
        QVERIFY2(run.err.contains("FP32: starts from " + weights), qPrintable(run.err));
        const std::string hash = mantissa::readCheckpoint(weights.toStdString()).weightsHash;
        for (const QJsonValue lane : run.json()["runs"].toArray()) {
            QCOMPARE(lane["weights_hash"].toString().toStdString(), hash);
        }
        QVERIFY(m_cli.run({"runs", "show", "1", "--db", database}).out.contains("weights " + weights));

        const CliResult misfit
            = m_cli.run({"run", m_file, "--weights", weights, "--set", "model.hidden=[9]", "--no-db"});
        QCOMPARE(misfit.code, 2);
        QVERIFY2(misfit.err.contains("fc1.weight is [8, 2] in the file, [9, 2] in the model"), qPrintable(misfit.err));
        QCOMPARE(m_cli.run({"run", m_file, "--weights", "absent.safetensors", "--no-db"}).code, 1);
    }

    void saysWhatIsWrong_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("message");
        const QString database = m_cli.path("c.db");
        const QStringList run {"run", m_file, "--lane", "FP32", "--db", database};
        QCOMPARE(m_cli.run(run + QStringList {"--checkpoints", m_cli.path("c")}).code, 0);
        QCOMPARE(m_cli.run(run).code, 0);
        m_cli.write("text.safetensors", "not a file of tensors");
        QTest::newRow("finished") << QStringList {"resume", "1", "--db", database} << "has trained its 12 steps";
        QTest::newRow("no checkpoint") << QStringList {"resume", "2", "--db", database} << "run 2 has no checkpoint";
        QTest::newRow("no run") << QStringList {"resume", "77", "--db", database} << "77";
        QTest::newRow("no file") << QStringList {"resume", "absent.safetensors"} << "cannot be read";
        QTest::newRow("a foreign file") << QStringList {"resume", m_cli.path("text.safetensors")} << "safetensors";
        QTest::newRow("a wrong setting") << QStringList {"resume", "1", "--db", database, "--steps", "20", "--set",
            "optimizer.rl=1"} << "did you mean";
        QTest::newRow("not live") << QStringList {"resume", "1", "--db", database, "--steps", "20", "--set",
            "data.batch=4"} << "data.batch";
    }

    void saysWhatIsWrong()
    {
        QFETCH(const QStringList, arguments);
        QFETCH(const QString, message);
        const CliResult result = m_cli.run(arguments);
        QVERIFY(result.code == 1 || result.code == 2);
        QVERIFY2(result.err.contains(message), qPrintable(result.err));
        QVERIFY(result.out.isEmpty());
    }

    /// MANTISSA_KILLS asks for more than the suite has time for.
    void killedWhileWritingThereIsAGoodCheckpoint()
    {
        bool isNumber = false;
        const int asked = qEnvironmentVariableIntValue("MANTISSA_KILLS", &isNumber);
        const QString folder = m_cli.path("kill");
        QRandomGenerator random(20261130);
        for (int round = 0; round < (isNumber ? asked : 10); ++round) {
            QDir(folder).removeRecursively();
            QProcess process;
            m_cli.start(process,
                {"run", m_file, "--lane", "FP32", "--steps", "100000000", "--no-db", "--checkpoints", folder,
                    "--checkpoint-every", "1"});
            QTRY_VERIFY_WITH_TIMEOUT(!files(folder).isEmpty(), 60000);
            QTest::qWait(static_cast<int>(random.bounded(60)));
            ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
            process.waitForFinished();
            const QStringList left = files(folder);
            QVERIFY(!left.isEmpty());
            for (const QString& file : left) {
                mantissa::readCheckpoint(file.toStdString()); // throws where it is not whole
            }
        }
        const QString newest = files(folder).last();
        const auto step = mantissa::readCheckpoint(newest.toStdString()).state.nextStep;
        const CliResult result
            = m_cli.run({"resume", newest, "--no-db", "--steps", QString::number(step + 5), "--json"});
        QVERIFY2(result.code == 0, qPrintable(result.err));
    }

private:
    static QStringList files(const QString& folder)
    {
        QStringList found;
        QDirIterator entries(folder, {"*.safetensors"}, QDir::Files, QDirIterator::Subdirectories);
        while (entries.hasNext()) {
            found << entries.next();
        }
        found.sort();
        return found;
    }

    Cli m_cli;
    QString m_file;
};

QTEST_APPLESS_MAIN(TestCliResume)
#include "tst_cli_resume.moc"
