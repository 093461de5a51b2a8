// Models from JSON: names, shapes and initial values against PyTorch's conventions, blocks, and errors in their words.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/nn/layer.h"
#include "engine/nn/presets.h"
#include "engine/train/lane.h"
#include "engine/train/model_task.h"
#include "engine/train/step_graph.h"
#include "tests/support/model_tasks.h"

#include <QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace mantissa;
using namespace mantissa::test;

namespace {

std::string textOf(const Model& model, const std::vector<Parameter>& values)
{
    std::string text;
    for (const Parameter& parameter : values) {
        const Value& value = model.graph.value(parameter.value);
        const char* const kind = parameter.initial.kind == Initializer::Kind::Uniform ? "uniform "
            : parameter.initial.kind == Initializer::Kind::Normal                     ? "normal "
                                                                                      : "";
        text += fmt::format("{} {} {}{:.4f}\n", value.name, value.type.shape.text(), kind, parameter.initial.size);
    }
    return text;
}

ModelTask taskOf(const std::string& kind, std::int64_t batch)
{
    return kind == "gpt" ? tokenTask(batch, 5, true) : imageTask(batch);
}

std::vector<std::string> nodesOf(const Model& model)
{
    std::vector<std::string> names;
    for (const Node& node : model.graph.nodes()) {
        names.push_back(node.name);
    }
    return names;
}

QString problemOf(const ModelConfig& config, const ModelTask& task)
{
    try {
        buildModel(config, task);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

LaneConfig laneOf(const nlohmann::json& document)
{
    return parseLane(document, "");
}

} // namespace

class TestModels : public QObject
{
    Q_OBJECT

private slots:

    void parametersAreThoseOfPyTorch_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("parameters");
        QTest::addColumn<QString>("buffers");
        // torch.nn.Linear and Conv2d: uniform within 1 / sqrt(fan in), biases too; norms 1 and 0.
        QTest::newRow("mlp") << "mlp"
                             << "fc1.weight [8, 64] uniform 0.1250\nfc1.bias [8] uniform 0.1250\n"
                                "fc2.weight [10, 8] uniform 0.3536\nfc2.bias [10] uniform 0.3536\n"
                             << "";
        QTest::newRow("cnn") << "cnn"
                             << "conv1.weight [4, 1, 3, 3] uniform 0.3333\nconv1.bias [4] uniform 0.3333\n"
                                "bn1.weight [4] 1.0000\nbn1.bias [4] 0.0000\n"
                                "conv2.weight [8, 4, 3, 3] uniform 0.1667\nconv2.bias [8] uniform 0.1667\n"
                                "bn2.weight [8] 1.0000\nbn2.bias [8] 0.0000\n"
                                "fc1.weight [8, 32] uniform 0.1768\nfc1.bias [8] uniform 0.1768\n"
                                "fc2.weight [10, 8] uniform 0.3536\nfc2.bias [10] uniform 0.3536\n"
                             << "bn1.running_mean [4] 0.0000\nbn1.running_var [4] 1.0000\n"
                                "bn2.running_mean [8] 0.0000\nbn2.running_var [8] 1.0000\n";
        // The state_dict of torchvision's ResNet with BasicBlock, num_batches_tracked apart.
        QTest::newRow("resnet")
            << "resnet"
            << "conv1.weight [4, 1, 3, 3] uniform 0.3333\nbn1.weight [4] 1.0000\nbn1.bias [4] 0.0000\n"
               "layer1.0.conv1.weight [4, 4, 3, 3] uniform 0.1667\n"
               "layer1.0.bn1.weight [4] 1.0000\nlayer1.0.bn1.bias [4] 0.0000\n"
               "layer1.0.conv2.weight [4, 4, 3, 3] uniform 0.1667\n"
               "layer1.0.bn2.weight [4] 1.0000\nlayer1.0.bn2.bias [4] 0.0000\n"
               "layer2.0.conv1.weight [8, 4, 3, 3] uniform 0.1667\n"
               "layer2.0.bn1.weight [8] 1.0000\nlayer2.0.bn1.bias [8] 0.0000\n"
               "layer2.0.conv2.weight [8, 8, 3, 3] uniform 0.1179\n"
               "layer2.0.bn2.weight [8] 1.0000\nlayer2.0.bn2.bias [8] 0.0000\n"
               "layer2.0.downsample.0.weight [8, 4, 1, 1] uniform 0.5000\n"
               "layer2.0.downsample.1.weight [8] 1.0000\nlayer2.0.downsample.1.bias [8] 0.0000\n"
               "fc.weight [10, 8] uniform 0.3536\nfc.bias [10] uniform 0.3536\n"
            << "bn1.running_mean [4] 0.0000\nbn1.running_var [4] 1.0000\n"
               "layer1.0.bn1.running_mean [4] 0.0000\nlayer1.0.bn1.running_var [4] 1.0000\n"
               "layer1.0.bn2.running_mean [4] 0.0000\nlayer1.0.bn2.running_var [4] 1.0000\n"
               "layer2.0.bn1.running_mean [8] 0.0000\nlayer2.0.bn1.running_var [8] 1.0000\n"
               "layer2.0.bn2.running_mean [8] 0.0000\nlayer2.0.bn2.running_var [8] 1.0000\n"
               "layer2.0.downsample.1.running_mean [8] 0.0000\nlayer2.0.downsample.1.running_var [8] 1.0000\n";
        // timm's VisionTransformer.
        QTest::newRow("vit")
            << "vit"
            << "patch_embed.proj.weight [8, 1, 4, 4] uniform 0.2500\npatch_embed.proj.bias [8] uniform 0.2500\n"
               "cls_token [1, 1, 8] 0.0000\npos_embed [1, 5, 8] normal 0.0200\n"
               "blocks.0.norm1.weight [8] 1.0000\nblocks.0.norm1.bias [8] 0.0000\n"
               "blocks.0.attn.qkv.weight [24, 8] uniform 0.3536\nblocks.0.attn.qkv.bias [24] uniform 0.3536\n"
               "blocks.0.attn.proj.weight [8, 8] uniform 0.3536\nblocks.0.attn.proj.bias [8] uniform 0.3536\n"
               "blocks.0.norm2.weight [8] 1.0000\nblocks.0.norm2.bias [8] 0.0000\n"
               "blocks.0.mlp.fc1.weight [32, 8] uniform 0.3536\nblocks.0.mlp.fc1.bias [32] uniform 0.3536\n"
               "blocks.0.mlp.fc2.weight [8, 32] uniform 0.1768\nblocks.0.mlp.fc2.bias [8] uniform 0.1768\n"
               "norm.weight [8] 1.0000\nnorm.bias [8] 0.0000\n"
               "head.weight [10, 8] uniform 0.3536\nhead.bias [10] uniform 0.3536\n"
            << "";
        // GPT-2: N(0, 0.02), biases zero; the head is the embedding.
        QTest::newRow("gpt") << "gpt"
                             << "tok_embed.weight [7, 8] normal 0.0200\npos_embed [1, 5, 8] normal 0.0200\n"
                                "blocks.0.norm1.weight [8] 1.0000\nblocks.0.norm1.bias [8] 0.0000\n"
                                "blocks.0.attn.qkv.weight [24, 8] normal 0.0200\nblocks.0.attn.qkv.bias [24] 0.0000\n"
                                "blocks.0.attn.proj.weight [8, 8] normal 0.0200\nblocks.0.attn.proj.bias [8] 0.0000\n"
                                "blocks.0.norm2.weight [8] 1.0000\nblocks.0.norm2.bias [8] 0.0000\n"
                                "blocks.0.mlp.fc1.weight [32, 8] normal 0.0200\nblocks.0.mlp.fc1.bias [32] 0.0000\n"
                                "blocks.0.mlp.fc2.weight [8, 32] normal 0.0200\nblocks.0.mlp.fc2.bias [8] 0.0000\n"
                                "norm.weight [8] 1.0000\nnorm.bias [8] 0.0000\n"
                             << "";
    }

    void parametersAreThoseOfPyTorch()
    {
        QFETCH(const QString, kind);
        QFETCH(const QString, parameters);
        QFETCH(const QString, buffers);
        const Model model = buildModel(tinyModel(kind.toStdString()), taskOf(kind.toStdString(), 4));
        QCOMPARE(QString::fromStdString(textOf(model, model.parameters)), parameters);
        QCOMPARE(QString::fromStdString(textOf(model, model.buffers)), buffers);
    }

    void initialValuesAreDrawnAsTheySay()
    {
        for (const char* kind : {"mlp", "cnn", "resnet", "vit", "gpt"}) {
            const Model model = buildModel(defaultModel(kind), taskOf(kind, 4));
            for (const Parameter& parameter : model.parameters) {
                const std::vector<float> values = initialValues(model.graph, parameter, 3);
                const double size = parameter.initial.size;
                double squares = 0;
                double largest = 0;
                for (const float value : values) {
                    squares += static_cast<double>(value) * value;
                    largest = std::max(largest, std::abs(static_cast<double>(value)));
                }
                const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
                const bool isUniform = parameter.initial.kind == Initializer::Kind::Uniform;
                const double expected = isUniform ? size / std::sqrt(3.0) : size;
                QVERIFY(!isUniform || largest <= size);
                QVERIFY2(values.size() < 500 || std::abs(deviation - expected) <= 0.15 * expected,
                    model.graph.value(parameter.value).name.c_str());
                QVERIFY(parameter.initial.kind != Initializer::Kind::Constant || largest == size);
            }
        }
    }

    void theGainMultipliesWeightsOnly()
    {
        ModelConfig config = tinyModel("cnn");
        config.initGain = 0.5;
        const Model model = buildModel(config, imageTask(4));
        const std::string text = textOf(model, model.parameters);
        QVERIFY(text.starts_with("conv1.weight [4, 1, 3, 3] uniform 0.1667\nconv1.bias [4] uniform 0.3333\n"
                                 "bn1.weight [4] 1.0000\n"));
    }

    void everyPresetIsAListOfLayers()
    {
        for (const char* kind : {"mlp", "cnn", "resnet", "vit", "gpt"}) {
            for (const bool varied : {false, true}) {
                ModelConfig preset = varied ? tinyModel(kind) : defaultModel(kind);
                preset.dropout = varied ? 0.25 : 0;
                preset.fusedAttention = !varied;
                preset.pooling = varied ? "mean_tokens" : "class_token";
                preset.tiedHead = !varied;
                const ModelTask task = taskOf(kind, 4);
                ModelConfig list;
                list.kind = "layers";
                list.layers = presetLayers(preset, task);
                QCOMPARE(layersProblem(list.layers), std::string());
                QCOMPARE(buildModel(list, task).graph.text(), buildModel(preset, task).graph.text());
            }
        }
    }

    void anMlpReadsImagesFlat()
    {
        ModelConfig config = tinyModel("mlp");
        config.dropout = 0.5;
        const Model model = buildModel(config, imageTask(4));
        QCOMPARE(model.graph.value(model.input).type.shape, (Shape {4, 64}));
        QCOMPARE(nodesOf(model), (std::vector<std::string> {"fc1", "act1", "drop1", "fc2", "loss"}));
        ModelTask judging = imageTask(4);
        judging.training = false;
        QCOMPARE(nodesOf(buildModel(config, judging)), (std::vector<std::string> {"fc1", "act1", "fc2", "loss"}));
    }

    void namedBlocksPutTheirNameBefore()
    {
        const Model model = buildModel(layerModel(R"([
            {"kind": "conv2d", "channels": 4, "kernel": 3, "padding": 1}, "relu",
            {"repeat": 2, "name": "body", "layers": [
                {"residual": [{"kind": "conv2d", "channels": 4, "kernel": [3, 1], "padding": [1, 0]}, "silu"]}]},
            {"sequence": [{"kind": "conv2d", "channels": 4, "kernel": 1}]},
            {"repeat": 2, "layers": [{"kind": "max_pool", "kernel": 2}]},
            {"name": "head", "sequence": ["flatten", {"kind": "linear", "name": "out"}]}])"),
            imageTask(4));
        QCOMPARE(nodesOf(model),
            (std::vector<std::string> {"conv1", "act1", "body.0.conv1", "body.0.act1", "body.0.add1", "body.1.conv1",
                "body.1.act1", "body.1.add1", "conv2", "pool1", "pool2", "head.flatten1", "head.out", "loss"}));
    }

