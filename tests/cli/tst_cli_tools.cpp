// mantissa-cli scaler, format, devices, and how it says no.
#include "cli_runner.h"

#include <QJsonValue>

#include <cmath>

using mantissa::tests::Cli;
using mantissa::tests::CliResult;

namespace {

double numberOf(const QJsonValue& value)
{
    if (value.isString()) {
        const QString text = value.toString();
        return text == "inf" ? INFINITY : text == "-inf" ? -INFINITY : NAN;
    }
    return value.toDouble();
}

/// Zeros are equal whatever their sign, which Qt's JSON reader drops; the bits tell them apart.
bool sameNumber(double a, double b)
{
    return (std::isnan(a) && std::isnan(b)) || a == b;
}

} // namespace

class TestCliTools : public QObject
{
    Q_OBJECT

private slots:
    void scalerFollowsPytorchsTraces_data();
    void scalerFollowsPytorchsTraces();
    void scalerPrintsTheDocumentedKeys();
    void scalerWithoutAScaleNeverSkips();
    void aFrozenScalerSkipsButStays();
    void scalerPrintsATable();
    void everyFamilysOptionsReachItsMachine_data();
    void everyFamilysOptionsReachItsMachine();
    void scalersStandSideBySide();
    void theLossDrivenScalerTakesLosses();
    void scalersReplayTheGradientsOfARun();
    void scalerListsTheParameters();
    void benchTimesEachPrecision();
    void roundsEveryNumberOnce_data();
    void roundsEveryNumberOnce();
    void readsBits_data();
    void readsBits();
    void formatPrintsTheDocumentedKeys();
    void formatPrintsATable();
    void devicesSayWhatTheyAre();
    void memoryPlansADecoder();
    void refuses_data();
    void refuses();
    void helpIsNoError();

private:
    Cli m_cli;
};

// Traces: PyTorch's own GradScaler (release 1.13), executed; f is a finite step, n one with an infinity or NaN.
void TestCliTools::scalerFollowsPytorchsTraces_data()
{
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QString>("trace");
    QTest::addColumn<QList<double>>("scales");
    QTest::addColumn<QList<int>>("trackers");
    QTest::newRow("growth, then a backoff to a quarter")
        << QStringList {"--init", "4", "--backoff", "0.25", "--interval", "2"} << "ffn" << QList<double> {4, 8, 2}
        << QList<int> {1, 0, 0};
    QTest::newRow("a non-finite step resets the tracker")
        << QStringList {"--init", "8", "--interval", "3"} << "ffff n fff" << QList<double> {8, 8, 16, 16, 8, 8, 8, 16}
        << QList<int> {1, 2, 0, 1, 0, 1, 2, 0};
    QTest::newRow("two non-finite steps")
        << QStringList {"--init", "8", "--interval", "3"} << "FFN,FFN,FFF" << QList<double> {8, 8, 4, 4, 4, 2, 2, 2, 4}
        << QList<int> {1, 2, 0, 1, 2, 0, 1, 2, 0};
    QTest::newRow("growth to infinity is refused")
        << QStringList {"--init", "170141183460469231731687303715884105728", "--interval", "1"} << "ffnf"
        << QList<double> {0x1p127, 0x1p127, 0x1p126, 0x1p127} << QList<int> {0, 0, 0, 0};
    QTest::newRow("zero absorbs") << QStringList {"--init", "2.802596928649634e-45", "--interval", "2"} << "nnnff"
                                  << QList<double> {0x1p-149, 0, 0, 0, 0} << QList<int> {0, 0, 0, 1, 0};
}

void TestCliTools::scalerFollowsPytorchsTraces()
{
    QFETCH(QStringList, options);
    QFETCH(QString, trace);
    QFETCH(QList<double>, scales);
    QFETCH(QList<int>, trackers);
    const CliResult result
        = m_cli.run(QStringList {"scaler", "--json", "--family", "pytorch", "--trace", trace} + options);
    QCOMPARE(result.code, 0);
    QCOMPARE(result.err, QString());
    const QJsonArray steps = result.json()["steps"].toArray();
    QCOMPARE(steps.size(), scales.size());
    for (int i = 0; i < steps.size(); ++i) {
        QCOMPARE(steps.at(i)["scale"].toDouble(), scales[i]);
        QCOMPARE(steps.at(i)["growth_tracker"].toInt(), trackers[i]);
        QCOMPARE(steps.at(i)["step"].toInt(), i);
        QCOMPARE(steps.at(i)["skipped"].toBool(), !steps.at(i)["finite"].toBool());
    }
}

