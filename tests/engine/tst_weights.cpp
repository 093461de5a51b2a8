// Weights from elsewhere: what fits is taken to the last bit, what does not is told by name, and a stored run says
// which they were.
#include "engine/core/hash.h"
#include "engine/formats/convert.h"
#include "engine/nn/model.h"
#include "engine/train/channel_order.h"
#include "engine/train/session.h"
#include "engine/train/weights_file.h"
#include "tests/support/run_recorder.h"

#include <QTemporaryDir>
#include <QtTest>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mantissa;

namespace {

using json = nlohmann::json;

StoredTensor tensorOf(const std::string& name, Shape shape, const std::vector<float>& values, DType format)
{
    StoredTensor tensor {.name = name, .dtype = safetensorsName(format), .shape = std::move(shape), .bytes = {}};
    tensor.bytes.resize(values.size() * sizeOf(format));
    fromFloats(format, values, tensor.bytes);
    return tensor;
}

/// Different numbers that every format holds exactly.
std::vector<float> numbers(std::int64_t count)
{
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(static_cast<int>(i % 97) - 48) / 64.0F;
    }
    return values;
}

/// A state_dict of the model of smallDocument().
Safetensors stateDict(DType format = DType::Float32, const std::string& prefix = {})
{
    Safetensors contents;
    contents.tensors = {tensorOf(prefix + "fc1.weight", {4, 2}, numbers(8), format),
        tensorOf(prefix + "fc1.bias", {4}, numbers(4), format),
        tensorOf(prefix + "fc2.weight", {2, 4}, numbers(8), format),
        tensorOf(prefix + "fc2.bias", {2}, numbers(2), format)};
    return contents;
}

json smallDocument(const std::filesystem::path& weights)
{
    return {{"mantissa", 1}, {"name", "t"}, {"steps", 1},
        {"data", {{"kind", "spirals"}, {"samples", 40}, {"batch", 8}, {"classes", 2}}},
        {"model", {{"kind", "mlp"}, {"hidden", {4}}, {"weights", weights.string()}}},
        {"optimizer", {{"kind", "sgd"}, {"lr", 0}}},
        {"lanes", {{{"name", "FP32"}}, {{"name", "FP16"}, {"precision", {{"policy", "fp16"}}}}}}};
}

struct Trained
{
    RunRecorder listener;
    QString problem;
};

Trained train(const Experiment& experiment)
{
    Trained result;
    SessionOptions options;
    options.threads = 1;
    options.observers = {&result.listener};
    Session session(experiment, options);
    session.waitUntilIdle();
    if (session.status()->state == SessionState::Failed) {
        result.problem = QString::fromStdString(session.status()->message);
        return result;
    }
    session.run();
    session.waitUntilIdle();
    return result;
}

std::string hashOf(const Safetensors& contents)
{
    std::uint64_t hash = fnvOffset;
    for (const StoredTensor& tensor : contents.tensors) {
        hash = fnv1a(tensor.bytes, hash);
    }
    return QString("%1").arg(hash, 16, 16, QChar('0')).toStdString();
}

Model modelOf(const json& layers, const Shape& sample)
{
    ModelConfig config;
    config.kind = "layers";
    config.layers = layers;
    ModelTask task;
    task.batch = 2;
    task.sample = {DType::Float32, sample};
    task.outputs = 3;
    task.loss = "cross_entropy";
    return buildModel(config, task);
}

} // namespace

class TestWeights : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    std::filesystem::path write(const Safetensors& contents) const
    {
        const std::filesystem::path file = m_folder.filePath("w.safetensors").toStdString();
        writeSafetensors(file, contents);
        return file;
    }

    [[nodiscard]] QString refusal(const Safetensors& contents) const
    {
        const Trained trained = train(parseExperiment(smallDocument(write(contents)).dump(), "test"));
        return trained.problem;
    }

