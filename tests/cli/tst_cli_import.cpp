// mantissa-cli import: what it guesses, makes, refuses, follows; and that the other commands take its runs.
#include "cli_runner.h"

#include <cmath>
#include <csignal>

using namespace mantissa::tests;

class TestCliImport : public QObject
{
    Q_OBJECT

    Cli m_cli;

    [[nodiscard]] static QString log(int steps)
    {
        QString text = "step,train/loss,loss_scale,batch_size\n";
        for (int step = 0; step < steps; ++step) {
            text += QString("%1,%2,%3,32\n")
                        .arg(step)
                        .arg(2 - 0.001 * step)
                        .arg(std::ldexp(65536.0, step > 40 ? 40 - step : 0));
        }
        return text;
    }

private slots:

    void importsAndPrintsWhatItTookForWhat()
    {
        const QString file = m_cli.write("job.csv", log(120));
        const CliResult text = m_cli.run({"import", file, "--db", m_cli.path("a.db")});
        QCOMPARE(text.code, 0);
        QVERIFY(text.out.contains("loss                 <- train/loss"));
        QVERIFY(text.out.contains("not used: batch_size"));
        QVERIFY(text.out.contains("run 1: job, 120 steps from 0 to 119"));
        QVERIFY2(text.out.contains("cannot be told from this log"), qPrintable(text.out));
        const CliResult json = m_cli.run({"import", file, "--name", "again", "--json", "--db", m_cli.path("a.db")});
        QCOMPARE(json.code, 0);
        const QJsonObject made = json.json()["files"][0].toObject();
        QCOMPARE(made["columns"]["scale"].toString(), "loss_scale");
        QCOMPARE(made["runs"][0]["id"].toInt(), 2);
        QCOMPARE(made["runs"][0]["name"].toString(), "again");
    }

    void aDryRunStoresNothing()
    {
        const QString file = m_cli.write("job.csv", log(20));
        const CliResult result = m_cli.run({"import", file, "--dry-run", "--db", m_cli.path("dry.db")});
        QCOMPARE(result.code, 0);
        QVERIFY(result.out.contains("would be a run: job"));
        QVERIFY(!QFile::exists(m_cli.path("dry.db")));
    }