void TestCliTools::scalerPrintsTheDocumentedKeys()
{
    const QJsonObject json = m_cli.run({"scaler", "--json", "--family", "pytorch", "--trace", "fn"}).json();
    QCOMPARE(json["family"].toString(), QString("pytorch"));
    const QJsonObject step = json["steps"].toArray().at(1).toObject();
    for (const char* key : {"step", "finite", "skipped", "scale", "growth_tracker", "hysteresis", "raised"}) {
        QVERIFY2(step.contains(QLatin1String(key)), key);
    }
    QCOMPARE(step["scale"].toDouble(), 32768.0);
    QVERIFY(step["hysteresis"].isNull());
    QVERIFY(step["raised"].isNull());
}

void TestCliTools::scalerWithoutAScaleNeverSkips()
{
    const QJsonArray none
        = m_cli.run({"scaler", "--json", "--family", "none", "--trace", "nf"}).json()["steps"].toArray();
    QCOMPARE(none.size(), 2);
    QCOMPARE(none.at(0)["skipped"].toBool(), false);
    QCOMPARE(none.at(0)["finite"].toBool(), false);
    QCOMPARE(none.at(0)["scale"].toDouble(), 1.0);
    const QJsonArray fixed = m_cli.run({"scaler", "--json", "--family", "fixed", "--init", "64", "--trace", "nf"})
                                 .json()["steps"]
                                 .toArray();
    QCOMPARE(fixed.at(0)["skipped"].toBool(), true);
    QCOMPARE(fixed.at(0)["scale"].toDouble(), 64.0);
}

void TestCliTools::aFrozenScalerSkipsButStays()
{
    const QJsonArray steps
        = m_cli.run({"scaler", "--json", "--family", "pytorch", "--frozen", "--interval", "1", "--trace", "fnf"})
              .json()["steps"]
              .toArray();
    QCOMPARE(steps.size(), 3);
    for (const auto& step : steps) {
        QCOMPARE(step.toObject()["scale"].toDouble(), 65536.0);
    }
    QCOMPARE(steps.at(1).toObject()["skipped"].toBool(), true);
}

// One trace per family; tests/engine/tst_loss_scalers.cpp has them all.
void TestCliTools::everyFamilysOptionsReachItsMachine_data()
{
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QString>("trace");
    QTest::addColumn<QList<double>>("scales");
    QTest::addColumn<QList<int>>("hysteresis"); // of the last steps
    const auto row = [](const char* family, const QStringList& options, const char* trace, const QList<double>& scales,
                         const QList<int>& hysteresis = {}) {
        QTest::newRow(qPrintable(QString("%1 %2").arg(family, options.join(' '))))
            << (QStringList {"--family", family} + options) << QString(trace) << scales << hysteresis;
    };
    row("tensorflow", {"--init", "64", "--growth", "4", "--interval", "2"}, "ffnnn", {64, 256, 64, 16, 4});
    row("keras", {"--init", "400"}, "nnnn", {200, 100, 50, 25});
    row("mxnet", {"--interval", "3"}, "ffffnff", {65536, 65536, 65536, 131072, 131072, 65536, 65536});
    row("apex", {"--init", "8", "--interval", "2", "--max", "16"}, "ffffnffn", {8, 16, 16, 16, 8, 8, 16, 8});
    row("apex", {"--init", "16", "--interval", "3", "--min", "4"}, "nnnnfff", {8, 4, 4, 4, 4, 4, 8});
    row("deepspeed", {"--init", "16", "--interval", "2"}, "fffffnfnfffn",
        {16, 16, 32, 32, 64, 64, 64, 32, 32, 32, 64, 64}, {1, 1, 2, 1});
    row("deepspeed", {"--init", "16", "--consecutive-hysteresis"}, "nfnnfn", {16, 16, 16, 8, 8, 8}, {1, 2, 1, 1, 2, 1});
    row("deepspeed", {"--init", "4", "--hysteresis", "1", "--raise-at-min", "false", "--set", "loss_scale_window=2"},
        "nnnfff", {2, 1, 1, 1, 1, 2});
    row("megatron", {"--init", "16", "--interval", "3", "--hysteresis", "2", "--min", "1"}, "nnnfffnn",
        {16, 8, 4, 4, 4, 8, 8, 4}, {1, 0, -1, -1, -1, 2, 1, 0});
    row("fairseq", {"--init", "8", "--tolerance", "0.5", "--interval", "100"}, "ffnfnnn", {8, 8, 8, 8, 8, 4, 2});
    row("fairseq", {"--init", "8", "--threshold", "2", "--set", "scale_window=3"}, "nnnnfff", {4, 2, 2, 2, 2, 2, 4});
    row("jmp", {"--set", "loss_scale=4", "--set", "period=3"}, "nnnnfff", {2, 1, 1, 1, 1, 1, 2});
    row("flax", {"--init", "8", "--interval", "2"}, "ffffffn", {8, 8, 16, 16, 16, 32, 16});
    row("paddle", {"--init", "16", "--interval", "3", "--set", "paddle.decr_every_n_nan_or_inf=2"}, "nfnnfffnn",
        {16, 16, 16, 8, 8, 8, 16, 16, 8});
}

