// mantissa-cli run: results, metrics, what repeats, what is refused, and how a run is stopped.
#include "cli_runner.h"

#include <csignal>

using mantissa::tests::Cli;
using mantissa::tests::CliResult;
using mantissa::tests::tinyExperiment;

namespace {

/// Metrics without their times.
QList<QJsonObject> recordsOf(const QString& lines)
{
    QList<QJsonObject> records;
    for (const QString& line : lines.split('\n', Qt::SkipEmptyParts)) {
        QJsonParseError error;
        QJsonObject record = QJsonDocument::fromJson(line.toUtf8(), &error).object();
        if (error.error != QJsonParseError::NoError) {
            qWarning("not JSON: %s", qPrintable(line));
            return {};
        }
        record.remove("time_ms");
        records.append(record);
    }
    return records;
}

QStringList hashesOf(const CliResult& result)
{
    QStringList hashes;
    for (const auto& run : result.json()["runs"].toArray()) {
        hashes.append(run.toObject()["weights_hash"].toString());
    }
    return hashes;
}

} // namespace

class TestCliRun : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void trainsEveryLaneAndPrintsTheDocumentedKeys();
    void printsATableForPeople();
    void writesOneRecordPerStepAndLane();
    void metricsOnStdoutLeaveItToThem();
    void printsTheGraphInsteadOfTraining();
    void repeatsExactly();
    void eachThreadCountRepeatsExactly();
    void trainsOnATable();
    void namesTheFaultOfATable();
    void optionsChangeTheExperiment();
    void setReachesOnlyLanesWithAScaler();
    void setReachesOnlyScalersWithSuchAParameter();
    void numbersThatAreNotFiniteAreTexts();
    void refuses_data();
    void refuses();
    void failsWhereItCannotWrite_data();
    void failsWhereItCannotWrite();
    void stopsOnInterruptAndKeepsTheData();

    void aWatchpointEndsTheRunWithItsReason()
    {
        const QString file = m_cli.write("watched.json", tinyExperiment());
        const QString database = m_cli.path("watched.db");
        const CliResult result
            = m_cli.run({"run", file, "--watch", "step == 4 and lr < 1", "--json", "--db", database});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        for (const auto& run : result.json()["runs"].toArray()) {
            QCOMPARE(run.toObject()["status"].toString(), QString("stopped"));
            QCOMPARE(run.toObject()["steps"].toInt(), 5);
        }
        QVERIFY2(result.err.contains("step == 4 and lr < 1"), qPrintable(result.err));
        const CliResult shown = m_cli.run({"runs", "show", "1", "--db", database});
        QVERIFY2(shown.out.contains("paused training behind step 4"), qPrintable(shown.out));
        QVERIFY2(shown.out.contains("watch step == 4 and lr < 1"), qPrintable(shown.out));
    }

    void watchpointsChangeSettings()
    {
        const QString file = m_cli.write("watched.json", tinyExperiment());
        const CliResult result = m_cli.run({"run", file, "--no-db", "--metrics", "-", "--lane", "FP32", "--watch",
            "step == 2 -> set optimizer.lr=0.001"});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        const QStringList lines = result.out.split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 12);
        QVERIFY(lines[2].contains("\"lr\":0.1") && lines[3].contains("\"lr\":0.001"));
    }

    void wrongWatchpointsAreRefusedWithTheirColumn()
    {
        const QString file = m_cli.write("watched.json", tinyExperiment());
        const QMap<QString, QString> wrong {{"scal < 1", "column 1: \"scal\" is no metric; did you mean \"scale\""},
            {"scale < 1 -> stop", "\"stop\" is no action"}, {"scale < 1 -> set optimizer.lrr=1", "optimizer.lr"},
            {"flushed('fc9') > 0", "no layer \"fc9\""}};
        for (auto it = wrong.begin(); it != wrong.end(); ++it) {
            const CliResult result = m_cli.run({"run", file, "--no-db", "--watch", it.key()});
            QCOMPARE(result.code, 2);
            QVERIFY2(result.err.contains(it.value()), qPrintable(result.err));
        }
    }

