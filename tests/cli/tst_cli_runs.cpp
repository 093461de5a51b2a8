// mantissa-cli runs: what a run leaves in the database, and that it can be repeated from there.
#include "cli_runner.h"

using mantissa::tests::Cli;
using mantissa::tests::CliResult;
using mantissa::tests::tinyExperiment;

class TestCliRuns : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void listsRunsNewestFirst();
    void showsARun();
    void comparesRuns();
    void exportsCsv();
    void exportsJson();
    void aReplayEndsWithTheSameWeights();
    void deletesOnlyWhenTold();
    void theDefaultDatabaseIsTheUsers();
    void refuses_data();
    void refuses();

private:
    [[nodiscard]] CliResult runs(const QStringList& arguments) const
    {
        return m_cli.run(QStringList {"runs"} + arguments + QStringList {"--db", m_database});
    }

    Cli m_cli;
    QString m_database;
    QJsonArray m_trained; ///< what `run --json` said
};

void TestCliRuns::initTestCase()
{
    m_database = m_cli.path("runs.db");
    const CliResult result = m_cli.run(
        {"run", m_cli.write("tiny.json", tinyExperiment()), "--json", "--db", m_database, "--threads", "2"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    m_trained = result.json()["runs"].toArray();
    QCOMPARE(m_trained.size(), 2);
    QVERIFY(m_trained.at(0)["id"].toInt() > 0);
    QVERIFY(m_trained.at(0)["id"] != m_trained.at(1)["id"]);
}

void TestCliRuns::listsRunsNewestFirst()
{
    const CliResult result = runs({"list", "--json"});
    QCOMPARE(result.code, 0);
    const QJsonArray list = result.json()["runs"].toArray();
    QVERIFY(list.size() >= 2);
    QVERIFY(list.at(0)["id"].toInt() > list.at(1)["id"].toInt());
    for (const auto& entry : list) {
        QCOMPARE(entry.toObject()["experiment"].toString(), QString("tiny"));
        QCOMPARE(entry.toObject()["steps"].toInt(), 12);
    }
    QCOMPARE(runs({"list", "--json", "--limit", "1"}).json()["runs"].toArray().size(), 1);
    const CliResult table = runs({"list"});
    QVERIFY(table.out.contains("FP16 AMP") && table.out.contains("final loss"));
}

void TestCliRuns::showsARun()
{
    const QString id = QString::number(m_trained.at(1)["id"].toInt());
    const CliResult result = runs({"show", id, "--json"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonObject run = result.json();
    QCOMPARE(run["lane"].toString(), QString("FP16 AMP"));
    QCOMPARE(run["weights_hash"], m_trained.at(1)["weights_hash"]);
    QCOMPARE(run["settings"].toObject()["optimizer.lr"].toDouble(), 0.1);
    QCOMPARE(run["settings"].toObject()["scaler.init_scale"].toDouble(), 1024.0);
    bool changed = false;
    for (const auto& entry : run["events"].toArray()) {
        const QJsonObject event = entry.toObject();
        changed = changed || (event["path"].toString() == "optimizer.lr" && event["step"].toInt() == 6);
    }
    QVERIFY(changed);
    const CliResult text = runs({"show", id});
    QCOMPARE(text.code, 0);
    for (const char* part : {"settings", "events", "optimizer.lr", "step 6", "mantissa-cli runs export"}) {
        QVERIFY2(text.out.contains(QLatin1String(part)), part);
    }
}

void TestCliRuns::comparesRuns()
{
    const QString a = QString::number(m_trained.at(0)["id"].toInt());
    const QString b = QString::number(m_trained.at(1)["id"].toInt());
    const CliResult result = runs({"compare", a, b, "--json"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonObject settings = result.json()["settings"].toObject();
    QCOMPARE(settings["precision.policy"].toObject()["a"].toString(), QString("fp32"));
    QCOMPARE(settings["precision.policy"].toObject()["b"].toString(), QString("fp16"));
    QVERIFY(settings["scaler.family"].toObject()["a"].isNull());
    QVERIFY(!settings.contains("optimizer.momentum"));
    QCOMPARE(result.json()["same_weights"].toBool(), false);
    QVERIFY(result.json()["results"].toObject().contains("weights_hash"));
    QVERIFY(runs({"compare", a, a}).out.contains("setting: no difference"));
    QVERIFY(runs({"compare", a, b}).out.contains("precision.policy"));
    QVERIFY(runs({"compare", a, b}).out.contains("loss over the last tenth"));
}

void TestCliRuns::exportsCsv()
{
    const QString id = QString::number(m_trained.at(1)["id"].toInt());
    const CliResult result = runs({"export", id, "--format", "csv"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QStringList lines = result.out.split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 13);
    const QStringList head = lines[0].split(',');
    for (const char* column : {"run", "lane", "step", "loss", "scale", "lr"}) {
        QVERIFY2(head.contains(QLatin1String(column)), column);
    }
    const QStringList last = lines[12].split(',');
    QCOMPARE(last.size(), head.size());
    QCOMPARE(last[head.indexOf("step")], QString("11"));
    QCOMPARE(last[head.indexOf("scale")].toDouble(), 4096.0);
    QCOMPARE(last[head.indexOf("loss")].toDouble(), m_trained.at(1)["final_loss"].toDouble());
}

void TestCliRuns::exportsJson()
{
    const QString id = QString::number(m_trained.at(0)["id"].toInt());
    const QString file = m_cli.path("export.json");
    const CliResult result = runs({"export", id, "--format", "json", "--out", file});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    QCOMPARE(result.out, QString());
    QFile exported(file);
    QVERIFY(exported.open(QIODevice::ReadOnly));
    const QJsonObject run = QJsonDocument::fromJson(exported.readAll()).object()["runs"].toArray().at(0).toObject();
    QCOMPARE(run["records"].toArray().size(), 12);
    QCOMPARE(run["records"].toArray().last().toObject()["loss"].toDouble(), m_trained.at(0)["final_loss"].toDouble());
}

void TestCliRuns::aReplayEndsWithTheSameWeights()
{
    for (const auto& entry : m_trained) {
        const QJsonObject before = entry.toObject();
        const QString id = QString::number(before["id"].toInt());
        // As `runs show` says it.
        const QString command = runs({"show", id, "--json"}).json()["replay"].toString();
        const QStringList both = command.split(" && ");
        QCOMPARE(both.size(), 2);
        const CliResult exported = m_cli.run(QProcess::splitCommand(both[0]).mid(1));
        QVERIFY2(exported.code == 0, qPrintable(exported.err));
        const CliResult again = m_cli.run(QProcess::splitCommand(both[1]).mid(1) + QStringList {"--json"});
        QVERIFY2(again.code == 0, qPrintable(again.err));
        const QJsonObject after = again.json()["runs"].toArray().at(0).toObject();
        QCOMPARE(after["lane"], before["lane"]);
        QCOMPARE(after["weights_hash"], before["weights_hash"]);
        QCOMPARE(after["final_loss"], before["final_loss"]);
        QCOMPARE(after["final_scale"], before["final_scale"]);
    }
}

void TestCliRuns::deletesOnlyWhenTold()
{
    const CliResult trained
        = m_cli.run({"run", m_cli.path("tiny.json"), "--json", "--db", m_database, "--lane", "FP32"});
    const QString id = QString::number(trained.json()["runs"].toArray().at(0)["id"].toInt());
    const CliResult asked = runs({"delete", id});
    QCOMPARE(asked.code, 2);
    QVERIFY(asked.err.contains("--yes"));
    QCOMPARE(runs({"show", id}).code, 0);
    QCOMPARE(runs({"delete", id, "--yes"}).code, 0);
    const CliResult gone = runs({"list", "--json"});
    for (const auto& run : gone.json()["runs"].toArray()) {
        QVERIFY(run.toObject()["id"].toInt() != id.toInt());
    }
    QVERIFY(!gone.json()["runs"].toArray().isEmpty());
    QCOMPARE(runs({"delete", id, "--yes", "--purge"}).code, 2);
}

void TestCliRuns::theDefaultDatabaseIsTheUsers()
{
    const CliResult none = m_cli.run({"runs", "list"});
    QCOMPARE(none.code, 0);
    QCOMPARE(none.out, QString("no runs\n"));
    QCOMPARE(m_cli.run({"run", m_cli.path("tiny.json"), "--lane", "FP32"}).code, 0);
    QVERIFY(QFile::exists(m_cli.path("data/mantissa/runs.db")));
    QCOMPARE(m_cli.run({"runs", "list", "--json"}).json()["runs"].toArray().size(), 1);
}

void TestCliRuns::refuses_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("message");
    const QString missing = m_cli.path("missing.db");
    const QString text = m_cli.write("text.db", QString("no database ").repeated(200));
    QTest::newRow("no command") << QStringList {"runs"} << 2 << "subcommand";
    QTest::newRow("no such run") << QStringList {"runs", "show", "9999", "--db", m_database} << 2
                                 << "there is no run 9999";
    QTest::newRow("a run that is no number") << QStringList {"runs", "show", "x", "--db", m_database} << 2 << "x";
    QTest::newRow("one run to compare") << QStringList {"runs", "compare", "1", "--db", m_database} << 2 << "runs";
    QTest::newRow("unknown format") << QStringList {"runs", "export", "1", "--format", "xml", "--db", m_database} << 2
                                    << "xml";
    QTest::newRow("no database") << QStringList {"runs", "list", "--db", missing} << 1 << "there is no database";
    QTest::newRow("another kind of file") << QStringList {"runs", "list", "--db", text} << 1 << "text.db";
    QTest::newRow("no folder to write to") << QStringList {"runs", "export", "1", "--db", m_database, "--out",
        m_cli.path("nowhere/x.csv")} << 1 << "cannot write";
}

void TestCliRuns::refuses()
{
    QFETCH(QStringList, arguments);
    QFETCH(int, code);
    QFETCH(QString, message);
    const CliResult result = m_cli.run(arguments);
    QCOMPARE(result.code, code);
    QCOMPARE(result.out, QString());
    QVERIFY2(result.err.contains(message), qPrintable("said: " + result.err));
    QVERIFY(!QFile::exists(m_cli.path("missing.db")));
}

QTEST_GUILESS_MAIN(TestCliRuns)
#include "tst_cli_runs.moc"