void TestCliTools::everyFamilysOptionsReachItsMachine()
{
    QFETCH(QStringList, options);
    QFETCH(QString, trace);
    QFETCH(QList<double>, scales);
    QFETCH(QList<int>, hysteresis);
    const CliResult result = m_cli.run(QStringList {"scaler", "--json", "--trace", trace} + options);
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonArray steps = result.json()["steps"].toArray();
    QCOMPARE(steps.size(), scales.size());
    for (int i = 0; i < steps.size(); ++i) {
        QCOMPARE(steps.at(i)["scale"].toDouble(), scales[i]);
    }
    for (int i = 0; i < hysteresis.size(); ++i) {
        QCOMPARE(steps.at(steps.size() - hysteresis.size() + i)["hysteresis"].toInt(-99), hysteresis[i]);
    }
}

void TestCliTools::scalersStandSideBySide()
{
    const QStringList arguments {"scaler", "--family", "pytorch", "--family", "deepspeed", "--init", "2", "--set",
        "deepspeed.hysteresis=1", "--trace", "fnnnf"};
    const QJsonArray families = m_cli.run(arguments + QStringList {"--json"}).json()["families"].toArray();
    QCOMPARE(families.size(), 2);
    QCOMPARE(families.at(0)["family"].toString(), QString("pytorch"));
    QCOMPARE(families.at(0)["steps"].toArray().size(), 5);
    QCOMPARE(families.at(0)["skipped_steps"].toInt(), 3);
    QCOMPARE(families.at(0)["final_scale"].toDouble(), 0.25);
    const QJsonArray ended = families.at(1)["steps"].toArray(); // at its minimum, at the second overflow
    QCOMPARE(ended.size(), 3);
    QVERIFY(ended.at(2)["raised"].toString().contains("minimum"));

    const CliResult text = m_cli.run(arguments);
    QCOMPARE(text.code, 0);
    const QStringList lines = text.out.split('\n');
    QCOMPARE(lines[0].simplified(), QString("step pytorch deepspeed"));
    QCOMPARE(lines[1].simplified(), QString("start 2 2"));
    QCOMPARE(lines[3].simplified(), QString("1 1 x 1 x"));
    QCOMPARE(lines[5].simplified(), QString("3 0.25 x -"));
    QVERIFY2(text.out.contains("scale, 2^-2 to 2^1\npytorch    █▆▃▁▁\ndeepspeed  █▆▆\n"), qPrintable(text.out));
    QVERIFY(text.out.contains("deepspeed raised at step 2: "));
}

void TestCliTools::theLossDrivenScalerTakesLosses()
{
    const QStringList arguments {"scaler", "--json", "--family", "loss-driven", "--interval", "2", "--trace", "fnfff"};
    const auto lastScale = [](const CliResult& result) { return result.json()["final_scale"].toDouble(); };
    QCOMPARE(lastScale(m_cli.run(arguments)), 65536.0);
    const CliResult moved = m_cli.run(arguments + QStringList {"--losses", "2,1,3,1,nan"});
    QVERIFY2(moved.code == 0, qPrintable(moved.err));
    QCOMPARE(lastScale(moved), 32768.0);
    QCOMPARE(moved.json()["skipped_steps"].toInt(), 0);
}

