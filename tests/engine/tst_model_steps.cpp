// Whole models at work: gradients against finite differences, batch norm while training and while judging, learning.
#include "engine/autodiff/differentiate.h"
#include "engine/backends/backend_registry.h"
#include "engine/backends/reference/reference_backend.h"
#include "engine/core/philox.h"
#include "engine/train/lane.h"
#include "engine/train/model_task.h"
#include "tests/support/model_tasks.h"

#include <QtTest>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace mantissa;
using namespace mantissa::test;

namespace {

/// A model with its backward pass, all in FP64 on the reference backend.
class ExactModel
{
public:
    ExactModel(const ModelConfig& config, const ModelTask& task)
        : m_model(buildModel(config, task))
        , m_backend(makeReferenceBackend())
    {
        Graph& graph = m_model.graph;
        graph.value(m_model.loss).kind = ValueKind::StepOutput;
        const ValueId one = graph.addValue({"one", {DType::Float32, {}}, ValueKind::Parameter});
        std::vector<ValueId> parameters;
        for (const Parameter& parameter : m_model.parameters) {
            parameters.push_back(parameter.value);
        }
        m_gradients = differentiate(graph, m_model.loss, one, parameters);
        for (const ValueId gradient : m_gradients) {
            graph.value(gradient).kind = ValueKind::Gradient;
        }
        for (ValueId id = 0; id < graph.values().size(); ++id) {
            if (DType& dtype = graph.value(id).type.dtype; dtype == DType::Float32) {
                dtype = DType::Float64;
            }
        }
        m_executor = std::make_unique<Executor>(graph, *m_backend, 1);
        write(one, {1.0});
        fillInputs(task);
        // Away from zeros and ones, where a wrong gradient could hide.
        for (const Parameter& parameter : m_model.parameters) {
            const Value& value = graph.value(parameter.value);
            std::vector<float> noise(static_cast<std::size_t>(value.type.shape.elements()));
            fillUniform(noise, -0.5F, 0.5F, Philox(5, randomStream(RandomPurpose::Init, value.name)));
            m_values.emplace_back(noise.begin(), noise.end());
            for (double& number : m_values.back()) {
                number += parameter.initial.kind == Initializer::Kind::Constant ? parameter.initial.size : 0;
            }
            write(parameter.value, m_values.back());
        }
        for (const Parameter& buffer : m_model.buffers) {
            write(buffer.value,
                std::vector<double>(
                    static_cast<std::size_t>(graph.value(buffer.value).type.shape.elements()), buffer.initial.size));
        }
    }

    [[nodiscard]] const Model& model() const { return m_model; }

    double loss()
    {
        m_executor->run(Phase::Forward);
        m_executor->downloadStepOutputs();
        return m_executor->scalar(m_model.loss);
    }

    /// The derivative of the loss along a direction in parameter i, by backward and by central differences.
    std::pair<double, double> derivatives(std::size_t i)
    {
        const std::vector<double> values = m_values[i];
        std::vector<float> direction(values.size());
        fillUniform(direction, -1, 1, Philox(9, i));
        loss();
        m_executor->run(Phase::Backward);
        std::vector<double> gradient(values.size());
        m_executor->read(m_gradients[i], std::as_writable_bytes(std::span(gradient)));
        double backward = 0;
        for (std::size_t k = 0; k < values.size(); ++k) {
            backward += gradient[k] * direction[k];
        }
        constexpr double step = 1e-5;
        double losses[2] {};
        for (const int side : {0, 1}) {
            std::vector<double> moved = values;
            for (std::size_t k = 0; k < values.size(); ++k) {
                moved[k] += (side == 0 ? -step : step) * direction[k];
            }
            write(m_model.parameters[i].value, moved);
            losses[side] = loss();
        }
        write(m_model.parameters[i].value, values);
        return {backward, (losses[1] - losses[0]) / (2 * step)};
    }

private:
    void write(ValueId id, const std::vector<double>& values)
    {
        m_executor->write(id, std::as_bytes(std::span(values)));
        m_executor->synchronize();
    }

