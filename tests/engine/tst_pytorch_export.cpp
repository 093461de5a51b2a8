// What an exported folder holds: models as modules whose state_dict has our names, and reasons for what cannot be had.
#include "engine/core/error.h"
#include "engine/pytorch/lane_support.h"
#include "engine/pytorch/model_code.h"
#include "engine/pytorch/state_dict.h"
#include "tests/support/model_tasks.h"

#include <QtTest>

#include <numeric>
#include <set>

using namespace mantissa;

namespace {

using json = nlohmann::json;

ModelConfig layersOf(const json& layers)
{
    ModelConfig config;
    config.kind = "layers";
    config.layers = layers;
    return config;
}

QString codeOf(const ModelConfig& config, const ModelTask& task)
{
    return QString::fromStdString(modelCode(buildModel(config, task), task.sample.shape));
}

QString codeOf(const json& layers, const Shape& sample)
{
    return codeOf(layersOf(layers), test::imageTask(4, sample));
}

QString refusal(const json& layers, const Shape& sample = {8, 8, 1})
{
    try {
        return "not refused: " + codeOf(layers, sample);
    } catch (const Error& error) {
        return error.what();
    }
}

Experiment experimentOf(const json& settings, const json& more = json::object())
{
    json document {{"mantissa", 1}, {"steps", 10}, {"lanes", {{{"name", "a"}}}}};
    document.merge_patch(settings);
    document.merge_patch(more);
    return parseExperiment(document.dump(), "t");
}

std::vector<std::string> reasonsFor(const json& settings, const json& more = json::object())
{
    const Experiment experiment = experimentOf(settings, more);
    return whyNotInPytorch(experiment.lanes.front(), experiment);
}

} // namespace

class TestPytorchExport : public QObject
{
    Q_OBJECT

private slots:

    void modulesHaveTheNamesOfTheWeights()
    {
        ModelConfig config = defaultModel("vit");
        config.depth = 3;
        const QString code = codeOf(config, test::imageTask(4));
        // One class for the blocks, which are written alike.
        QCOMPARE(code.count("class Block(nn.Module)"), 1);
        QCOMPARE(code.count("            Block(),"), 3);
        for (const char* text : {"self.patch_embed = PatchEmbed()", "self.proj = nn.Conv2d(1, 64, 2, stride=2)",
                 "self.cls_token = nn.Parameter(torch.empty(1, 1, 64))", "self.blocks = nn.Sequential(",
                 "self.qkv = nn.Linear(64, 192)", "torch.cat((self.cls_token.expand(len(x), -1, -1), x), 1)",
                 "x = x[:, 0]", "return self.head(x)"}) {
            QVERIFY2(code.contains(QLatin1String(text)), qPrintable(text + ("\n" + code)));
        }
    }

    void shortcutsAndStagesAreKept()
    {
        const QString code = codeOf(defaultModel("resnet"), test::imageTask(4));
        QVERIFY2(
            code.contains("self.downsample = nn.Sequential(\n            nn.Conv2d(16, 32, 1, stride=2, bias=False),\n"
                          "            nn.BatchNorm2d(32),"),
            qPrintable(code));
        QVERIFY2(code.contains("x = self.layer1(x)\n        x = self.layer2(x)"), qPrintable(code));
        QVERIFY(code.contains("x.mean((2, 3))"));
    }

    void channelsStandWhereEachLayerWantsThem()
    {
        const json conv {{"kind", "conv2d"}, {"channels", 4}, {"kernel", 3}};
        const QString code = codeOf(
            {conv, "layer_norm", "batch_norm", {{"kind", "linear"}, {"features", 6}}, "relu", "flatten", "linear"},
            {8, 8, 3});
        for (const char* text :
            {"self.conv1 = nn.Conv2d(3, 4, 3)", "self.ln1(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)",
                "x = self.bn1(x)", "self.fc1(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)", "x = x.flatten(1)"}) {
            QVERIFY2(code.contains(QLatin1String(text)), qPrintable(text + ("\n" + code)));
        }
        // Where a norm reads them, flattened images stay in our order; a linear layer's columns are adapted instead.
        QVERIFY(
            codeOf({conv, "flatten", "rms_norm", "linear"}, {8, 8, 3}).contains("x.permute(0, 2, 3, 1).flatten(1)"));
        QVERIFY(
            refusal({conv, "flatten", {{"residual", {{{"kind", "linear"}, {"features", 144}}}}}, "linear"}, {8, 8, 3})
                .contains("flattens them in another order"));
        QVERIFY(codeOf({"flatten", "linear"}, {8, 8, 3}).contains("x = x.flatten(1)"));
    }

    void namesThatPythonHasNoPlaceForAreRefused()
    {
        const auto named = [](const char* name) { return json {{"kind", "linear"}, {"name", name}}; };
        QVERIFY(refusal({"flatten", named("fc-1")}).contains("\"fc-1\" in the name fc-1 cannot be an attribute"));
        QVERIFY(refusal({"flatten", named("lambda")}).contains("something else to a torch.nn.Module"));
        QVERIFY(refusal({"flatten", named("half")}).contains("something else to a torch.nn.Module"));
        QVERIFY(refusal({"flatten", named("7")}).contains("cannot be an attribute"));
        // Below a dot it is a key of a dictionary, or of a sequence.
        QVERIFY(codeOf(
            {"flatten", {{"kind", "linear"}, {"name", "a.x-1"}, {"features", 5}}, "relu", named("a.2")}, {8, 8, 1})
                    .contains("x = self.a[\"x-1\"](x)"));
    }

