// mantissa-cli run --census, --dump-tensors, and trace: what is counted is what the dumped tensors hold, and a run that
// broke is taken to where it broke.
#include "cli_runner.h"
#include "engine/tensor/safetensors.h"

#include <cmath>
#include <cstring>
#include <map>

using mantissa::tests::Cli;
using mantissa::tests::CliResult;

namespace {

QString experiment(const QString& events)
{
    return QStringLiteral(R"({"mantissa": 1, "name": "t", "steps": 20,
        "data": {"kind": "digits", "batch": 16}, "model": {"kind": "mlp", "hidden": [24]},
        "optimizer": {"kind": "sgd", "lr": 0.05}, "loss_weight": 1e-3,
        "lanes": [{"name": "fp32"}, {"name": "fp16", "precision": {"policy": "fp16"}, "scaler": {"init_scale": 1}}],
        "events": [%1]})")
        .arg(events);
}

QList<QJsonObject> linesOf(const QString& text)
{
    QList<QJsonObject> lines;
    for (const QString& line : text.split('\n', Qt::SkipEmptyParts)) {
        lines.append(QJsonDocument::fromJson(line.toUtf8()).object());
    }
    return lines;
}

} // namespace

class TestCliCensus : public QObject
{
    Q_OBJECT

    static QString hashOf(const CliResult& result)
    {
        return result.json()["runs"].toArray()[1].toObject()["weights_hash"].toString();
    }

private slots:

    void countsWhatTheDumpHolds()
    {
        const QString file = m_cli.write("a.json", experiment({}));
        const QString plain = hashOf(m_cli.run({"run", file, "--json", "--no-db"}));
        const CliResult result = m_cli.run({"run", file, "--no-db", "--json", "--census", m_cli.path("census.jsonl"),
            "--census-every", "5", "--dump-tensors", m_cli.path("dump"), "--dump-step", "7"});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        QCOMPARE(hashOf(result), plain);
        QFile census(m_cli.path("census.jsonl"));
        QVERIFY(census.open(QIODevice::ReadOnly));
        std::map<int, int> steps;
        int compared = 0;
        const auto dump = mantissa::readSafetensors(m_cli.path("dump/lane1-step7.safetensors").toStdString());
        QCOMPARE(QString::fromStdString(dump.metadata.at("lane")), QString("fp16"));
        for (const QJsonObject& line : linesOf(QString::fromUtf8(census.readAll()))) {
            ++steps[line["step"].toInt()];
            if (line["step"].toInt() != 7 || line["lane"].toString() != "fp16") {
                continue;
            }
            const auto* tensor = dump.find((line["role"].toString() + ":" + line["tensor"].toString()).toStdString());
            QVERIFY2(tensor != nullptr, qPrintable(line["tensor"].toString()));
            std::vector<float> values(tensor->bytes.size() / sizeof(float));
            std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
            const double minNormal = line["format"].toString() == "fp16" ? std::ldexp(1.0, -14) : std::ldexp(1.0, -126);
            double zeros = 0;
            double subnormal = 0;
            double normal = 0;
            std::map<int, double> bins;
            for (const double value : values) {
                zeros += value == 0 ? 1 : 0;
                subnormal += value != 0 && std::abs(value) < minNormal ? 1 : 0;
                normal += std::isfinite(value) && std::abs(value) >= minNormal ? 1 : 0;
                if (value != 0 && std::isfinite(value)) {
                    ++bins[std::ilogb(value)];
                }
            }
            const QJsonObject counts = line["census"].toObject();
            QCOMPARE(line["elements"].toDouble(), static_cast<double>(values.size()));
            QCOMPARE(counts["zero"].toDouble() + counts["flushed"].toDouble(), zeros);
            QCOMPARE(counts["subnormal"].toDouble(), subnormal);
            QCOMPARE(counts["normal"].toDouble(), normal);
            const QJsonArray exponents = line["exponents"].toArray();
            for (int i = 0; i < exponents.size(); ++i) {
                QCOMPARE(exponents[i].toDouble(), bins[line["first_exponent"].toInt() + i]);
            }
            ++compared;
        }
        QVERIFY2(compared > 20, qPrintable(QString::number(compared)));
        QCOMPARE(steps.size(), 5U); // 0, 5, 7, 10, 15
    }

