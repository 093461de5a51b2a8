// mantissa-cli protocol: what it trains, prints and writes, and how it ends.
#include "tests/cli/cli_runner.h"

#include <csignal>

using namespace mantissa::tests;

namespace {

/// Trains in a moment; `amp` is more of the AMP lane.
QString digits(const QString& amp = {})
{
    return QString(R"({"mantissa": 1, "name": "digits", "seed": 3, "data": {"kind": "digits", "batch": 32},
        "model": {"hidden": [24]}, "optimizer": {"kind": "adam", "lr": 0.003},
        "lanes": [{"name": "FP32"},
                  {"name": "AMP", "precision": {"policy": "fp16"}, "scaler": {"family": "pytorch"}%1},
                  {"name": "BF16", "precision": {"policy": "bf16"}}]})")
        .arg(amp);
}

const QString wrongClip = R"(, "clip": {"order": "clip-then-unscale", "max_norm": 1})";

QString contentsOf(const QString& file)
{
    QFile opened(file);
    return opened.open(QIODevice::ReadOnly) ? QString::fromUtf8(opened.readAll()) : QString();
}

} // namespace

class TestCliProtocol : public QObject
{
    Q_OBJECT

private slots:

    void aHealthyLaneEndsWith0()
    {
        const CliResult result
            = m_cli.run({"protocol", m_cli.write("good.json", digits()), "--steps", "150", "--json"});
        QCOMPARE(result.code, 0);
        const QJsonObject report = result.json();
        QCOMPARE(report["verdict"].toString(), QString("healthy"));
        QCOMPARE(report["lane"].toString(), QString("AMP"));
        QCOMPARE(report["steps"].toInt(), 150);
        QCOMPARE(report["runs"].toArray().size(), 2);
        QCOMPARE(report["runs"].toArray()[0].toObject()["steps"].toInt(), 150);
        QCOMPARE(report["runs"].toArray()[0].toObject()["seed"].toInt(), 3);
        QVERIFY(result.err.contains("FP32, seed 3 (1 of 2)"));
        QVERIFY(result.err.contains("AMP, seed 3 (2 of 2)"));
    }

    /// A lane that its own scaler ends is said to have ended, where and why.
    void aLaneThatEndsEarlyIsSaidToHave()
    {
        const QString lane = digits().replace(R"("family": "pytorch")",
            R"("family": "deepspeed", "init_scale": 1e9, "min_scale": 1e8, "raise_at_min": true)");
        const CliResult result = m_cli.run({"protocol", m_cli.write("ends.json", lane), "--steps", "100"});
        QCOMPARE(result.code, 3);
        QVERIFY2(result.out.contains("No: AMP ended after"), qPrintable(result.out + result.err));
        QVERIFY(!result.out.contains("normal"));
    }

    void reportsGoWhereTheyCan()
    {
        const QString file = m_cli.write("report.json", digits());
        QCOMPARE(m_cli.run({"protocol", file, "--steps", "20", "--report", m_cli.path("r.pdf")}).code, 2);
        QCOMPARE(m_cli.run({"protocol", file, "--steps", "20", "--report", "/dev/null/x.html"}).code, 2);
    }

    void aProblemEndsWith3InPlainWords()
    {
        const CliResult result = m_cli.run({"protocol", m_cli.write("bad.json", digits(wrongClip)), "--steps", "120"});
        QCOMPARE(result.code, 3);
        QVERIFY(result.out.startsWith("FP32 against AMP: digits\nProblem. Do not switch yet."));
        QVERIFY(result.out.contains("clip_before_unscale (problem"));
        QVERIFY(result.out.contains(QRegularExpression("Loss, last quarter of the steps +[0-9.]+ +[0-9.]+ +\\+")));
        QVERIFY(result.out.contains("Method: "));
    }

    void choosesLaneSeedsAndSettings()
    {
        const CliResult result = m_cli.run({"protocol", m_cli.write("good.json", digits()), "--lane", "BF16", "--steps",
            "100", "--seeds", "2", "--seed", "7", "--set", "optimizer.lr=0.002", "--json"});
        QCOMPARE(result.code, 0);
        const QJsonObject report = result.json();
        QCOMPARE(report["lane"].toString(), QString("BF16"));
        QCOMPARE(report["curves"].toObject()["noise_from"].toString(), QString("seeds"));
        QStringList seeds;
        for (const QJsonValue& run : report["runs"].toArray()) {
            seeds << QString::number(run.toObject()["seed"].toInt());
        }
        QCOMPARE(seeds.join(' '), QString("7 7 8 8"));
        QCOMPARE(report["lane_document"].toObject()["optimizer"].toObject()["lr"].toDouble(), 0.002);
    }