void TestCliTools::scalersReplayTheGradientsOfARun()
{
    const QString database = m_cli.path("runs.db");
    const CliResult run = m_cli.run({"run", m_cli.write("tiny.json", mantissa::tests::tinyExperiment()), "--json",
        "--lane", "FP32", "--db", database});
    QVERIFY2(run.code == 0, qPrintable(run.err));
    const QString id = QString::number(run.json()["runs"].toArray().at(0)["id"].toInt());
    const QStringList arguments {"scaler", "--json", "--gradients", id, "--db", database};
    const QJsonObject small = m_cli.run(arguments + QStringList {"--family", "pytorch", "--init", "1024"}).json();
    QCOMPARE(small["steps"].toArray().size(), 12);
    QCOMPARE(small["skipped_steps"].toInt(), 0);
    // So large that every gradient overflows until the scale is small enough.
    const QJsonObject large = m_cli.run(arguments + QStringList {"--family", "pytorch", "--init", "1e8"}).json();
    QVERIFY(large["skipped_steps"].toInt() > 3);
    QVERIFY(large["skipped_steps"].toInt() < 12);
    const CliResult all = m_cli.run(arguments + QStringList {"--family", "pytorch", "--family", "loss-driven"});
    QCOMPARE(all.json()["families"].toArray().size(), 2);
    const CliResult none = m_cli.run({"scaler", "--family", "pytorch", "--gradients", "99", "--db", database});
    QCOMPARE(none.code, 2);
    QVERIFY2(none.err.contains("there is no run 99"), qPrintable(none.err));
}

void TestCliTools::scalerListsTheParameters()
{
    const QJsonArray families = m_cli.run({"scaler", "--list", "--json"}).json()["families"].toArray();
    QCOMPARE(families.size(), 14);
    const QJsonArray paddle
        = m_cli.run({"scaler", "--list", "--json", "--family", "paddle"}).json()["families"].toArray();
    QCOMPARE(paddle.size(), 1);
    const QJsonObject last = paddle.at(0)["parameters"].toArray().last().toObject();
    QCOMPARE(last["key"].toString(), QString("hysteresis"));
    QCOMPARE(last["own_name"].toString(), QString("decr_every_n_nan_or_inf"));
    QCOMPARE(last["kind"].toString(), QString("integer"));
    QCOMPARE(last["default"].toInt(), 1);
    QCOMPARE(last["range"].toString(), QString("from 1 to 1000000"));
    const CliResult text = m_cli.run({"scaler"});
    QCOMPARE(text.code, 0);
    QVERIFY2(text.out.contains("raise_error_at_min_scale  true"), qPrintable(text.out));
}

void TestCliTools::scalerPrintsATable()
{
    const CliResult result = m_cli.run({"scaler", "--family", "pytorch", "--interval", "1", "--trace", "fn"});
    QCOMPARE(result.code, 0);
    const QStringList lines = result.out.split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 3);
    QCOMPARE(lines[1].simplified(), QString("0 finite no 131072 0 -"));
    QCOMPARE(lines[2].simplified(), QString("1 not finite yes 65536 0 -"));
}