private:
    Cli m_cli;
    QString m_file;
};

void TestCliRun::initTestCase()
{
    m_file = m_cli.write("tiny.json", tinyExperiment());
}

void TestCliRun::trainsEveryLaneAndPrintsTheDocumentedKeys()
{
    const CliResult result = m_cli.run({"run", m_file, "--no-db", "--json"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonObject json = result.json();
    QCOMPARE(json["experiment"].toString(), QString("tiny"));
    const QJsonArray runs = json["runs"].toArray();
    QCOMPARE(runs.size(), 2);
    for (const auto& entry : runs) {
        const QJsonObject run = entry.toObject();
        for (const char* key : {"id", "lane", "status", "steps", "final_loss", "validation", "skipped_steps",
                 "final_scale", "weights_hash", "steps_per_second", "bytes", "casts_per_step"}) {
            QVERIFY2(run.contains(QLatin1String(key)), key);
        }
        for (const char* key : {"weights", "copies", "gradients", "optimizer", "activations", "workspace"}) {
            QVERIFY2(run["bytes"].toObject().contains(QLatin1String(key)), key);
        }
        QVERIFY(run["id"].isNull());
        QCOMPARE(run["status"].toString(), QString("finished"));
        QCOMPARE(run["steps"].toInt(), 12);
        QVERIFY(run["final_loss"].toDouble() > 0);
        QVERIFY(run["validation"].toObject()["accuracy"].toDouble() >= 0);
        QCOMPARE(run["weights_hash"].toString().size(), 16);
        QVERIFY(run["bytes"].toObject()["weights"].toDouble() > 0);
    }
    QCOMPARE(runs.at(0)["lane"].toString(), QString("FP32"));
    QCOMPARE(runs.at(0)["final_scale"].toDouble(), 1.0);
    QCOMPARE(runs.at(0)["casts_per_step"].toInt(), 0);
    QCOMPARE(runs.at(1)["lane"].toString(), QString("FP16 AMP"));
    QVERIFY(runs.at(1)["casts_per_step"].toInt() > 0);
    // 12 finite steps, growth every 4.
    QCOMPARE(runs.at(1)["skipped_steps"].toInt(), 0);
    QCOMPARE(runs.at(1)["final_scale"].toDouble(), 8192.0);
}

void TestCliRun::printsATableForPeople()
{
    const CliResult result = m_cli.run({"run", m_file, "--no-db"});
    QCOMPARE(result.code, 0);
    const QStringList lines = result.out.split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 3);
    for (const char* title :
        {"lane", "status", "final loss", "val. accuracy", "skipped", "final scale", "steps/s", "memory", "flushed"}) {
        QVERIFY2(lines[0].contains(QLatin1String(title)), title);
    }
    QVERIFY(lines[1].contains("FP32") && lines[1].contains("finished"));
    QVERIFY(lines[2].contains("FP16 AMP") && lines[2].contains("8192"));
    QVERIFY(result.err.contains("optimizer.lr")); // the scripted event
}

void TestCliRun::writesOneRecordPerStepAndLane()
{
    const QString file = m_cli.path("metrics.jsonl");
    const CliResult result = m_cli.run({"run", m_file, "--no-db", "--metrics", file});
    QCOMPARE(result.code, 0);
    QFile metrics(file);
    QVERIFY(metrics.open(QIODevice::ReadOnly));
    const QStringList lines = QString::fromUtf8(metrics.readAll()).split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 24);
    QMap<QString, int> next;
    for (const QString& line : lines) {
        const QJsonObject record = QJsonDocument::fromJson(line.toUtf8()).object();
        for (const char* key : {"lane", "step", "loss", "loss_finite", "grad_norm", "grad_norm_clipped", "grad_max",
                 "scale", "growth_tracker", "found_inf", "skipped", "lr", "flushed", "subnormal", "overflowed",
                 "update_ratio", "time_ms"}) {
            QVERIFY2(record.contains(QLatin1String(key)), key);
        }
        for (const char* key : {"data", "forward", "backward", "unscale", "clip", "optimizer", "instruments"}) {
            QVERIFY2(record["time_ms"].toObject().contains(QLatin1String(key)), key);
        }
        const QString lane = record["lane"].toString();
        const int step = next[lane]++;
        QCOMPARE(record["step"].toInt(), step);
        if (lane == "FP16 AMP") {
            QCOMPARE(record["scale"].toDouble(), 1024.0 * (1 << (step / 4)));
            QCOMPARE(record["lr"].toDouble(), step < 6 ? 0.1 : 0.05);
        } else {
            QCOMPARE(record["scale"].toDouble(), 1.0);
            QCOMPARE(record["lr"].toDouble(), 0.1);
        }
    }
    QCOMPARE(next.keys(), QStringList({"FP16 AMP", "FP32"}));
}

