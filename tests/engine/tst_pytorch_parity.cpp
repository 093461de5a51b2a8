// Parity with PyTorch: our engine trains what PyTorch trained (tests/fixtures/pytorch), and both say the same of it.
#include "engine/core/cpu_features.h"
#include "engine/train/session.h"
#include "tests/support/run_recorder.h"

#include <QDir>
#include <QtTest>

#include <cmath>

using namespace mantissa;

namespace {

using json = nlohmann::json;

const QString folder = QStringLiteral(MANTISSA_SOURCE_DIR "/tests/fixtures/pytorch/records");

json readRecord(const QString& name)
{
    QFile file(folder + '/' + name + ".json");
    return file.open(QIODevice::ReadOnly) ? json::parse(file.readAll().toStdString()) : json();
}

/// A number, or "nan", "inf".
double numberFrom(const json& value)
{
    return value.is_number() ? value.get<double>() : std::stod(value.get<std::string>());
}

double difference(double a, double b)
{
    if (a == b || (std::isnan(a) && std::isnan(b))) {
        return 0;
    }
    const double gap = std::abs(a - b) / std::max(std::abs(a), std::abs(b));
    return std::isnan(gap) ? INFINITY : gap;
}

/// How far loss and gradient norm may be from PyTorch's, relative, in units of the rounding of the lane's format: 2^-24
/// in FP32, 2^-11 in FP16, 2^-8 in BF16. The first step has one pass of roundings, which differ only where a sum in
/// another order falls on the other side of a tie; from then on training amplifies what is there. FP32 has room for 13
/// and 15 bits of amplification over 200 steps, the 16-bit formats for 3 and 5 over 50; what a wrong op, order or
/// constant does is larger (see TestPytorchParity::aWrongConstantIsSeen).
struct Bounds
{
    double first;
    double loss;
    double gradNorm;
};

Bounds boundsOf(const json& record)
{
    const json precision = record["experiment"].value("precision", json::object());
    const std::string policy = precision.value("policy", "fp32");
    if (policy == "fp32") {
        const double unit = std::ldexp(1.0, -24);
        return {32 * unit, std::ldexp(unit, 13), std::ldexp(unit, 15)};
    }
    const double unit = std::ldexp(1.0, policy.ends_with("fp16") ? -11 : -8);
    // PyTorch's 16-bit convolutions on CPUs without native ones add up their gradients in 16 bits, ours in FP32: see
    // tests/fixtures/pytorch/README.md.
    const bool isConvolution = record["experiment"]["model"]["kind"] == "cnn";
    return {unit, (isConvolution ? 16 : 8) * unit, (isConvolution ? 128 : 32) * unit};
}

std::vector<StepRecord> train(const json& experiment)
{
    RunRecorder recorder;
    SessionOptions options;
    options.threads = 1;
    options.observers = {&recorder};
    Session session(parseExperiment(experiment.dump(), "record"), options);
    session.waitUntilIdle();
    session.run();
    session.waitUntilIdle();
    return recorder.records;
}

/// Where the steps part from PyTorch's, or nothing.
QString parting(const std::vector<StepRecord>& steps, const json& record)
{
    const Bounds bounds = boundsOf(record);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const StepRecord& step = steps[i];
        const auto theirs = [&](const char* key) { return numberFrom(record[key][i]); };
        const auto say = [&](const char* what, double ours) {
            return QString("step %1: %2 is %3, in PyTorch %4, relative %5")
                .arg(i)
                .arg(what)
                .arg(ours, 0, 'g', 9)
                .arg(theirs(what), 0, 'g', 9)
                .arg(difference(ours, theirs(what)), 0, 'g', 3);
        };
        if (step.scale != theirs("scale")) {
            return say("scale", step.scale);
        }
        if (step.skipped != (theirs("skipped") != 0)) {
            return say("skipped", step.skipped ? 1 : 0);
        }
        if (!step.skipped && difference(step.lr, theirs("lr")) > 1e-7) {
            return say("lr", step.lr);
        }
        if (difference(step.loss, theirs("loss")) > (i == 0 ? bounds.first : bounds.loss)) {
            return say("loss", step.loss);
        }
        if (difference(step.gradNorm, theirs("grad_norm")) > (i == 0 ? bounds.first : bounds.gradNorm)) {
            return say("grad_norm", step.gradNorm);
        }
    }
    // Weights that are no longer finite end a lane of ours; PyTorch's loop goes on with NaN.
    const std::size_t wanted = record["loss"].size();
    if (steps.size() < wanted && std::isfinite(numberFrom(record["loss"][std::min(steps.size() + 1, wanted - 1)]))) {
        return QString("ends after %1 of %2 steps").arg(steps.size()).arg(wanted);
    }
    return {};
}

} // namespace

