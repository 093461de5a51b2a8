// mantissa-cli diagnose: a planted fault is named from what the database holds, a healthy run is left in peace.
#include "cli_runner.h"

using mantissa::tests::Cli;
using mantissa::tests::CliResult;

class TestCliDiagnose : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase()
    {
        m_database = m_cli.path("runs.db");
        const QString file = m_cli.write("lanes.json", R"({"mantissa": 1, "name": "lanes", "steps": 60,
            "data": {"kind": "digits", "batch": 32}, "model": {"kind": "mlp", "hidden": [32]}, "optimizer": {"lr": 0.003},
            "lanes": [{"name": "fp32"},
                {"name": "early", "precision": {"policy": "fp16"}, "scaler": {"init_scale": 1024},
                 "clip": {"order": "clip-then-unscale", "max_norm": 1}},
                {"name": "mended", "precision": {"policy": "fp16"}, "scaler": {"init_scale": 1024},
                 "clip": {"order": "clip-then-unscale", "max_norm": 1}}],
            "events": [{"step": 30, "lane": "mended", "set": {"clip.order": "unscale-then-clip"}}]})");
        const CliResult result = m_cli.run({"run", file, "--json", "--db", m_database});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        for (const auto& run : result.json()["runs"].toArray()) {
            m_ids[run.toObject()["lane"].toString()] = QString::number(run.toObject()["id"].toInt());
        }
    }

    void namesThePlantedFault()
    {
        const CliResult result = m_cli.run({"diagnose", m_ids["early"], "--json", "--db", m_database});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        const QJsonArray findings = result.json()["findings"].toArray();
        QVERIFY(!findings.isEmpty());
        const QJsonObject first = findings.at(0).toObject();
        QCOMPARE(first["rule"].toString(), QString("clip_before_unscale"));
        QCOMPARE(first["severity"].toString(), QString("problem"));
        QCOMPARE(first["evidence"].toObject()["acts_as"].toDouble(), 1.0 / 1024);
        QVERIFY(!first["advice"].toString().isEmpty() && first.contains("where"));
        QCOMPARE(first["fix"].toObject()["clip.order"].toString(), QString("unscale-then-clip"));
        const CliResult text = m_cli.run({"diagnose", m_ids["early"], "--db", m_database});
        QVERIFY(text.out.contains("the threshold 1 acts as 1 / 1024") && text.out.contains("-> Unscale first"));
        QVERIFY(text.out.contains("fix: --set 'clip.order=unscale-then-clip'"));
    }

    void leavesAHealthyRunInPeace()
    {
        const CliResult result = m_cli.run({"diagnose", m_ids["fp32"], "--json", "--db", m_database});
        QCOMPARE(result.code, 0);
        for (const auto& finding : result.json()["findings"].toArray()) {
            QVERIFY2(finding.toObject()["severity"].toString() != "problem", qPrintable(result.out));
        }
    }

    /// What was put right half way is named with the steps that it lasted.
    void saysHowLongAFaultLasted()
    {
        const CliResult result = m_cli.run({"diagnose", m_ids["mended"], "--json", "--db", m_database});
        const QJsonObject first = result.json()["findings"].toArray().at(0).toObject();
        QCOMPARE(first["rule"].toString(), QString("clip_before_unscale"));
        QCOMPARE(first["where"].toObject()["first_step"].toInt(), 0);
        QCOMPARE(first["where"].toObject()["last_step"].toInt(), 29);
    }

    /// Lanes of another session are no comparison, nor are lanes that differ in more than precision and scaler.
    void onlyALaneOfTheSameSessionIsAComparison()
    {
        const QString broken = m_cli.write("broken.json", R"({"mantissa": 1, "name": "lanes", "steps": 60,
            "data": {"kind": "digits", "batch": 32}, "model": {"kind": "mlp", "hidden": [32]},
            "lanes": [{"name": "fp32", "optimizer": {"kind": "sgd", "lr": 1000}},
                {"name": "far", "precision": {"policy": "fp16"}, "scaler": {"family": "fixed", "init_scale": 1e30}}]})");
        const QString other = m_cli.path("other.db");
        const CliResult both = m_cli.run({"run", broken, "--json", "--db", other});
        QVERIFY2(both.code == 0, qPrintable(both.err));
        const CliResult alone = m_cli.run({"run", broken, "--lane", "far", "--json", "--db", other});
        for (const CliResult* run : {&both, &alone}) {
            const QJsonObject lane = run->json()["runs"].toArray().last().toObject();
            const CliResult result
                = m_cli.run({"diagnose", QString::number(lane["id"].toInt()), "--json", "--db", other});
            const QJsonObject first = result.json()["findings"].toArray().at(0).toObject();
            QCOMPARE(first["rule"].toString(), QString("scale_collapse"));
            QVERIFY2(!first["advice"].toString().contains("FP32 lane"), qPrintable(result.out));
            QVERIFY(first["title"].toString().contains("which never moves"));
        }
    }

    void refusesWhatIsNotThere()
    {
        const CliResult result = m_cli.run({"diagnose", "999", "--db", m_database});
        QCOMPARE(result.code, 2);
        QVERIFY(result.err.contains("there is no run 999"));
        QCOMPARE(m_cli.run({"diagnose", "1", "--db", m_cli.path("missing.db")}).code, 1);
        QCOMPARE(m_cli.run({"diagnose"}).code, 2);
    }

private:
    Cli m_cli;
    QString m_database;
    QMap<QString, QString> m_ids;
};

QTEST_GUILESS_MAIN(TestCliDiagnose)
#include "tst_cli_diagnose.moc"