void TestCliRun::metricsOnStdoutLeaveItToThem()
{
    const CliResult plain = m_cli.run({"run", m_file, "--no-db", "--metrics", "-"});
    QCOMPARE(plain.code, 0);
    QCOMPARE(recordsOf(plain.out).size(), 24);
    QVERIFY(plain.err.contains("final loss"));
    const CliResult json = m_cli.run({"run", m_file, "--no-db", "--metrics", "-", "--json"});
    const QList<QJsonObject> lines = recordsOf(json.out);
    QCOMPARE(lines.size(), 25);
    QCOMPARE(lines.last()["experiment"].toString(), QString("tiny"));
}

void TestCliRun::printsTheGraphInsteadOfTraining()
{
    const CliResult result = m_cli.run({"run", m_file, "--no-db", "--print-graph", "--json"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonArray lanes = result.json()["lanes"].toArray();
    QCOMPARE(lanes.size(), 2);
    for (const auto& entry : lanes) {
        const QJsonObject lane = entry.toObject();
        const bool isHalf = lane["policy"].toString() == "fp16";
        int casts = 0;
        int products = 0;
        for (const auto& item : lane["nodes"].toArray()) {
            const QJsonObject node = item.toObject();
            const QString format = node["outputs"].toArray()[0].toObject()["dtype"].toString();
            casts += node["cast"].toBool() ? 1 : 0;
            if (node["op"].toString() == "linear") {
                ++products;
                QCOMPARE(format, QString(isHalf ? "fp16" : "fp32"));
                QVERIFY(!node["reason"].toString().isEmpty());
            }
            if (node["op"].toString() == "cross_entropy") {
                QCOMPARE(format, QString("fp32"));
            }
        }
        QVERIFY(products > 0);
        QCOMPARE(casts > 0, isHalf);
        QCOMPARE(lane["casts_per_step"].toInt() > 0, isHalf);
    }
    // Without labels the model has as many outputs as targets are made of them.
    const CliResult numbers = m_cli.run({"run", m_file, "--no-db", "--print-graph", "--json", "--set", "loss=mse"});
    QVERIFY2(numbers.code == 0, qPrintable(numbers.err));
    QJsonArray shape;
    for (const auto& item : numbers.json()["lanes"].toArray()[0].toObject()["nodes"].toArray()) {
        const QJsonObject node = item.toObject();
        if (node["name"].toString() == "fc2") {
            shape = node["outputs"].toArray()[0].toObject()["shape"].toArray();
        }
    }
    QCOMPARE(shape, (QJsonArray {16, 3}));
    const CliResult text = m_cli.run({"run", m_file, "--no-db", "--print-graph"});
    QVERIFY2(text.code == 0, qPrintable(text.err));
    QVERIFY(text.out.contains("linear") && text.out.contains("casts per step"));
}

void TestCliRun::repeatsExactly()
{
    const CliResult first = m_cli.run({"run", m_file, "--no-db", "--metrics", "-"});
    const CliResult second = m_cli.run({"run", m_file, "--no-db", "--metrics", "-"});
    QVERIFY(!recordsOf(first.out).isEmpty());
    QCOMPARE(recordsOf(first.out), recordsOf(second.out));
}

void TestCliRun::eachThreadCountRepeatsExactly()
{
    for (const char* threads : {"1", "2"}) {
        const QStringList arguments {"run", m_file, "--no-db", "--json", "--threads", threads};
        const QStringList hashes = hashesOf(m_cli.run(arguments));
        QCOMPARE(hashes.size(), 2);
        QVERIFY(hashes[0] != hashes[1]);
        QCOMPARE(hashesOf(m_cli.run(arguments)), hashes);
    }
}

void TestCliRun::trainsOnATable()
{
    // Whether a shape's number and a colour's are of the same parity: neither column tells it alone.
    const QStringList shapes {"circle", "square", "triangle", "star"};
    const QStringList colours {"red", "green", "blue"};
    QString table = "shape;colour;weight;fits\n";
    for (int i = 0; i < 240; ++i) {
        table += QString("%1;%2;%3;%4\n")
                     .arg(shapes[i % 4], colours[i % 3])
                     .arg(i * 7 % 11)
                     .arg(i % 4 % 2 == i % 3 % 2 ? "yes" : "no");
    }
    m_cli.write("table.csv", table);
    const QString file = m_cli.write("table.json", R"({"mantissa": 1, "steps": 200, "optimizer": {"lr": 0.01},
        "data": {"kind": "csv", "path": "table.csv", "target": "fits"}, "model": {"hidden": [32]},
        "lanes": [{"name": "FP32"}, {"name": "BF16", "precision": {"policy": "bf16"}}]})");
    const CliResult result = m_cli.run({"run", file, "--no-db", "--json"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonArray runs = result.json()["runs"].toArray();
    QCOMPARE(runs.size(), 2);
    for (const auto& run : runs) {
        QCOMPARE(run.toObject()["validation"].toObject()["accuracy"].toDouble(), 1.0);
    }
}

void TestCliRun::namesTheFaultOfATable()
{
    m_cli.write("broken.csv", "size,price\n1,2\n,3\n");
    const CliResult result = m_cli.run(
        {"run", m_file, "--no-db", "--set", "data.kind=csv", "--set", "loss=mse", "--set", "data.path=broken.csv"});
    QCOMPARE(result.code, 2);
    QVERIFY2(result.err.contains("broken.csv, line 3, column \"size\": the cell is empty"), qPrintable(result.err));
}

void TestCliRun::optionsChangeTheExperiment()
{
    const QJsonArray one = m_cli.run({"run", m_file, "--no-db", "--json", "--lane", "fp16 amp", "--steps", "5"})
                               .json()["runs"]
                               .toArray();
    QCOMPARE(one.size(), 1);
    QCOMPARE(one.at(0)["lane"].toString(), QString("FP16 AMP"));
    QCOMPARE(one.at(0)["steps"].toInt(), 5);

    const QStringList base = hashesOf(m_cli.run({"run", m_file, "--no-db", "--json", "--lane", "FP32"}));
    QCOMPARE(base.size(), 1);
    QCOMPARE(hashesOf(m_cli.run({"run", m_file, "--no-db", "--json", "--lane", "FP32", "--seed", "3"})), base);
    QVERIFY(hashesOf(m_cli.run({"run", m_file, "--no-db", "--json", "--lane", "FP32", "--seed", "4"})) != base);
    const CliResult wide = m_cli.run(
        {"run", m_file, "--no-db", "--json", "--set", "model.hidden=[16, 4]", "--set", "precision.policy=bf16"});
    QVERIFY2(wide.code == 0, qPrintable(wide.err));
    for (const auto& run : wide.json()["runs"].toArray()) {
        QVERIFY(run.toObject()["casts_per_step"].toInt() > 0);
    }
}

void TestCliRun::setReachesOnlyLanesWithAScaler()
{
    const QJsonArray runs
        = m_cli.run({"run", m_file, "--no-db", "--json", "--set", "scaler.frozen=true"}).json()["runs"].toArray();
    QCOMPARE(runs.size(), 2);
    QCOMPARE(runs.at(0)["final_scale"].toDouble(), 1.0);
    QCOMPARE(runs.at(1)["final_scale"].toDouble(), 1024.0);
}

void TestCliRun::setReachesOnlyScalersWithSuchAParameter()
{
    const QString file = m_cli.write("families.json", R"({"mantissa": 1, "steps": 4,
        "data": {"kind": "spirals", "samples": 80, "batch": 16}, "model": {"hidden": [8]},
        "lanes": [{"name": "A", "scaler": {"family": "fixed", "init_scale": 8}},
                  {"name": "B", "scaler": {"family": "pytorch", "init_scale": 8}}]})");
    const CliResult result = m_cli.run({"run", file, "--no-db", "--json", "--set", "scaler.growth_interval=2"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonArray runs = result.json()["runs"].toArray();
    QCOMPARE(runs.at(0)["final_scale"].toDouble(), 8.0);
    QCOMPARE(runs.at(1)["final_scale"].toDouble(), 32.0);
    QVERIFY(m_cli.run({"run", file, "--no-db", "--set", "scaler.tolerance=0.5"}).err.contains("has no such parameter"));
}

void TestCliRun::numbersThatAreNotFiniteAreTexts()
{
    const CliResult result = m_cli.run({"run", m_file, "--no-db", "--metrics", "-", "--lane", "FP32", "--set",
        "optimizer.lr=1e6", "--set", "loss_weight=1e30"});
    const QList<QJsonObject> records = recordsOf(result.out);
    QCOMPARE(result.code, 0);
    QVERIFY(!records.isEmpty());
    bool seen = false;
    for (const QJsonObject& record : records) {
        const QJsonValue loss = record["loss"];
        QVERIFY(loss.isDouble() || QStringList({"inf", "-inf", "nan"}).contains(loss.toString()));
        seen = seen || loss.isString() || record["grad_norm"].isString();
    }
    QVERIFY(seen);
}

void TestCliRun::refuses_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QString>("message");
    const QString good = tinyExperiment();
    QTest::newRow("no such file") << QString() << QStringList {"--steps", "1"} << "missing.json: there is no such file";
    QTest::newRow("syntax") << "{\"mantissa\": 1,\n}" << QStringList {} << "bad.json:2:1: not valid JSON";
    QTest::newRow("unknown key")
        << R"({"mantissa": 1, "lanes": [{"name": "A"}, {"name": "B", "precision": {"polcy": 1}}]})" << QStringList {}
        << "bad.json: lanes[1].precision.polcy is not a setting (its value: 1); did you mean \"policy\"?";
    QTest::newRow("unknown choice") << R"({"mantissa": 1, "precision": {"policy": "fp61"}})" << QStringList {}
                                    << "did you mean \"fp16\"?";
    QTest::newRow("unknown lane") << good << QStringList {"--lane", "FP23"}
                                  << "--lane: there is no lane \"FP23\"; did you mean \"FP32\"?";
    QTest::newRow("set without value") << good << QStringList {"--set", "optimizer.lr"} << "write PATH=VALUE";
    QTest::newRow("set of no setting") << good << QStringList {"--set", "optimizer.lrr=1"}
                                       << "--set optimizer.lrr=1: optimizer.lrr is not a setting";
    QTest::newRow("set out of range") << good << QStringList {"--set", "data.batch=0"}
                                      << "data.batch is 0; it must be an integer from 1";
    QTest::newRow("set that an event cannot bear")
        << R"({"mantissa": 1, "scaler": {}, "events": [{"step": 1, "set": {"scaler.scale": 8}}]})"
        << QStringList {"--set", "scaler=null"} << "events[0].set.scaler.scale cannot be set";
    QTest::newRow("set of the name") << good << QStringList {"--set", "name=x"} << "name cannot change";
    QTest::newRow("scaler where there is none")
        << good << QStringList {"--lane", "FP32", "--set", "scaler.frozen=true"} << "has no scaler";
    QTest::newRow("steps of zero") << good << QStringList {"--steps", "0"}
                                   << "--steps 0: steps is 0; it must be an integer from 1";
    QTest::newRow("negative seed") << good << QStringList {"--seed", "-1"} << "--seed";
    QTest::newRow("no threads") << good << QStringList {"--threads", "0"} << "--threads";
    QTest::newRow("unknown device") << good << QStringList {"--device", "gpu"} << "--device";
    const QString images = R"({"mantissa": 1, "data": {"kind": "mnist", "path": "%1"}})";
    QTest::newRow("data that is not there")
        << images.arg("nowhere") << QStringList {"--no-db"} << m_cli.path("nowhere") + " is not a folder";
    QDir(m_cli.path(".")).mkdir("damaged");
    for (const char* name : {"damaged/train-labels-idx1-ubyte", "damaged/train-images-idx3-ubyte"}) {
        m_cli.write(name, "no images");
    }
    QTest::newRow("damaged data") << images.arg("damaged") << QStringList {"--no-db"} << "train-labels-idx1-ubyte";
    QTest::newRow("both databases") << good << QStringList {"--db", "x.db", "--no-db"} << "--no-db";
}

void TestCliRun::refuses()
{
    QFETCH(QString, text);
    QFETCH(QStringList, options);
    QFETCH(QString, message);
    const QString file = text.isEmpty() ? m_cli.path("missing.json") : m_cli.write("bad.json", text);
    const CliResult result = m_cli.run(QStringList {"run", file} + options);
    QCOMPARE(result.code, 2);
    QCOMPARE(result.out, QString());
    QVERIFY2(result.err.contains(message), qPrintable("said: " + result.err));
    QVERIFY(!QFile::exists(m_cli.path("data/mantissa/runs.db")));
}

void TestCliRun::failsWhereItCannotWrite_data()
{
    QTest::addColumn<QStringList>("options");
    m_cli.write("no.db", QString("this is no database").repeated(100));
    QTest::newRow("a file that is no database") << QStringList {"--db", m_cli.path("no.db")};
    QTest::newRow("a database in no folder that can be") << QStringList {"--db", m_cli.path("no.db/x/runs.db")};
    QTest::newRow("metrics in no folder") << QStringList {"--no-db", "--metrics", m_cli.path("nowhere/m.jsonl")};
    QTest::newRow("metrics on a full disk") << QStringList {"--no-db", "--metrics", "/dev/full"};
}

void TestCliRun::failsWhereItCannotWrite()
{
    QFETCH(QStringList, options);
    const CliResult result = m_cli.run(QStringList {"run", m_file} + options);
    QCOMPARE(result.code, 1);
    QVERIFY(!result.err.isEmpty());
}

void TestCliRun::stopsOnInterruptAndKeepsTheData()
{
    const QString database = m_cli.path("stopped.db");
    QProcess process;
    m_cli.start(process, {"run", m_file, "--steps", "100000000", "--json", "--metrics", "-", "--db", database});
    QVERIFY(process.waitForReadyRead(60000));
    const QByteArray first = process.readAllStandardOutput();
    QVERIFY(!first.isEmpty());
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    const CliResult result = Cli::finish(process);
    QCOMPARE(result.code, 1);
    const QString last = result.out.split('\n', Qt::SkipEmptyParts).last();
    const QJsonArray runs = QJsonDocument::fromJson(last.toUtf8()).object()["runs"].toArray();
    QCOMPARE(runs.size(), 2);
    QCOMPARE(runs.at(0)["status"].toString(), QString("stopped"));
    QVERIFY(runs.at(0)["steps"].toInt() > 0);
    QCOMPARE(runs.at(0)["validation"].toObject()["accuracy"].toString(), QString("nan"));

    const CliResult list = m_cli.run({"runs", "list", "--json", "--db", database});
    QCOMPARE(list.code, 0);
    const QJsonArray stored = list.json()["runs"].toArray();
    QCOMPARE(stored.size(), 2);
    for (const auto& run : stored) {
        QCOMPARE(run.toObject()["status"].toString(), QString("stopped"));
        QCOMPARE(run.toObject()["steps"].toInt(), runs.at(0)["steps"].toInt());
    }
}

QTEST_GUILESS_MAIN(TestCliRun)
#include "tst_cli_run.moc"