class TestPytorchParity : public QObject
{
    Q_OBJECT

private slots:

    /// The order of oneDNN's sums depends on the instruction set, and what training makes of a last bit in 200 steps of
    /// Adam through convolutions has no bound that would still see a fault. Other instruction sets have the ops' tests.
    void initTestCase()
    {
        if (detectedCpuIsa() > CpuIsa::Avx2) {
            qputenv("MANTISSA_CPU_ISA", "avx2");
        }
    }

    void trainsAsPytorchDoes_data()
    {
        QTest::addColumn<QString>("name");
        const QStringList files = QDir(folder).entryList({"*.json"}, QDir::Files, QDir::Name);
        QVERIFY2(files.size() > 50, qPrintable("records are missing from " + folder));
        for (const QString& file : files) {
            const QString name = file.chopped(5);
            QTest::newRow(qPrintable(name)) << name;
        }
    }

    void trainsAsPytorchDoes()
    {
        QFETCH(const QString, name);
        const json record = readRecord(name);
        QVERIFY(record.is_object());
        const std::vector<StepRecord> steps = train(record["experiment"]);
        QVERIFY(!steps.empty());
        QCOMPARE(parting(steps, record), QString());
    }

    /// The bounds are narrow enough to see what is wrong: small changes of one constant leave them.
    void aWrongConstantIsSeen_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QByteArray>("change");
        QTest::newRow("beta2") << "mlp-adam-fp32" << QByteArray(R"({"optimizer": {"beta2": 0.998}})");
        QTest::newRow("epsilon") << "gpt-adam-fp32" << QByteArray(R"({"optimizer": {"epsilon": 1e-6}})");
        QTest::newRow("weight decay") << "vit-adamw-fp32" << QByteArray(R"({"optimizer": {"weight_decay": 0.04}})");
        QTest::newRow("momentum") << "cnn-sgd-bf16" << QByteArray(R"({"optimizer": {"momentum": 0.8}})");
        QTest::newRow("lists of CUDA") << "log-of-softmax" << QByteArray(R"({"precision": {"policy": "fp16"}})");
        QTest::newRow("format") << "gpt-sgd-fp16" << QByteArray(R"({"precision": {"policy": "cpu-bf16"}})");
        QTest::newRow("growth interval") << "mlp-sgd-fp16" << QByteArray(R"({"scaler": {"growth_interval": 9}})");
        QTest::newRow("order of clipping") << "clip" << QByteArray(R"({"clip": {"order": "clip-then-unscale"}})");
        QTest::newRow("seed") << "mlp-adamw-bf16" << QByteArray(R"({"seed": 2})");
    }

    void aWrongConstantIsSeen()
    {
        QFETCH(const QString, name);
        QFETCH(const QByteArray, change);
        const json record = readRecord(name);
        json experiment = record["experiment"];
        experiment.merge_patch(json::parse(change.toStdString()));
        QVERIFY(!parting(train(experiment), record).isEmpty());
    }
};

QTEST_APPLESS_MAIN(TestPytorchParity)
#include "tst_pytorch_parity.moc"