    void gptAsksEachTokenOrTheLast()
    {
        const ModelConfig config = tinyModel("gpt");
        const Model each = buildModel(config, tokenTask(2, 5, true));
        QCOMPARE(each.graph.value(each.output).type.shape, (Shape {2, 5, 7}));
        QCOMPARE(each.graph.value(each.target).type, (TensorType {DType::Int32, {2, 5}}));
        const Model last = buildModel(config, tokenTask(2, 5, false));
        QCOMPARE(last.graph.value(last.output).type.shape, (Shape {2, 7}));
        QCOMPARE(last.graph.value(last.target).type, (TensorType {DType::Int32, {2}}));
    }

    void namesTheLayerAndBothShapes_data()
    {
        QTest::addColumn<QString>("layers");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const char* layers, const char* message) {
            QTest::newRow(name) << layers << message;
        };
        row("a convolution after flattening", R"(["relu", "flatten", {"kind": "conv2d", "channels": 4, "kernel": 3}])",
            "model.layers[2] (conv1): needs images [batch, height, width, channels], but gets flatten1.out fp32 [4, "
            "64]");
        row("a kernel too large", R"([{"kind": "conv2d", "channels": 4, "kernel": 9}])",
            "model.layers[0] (conv1): conv2d expects a kernel no larger than the padded image, got [4, 8, 8, 1], "
            "[4, 1, 9, 9], [4]");
        row("a residual that shrinks",
            R"([{"name": "down", "residual": [{"kind": "conv2d", "channels": 2, "kernel": 3}]}])",
            "model.layers[0] (down.add1): the block gives down.conv1.out fp32 [4, 6, 6, 2], but its shortcut input "
            "fp32 "
            "[4, 8, 8, 1]; they are added, so their shapes must be equal: add a \"shortcut\"");
        row("an output of another shape", R"(["flatten", {"kind": "linear", "features": 9}])",
            "model.layers[1] (fc1): the model's output must be fp32 [4, 10] (batch, outputs), but its last layer gives "
            "fc1.out fp32 [4, 9]");
        row("a name taken twice",
            R"(["flatten", {"kind": "linear", "features": 9, "name": "a"}, {"kind": "linear", "name": "a"}])",
            "model.layers[2]: \"a\" is the name of an earlier layer");
        row("heads that do not divide",
            R"([{"kind": "patch_embedding", "patch": 2, "width": 6}, {"sequence": [{"kind": "attention", "heads": 4}]}])",
            "model.layers[1].sequence[0] (attn1): has 4 heads, which must divide the width that it gets, but gets "
            "patch_embed1.tokens.out fp32 [4, 16, 6]");
        row("patches that do not cover", R"([{"kind": "patch_embedding", "patch": 3, "width": 6}])",
            "model.layers[0] (patch_embed1): needs images that patches of 3 x 3 cover without a rest, but gets input "
            "fp32 [4, 8, 8, 1]");
        row("inside a block of the transformer",
            R"([{"kind": "patch_embedding", "patch": 2, "width": 6}, {"kind": "transformer_block", "heads": 4}])",
            "model.layers[1] (block1.attn): has 4 heads");
        row("no weights", R"(["flatten", "relu"])", "model.layers[1] (act1): the model's output must be");
        row("tokens from numbers", R"([{"kind": "embedding", "width": 4}])",
            "model.layers[0] (embed1): needs token ids (int32), but gets input fp32 [4, 8, 8, 1]");
        row("tied to nothing", R"(["flatten", {"kind": "linear", "tied": "emb"}])",
            "model.layers[1] (fc1): is tied to emb.weight, but no earlier layer has that weight");
        row("too large",
            R"(["flatten", {"kind": "linear", "features": 1048576}, {"kind": "linear", "features": 1048576}])",
            "model.layers[2] (fc2): fc2.weight [1048576, 1048576] has 1099511627776 numbers; at most");
        row("too many", R"(["flatten", {"repeat": 1000, "layers": [{"repeat": 1000, "layers": ["relu"]}]}])",
            "model.layers[1].layers[0].layers[0]: makes more than 10000 layers");
    }

    void namesTheLayerAndBothShapes()
    {
        QFETCH(const QString, layers);
        QFETCH(const QString, message);
        const QString text = problemOf(layerModel(layers.toStdString()), imageTask(4));
        QVERIFY2(text.startsWith(message), qPrintable(text));
    }

    void presetsRefuseDataThatTheyCannotRead()
    {
        QCOMPARE(problemOf(tinyModel("cnn"), imageTask(4, {2})),
            "model (conv1): needs images [batch, height, width, channels], but gets input fp32 [4, 2]");
        QVERIFY(problemOf(tinyModel("gpt"), imageTask(4))
                    .startsWith("model.kind: gpt reads token ids, but a sample of "
                                "this data is fp32 [8, 8, 1]"));
        QVERIFY(
            problemOf(tinyModel("mlp"), tokenTask(4, 5, false))
                .startsWith("model (flatten1): works on numbers (token ids go through an embedding first), but gets "));
    }

    void refusesWrongLayers_data()
    {
        QTest::addColumn<QString>("layers");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* layers, const char* message) { QTest::newRow(layers) << layers << message; };
        row(R"(3)", "model.layers is 3; it must be a list of 1 to 10000 layers");
        row(R"([])", "model.layers is []; it must be a list of 1 to 10000 layers");
        row(R"(["rleu"])", "model.layers[0] is \"rleu\", but there is no such kind of layer; did you mean \"relu\"?");
        row(R"(["relu", {"kind": "conv2"}])",
            "model.layers[1].kind is \"conv2\", but there is no such kind of layer; did you mean \"conv2d\"?");
        row(R"([{"kind": "conv2d", "channels": 4, "kernal": 3}])",
            "model.layers[0].kernal is not a key of conv2d (its value: 3); did you mean \"kernel\"?");
        row(R"([{"kind": "conv2d", "channels": 4}])", "model.layers[0].kernel is missing; conv2d needs it");
        row(R"([{"kind": "conv2d", "channels": 4, "kernel": [3, 0]}])",
            "model.layers[0].kernel is [3,0]; it must be an integer from 1 to 1024, or two of them: [height, width]");
        row(R"([{"residual": [{"kind": "dropout", "p": 1}]}])",
            "model.layers[0].residual[0].p is 1; it must be a number from 0 to below 1");
        row(R"(["dropout"])", "accepted");
        row(R"(["conv2d"])", "model.layers[0].channels is missing; conv2d needs it");
        row(R"([{"repeat": 0, "layers": ["relu"]}])", "model.layers[0].repeat is 0; it must be an integer from 1");
        row(R"([{"repeat": 2}])", "model.layers[0].layers is missing; it lists what is repeated");
        row(R"([{"kinds": "relu"}])",
            "model.layers[0].kinds is not a key of a layer (its value: \"relu\"); did you mean \"kind\"?");
        row(R"([null])", "model.layers[0] is null; it must be a layer like");
        row(R"([{"kind": "relu", "name": "a b"}])", "model.layers[0].name is \"a b\"; it must be a text of 1 to 64");
        row(R"([{"kind": "transformer_block", "heads": 2, "norm": "layernorm"}])",
            "model.layers[0].norm is \"layernorm\"; it must be one of layer_norm, rms_norm; did you mean "
            "\"layer_norm\"?");
    }

    void refusesWrongLayers()
    {
        QFETCH(const QString, layers);
        QFETCH(const QString, message);
        QString text = "accepted";
        try {
            laneOf({{"name", "A"},
                {"model", {{"kind", "layers"}, {"layers", nlohmann::json::parse(layers.toStdString())}}}});
        } catch (const Error& error) {
            text = error.what();
        }
        QVERIFY2(text.startsWith(message), qPrintable(text));
    }

    void gradientsAreRoundedWhereParametersWereCast()
    {
        // Norms hand several gradients out of one op, and their parameters are not cast: none of theirs is rounded.
        const Dataset data = loadDataset(DataConfig {}, 1, {});
        for (const char* kind : {"mlp", "cnn", "resnet", "vit"}) {
            const LaneConfig config = laneOf({{"name", "a"}, {"data", {{"batch", 4}}}, {"model", {{"kind", kind}}},
                {"precision", {{"policy", "fp16"}}}});
            const StepGraph step = buildStepGraph(config, trainingTask(config, data));
            const auto copies = std::ranges::count(step.graph.values(), ValueKind::WeightCopy, &Value::kind);
            QVERIFY(copies > 0);
            QCOMPARE(std::ranges::count_if(step.gradientRoundings,
                         [](const std::optional<ValueId>& rounding) { return rounding.has_value(); }),
                copies);
        }
    }

    void initialWeightsAreTheSameInEveryPrecision()
    {
        auto data = std::make_shared<Dataset>(loadDataset(DataConfig {}, 1, {}));
        for (const char* kind : {"mlp", "cnn", "resnet", "vit"}) {
            std::vector<std::string> hashes;
            for (const char* policy : {"fp32", "fp16", "bf16"}) {
                const LaneConfig config = laneOf({{"name", policy}, {"data", {{"batch", 4}}},
                    {"model", {{"kind", kind}}}, {"precision", {{"policy", policy}}}});
                hashes.push_back(Lane(0, config, {}, data, backendByName("cpu"), 1).weightsHash());
            }
            QCOMPARE(hashes[1], hashes[0]);
            QCOMPARE(hashes[2], hashes[0]);
        }
    }
};

QTEST_APPLESS_MAIN(TestModels)
#include "tst_models.moc"