    void wrongArgumentsAndInputEndWithTwo_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("words");
        QTest::newRow("no field") << QStringList {"--map", "los=a"} << "did you mean \"loss\"";
        QTest::newRow("no column") << QStringList {"--map", "loss=train/los"} << "did you mean \"train/loss\"";
        QTest::newRow("no equals sign") << QStringList {"--map", "loss"} << "FIELD=COLUMN";
        QTest::newRow("twice") << QStringList {"--map", "loss=step", "--map", "loss=step"} << "twice";
        QTest::newRow("a second file that is none") << QStringList {"nowhere.csv"} << "there is no file";
    }

    void wrongArgumentsAndInputEndWithTwo()
    {
        QFETCH(QStringList, arguments);
        QFETCH(QString, words);
        const QString file = m_cli.write("job.csv", log(20));
        const CliResult result = m_cli.run(QStringList {"import", file, "--db", m_cli.path("wrong.db")} + arguments);
        QCOMPARE(result.code, 2);
        QVERIFY2(result.err.contains(words), qPrintable(result.err));
        QVERIFY(!QFile::exists(m_cli.path("wrong.db"))); // not even of the file that is right
    }

    void otherCommandsTakeItsRuns()
    {
        const QString db = m_cli.path("others.db");
        QCOMPARE(
            m_cli.run({"import", m_cli.write("a.csv", log(120)), m_cli.write("b.csv", log(100)), "--db", db}).code, 0);
        QCOMPARE(m_cli.run({"run", m_cli.write("tiny.json", tinyExperiment()), "--db", db}).code, 0);
        const CliResult list = m_cli.run({"runs", "list", "--db", db});
        QCOMPARE(list.code, 0);
        QVERIFY(list.out.contains("imported"));
        const CliResult shown = m_cli.run({"runs", "show", "1", "--db", db});
        QCOMPARE(shown.code, 0);
        QVERIFY(shown.out.contains("imported from") && shown.out.contains("a.csv")
            && !shown.out.contains("repeat it with"));
        const CliResult findings = m_cli.run({"diagnose", "1", "--json", "--db", db});
        QCOMPARE(findings.code, 0);
        QCOMPARE(findings.json()["findings"][0]["rule"].toString(), "scale_collapse");
        QCOMPARE(m_cli.run({"diagnose", "4", "--db", db}).code, 0); // a trained run beside imported ones
        for (const auto& [a, b] : {std::pair("1", "2"), std::pair("1", "3"), std::pair("3", "1")}) {
            const CliResult compared = m_cli.run({"runs", "compare", a, b, "--db", db});
            QCOMPARE(compared.code, 0);
            QVERIFY(compared.out.contains("setting: not known of an imported run"));
            QVERIFY(compared.out.contains("loss over the last tenth"));
        }
        QVERIFY(m_cli.run({"runs", "compare", "1", "2", "--json", "--db", db}).json()["same_weights"].isNull());
        for (const QStringList& refused :
            {QStringList {"runs", "export", "1", "--format", "experiment"}, QStringList {"trace", "1"}}) {
            const CliResult result = m_cli.run(refused + QStringList {"--db", db});
            QCOMPARE(result.code, 2);
            QVERIFY2(result.err.contains("was imported from"), qPrintable(result.err));
        }
        QCOMPARE(m_cli.run({"resume", "1", "--db", db}).code == 0, false);
    }

    void ourOwnMetricsAndRecorderComeBack()
    {
        const QString db = m_cli.path("own.db");
        QCOMPARE(m_cli
                     .run({"run", m_cli.write("tiny.json", tinyExperiment()), "--metrics", m_cli.path("m.jsonl"),
                         "--db", db})
                     .code,
            0);
        const CliResult result = m_cli.run({"import", m_cli.path("m.jsonl"), "--json", "--db", db});
        QCOMPARE(result.code, 0);
        const QJsonArray runs = result.json()["files"][0].toObject()["runs"].toArray();
        QCOMPARE(runs.size(), 2);
        QCOMPARE(runs[1]["name"].toString(), "FP16 AMP");
        QCOMPARE(runs[1]["fields"]["skipped"].toString(), "skipped");
        const CliResult compared = m_cli.run({"runs", "compare", "2", "4", "--json", "--db", db});
        QCOMPARE(compared.json().value("loss").toObject().value("at_end").toObject().value("gap").toDouble(-1), 0.0);
    }

    void followsUntilInterrupted()
    {
        const QString db = m_cli.path("follow.db");
        const QString file = m_cli.write("live.csv", "step,loss\n0,2\n1,1\n");
        QProcess process;
        m_cli.start(process, {"import", file, "--follow", "--json", "--db", db});
        QVERIFY(process.waitForStarted());
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(db), 30000);
        QFile log(file);
        const auto steps = [&] {
            return m_cli.run({"runs", "show", "1", "--json", "--db", db}).json()["steps"].toInt();
        };
        QTRY_COMPARE_WITH_TIMEOUT(steps(), 2, 30000);
        QVERIFY(log.open(QIODevice::Append));
        log.write("2,0.5\n3,0.25\n");
        log.close();
        QTRY_COMPARE_WITH_TIMEOUT(steps(), 4, 30000);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        const CliResult result = Cli::finish(process);
        QCOMPARE(result.code, 0);
        QCOMPARE(result.json()["files"][0]["runs"][0]["steps"].toInt(), 4);
        QVERIFY(result.err.contains("following"));
        QCOMPARE(m_cli.run({"runs", "show", "1", "--json", "--db", db}).json()["status"].toString(), "finished");
    }
};

QTEST_GUILESS_MAIN(TestCliImport)
#include "tst_cli_import.moc"
