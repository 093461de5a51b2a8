// mantissa-cli export-pytorch and export-weights: a folder that is Python, the same weights and batches, and refusals
// by name. PyTorch itself is not needed.
#include "cli_runner.h"
#include "engine/tensor/safetensors.h"

#include <QDir>
#include <QStandardPaths>

#include <cstring>

using mantissa::tests::Cli;
using mantissa::tests::CliResult;

namespace {

/// One convolutional lane in three precisions, and lanes that PyTorch has no word for.
QString experiment()
{
    return QStringLiteral(R"({"mantissa": 1, "name": "to PyTorch", "seed": 3, "steps": 6,
        "data": {"kind": "digits", "batch": 16},
        "model": {"kind": "cnn", "width": 4, "depth": 1, "stages": 2, "hidden": [8], "batch_norm": true},
        "optimizer": {"kind": "sgd", "lr": 0.05},
        "lanes": [{"name": "FP32"},
            {"name": "FP16 AMP", "precision": {"policy": "fp16"}, "scaler": {}, "accumulation": {"steps": 2}},
            {"name": "megatron", "precision": {"policy": "fp16"}, "scaler": {"family": "megatron"}},
            {"name": "many", "precision": {"policy": "tf-fp16", "overrides": {"relu": "fp32"}},
             "optimizer": {"state_format": "bf16"}, "scaler": {}, "order": ["update", "unscale", "check", "clip", "step", "schedule"]}],
        "events": [{"step": 3, "lane": "many", "set": {"optimizer.lr": 0.1}}]})");
}

QByteArray contentsOf(const QString& file)
{
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

/// Runs Python with the arguments and the folder as its working directory; its exit code and what it wrote.
CliResult python(const QString& folder, const QStringList& arguments)
{
    QProcess process;
    process.setWorkingDirectory(folder);
    process.start(QStandardPaths::findExecutable("python3"), arguments);
    return Cli::finish(process);
}

template <typename T> std::vector<T> numbersOf(const mantissa::Safetensors& contents, const char* name)
{
    const mantissa::StoredTensor* tensor = contents.find(name);
    std::vector<T> numbers(tensor == nullptr ? 0 : tensor->bytes.size() / sizeof(T));
    if (!numbers.empty()) {
        std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
    }
    return numbers;
}

} // namespace

class TestCliPytorch : public QObject
{
    Q_OBJECT

private:
    Cli m_cli;
    QString m_file;

    [[nodiscard]] CliResult exportLane(const QString& lane, const QString& folder, const QStringList& more = {}) const
    {
        return m_cli.run(QStringList {"export-pytorch", m_file, "--lane", lane, "--out", m_cli.path(folder)} + more);
    }

private slots:

    void initTestCase() { m_file = m_cli.write("a.json", experiment()); }