    void aStateDictHasPytorchsOrder()
    {
        const ModelTask task = test::imageTask(4, {2, 2, 3});
        const Model model = buildModel(layersOf({"batch_norm", "flatten", "linear"}), task);
        const Safetensors contents = stateDict(model.graph, task.sample.shape, [&model](ValueId id) {
            std::vector<float> numbers(static_cast<std::size_t>(model.graph.value(id).type.shape.elements()));
            std::iota(numbers.begin(), numbers.end(), 0.0F);
            return numbers;
        });
        std::set<std::string> names;
        for (const StoredTensor& tensor : contents.tensors) {
            names.insert(tensor.name);
        }
        QCOMPARE(names,
            (std::set<std::string> {"bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var",
                "bn1.num_batches_tracked", "fc1.weight", "fc1.bias"}));
        std::array<float, 12> row {};
        std::memcpy(row.data(), contents.find("fc1.weight")->bytes.data(), sizeof row);
        QCOMPARE(row, (std::array<float, 12> {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11})); // channel by channel
    }

    void everyReasonNamesItsSetting_data()
    {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<QString>("reason");
        const auto row = [](const char* reason, const char* settings) {
            QTest::newRow(reason) << QByteArray(settings) << QString(reason);
        };
        for (const std::string& family : scalerFamilies()) {
            if (family != "none" && family != "pytorch" && family != "fixed") {
                const json settings {{"scaler", {{"family", family}}}};
                row(("scaler.family " + family).c_str(), settings.dump().c_str());
            }
        }
        row("scaler.family pytorch with FP16 weights", R"({"precision": {"policy": "pure-fp16"}, "scaler": {}})");
        row("accumulation.scaler_per_micro_batch",
            R"({"scaler": {}, "accumulation": {"scaler_per_micro_batch": true}})");
        row("order puts update",
            R"({"scaler": {}, "order": ["unscale", "update", "check", "clip", "step", "schedule"]})");
        row("order puts clip between",
            R"({"scaler": {}, "order": ["unscale", "clip", "check", "step", "update", "schedule"],
                "clip": {"order": "unscale-then-clip", "max_value": 1}})");
        row("precision.policy O2", R"({"precision": {"policy": "O2"}})");
        row("precision.policy mxnet-bf16", R"({"precision": {"policy": "mxnet-bf16"}})");
        row("precision.weights half-kahan", R"({"precision": {"policy": "pure-bf16", "weights": "half-kahan"}})");
        row("precision.weights master under", R"({"precision": {"policy": "pure-fp16", "weights": "master"}})");
        row("precision.weights half under", R"({"precision": {"policy": "bf16", "weights": "half"}})");
        row("precision.overrides softmax", R"({"precision": {"policy": "fp16", "overrides": {"softmax": "fp16"}}})");
        row("clip.max_norm with 16-bit weights",
            R"({"precision": {"policy": "pure-bf16"}, "clip": {"order": "unscale-then-clip", "max_norm": 1}})");
        row("optimizer.state_format bf16", R"({"optimizer": {"state_format": "bf16"}})");
        row("ema.format bf16", R"({"ema": {"decay": 0.9, "format": "bf16"}})");
        row("events set optimizer.lr at step 4", R"({"events": [{"step": 4, "set": {"optimizer.lr": 0.5}}]})");
        row("watch \"loss > 3\"", R"({"watch": [{"when": "loss > 3", "do": {"set": {"optimizer.lr": 0.5}}}]})");
    }

    void everyReasonNamesItsSetting()
    {
        QFETCH(const QByteArray, settings);
        QFETCH(const QString, reason);
        const std::vector<std::string> reasons = reasonsFor(json::parse(settings.toStdString()));
        QCOMPARE(reasons.size(), std::size_t {1});
        QVERIFY2(QString::fromStdString(reasons.front()).startsWith(reason), reasons.front().c_str());
    }

    void whatPytorchCanDoIsNotRefused()
    {
        QVERIFY(reasonsFor({{"scaler", {{"frozen", true}}}, {"precision", {{"policy", "fp16"}}}}).empty());
        QVERIFY(reasonsFor({{"scaler", json::object()}, {"clip", {{"order", "clip-then-unscale"}, {"max_norm", 1}}}})
                    .empty());
        QVERIFY(reasonsFor(
            {{"scaler", json::object()}, {"order", {"step", "unscale", "check", "clip", "update", "schedule"}}})
                    .empty());
        QVERIFY(reasonsFor({{"precision", {{"policy", "pure-bf16"}}}, {"scaler", json::object()}}).empty());
        // What comes after the last step never happens.
        QVERIFY(reasonsFor({{"events", {{{"step", 10}, {"set", {{"optimizer.lr", 1}}}}}}}).empty());
        QVERIFY(reasonsFor({{"watch", {{{"when", "loss > 3"}, {"do", "pause"}}}}}).empty());
    }
};

QTEST_APPLESS_MAIN(TestPytorchExport)
#include "tst_pytorch_export.moc"