private slots:

    void everyLaneStartsFromThem_data()
    {
        QTest::addColumn<int>("format");
        QTest::addColumn<QString>("prefix");
        QTest::newRow("F32") << static_cast<int>(DType::Float32) << "";
        QTest::newRow("F16") << static_cast<int>(DType::Float16) << "";
        QTest::newRow("BF16") << static_cast<int>(DType::BFloat16) << "";
        QTest::newRow("DataParallel's names") << static_cast<int>(DType::Float32) << "module.";
        QTest::newRow("wrapped twice") << static_cast<int>(DType::Float32) << "module.model.";
    }

    void everyLaneStartsFromThem()
    {
        QFETCH(const int, format);
        QFETCH(const QString, prefix);
        const auto file = write(stateDict(static_cast<DType>(format), prefix.toStdString()));
        const Trained trained = train(parseExperiment(smallDocument(file).dump(), "test"));
        QCOMPARE(trained.problem, QString());
        for (const std::uint32_t lane : {0U, 1U}) {
            // A rate of 0 changes nothing, so the last weights are the first.
            QCOMPARE(trained.listener.summaries.at(lane).weightsHash, hashOf(stateDict()));
            QCOMPARE(trained.listener.starts.at(lane).initialWeightsHash, hashOf(stateDict()));
        }
        const auto told = std::ranges::find(trained.listener.events, EventKind::Weights, &Event::kind);
        QVERIFY(told != trained.listener.events.end());
        QCOMPARE(told->path, file.string());
        QCOMPARE(told->text.find(prefix.toStdString()) != std::string::npos, true);
    }

    void whatDoesNotFitIsToldByNameAllAtOnce()
    {
        Safetensors contents = stateDict();
        contents.tensors[0] = tensorOf("fc1.weight", {2, 4}, numbers(8), DType::Float32);
        contents.tensors[1].name = "fc1.offset";
        contents.tensors[2].bytes
            = tensorOf("", {2, 4}, {0, 0, std::numeric_limits<float>::quiet_NaN(), 0, 0, 0, 0, 0}, DType::Float32)
                  .bytes;
        contents.tensors[3].dtype = "I32";
        contents.tensors[3].bytes.resize(8);
        const QString text = refusal(contents);
        for (const char* part : {"w.safetensors", "missing: fc1.bias", "unknown to the model: fc1.offset",
                 "fc1.weight is [2, 4] in the file, [4, 2] in the model", "element 2 of fc2.weight is nan",
                 "fc2.bias is I32, but F32, F16 and BF16 are read"}) {
            QVERIFY2(text.contains(part), qPrintable(text));
        }
    }

    void damagedFilesAreRefused()
    {
        const auto file = write(stateDict());
        std::filesystem::resize_file(file, std::filesystem::file_size(file) - 3);
        const QString text = train(parseExperiment(smallDocument(file).dump(), "test")).problem;
        QVERIFY2(text.contains("cut off") && text.contains("model.weights"), qPrintable(text));
        QVERIFY(train(parseExperiment(smallDocument(m_folder.filePath("none").toStdString()).dump(), "test"))
                    .problem.contains("none"));
    }

    void aStoredRunSaysWhichWeightsAndReplaysOnlyWithThem()
    {
        const auto file = write(stateDict());
        json document = smallDocument("w.safetensors"); // beside the experiment
        Experiment experiment = parseExperiment(document.dump(), "test");
        experiment.directory = m_folder.path().toStdString();
        const Trained first = train(experiment);
        QCOMPARE(first.problem, QString());
        const json stored = first.listener.starts.at(0).experiment;
        QCOMPARE(stored["model"]["weights"].get<std::string>(), file.string());
        QCOMPARE(stored["model"]["weights_hash"].get<std::string>().size(), std::size_t {16});
        const auto replay = [&stored] { return train(parseExperiment(stored.dump(), "replay")); };
        QCOMPARE(replay().listener.summaries.at(0).weightsHash, first.listener.summaries.at(0).weightsHash);
        Safetensors other = stateDict();
        other.tensors[0].bytes[0] ^= std::byte {1};
        write(other);
        QVERIFY2(replay().problem.contains("holds other weights"), qPrintable(replay().problem));
        std::filesystem::remove(file);
        QVERIFY2(replay().problem.contains("cannot be read"), qPrintable(replay().problem));
    }

    void aCheckpointResumesWithoutThem()
    {
        const auto file = write(stateDict());
        json document = smallDocument(file);
        document["steps"] = 6;
        document["optimizer"]["lr"] = 0.1;
        document["lanes"].erase(1);
        RunRecorder listener;
        SessionOptions options;
        options.threads = 1;
        options.observers = {&listener};
        const std::filesystem::path saved = m_folder.filePath("c.safetensors").toStdString();
        {
            Session session(parseExperiment(document.dump(), "test"), options);
            session.runSteps(3);
            session.waitUntilIdle();
            session.saveCheckpoint(0, saved);
            session.run();
            session.waitUntilIdle();
        }
        std::filesystem::remove(file);
        const ResumedLane lane {std::make_shared<const Checkpoint>(readCheckpoint(saved)), saved};
        Experiment rest;
        rest.lanes = {lane.checkpoint->initial};
        RunRecorder resumed;
        options.observers = {&resumed};
        options.resumed = {lane};
        Session session(rest, options);
        session.run();
        session.waitUntilIdle();
        QCOMPARE(resumed.summaries.at(0).weightsHash, listener.summaries.at(0).weightsHash);

        // Its weights are weights like others.
        json again = smallDocument(saved);
        QCOMPARE(train(parseExperiment(again.dump(), "test")).problem, QString());
    }

    void sharedTensorsAreFoundByTheirOtherName()
    {
        const Model model = modelOf({{{"kind", "linear"}, {"features", 3}, {"bias", false}}}, {2});
        WeightsFile weights {.file = "w", .contents = {}, .hash = {}};
        weights.contents.tensors = {tensorOf("kept", {3, 2}, numbers(6), DType::Float32)};
        weights.contents.metadata = {{"fc1.weight", "kept"}};
        QCOMPARE(fitWeights(weights, model.graph, {2}).values.at("fc1.weight"), numbers(6));
    }

    void countsOfBatchesAreLeftOut()
    {
        const Model model = modelOf({"batch_norm", "flatten", "linear"}, {1, 1, 2});
        WeightsFile weights {.file = "w", .contents = {}, .hash = {}};
        for (const char* name : {"weight", "bias", "running_mean", "running_var"}) {
            weights.contents.tensors.push_back(tensorOf(std::string("bn1.") + name, {2}, numbers(2), DType::Float32));
        }
        weights.contents.tensors.push_back({"bn1.num_batches_tracked", "I64", {}, std::vector<std::byte>(8)});
        weights.contents.tensors.push_back(tensorOf("fc1.weight", {3, 2}, numbers(6), DType::Float32));
        weights.contents.tensors.push_back(tensorOf("fc1.bias", {3}, numbers(3), DType::Float32));
        QCOMPARE(fitWeights(weights, model.graph, {1, 1, 2}).values.size(), std::size_t {6});
    }

    void columnsBehindFlattenedImagesAreReordered()
    {
        const json conv {{"kind", "conv2d"}, {"channels", 3}, {"kernel", 1}};
        const Model model = modelOf({conv, "relu", "flatten", {{"kind", "dropout"}, {"p", 0.5}}, "linear"}, {2, 4, 1});
        const std::vector<FlattenedImages> found = flattenedImages(model.graph, {2, 4, 1});
        QCOMPARE(found.size(), std::size_t {1});
        QCOMPARE(found[0].weight, std::string("fc1.weight"));
        std::vector<float> weight(static_cast<std::size_t>(3 * 24));
        std::iota(weight.begin(), weight.end(), 0.0F);
        toChannelsLast(weight, found[0]);
        for (int row = 0; row < 3; ++row) {
            for (int y = 0; y < 2; ++y) {
                for (int x = 0; x < 4; ++x) {
                    for (int channel = 0; channel < 3; ++channel) {
                        const auto ours = static_cast<std::size_t>(row * 24 + (y * 4 + x) * 3 + channel);
                        QCOMPARE(weight[ours], static_cast<float>(row * 24 + (channel * 2 + y) * 4 + x));
                    }
                }
            }
        }
        // A model that begins with flattening, and images of one channel, whose order is the same.
        QCOMPARE(flattenedImages(modelOf({"flatten", "linear"}, {2, 2, 3}).graph, {2, 2, 3}).size(), std::size_t {1});
        QCOMPARE(flattenedImages(modelOf({"flatten", "linear"}, {8, 8, 1}).graph, {8, 8, 1}).size(), std::size_t {0});
    }
};

QTEST_APPLESS_MAIN(TestWeights)
#include "tst_weights.moc"