    void uncountedSharesAreNullExceptInSampledSteps()
    {
        const QString file = m_cli.write("a.json", experiment({}));
        const CliResult counted = m_cli.run({"run", file, "--no-db", "--json"});
        const CliResult result = m_cli.run({"run", file, "--db", m_cli.path("runs.db"), "--json", "--census-every", "5",
            "--no-counts", "--metrics", m_cli.path("metrics.jsonl")});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        QCOMPARE(hashOf(result), hashOf(counted));
        QFile metrics(m_cli.path("metrics.jsonl"));
        QVERIFY(metrics.open(QIODevice::ReadOnly));
        int lines = 0;
        for (const QJsonObject& line : linesOf(QString::fromUtf8(metrics.readAll()))) {
            QCOMPARE(line["flushed"] == QJsonValue("nan"), line["step"].toInt() % 5 != 0);
            ++lines;
        }
        QVERIFY(lines > 10);
        const CliResult findings = m_cli.run({"diagnose", "1", "--db", m_cli.path("runs.db"), "--json"});
        QVERIFY2(findings.code == 0, qPrintable(findings.err));
    }

    void refusesWhatCannotBe()
    {
        const QString file = m_cli.write("a.json", experiment({}));
        QCOMPARE(m_cli.run({"run", file, "--no-db", "--census-every", "5"}).code, 2);
        QCOMPARE(m_cli.run({"run", file, "--no-db", "--census", "-", "--metrics", "-"}).code, 2);
        QCOMPARE(m_cli.run({"run", file, "--no-db", "--census", m_cli.path("no/such/folder.jsonl")}).code, 1);
        QCOMPARE(m_cli.run({"run", file, "--no-db", "--census", "/dev/full"}).code, 1);
        QCOMPARE(m_cli.run({"run", file, "--no-db", "--dump-tensors", "/proc/nowhere"}).code, 1);
        const CliResult lines = m_cli.run({"run", file, "--no-db", "--census", "-", "--census-every", "10"});
        QCOMPARE(lines.code, 0);
        QVERIFY(linesOf(lines.out).size() > 20 && linesOf(lines.out).last().contains("role"));
    }

    void tracesARunToWhereItBroke()
    {
        const QString database = m_cli.path("runs.db");
        const QString file
            = m_cli.write("b.json", experiment(R"({"step": 9, "lane": "fp16", "set": {"fault.nan_sample": 1}},
                {"step": 14, "lane": "fp16", "set": {"scaler.scale": 1e12}})"));
        const CliResult run = m_cli.run({"run", file, "--db", database, "--json"});
        QCOMPARE(run.code, 0);
        const QString fp32 = QString::number(run.json()["runs"].toArray()[0].toObject()["id"].toInt());
        const QString fp16 = QString::number(run.json()["runs"].toArray()[1].toObject()["id"].toInt());

        const QJsonObject data = m_cli.run({"trace", fp16, "--json", "--db", database}).json();
        QCOMPARE(data["step"].toInt(), 9);
        QCOMPARE(data["cause"].toString(), QString("data"));
        QCOMPARE(data["samples"].toArray(), (QJsonArray {0}));
        QVERIFY(data["origin"].toObject()["inputs"].toArray().size() > 0);

        const CliResult scale = m_cli.run({"trace", fp16, "--step", "14", "--json", "--db", database});
        QCOMPARE(scale.json()["cause"].toString(), QString("scale"));
        const double safe = scale.json()["safe_scale"].toDouble();
        QVERIFY(safe >= 1024 && safe < 1e12);
        QVERIFY(m_cli.run({"trace", fp16, "--step", "14", "--db", database}).out.contains("The scale is at fault"));

        QCOMPARE(m_cli.run({"trace", fp16, "--step", "3", "--json", "--db", database}).json()["cause"].toString(),
            QString("nothing"));
        QCOMPARE(m_cli.run({"trace", fp32, "--db", database}).code, 2); // nothing broke
        QCOMPARE(m_cli.run({"trace", fp16, "--step", "500", "--db", database}).code, 2);
        QCOMPARE(m_cli.run({"trace", "77", "--db", database}).code, 2);
    }

private:
    Cli m_cli;
};

QTEST_GUILESS_MAIN(TestCliCensus)
#include "tst_cli_census.moc"