// Bits and values: worked out from IEEE 754's definitions; the FP16 ones agree with Python's struct "e".
void TestCliTools::roundsEveryNumberOnce_data()
{
    QTest::addColumn<QString>("number");
    QTest::addColumn<QString>("format");
    QTest::addColumn<QString>("hex");
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("category");
    const auto row = [](const char* number, const char* format, const char* hex, double value, const char* category) {
        QTest::newRow(qPrintable(QString("%1 in %2").arg(number, format)))
            << number << format << hex << value << category;
    };
    row("1", "fp16", "0x3c00", 1, "normal");
    row("1", "bf16", "0x3f80", 1, "normal");
    row("1", "fp32", "0x3f800000", 1, "normal");
    row("0.1", "fp16", "0x2e66", 0.0999755859375, "normal");
    row("0.1", "bf16", "0x3dcd", 0.10009765625, "normal");
    row("0.1", "fp32", "0x3dcccccd", 0.100000001490116119384765625, "normal");
    row("0.12345", "fp16", "0x2fe7", 0.12347412109375, "normal");
    row("-2.5", "fp16", "0xc100", -2.5, "normal");
    row("-.5", "fp16", "0xb800", -0.5, "normal");
    row("0", "fp16", "0x0000", 0.0, "zero");
    row("-0", "fp16", "0x8000", -0.0, "zero");
    row("65504", "fp16", "0x7bff", 65504, "normal");
    row("65519.99", "fp16", "0x7bff", 65504, "normal");
    row("65520", "fp16", "0x7c00", INFINITY, "inf");
    row("-65520", "fp16", "0xfc00", -INFINITY, "inf");
    // As doubles these are ties; as written they are not.
    row("65519.99999999999999999999", "fp16", "0x7bff", 65504, "normal");
    row("65520.00000000000000000001", "fp16", "0x7c00", INFINITY, "inf");
    row("1.00048828125", "fp16", "0x3c00", 1, "normal");
    row("1.0004882812500000000001", "fp16", "0x3c01", 1.0009765625, "normal");
    row("1.00146484375", "fp16", "0x3c02", 1.001953125, "normal");
    row("1.0014648437499999999999", "fp16", "0x3c01", 1.0009765625, "normal");
    row("6.103515625e-05", "fp16", "0x0400", 0x1p-14, "normal");
    row("6.0975551605224609375e-05", "fp16", "0x03ff", 0x1.ff8p-15, "subnormal");
    row("6e-8", "fp16", "0x0001", 0x1p-24, "subnormal");
    row("2.98023223876953125e-08", "fp16", "0x0000", 0.0, "zero");
    row("2.98023223876953125000000000001e-08", "fp16", "0x0001", 0x1p-24, "subnormal");
    row("1e-400", "fp32", "0x00000000", 0.0, "zero");
    row("-1e-400", "bf16", "0x8000", -0.0, "zero");
    row("1e400", "fp32", "0x7f800000", INFINITY, "inf");
    row("3.38e38", "bf16", "0x7f7e", 0x1.fcp127, "normal");
    row("3.4e38", "bf16", "0x7f80", INFINITY, "inf");
    row("3.4e38", "fp32", "0x7f7fc99e", 3.3999999521443642e+38, "normal");
    row("16777217", "fp32", "0x4b800000", 16777216, "normal");
    row("16777219", "fp32", "0x4b800002", 16777220, "normal");
    row("1e-45", "fp32", "0x00000001", 0x1p-149, "subnormal");
    row("9.2e-41", "bf16", "0x0001", 0x1p-133, "subnormal");
    row("0x1.8p3", "fp16", "0x4a00", 12, "normal");
    row("0x1.002p0", "fp16", "0x3c00", 1, "normal");
    row("0x1.00200000000000000001p0", "fp16", "0x3c01", 1.0009765625, "normal");
    row("inf", "fp16", "0x7c00", INFINITY, "inf");
    row("-inf", "bf16", "0xff80", -INFINITY, "inf");
    row("nan", "fp16", "0x7fff", NAN, "nan");
}

