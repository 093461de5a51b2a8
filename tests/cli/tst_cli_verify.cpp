// mantissa-cli verify: what it trains, what it prints, how it ends.
#include "tests/cli/cli_runner.h"

using namespace mantissa::tests;

namespace {

/// Two lanes that train in a few milliseconds; the second skips the step of its fault.
QString experiment(const QString& events, const QString& skips)
{
    return QString(R"({"mantissa": 1, "name": "tiny", "seed": 3, "steps": 12,
        "claim": {"id": "T1", "says": "nothing is skipped", "verdict": "does not hold"},
        "data": {"kind": "spirals", "samples": 80, "batch": 16}, "model": {"hidden": [8]},
        "optimizer": {"kind": "sgd", "lr": 0.1}, "precision": {"policy": "fp16"}, "scaler": {},
        "lanes": [{"name": "A"}, {"name": "B"}], "events": [%1],
        "expect": [
            {"that": "A skips nothing", "left": {"lane": "A", "metric": "skipped_steps"}, "op": "==", "right": 0},
            {"that": "B skips", "left": {"lane": "B", "metric": "skipped_steps"}, "op": "==", "right": %2},
            {"that": "they differ", "left": {"lane": "B", "metric": "weights_hash"}, "op": "!=",
             "right": {"lane": "A", "metric": "weights_hash"}}]})")
        .arg(events, skips);
}

const QString fault = R"({"step": 5, "lane": "B", "set": {"fault.nan_sample": 1}})";

} // namespace

class TestCliVerify : public QObject
{
    Q_OBJECT

private slots:

    void passesWhatHolds()
    {
        const CliResult result = m_cli.run({"verify", m_cli.write("good.json", experiment(fault, "1")), "--json"});
        QCOMPARE(result.code, 0);
        const QJsonArray experiments = result.json()["experiments"].toArray();
        QCOMPARE(experiments.size(), 1);
        const QJsonObject one = experiments[0].toObject();
        QCOMPARE(one["id"].toString(), QString("good"));
        QCOMPARE(one["name"].toString(), QString("tiny"));
        QCOMPARE(one["verdict"].toString(), QString("does not hold"));
        QCOMPARE(one["claim"].toObject()["id"].toString(), QString("T1"));
        QCOMPARE(one["claim"].toObject()["says"].toString(), QString("nothing is skipped"));
        QCOMPARE(one["pass"].toBool(), true);
        QVERIFY(one["seconds"].toDouble() > 0);
        const QJsonArray expectations = one["expectations"].toArray();
        QCOMPARE(expectations.size(), 3);
        const QJsonObject second = expectations[1].toObject();
        QCOMPARE(second["that"].toString(), QString("B skips"));
        QCOMPARE(second["pass"].toBool(), true);
        QCOMPARE(second["left"].toDouble(), 1.0);
        QCOMPARE(second["op"].toString(), QString("=="));
        QCOMPARE(second["right"].toDouble(), 1.0);
        QCOMPARE(expectations[2].toObject()["left"].toString().size(), 16);
        QVERIFY(result.err.contains("good (1 of 1)"));
    }

    void endsWith3WhereOneDoesNot()
    {
        const QString file = m_cli.write("bad.json", experiment(fault, "2"));
        const CliResult result = m_cli.run({"verify", file, "--json"});
        QCOMPARE(result.code, 3);
        const QJsonObject one = result.json()["experiments"].toArray()[0].toObject();
        QCOMPARE(one["pass"].toBool(), false);
        QCOMPARE(one["expectations"].toArray()[0].toObject()["pass"].toBool(), true);
        QCOMPARE(one["expectations"].toArray()[1].toObject()["pass"].toBool(), false);

        const CliResult words
            = m_cli.run({"verify", m_cli.path("bad.json"), m_cli.write("good.json", experiment(fault, "1"))});
        QCOMPARE(words.code, 3);
        // One table with a row for each, then what was not met.
        const QStringList lines = words.out.split('\n');
        QVERIFY(
            lines[0].contains(QRegularExpression("^claim +what is said +verdict +as expected +seed +numbers +time$")));
        QVERIFY2(lines[1].contains(QRegularExpression(
                     "^T1 +nothing is skipped +does not hold +NO +2 of 3 +3 +1 == 2, 0 == 0, \\.\\.\\. +[0-9.]+ s$")),
            qPrintable(lines[1]));
        QVERIFY(lines[2].contains(QRegularExpression("^T1 +nothing is skipped +does not hold +yes +3 of 3 ")));
        QVERIFY(words.out.contains("bad, seed 3: not as expected"));
        QVERIFY(words.out.contains("NO   B skips: 1 == 2"));
        QVERIFY(words.out.contains("yes  A skips nothing: 0 == 0"));
        QVERIFY(!words.out.contains("good, seed"));
        QVERIFY(words.out.contains("1 of 2 as expected"));
        QVERIFY(words.err.contains("good (2 of 2)"));
    }