    void isTheSameForTheSameSeed()
    {
        const QString file = m_cli.write("good.json", digits());
        const auto hashes = [&] {
            QStringList list;
            const CliResult result = m_cli.run({"protocol", file, "--steps", "40", "--threads", "1", "--json"});
            for (const QJsonValue& run : result.json()["runs"].toArray()) {
                list << run.toObject()["weights_hash"].toString();
            }
            return list;
        };
        const QStringList first = hashes();
        QCOMPARE(first.size(), 2);
        QVERIFY(first[0] != first[1]);
        QCOMPARE(hashes(), first);
    }

    void writesReports()
    {
        const QString file = m_cli.write("good.json", digits());
        QCOMPARE(m_cli.run({"protocol", file, "--steps", "60", "--report", m_cli.path("out/deep")}).code, 0);
        const QString page = contentsOf(m_cli.path("out/deep/protocol.html"));
        QVERIFY(page.startsWith("<!DOCTYPE html>") && page.count("<svg") == 3 && page.trimmed().endsWith("</html>"));
        QCOMPARE(
            QJsonDocument::fromJson(contentsOf(m_cli.path("out/deep/protocol.json")).toUtf8())["steps"].toInt(), 60);
        QCOMPARE(m_cli.run({"protocol", file, "--steps", "60", "--report", m_cli.path("one.html")}).code, 0);
        QVERIFY(contentsOf(m_cli.path("one.html")).contains("FP32 against AMP: digits"));
        QVERIFY(!QFile::exists(m_cli.path("one.html.part")));
    }

    void storesRunsOnlyWhenAsked()
    {
        const QString file = m_cli.write("good.json", digits());
        QCOMPARE(m_cli.run({"protocol", file, "--steps", "40"}).code, 0);
        QVERIFY(!QFile::exists(m_cli.path("data/mantissa")));
        QCOMPARE(m_cli.run({"protocol", file, "--steps", "40", "--seeds", "2", "--db", m_cli.path("p.db")}).code, 0);
        const CliResult list = m_cli.run({"runs", "list", "--db", m_cli.path("p.db"), "--json"});
        const QJsonArray runs = list.json()["runs"].toArray();
        QCOMPARE(runs.size(), 4);
        for (const QJsonValue& run : runs) {
            QCOMPARE(run.toObject()["status"].toString(), QString("finished"));
            QCOMPARE(run.toObject()["steps"].toInt(), 40);
        }
    }

    void anInterruptEndsItWithoutAResult()
    {
        QProcess process;
        m_cli.start(process, {"protocol", m_cli.write("good.json", digits()), "--steps", "1000000"});
        QByteArray said;
        const auto hasBegun = [&] {
            process.waitForReadyRead(100);
            said += process.readAllStandardError();
            return said.contains("1 of 2");
        };
        QTRY_VERIFY_WITH_TIMEOUT(hasBegun(), 30000);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        const CliResult result = Cli::finish(process);
        QCOMPARE(result.code, 1);
        QVERIFY(result.out.isEmpty());
    }

    void refusesWrongInput_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("message");
        QTest::newRow("no such lane") << QStringList {"--lane", "AMPP"} << "did you mean \"AMP\"?";
        QTest::newRow("an FP32 lane") << QStringList {"--lane", "FP32"} << "runs in FP32";
        QTest::newRow("few steps") << QStringList {"--steps", "5"} << "--steps";
        QTest::newRow("no seeds") << QStringList {"--seeds", "0"} << "--seeds";
        QTest::newRow("a wrong setting") << QStringList {"--set", "optimizer.lrr=1"} << "did you mean";
        QTest::newRow("a wrong device") << QStringList {"--device", "gpu"} << "--device";
        QTest::newRow("no folder") << QStringList {"--report", "/dev/null/x"} << "--report";
    }

    void refusesWrongInput()
    {
        QFETCH(const QStringList, arguments);
        QFETCH(const QString, message);
        const CliResult result = m_cli.run(QStringList {"protocol", m_cli.write("good.json", digits())} + arguments);
        QCOMPARE(result.code, 2);
        QVERIFY2(result.err.contains(message), qPrintable(result.err));
        QVERIFY(result.out.isEmpty());
    }

private:
    Cli m_cli;
};

QTEST_GUILESS_MAIN(TestCliProtocol)
#include "tst_cli_protocol.moc"