void TestCliTools::roundsEveryNumberOnce()
{
    QFETCH(QString, number);
    QFETCH(QString, format);
    QFETCH(QString, hex);
    QFETCH(double, value);
    QFETCH(QString, category);
    const CliResult result = m_cli.run({"format", number, "--json"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonObject all = result.json()["values"].toArray().at(0).toObject();
    QCOMPARE(all["input"].toString(), number);
    const QJsonObject shown = all["formats"].toObject()[format].toObject();
    QCOMPARE(shown["hex"].toString(), hex);
    QVERIFY2(sameNumber(numberOf(shown["value"]), value), qPrintable(result.out));
    QCOMPARE(shown["class"].toString(), category);
}

void TestCliTools::readsBits_data()
{
    QTest::addColumn<QString>("bits");
    QTest::addColumn<QString>("format");
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("separated");
    QTest::newRow("largest FP16") << "0x7bff"
                                  << "fp16" << 65504.0 << "0|11110|1111111111";
    QTest::newRow("smallest FP16") << "0x1"
                                   << "fp16" << 0x1p-24 << "0|00000|0000000001";
    QTest::newRow("negative FP16") << "0xC000"
                                   << "fp16" << -2.0 << "1|10000|0000000000";
    QTest::newRow("BF16") << "0x3f80"
                          << "bf16" << 1.0 << "0|01111111|0000000";
    QTest::newRow("FP32") << "0x3dcccccd"
                          << "fp32" << 0.100000001490116119384765625 << "0|01111011|10011001100110011001101";
    QTest::newRow("FP16 infinity") << "0xfc00"
                                   << "fp16" << double(-INFINITY) << "1|11111|0000000000";
    QTest::newRow("FP16 NaN") << "0x7e01"
                              << "fp16" << double(NAN) << "0|11111|1000000001";
}

void TestCliTools::readsBits()
{
    QFETCH(QString, bits);
    QFETCH(QString, format);
    QFETCH(double, value);
    QFETCH(QString, separated);
    const CliResult result = m_cli.run({"format", bits, "--format", format, "--json"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonObject shown = result.json()["values"].toArray().at(0)["formats"].toObject()[format].toObject();
    QVERIFY2(sameNumber(numberOf(shown["value"]), value), qPrintable(result.out));
    QCOMPARE(shown["bits"].toString(), separated);
    QCOMPARE(numberOf(shown["error"]), 0.0);
}

void TestCliTools::formatPrintsTheDocumentedKeys()
{
    const QJsonArray values = m_cli.run({"format", "0.12345", "-1e-30", "--json"}).json()["values"].toArray();
    QCOMPARE(values.size(), 2);
    for (const auto& entry : values) {
        const QJsonObject formats = entry.toObject()["formats"].toObject();
        QCOMPARE(formats.keys(), QStringList({"bf16", "fp16", "fp32"}));
        for (const QString& name : formats.keys()) {
            for (const char* key : {"bits", "hex", "value", "error", "ulp", "class"}) {
                QVERIFY2(formats[name].toObject().contains(QLatin1String(key)), key);
            }
        }
    }
    const QJsonObject half = values.at(0)["formats"]["fp16"].toObject();
    QVERIFY(std::abs(half["error"].toDouble() - 2.412109375e-05) < 1e-15);
    QCOMPARE(half["ulp"].toDouble(), 0x1p-14);
    QCOMPARE(half["below"].toDouble(), 0.12347412109375 - 0x1p-14);
    QCOMPARE(half["above"].toDouble(), 0.12347412109375 + 0x1p-14);
    const QJsonObject flushed = values.at(1)["formats"]["fp16"].toObject();
    QCOMPARE(flushed["error"].toDouble(), 1e-30);
    QCOMPARE(flushed["ulp"].toDouble(), 0x1p-24);
    const QJsonObject only = m_cli.run({"format", "1", "--format", "bf16", "--json"})
                                 .json()["values"]
                                 .toArray()
                                 .at(0)["formats"]
                                 .toObject();
    QCOMPARE(only.keys(), QStringList {"bf16"});
}

void TestCliTools::formatPrintsATable()
{
    const CliResult result = m_cli.run({"format", "0.12345"});
    QCOMPARE(result.code, 0);
    QVERIFY(result.out.contains("0|01011|1111100111"));
    QVERIFY(result.out.contains("0.12347412109375"));
    QVERIFY(result.out.contains("2.4121e-05"));
}

void TestCliTools::devicesSayWhatTheyAre()
{
    const CliResult result = m_cli.run({"devices", "--json"});
    QCOMPARE(result.code, 0);
    bool cpu = false;
    for (const auto& entry : result.json()["devices"].toArray()) {
        const QJsonObject device = entry.toObject();
        for (const char* key : {"name", "backend", "available", "reason", "formats", "threads"}) {
            QVERIFY2(device.contains(QLatin1String(key)), key);
        }
        if (device["available"].toBool()) {
            for (const char* format : {"fp16", "bf16"}) {
                const QString support = device["formats"].toObject()[QLatin1String(format)].toString();
                QVERIFY(support == "native" || support == "emulated");
            }
            QVERIFY(device["threads"].toInt() >= 1);
        } else {
            QVERIFY(!device["reason"].toString().isEmpty());
        }
        cpu = cpu || (device["backend"].toString() == "cpu" && device["available"].toBool());
    }
    QVERIFY(cpu);
    QVERIFY(m_cli.run({"devices"}).out.contains("cpu"));
}

void TestCliTools::memoryPlansADecoder()
{
    const CliResult small = m_cli.run({"memory", "--json", "--parameters", "124.44M", "--vocabulary", "50257",
        "--sequence", "1024", "--policy", "fp32", "--policy", "bf16"});
    QVERIFY2(small.code == 0, qPrintable(small.err));
    const QJsonObject json = small.json();
    QCOMPARE(json["layers"].toInt(), 12);
    QCOMPARE(json["width"].toInt(), 768);
    QCOMPARE(json["parameters"].toInteger(), qint64 {124'439'808});
    const QJsonArray plans = json["plans"].toArray();
    QCOMPARE(plans.size(), 2);
    const auto bytes = [&plans](int plan, const char* kind) {
        return plans[plan].toObject()["bytes"].toObject()[QLatin1String(kind)].toInteger();
    };
    QCOMPARE(bytes(0, "weights"), qint64 {4 * 124'439'808LL});
    QCOMPARE(bytes(0, "copies"), qint64 {0});
    QCOMPARE(bytes(0, "gradients"), bytes(0, "weights"));
    QVERIFY(bytes(0, "optimizer") >= 2 * bytes(0, "weights"));
    QCOMPARE(bytes(1, "weights"), bytes(0, "weights"));
    QVERIFY(bytes(1, "copies") > 0 && bytes(1, "copies") <= bytes(1, "weights") / 2);
    QVERIFY(bytes(1, "activations") < bytes(0, "activations"));
    QVERIFY(!plans[0].toObject()["assumptions"].toArray().isEmpty());

    const CliResult table = m_cli.run({"memory", "--layers", "2", "--width", "64", "--checkpointing", "--unfused"});
    QVERIFY2(table.code == 0, qPrintable(table.err));
    QVERIFY(table.out.contains("layers 2, width 64, heads 1,"));
    QVERIFY(table.out.contains("checkpointing") && table.out.contains("unfused"));
}

void TestCliTools::refuses_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("message");
    QTest::newRow("nothing") << QStringList {} << "subcommand";
    QTest::newRow("unknown command") << QStringList {"devcies"}
                                     << "there is no command \"devcies\" here; did you mean \"devices\"?";
    QTest::newRow("unknown command of runs") << QStringList {"runs", "lst"} << "did you mean \"list\"?";
    QTest::newRow("unknown option") << QStringList {"devices", "--jsn"} << "--jsn";
    QTest::newRow("no trace") << QStringList {"scaler", "--family", "pytorch"} << "--trace";
    QTest::newRow("no family") << QStringList {"scaler", "--trace", "f"} << "--family";
    QTest::newRow("misspelt family") << QStringList {"scaler", "--family", "pytroch", "--trace", "f"}
                                     << "did you mean \"pytorch\"?";
    QTest::newRow("odd letter") << QStringList {"scaler", "--family", "pytorch", "--trace", "ff, fx"}
                                << "\"x\" at position 6";
    QTest::newRow("empty trace") << QStringList {"scaler", "--family", "pytorch", "--trace", " ,"}
                                 << "--trace is empty";
    QTest::newRow("init of zero") << QStringList {"scaler", "--family", "pytorch", "--trace", "f", "--init", "0"}
                                  << "init_scale";
    QTest::newRow("growth of one") << QStringList {"scaler", "--family", "pytorch", "--trace", "f", "--growth", "1"}
                                   << "growth_factor";
    QTest::newRow("text for a number") << QStringList {"scaler", "--family", "pytorch", "--trace", "f", "--init", "big"}
                                       << "--init: init_scale is \"big\"; it must be a number";
    QTest::newRow("another family's option")
        << QStringList {"scaler", "--family", "pytorch", "--trace", "f", "--hysteresis", "2"}
        << "--hysteresis: the family \"pytorch\" has no parameter hysteresis; it has init_scale, growth_factor";
    QTest::newRow("an option that one of two families has") << QStringList {"scaler", "--family", "pytorch", "--family",
        "megatron", "--trace", "f", "--hysteresis", "2"} << "for one family alone write --set FAMILY.NAME=VALUE";
    QTest::newRow("another family's name for it") << QStringList {"scaler", "--family", "pytorch", "--trace", "f",
        "--set", "period=2"} << "--set period=2: the family \"pytorch\" has no parameter period";
    QTest::newRow("a family that is not played") << QStringList {"scaler", "--family", "pytorch", "--trace", "f",
        "--set", "jmp.period=2"} << "jmp is none of the families given";
    QTest::newRow("half a step") << QStringList {"scaler", "--family", "flax", "--trace", "f", "--interval", "1.5"}
                                 << "--interval: growth_interval is 1.5; it must be an integer from 1";
    QTest::newRow("settings that contradict each other") << QStringList {"scaler", "--family", "megatron", "--trace",
        "f", "--init", "0.5"} << "megatron: init_scale is 0.5, below min_scale (1)";
    QTest::newRow("losses for other steps") << QStringList {"scaler", "--family", "loss-driven", "--trace", "ff",
        "--losses", "1"} << "--losses has 1 numbers for 2 steps";
    QTest::newRow("no number") << QStringList {"format", "0.1x"} << "\"0.1x\" is not a number";
    QTest::newRow("empty number") << QStringList {"format", ""} << "is not a number";
    QTest::newRow("bits of no format") << QStringList {"format", "0x7bff"} << "say which format's with --format";
    QTest::newRow("too many bits") << QStringList {"format", "0x17bff", "--format", "fp16"}
                                   << "0x17bff has 5 hexadecimal digits; fp16 has 4";
    QTest::newRow("unknown format") << QStringList {"format", "1", "--format", "fp61"} << "did you mean \"fp16\"?";
    QTest::newRow("no value") << QStringList {"format"} << "values";
    QTest::newRow("no parameters") << QStringList {"memory", "--parameters", "many"} << "7B, 125M or 1.3e9";
    QTest::newRow("half a shape") << QStringList {"memory", "--layers", "2"} << "--layers and --width belong together";
    QTest::newRow("odd heads") << QStringList {"memory", "--layers", "2", "--width", "64", "--heads", "5"}
                               << "5 heads do not divide the width 64";
    QTest::newRow("misspelt policy") << QStringList {"memory", "--policy", "fp61"} << "did you mean \"fp16\"?";
}

void TestCliTools::refuses()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, message);
    const CliResult result = m_cli.run(arguments);
    QCOMPARE(result.code, 2);
    QCOMPARE(result.out, QString());
    QVERIFY2(result.err.contains(message), qPrintable("said: " + result.err));
}

void TestCliTools::helpIsNoError()
{
    const CliResult help = m_cli.run({"--help"});
    QCOMPARE(help.code, 0);
    for (const char* command : {"run", "runs", "scaler", "format", "devices"}) {
        QVERIFY2(help.out.contains(QLatin1String(command)), command);
    }
    QCOMPARE(m_cli.run({"run", "--help"}).code, 0);
    QCOMPARE(m_cli.run({"--version"}).code, 0);
}

/// Every precision has its row; no time is asserted, but a step is no shorter than each of its phases.
void TestCliTools::benchTimesEachPrecision()
{
    const CliResult result
        = m_cli.run({"bench", "--steps", "20", "--warmup", "2", "--precision", "fp32,fp16,pure-bf16", "--json"});
    QVERIFY2(result.code == 0, qPrintable(result.err));
    const QJsonArray rows = result.json()["precisions"].toArray();
    QCOMPARE(rows.size(), 3);
    const QStringList names {"fp32", "fp16", "pure-bf16"};
    for (int i = 0; i < rows.size(); ++i) {
        const QJsonObject row = rows[i].toObject();
        QCOMPARE(row["precision"].toString(), names[i]);
        QVERIFY(row["steps_per_second"].toDouble() > 0);
        for (const QJsonValue& phase : row["time_ms"].toObject()) {
            QVERIFY(phase.toDouble() <= row["step_ms"].toDouble());
        }
        QVERIFY(row["bytes"].toDouble() > 0);
        QCOMPARE(row["casts_per_step"].toInt() > 0, i > 0);
    }
    QCOMPARE(rows[0].toObject()["speed"].toDouble(), 1.0);
    QCOMPARE(rows[0].toObject()["computed"].toString(), QStringLiteral("native"));
    QCOMPARE(m_cli.run({"bench", "--precision", "fp32,fp99"}).code, 2);
    QCOMPARE(m_cli.run({"bench", "--precision", "fp32,fp32"}).code, 2);
    QCOMPARE(m_cli.run({"bench", "no-such-file.json"}).code, 2);
    // What breaks has no time.
    const CliResult broken = m_cli.run({"bench", "--precision", "O3", "--set", "loss_weight=1e9", "--steps", "20"});
    QCOMPARE(broken.code, 2);
    QVERIFY2(broken.err.contains("O3 ended after"), qPrintable(broken.err));
}

QTEST_GUILESS_MAIN(TestCliTools)
#include "tst_cli_tools.moc"