    void aLessonStandsForItsExperiments()
    {
        const QString own = experiment(fault, "1");
        const auto lesson = [&own](const QString& more) {
            return QString(R"({"mantissa_lesson": 1, "name": "L", "steps": [
                {"title": "a", "minutes": 1, "experiment": %1}, {"title": "b", "minutes": 1},
                {"title": "c", "minutes": 1, "experiment": "c10_nan_lowers_the_scale"},
                {"title": "d", "minutes": 1, "experiment": "c10_nan_lowers_the_scale"}%2]})")
                .arg(own, more);
        };
        const CliResult good = m_cli.run({"verify", m_cli.write("l.mantissa-lesson", lesson("")), "--json"});
        QCOMPARE(good.code, 0);
        const QJsonArray experiments = good.json()["experiments"].toArray();
        QCOMPARE(experiments.size(), 2);
        QCOMPARE(experiments[0].toObject()["id"].toString(), QString("l, step 1"));
        QCOMPARE(experiments[1].toObject()["id"].toString(), QString("c10_nan_lowers_the_scale"));

        const CliResult bad = m_cli.run({"verify", m_cli.write("m.json", lesson(R"(, {"titel": "e"})"))});
        QCOMPARE(bad.code, 2);
        QVERIFY2(bad.err.contains("steps[4].titel is not a key of a step of a lesson"), qPrintable(bad.err));
        const CliResult none = m_cli.run({"verify",
            m_cli.write("n.json", R"({"mantissa_lesson": 1, "name": "L", "steps": [{"title": "b", "minutes": 1}]})")});
        QCOMPARE(none.code, 2);
        QVERIFY2(
            none.err.contains("is a valid lesson, but none of its experiments has expectations"), qPrintable(none.err));
    }

    void writesReferenceRuns()
    {
        const QString folder = m_cli.path("references");
        const CliResult result = m_cli.run({"verify", m_cli.write("good.json", experiment(fault, "1")), "--seeds", "2",
            "--references", folder, "--json"});
        QCOMPARE(result.code, 0);
        QFile file(folder + "/good.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject reference = QJsonDocument::fromJson(file.readAll()).object();
        QCOMPARE(reference["seed"].toInt(), 3);
        QCOMPARE(reference["lanes"].toArray().size(), 2);
        const QJsonObject lane = reference["lanes"].toArray()[1].toObject();
        QCOMPARE(lane["name"].toString(), QString("B"));
        QCOMPARE(lane["skips"].toArray(), QJsonArray {5});
        QCOMPARE(lane["loss"].toArray().size(), 24);
        QCOMPARE(reference["expectations"].toArray().size(), 3);
        const CliResult refused = m_cli.run({"verify", m_cli.path("good.json"), "--references", "/dev/null/x"});
        QCOMPARE(refused.code, 1);
        QVERIFY2(refused.err.contains("/dev/null/x/good.json"), qPrintable(refused.err));
    }

    void repeatsWithOtherSeeds()
    {
        const QString file = m_cli.write("good.json", experiment(fault, "1"));
        const auto seeds = [&](const QStringList& options) {
            QStringList seen;
            const CliResult result = m_cli.run(QStringList {"verify", file, "--json"} + options);
            for (const QJsonValue& one : result.json()["experiments"].toArray()) {
                seen.append(QString::number(one.toObject()["seed"].toInt()));
            }
            return seen.join(' ');
        };
        QCOMPARE(seeds({}), QString("3"));
        QCOMPARE(seeds({"--seeds", "3"}), QString("3 4 5"));
        QCOMPARE(seeds({"--seed", "9", "--seeds", "2"}), QString("9 10"));
    }

    void findsWhatShipsByNameAndByClaim()
    {
        for (const char* name : {"c10", "c10_nan_lowers_the_scale"}) {
            const CliResult result = m_cli.run({"verify", name, "--json"});
            QCOMPARE(result.code, 0);
            QCOMPARE(result.json()["experiments"].toArray()[0].toObject()["id"].toString(),
                QString("c10_nan_lowers_the_scale"));
        }
    }

    void turnsRedWithoutTheEffect()
    {
        QFile shipped(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments/gallery/c10_nan_lowers_the_scale.json"));
        QVERIFY(shipped.open(QIODevice::ReadOnly));
        QJsonObject document = QJsonDocument::fromJson(shipped.readAll()).object();
        document.remove("events");
        const QString file = m_cli.write("edited.json", QString::fromUtf8(QJsonDocument(document).toJson()));
        QCOMPARE(m_cli.run({"verify", file}).code, 3);
    }

    void refusesWrongInput_data()
    {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QString>("message");
        const QString none = m_cli.write("none.json", R"({"mantissa": 1})");
        QString wrong = experiment(fault, "1");
        const QString metric = m_cli.write("metric.json", wrong.replace("skipped_steps", "skiped_steps"));
        QTest::newRow("no such name") << QStringList {"c10_nan_lowers_the_scal"}
                                      << "did you mean \"c10_nan_lowers_the_scale\"?";
        QTest::newRow("no such file") << QStringList {"nowhere.json"} << "there is no such file";
        QTest::newRow("no expectations") << QStringList {none} << "none.json has no expectations";
        QTest::newRow("a bad metric") << QStringList {metric}
                                      << "expect[0].left.metric is \"skiped_steps\", which is no metric; did you mean";
        QTest::newRow("a negative seed") << QStringList {metric, "--seed", "-1"} << "--seed";
        QTest::newRow("no seeds") << QStringList {metric, "--seeds", "0"} << "--seeds";
    }

    void refusesWrongInput()
    {
        QFETCH(const QStringList, arguments);
        QFETCH(const QString, message);
        const CliResult result = m_cli.run(QStringList {"verify"} + arguments);
        QCOMPARE(result.code, 2);
        QVERIFY2(result.err.contains(message), qPrintable(result.err));
        QVERIFY(result.out.isEmpty());
    }

private:
    Cli m_cli;
};

QTEST_GUILESS_MAIN(TestCliVerify)
#include "tst_cli_verify.moc"