    void theFolderIsPython_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("lane");
        const QDir shipped(QStringLiteral(MANTISSA_SOURCE_DIR "/experiments"));
        for (const auto& [file, lane] :
            {std::pair {"default.json", "FP16, no scaler"}, std::pair {"digits_cnn.json", "FP16 AMP"},
                std::pair {"digits_vit.json", "BF16"}, std::pair {"modular_addition_gpt.json", "FP16 AMP"}}) {
            QTest::newRow(file) << shipped.filePath(file) << lane;
        }
        QTest::newRow("accumulation") << m_file << "FP16 AMP";
    }

    void theFolderIsPython()
    {
        QFETCH(const QString, file);
        QFETCH(const QString, lane);
        const QString folder = m_cli.path(QStringLiteral("python-") + QTest::currentDataTag());
        const CliResult result
            = m_cli.run({"export-pytorch", file, "--lane", lane, "--steps", "4", "--out", folder, "--json"});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        const QJsonArray files = result.json()["files"].toArray();
        QCOMPARE(QDir(folder).entryList(QDir::Files).size(), files.size());
        for (const char* name : {"train.py", "model.py", "recorder.py", "tensors.py", "compare.py", "experiment.json",
                 "README.md", "weights.safetensors", "data.safetensors"}) {
            QVERIFY2(files.contains(name) && !contentsOf(folder + '/' + name).isEmpty(), name);
        }
        if (QStandardPaths::findExecutable("python3").isEmpty()) {
            QSKIP("no python3 to ask");
        }
        const CliResult compiled
            = python(folder, {"-m", "py_compile", "train.py", "model.py", "recorder.py", "tensors.py", "compare.py"});
        QVERIFY2(compiled.code == 0, qPrintable(compiled.err));
    }

    void theSameLaneTrainsFromTheFolder()
    {
        QCOMPARE(exportLane("FP16 AMP", "same").code, 0);
        const auto hashOf = [this](const QStringList& arguments) {
            const CliResult result
                = m_cli.run(QStringList {"run"} + arguments + QStringList {"--json", "--no-db", "--threads", "1"});
            return result.json()["runs"].toArray()[0].toObject()["weights_hash"].toString();
        };
        const QString expected = hashOf({m_file, "--lane", "FP16 AMP"});
        QVERIFY(!expected.isEmpty());
        QCOMPARE(hashOf({m_cli.path("same/experiment.json")}), expected);
    }

    void batchesAreThoseOfTheRun()
    {
        QCOMPARE(exportLane("FP16 AMP", "batches").code, 0);
        const auto data = mantissa::readSafetensors(m_cli.path("batches/data.safetensors").toStdString());
        QCOMPARE(data.find("order")->shape.text(), std::string("[12, 16]")); // 6 steps of 2 micro-batches
        const auto order = numbersOf<std::int32_t>(data, "order");
        const auto labels = numbersOf<std::int64_t>(data, "targets");
        const mantissa::StoredTensor* images = data.find("inputs");
        QCOMPARE(QString::fromStdString(images->shape.text()), QString("[%1, 1, 8, 8]").arg(labels.size()));
        const auto [least, most] = std::minmax_element(order.begin(), order.end());
        QCOMPARE(*least, 0);
        QCOMPARE(static_cast<std::size_t>(*most) + 1, labels.size()); // no sample that no step sees
        QVERIFY(std::all_of(labels.begin(), labels.end(), [](std::int64_t label) { return label >= 0 && label < 10; }));
        QCOMPARE(exportLane("FP16 AMP", "batches-4", {"--seed", "4"}).code, 0);
        const auto other = mantissa::readSafetensors(m_cli.path("batches-4/data.safetensors").toStdString());
        QVERIFY(numbersOf<std::int64_t>(other, "targets") != labels);
    }

    void whatPytorchCannotDoIsRefusedByName()
    {
        const CliResult megatron = exportLane("megatron", "megatron");
        QCOMPARE(megatron.code, 2);
        QVERIFY2(megatron.err.contains("scaler.family megatron has no PyTorch equivalent"), qPrintable(megatron.err));
        QVERIFY(!QDir(m_cli.path("megatron")).exists());
        const CliResult many = exportLane("many", "many");
        QCOMPARE(many.code, 2);
        for (const char* reason : {"precision.policy tf-fp16", "precision.overrides relu",
                 "optimizer.state_format bf16", "order puts update before", "events set optimizer.lr at step 3"}) {
            QVERIFY2(many.err.contains(reason), qPrintable(many.err));
        }
    }

    void wrongArgumentsAreRefused()
    {
        QCOMPARE(m_cli.run({"export-pytorch", m_file, "--lane", "FP32"}).code, 2); // no --out
        const CliResult noLane = m_cli.run({"export-pytorch", m_file, "--out", m_cli.path("x")});
        QCOMPARE(noLane.code, 2);
        QVERIFY2(
            noLane.err.contains("--lane is missing") && noLane.err.contains("\"FP16 AMP\""), qPrintable(noLane.err));
        QCOMPARE(exportLane("FP64", "x").code, 2);
        QCOMPARE(exportLane("FP32", "x", {"--set", "optimizer.lr"}).code, 2);
        const CliResult tooMany = exportLane("FP32", "x", {"--steps", "1000000000"});
        QCOMPARE(tooMany.code, 2);
        QVERIFY2(tooMany.err.contains("too many to write down"), qPrintable(tooMany.err));
        QVERIFY(!QDir(m_cli.path("x")).exists());
    }

    void aFolderThatHoldsSomethingIsLeftAlone()
    {
        QCOMPARE(exportLane("FP32", "twice").code, 0);
        const QByteArray before = contentsOf(m_cli.path("twice/train.py"));
        const CliResult again = exportLane("FP32", "twice", {"--steps", "3"});
        QCOMPARE(again.code, 2);
        QVERIFY2(again.err.contains("something in this folder"), qPrintable(again.err));
        QCOMPARE(contentsOf(m_cli.path("twice/train.py")), before);
        const CliResult beneathFile = exportLane("FP32", "a.json/folder");
        QCOMPARE(beneathFile.code, 1);
        QVERIFY2(beneathFile.err.contains("cannot be made"), qPrintable(beneathFile.err));
    }

    void trainedWeightsComeBackUnderTheNamesOfAStateDict()
    {
        const QString checkpoints = m_cli.path("checkpoints");
        const CliResult trained = m_cli.run({"run", m_file, "--lane", "FP32", "--json", "--checkpoints", checkpoints});
        QVERIFY2(trained.code == 0, qPrintable(trained.err));
        const QJsonObject run = trained.json()["runs"].toArray()[0].toObject();
        const QString file = m_cli.path("trained.safetensors");
        const CliResult result
            = m_cli.run({"export-weights", QString::number(run["id"].toInt()), "--out", file, "--json"});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        QCOMPARE(result.json()["steps"].toInt(), 6);
        const auto weights = mantissa::readSafetensors(file.toStdString());
        // What the exported module's own state_dict has, no more and no less.
        QCOMPARE(exportLane("FP32", "names").code, 0);
        const auto initial = mantissa::readSafetensors(m_cli.path("names/weights.safetensors").toStdString());
        QCOMPARE(weights.tensors.size(), initial.tensors.size());
        for (const mantissa::StoredTensor& tensor : initial.tensors) {
            const mantissa::StoredTensor* found = weights.find(tensor.name);
            QVERIFY2(
                found != nullptr && found->shape == tensor.shape && found->dtype == tensor.dtype, tensor.name.c_str());
        }
        QVERIFY(initial.find("bn1.num_batches_tracked") != nullptr);
        QVERIFY(weights.find("fc1.weight")->bytes != initial.find("fc1.weight")->bytes);
        // A rate of 0 changes no weight: what was trained starts here to the bit, its columns twice reordered.
        const CliResult back = m_cli.run({"run", m_file, "--lane", "FP32", "--weights", file, "--steps", "1", "--json",
            "--no-db", "--set", "optimizer.lr=0", "--checkpoints", m_cli.path("back")});
        QVERIFY2(back.code == 0, qPrintable(back.err));
        const CliResult again = m_cli.run({"export-weights", m_cli.path("back/FP32/step-00000001.safetensors"), "--out",
            m_cli.path("again.safetensors")});
        QVERIFY2(again.code == 0, qPrintable(again.err));
        const auto twice = mantissa::readSafetensors(m_cli.path("again.safetensors").toStdString());
        for (const char* name : {"conv1.weight", "fc1.weight", "fc2.bias", "bn2.weight"}) {
            QCOMPARE(twice.find(name)->bytes == weights.find(name)->bytes, true);
        }
        QCOMPARE(m_cli.run({"export-weights", "none.safetensors", "--out", file}).code, 1); // as an unreadable file
        QCOMPARE(m_cli.run({"export-weights", "99", "--out", file}).code, 2);
    }

    void theRecorderWritesOurMetrics()
    {
        if (QStandardPaths::findExecutable("python3").isEmpty()) {
            QSKIP("no python3 to ask");
        }
        QCOMPARE(exportLane("FP32", "recorder").code, 0);
        const QString script = QStringLiteral(MANTISSA_SOURCE_DIR "/tests/cli/record_two_steps.py");
        const CliResult result = python(m_cli.path("."), {script, m_cli.path("recorder")});
        QVERIFY2(result.code == 0, qPrintable(result.err));
        const QList<QByteArray> lines = contentsOf(m_cli.path("log.jsonl")).trimmed().split('\n');
        QCOMPARE(lines.size(), 2);
        const QJsonObject first = QJsonDocument::fromJson(lines[0]).object();
        QCOMPARE(first["step"].toInt(), 0);
        QCOMPARE(first["loss"].toDouble(), 2.0);
        QCOMPARE(first["grad_norm"].toDouble(), 5.0);
        QCOMPARE(first["grad_max"].toDouble(), 4.0);
        QCOMPARE(first["scale"].toDouble(), 8.0);
        QCOMPARE(first["growth_tracker"].toInt(), 7);
        QCOMPARE(first["lr"].toDouble(), 0.5);
        QCOMPARE(first["skipped"].toBool() || first["found_inf"].toBool(), false);
        QCOMPARE(first["zero"].toDouble(), 0.6); // three of five
        QCOMPARE(first["flushed"].toDouble(), 0.0); // in no matrix
        QCOMPARE(first["layers"].toObject()["fc1"].toObject()["grad_norm"].toDouble(), 5.0);
        QCOMPARE(first["layers"].toObject()["fc2"].toObject()["zero"].toDouble(), 1.0);
        const QJsonObject second = QJsonDocument::fromJson(lines[1]).object();
        QCOMPARE(second["skipped"].toBool() && second["found_inf"].toBool(), true);
        QCOMPARE(second["loss"].toString(), QString("nan"));
        QCOMPARE(second["loss_finite"].toBool(), false);
        QCOMPARE(second["grad_norm"].toString(), QString("inf"));
        QCOMPARE(second["scale"].toDouble(), 8.0); // that of the step, before its update
    }

    void theComparerSaysWhereTwoRunsPart()
    {
        if (QStandardPaths::findExecutable("python3").isEmpty()) {
            QSKIP("no python3 to ask");
        }
        QCOMPARE(exportLane("FP32", "compare").code, 0);
        // In place of PyTorch: the script writes what Mantissa has written, changed at one step.
        const auto standIn = [this](const char* change) {
            QFile script(m_cli.path("compare/train.py"));
            QVERIFY(script.open(QIODevice::WriteOnly));
            script.write(QByteArray("import json\nlines = [json.loads(x) for x in open('mantissa.jsonl')]\n") + change
                + "\nopen('pytorch.jsonl', 'w').writelines(json.dumps(x) + '\\n' for x in lines)\n");
        };
        const auto compare = [this] { return python(m_cli.path("compare"), {"compare.py", "--cli", MANTISSA_CLI}); };
        standIn("");
        const CliResult same = compare();
        QVERIFY2(same.code == 0 && same.out.contains("6 steps agree"), qPrintable(same.out + same.err));
        standIn("lines[3]['loss'] *= 1.01");
        const CliResult parted = compare();
        QVERIFY2(
            parted.code == 1 && parted.out.contains("they part at step 3: loss"), qPrintable(parted.out + parted.err));
        standIn("lines[2]['skipped'] = True");
        QVERIFY2(compare().out.contains("they part at step 2: skipped"), qPrintable(compare().out));
        // From another folder, by a relative path.
        standIn("");
        const QFileInfo program(QStringLiteral(MANTISSA_CLI));
        const CliResult relative = python(
            program.path(), {m_cli.path("compare/compare.py"), "--cli", "./" + program.fileName(), "--steps", "3"});
        QVERIFY2(relative.code == 0 && relative.out.contains("3 steps agree"), qPrintable(relative.out + relative.err));
        QCOMPARE(python(m_cli.path("compare"), {"compare.py", "--cli", "no-such-program"}).code, 2);
        standIn("raise SystemExit(5)");
        QCOMPARE(compare().code, 2);
    }
};

QTEST_APPLESS_MAIN(TestCliPytorch)
#include "tst_cli_pytorch.moc"