    void fillInputs(const ModelTask& task)
    {
        const Graph& graph = m_model.graph;
        const auto count
            = [&graph](ValueId id) { return static_cast<std::size_t>(graph.value(id).type.shape.elements()); };
        if (task.sample.dtype == DType::Int32) {
            std::vector<std::int32_t> tokens(count(m_model.input));
            for (std::size_t i = 0; i < tokens.size(); ++i) {
                tokens[i] = static_cast<std::int32_t>(i * i % 7);
            }
            m_executor->write(m_model.input, std::as_bytes(std::span(tokens)));
        } else {
            std::vector<float> pixels(count(m_model.input));
            fillUniform(pixels, -1, 1, Philox(2, 2));
            write(m_model.input, {pixels.begin(), pixels.end()});
        }
        std::vector<std::int32_t> labels(count(m_model.target));
        for (std::size_t i = 0; i < labels.size(); ++i) {
            labels[i] = i % 3 == 2 && task.perToken ? task.ignoreIndex : static_cast<std::int32_t>(i % 5);
        }
        m_executor->write(m_model.target, std::as_bytes(std::span(labels)));
        m_executor->synchronize();
    }

    Model m_model;
    std::unique_ptr<Backend> m_backend;
    std::vector<ValueId> m_gradients;
    std::unique_ptr<Executor> m_executor;
    std::vector<std::vector<double>> m_values;
};

LaneConfig laneOf(const nlohmann::json& model, const char* policy, double lr)
{
    nlohmann::json document {{"name", policy},
        {"data", {{"kind", model.value("kind", "") == "gpt" ? "copy" : "digits"}, {"batch", 64}}}, {"model", model},
        {"precision", {{"policy", policy}}}, {"optimizer", {{"kind", "adamw"}, {"lr", lr}}}};
    if (std::string_view(policy) == "fp16") {
        document["scaler"] = nlohmann::json::object();
    }
    return parseLane(document, "");
}

std::shared_ptr<const Dataset> digits()
{
    static const auto data = std::make_shared<const Dataset>(loadDataset(DataConfig {}, 1, {}));
    return data;
}

} // namespace

class TestModelSteps : public QObject
{
    Q_OBJECT

private slots:

    void gradientsAreThoseOfFiniteDifferences_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<bool>("perToken");
        const auto row = [](const char* name, const char* model, bool perToken = false) {
            QTest::newRow(name) << model << perToken;
        };
        const char* const vit = R"({"kind": "vit", "width": 4, "depth": 1, "heads": 2, "patch": 4)";
        const char* const gpt = R"({"kind": "gpt", "width": 4, "depth": 2, "heads": 2)";
        const auto with = [](const char* head, const char* rest) { return std::string(head) + rest + "}"; };
        row("mlp", R"({"hidden": [4], "activation": "tanh"})");
        row("cnn",
            R"({"kind": "cnn", "width": 2, "depth": 1, "hidden": [4], "batch_norm": true, "activation": "silu"})");
        row("resnet", R"({"kind": "resnet", "width": 2, "depth": 1, "stages": 2, "activation": "gelu"})");
        row("vit", with(vit, "").c_str());
        row("vit, visible scores", with(vit, R"(, "fused_attention": false, "pooling": "mean_tokens")").c_str());
        row("gpt, each token", with(gpt, "").c_str(), true);
        row("gpt, last token", with(gpt, R"(, "tied_head": false, "fused_attention": false)").c_str());
        row("other layers", R"({"kind": "layers", "layers": [
            {"kind": "conv2d", "channels": 4, "kernel": 3, "stride": [2, 1], "padding": 1, "groups": 1},
            {"kind": "group_norm", "groups": 2}, "gelu_tanh", {"kind": "avg_pool", "kernel": 3, "stride": 2, "padding": 1},
            {"kind": "conv2d", "channels": 4, "kernel": 3, "dilation": 2, "padding": 2, "groups": 2, "bias": false},
            "sigmoid", "global_avg_pool", {"kind": "rms_norm"},
            {"repeat": 2, "layers": [{"residual": [{"kind": "linear", "features": 4}, "tanh"]}]}, "linear"]})");
        row("norms behind", R"({"kind": "layers", "layers": [{"kind": "patch_embedding", "patch": 4, "width": 4},
            {"kind": "transformer_block", "heads": 2, "norm_first": false, "norm": "rms_norm", "bias": false},
            "mean_tokens", "linear"]})");
    }

    void gradientsAreThoseOfFiniteDifferences()
    {
        QFETCH(const QString, model);
        QFETCH(const bool, perToken);
        const ModelConfig config = laneOf(nlohmann::json::parse(model.toStdString()), "fp32", 0.01).model;
        ExactModel exact(config, config.kind == "gpt" ? tokenTask(3, 4, perToken) : imageTask(3));
        for (std::size_t i = 0; i < exact.model().parameters.size(); ++i) {
            const auto [backward, difference] = exact.derivatives(i);
            const std::string& name = exact.model().graph.value(exact.model().parameters[i].value).name;
            QVERIFY2(std::abs(backward - difference) <= 1e-6 * std::max(1e-3, std::abs(difference)),
                fmt::format("{}: backward {}, differences {}", name, backward, difference).c_str());
        }
    }

    void judgingUsesRunningStatisticsAndLeavesThemAlone()
    {
        const nlohmann::json model {{"kind", "cnn"}, {"width", 4}, {"depth", 1}, {"batch_norm", true}, {"hidden", {8}}};
        const LaneConfig config = laneOf(model, "fp32", 0.01);
        Lane judged(0, config, {}, digits(), backendByName("cpu"), 1);
        Lane left(1, config, {}, digits(), backendByName("cpu"), 1);
        const std::string before = judged.weightsHash();
        for (int step = 0; step < 5; ++step) {
            judged.step();
            left.step();
            const std::string hash = judged.weightsHash();
            const Validation first = judged.validate();
            QCOMPARE(judged.validate().loss, first.loss);
            QCOMPARE(judged.weightsHash(), hash);
        }
        QCOMPARE(judged.weightsHash(), left.weightsHash());
        QVERIFY(judged.weightsHash() != before);
    }

    void aSampleIsJudgedByItself()
    {
        const nlohmann::json model {{"kind", "resnet"}, {"width", 4}, {"depth", 1}, {"stages", 1}};
        const LaneConfig config = laneOf(model, "fp32", 0.01);
        const EvaluationGraph evaluation = buildEvaluationGraph(config, trainingTask(config, *digits()));
        Executor executor(evaluation.graph, backendByName("cpu"), 1);
        const auto fill = [&executor](const std::vector<ValueId>& ids, float low, float high) {
            for (const ValueId id : ids) {
                std::vector<float> values(static_cast<std::size_t>(executor.graph().value(id).type.shape.elements()));
                fillUniform(values, low, high, Philox(3, id));
                executor.write(id, std::as_bytes(std::span(values)));
                executor.synchronize();
            }
        };
        fill(evaluation.parameters, -0.5F, 0.5F);
        fill(evaluation.buffers, 0.5F, 1.5F);
        const auto firstRow = [&](float others) {
            std::vector<float> pixels(std::size_t {64} * 64, others);
            std::fill_n(pixels.begin(), 64, 0.3F);
            executor.write(evaluation.input, std::as_bytes(std::span(pixels)));
            executor.run(Phase::WeightCast);
            executor.run(Phase::Forward);
            executor.downloadStepOutputs();
            const auto row = executor.floats(evaluation.output).first(10);
            return std::vector<float>(row.begin(), row.end());
        };
        QCOMPARE(firstRow(0.9F), firstRow(-5.0F));
    }

    void aForkTakesRunningStatisticsAlong()
    {
        const LaneConfig config = laneOf({{"kind", "resnet"}, {"width", 4}, {"depth", 1}, {"stages", 1}}, "bf16", 0.01);
        Lane lane(0, config, {}, digits(), backendByName("cpu"), 1);
        lane.step();
        const auto fork = lane.fork(1, "fork");
        QCOMPARE(fork->weightsHash(), lane.weightsHash());
        QCOMPARE(fork->validate().loss, lane.validate().loss);
        lane.set("precision.policy", "fp32");
        QCOMPARE(fork->weightsHash(), lane.weightsHash());
    }

    void presetsLearnInEveryPrecision_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QString>("policy");
        QTest::addColumn<double>("accuracy");
        for (const char* policy : {"fp32", "fp16", "bf16"}) {
            QTest::addRow("cnn %s", policy) << "cnn" << policy << 0.8;
            QTest::addRow("resnet %s", policy) << "resnet" << policy << 0.8;
            QTest::addRow("vit %s", policy) << "vit" << policy << 0.6;
        }
    }

    void presetsLearnInEveryPrecision()
    {
        QFETCH(const QString, kind);
        QFETCH(const QString, policy);
        QFETCH(const double, accuracy);
        nlohmann::json model {{"kind", kind.toStdString()}, {"width", kind == "vit" ? 32 : 8}, {"depth", 1}};
        Lane lane(0, laneOf(model, qPrintable(policy), 0.005), {}, digits(), backendByName("cpu"), 1);
        for (int step = 0; step < 80; ++step) {
            lane.step();
        }
        const double reached = lane.validate().accuracy;
        QVERIFY2(reached > accuracy, qPrintable(QString::number(reached)));
    }

    void gptLearnsToAddInEveryPrecision_data()
    {
        QTest::addColumn<QString>("policy");
        for (const char* policy : {"fp32", "fp16", "bf16"}) {
            QTest::newRow(policy) << policy;
        }
    }

    void gptLearnsToAddInEveryPrecision()
    {
        QFETCH(const QString, policy);
        constexpr std::int64_t pairs = 49; // a and b from 0 to 6; asked: a + b modulo 7
        const nlohmann::json model {{"kind", "gpt"}, {"width", 32}, {"depth", 1}};
        const StepGraph step = buildStepGraph(laneOf(model, qPrintable(policy), 0.005), tokenTask(pairs, 2, false));
        const ModelConfig config = laneOf(model, qPrintable(policy), 0.005).model;
        const Model built = buildModel(config, tokenTask(pairs, 2, false));
        Executor executor(step.graph, backendByName("cpu"), 1);
        for (std::size_t i = 0; i < step.parameters.size(); ++i) {
            const std::vector<float> values = initialValues(built.graph, built.parameters[i], 1);
            executor.write(step.parameters[i], std::as_bytes(std::span(values)));
            executor.synchronize();
        }
        std::vector<std::int32_t> tokens;
        std::vector<std::int32_t> sums;
        for (std::int32_t i = 0; i < pairs; ++i) {
            tokens.insert(tokens.end(), {i / 7, i % 7});
            sums.push_back((i / 7 + i % 7) % 7);
        }
        executor.write(step.input, std::as_bytes(std::span(tokens)));
        executor.write(step.target, std::as_bytes(std::span(sums)));
        if (step.scaler) {
            executor.setScalar(step.scaler->isFrozen, 1.0F);
            executor.writeFloats(step.lossScale, std::vector {1024.0F});
            executor.writeFloats(step.inverseScale, std::vector {1 / 1024.0F});
        } else {
            executor.setScalar(step.lossScale, 1024.0F);
            executor.setScalar(step.inverseScale, 1 / 1024.0F);
        }
        executor.setScalar(step.lr, 0.005F);
        executor.uploadStepInputs();
        for (int i = 0; i < 200; ++i) {
            for (const Phase phase :
                {Phase::WeightCast, Phase::Forward, Phase::Backward, Phase::Unscale, Phase::Optimizer}) {
                executor.run(phase);
            }
        }
        executor.downloadStepOutputs();
        const double loss = executor.scalar(step.loss);
        QVERIFY2(loss < 0.1, qPrintable(QString::number(loss))); // ln 7 = 1.95 at the beginning
    }
};

QTEST_APPLESS_MAIN(TestModelSteps)
#include "tst_model_steps.moc"
