// The passes over the graph: where casts go, what backward computes in, and that no two living values share memory.
#include "engine/autocast/autocast.h"
#include "engine/autodiff/differentiate.h"
#include "engine/core/error.h"
#include "engine/graph/memory_plan.h"
#include "engine/graph/op_def.h"
#include "engine/nn/model.h"
#include "engine/train/step_graph.h"
#include "tests/support/graph_lookup.h"

#include <QtTest>

#include <algorithm>
#include <set>

using namespace mantissa;
using test::formatOf;
using test::nodeNamed;

namespace {

ModelTask task()
{
    ModelTask task;
    task.batch = 8;
    task.sample.shape = {64};
    task.outputs = 10;
    task.loss = "cross_entropy";
    task.seed = 1;
    return task;
}

Model mlp()
{
    ModelConfig config;
    config.hidden = {32, 16};
    config.dropout = 0.25;
    return buildModel(config, task());
}

int casts(const Graph& graph)
{
    return static_cast<int>(std::ranges::count(graph.nodes(), Op::Cast, &Node::op));
}

/// A made-up chain that meets every kind of list.
Graph block()
{
    Graph graph;
    const auto parameter = [&graph](const char* name, const Shape& shape) {
        return graph.addValue({name, {DType::Float32, shape}, ValueKind::Parameter});
    };
    const auto then = [&graph](Op op, const char* name, Attributes attributes, std::vector<ValueId> inputs,
                          std::size_t outputs = 1) {
        std::vector<std::string> names {
            std::string(name) + ".out", std::string(name) + ".mean", std::string(name) + ".rstd"};
        names.resize(outputs);
        return graph.append(
            {.op = op, .name = name, .attributes = std::move(attributes), .inputs = std::move(inputs)}, names)[0];
    };
    const ValueId x = graph.addValue({"x", {DType::Float32, {2, 8, 8, 3}}, ValueKind::Input});
    const ValueId labels = graph.addValue({"labels", {DType::Int32, {2}}, ValueKind::Input});
    ValueId y = then(Op::Conv2d, "conv", Conv2dAttributes {}, {x, parameter("conv.weight", {4, 3, 3, 3})});
    y = then(Op::BatchNorm2d, "bn", BatchNormAttributes {},
        {y, parameter("bn.weight", {4}), parameter("bn.bias", {4}), parameter("bn.mean", {4}),
            parameter("bn.var", {4})},
        3);
    y = then(Op::Relu, "relu", {}, {y});
    y = then(Op::GlobalAvgPool, "gap", ReduceAttributes {}, {y});
    y = then(Op::Linear, "fc", {}, {y, parameter("fc.weight", {5, 4})});
    y = then(Op::LayerNorm, "ln", NormAttributes {}, {y, parameter("ln.weight", {5}), parameter("ln.bias", {5})}, 3);
    y = then(Op::Gelu, "gelu", GeluAttributes {}, {y});
    const ValueId logits = then(Op::Softmax, "softmax", SoftmaxAttributes {}, {y});
    y = then(Op::Exp, "exp", {}, {logits});
    then(Op::Sum, "total", ReduceAttributes {}, {y});
    then(Op::SoftmaxCrossEntropy, "loss", {}, {logits, labels}, 2);
    return graph;
}

LaneConfig lane(const char* policy)
{
    return parseLane({{"name", "a"}, {"model", {{"kind", "mlp"}, {"hidden", {32, 16}}}}, {"data", {{"batch", 8}}},
                         {"precision", {{"policy", policy}}}},
        "test");
}

/// Parameters whose gradient backward rounds to 16 bits.
std::size_t roundedGradients(const StepGraph& step)
{
    return static_cast<std::size_t>(std::ranges::count_if(
        step.gradientRoundings, [](const std::optional<ValueId>& rounding) { return rounding.has_value(); }));
}

} // namespace

class TestAutocast : public QObject
{
    Q_OBJECT

private slots:

    void leavesAnFp32GraphAlone()
    {
        const Model model = mlp();
        const AutocastResult result = applyAutocast(model.graph, {});
        QCOMPARE(result.graph.nodes().size(), model.graph.nodes().size());
        QCOMPARE(casts(result.graph), 0);
    }

    void followsPyTorchsLists()
    {
        const Model model = mlp();
        const AutocastResult result = applyAutocast(model.graph, {"fp16", DType::Float16, {}});
        // Linear is on the lower-precision list, relu and dropout follow, the loss is on the FP32 list.
        QCOMPARE(formatOf(result.graph, "fc1"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "act1"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "drop1"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "fc3"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "loss"), DType::Float32);
        // Six parameters, the samples, and the logits on their way to the loss.
        QCOMPARE(casts(result.graph), 8);
        QVERIFY(nodeNamed(result.graph, "fc1").reason.find("fp16") != std::string::npos);
    }

    void castsAParameterOncePerFormat()
    {
        Graph graph;
        const ValueId x = graph.addValue({"x", {DType::Float32, {2, 3}}, ValueKind::Input});
        const ValueId w = graph.addValue({"w", {DType::Float32, {3, 3}}, ValueKind::Parameter});
        const ValueId once = graph.append({.op = Op::Linear, .name = "a", .inputs = {x, w}}, {"a"})[0];
        graph.append({.op = Op::Linear, .name = "b", .inputs = {once, w}}, {"b"});
        const AutocastResult result = applyAutocast(graph, {"bf16", DType::BFloat16, {}});
        QCOMPARE(nodeNamed(result.graph, "a").inputs[1], nodeNamed(result.graph, "b").inputs[1]);
        QCOMPARE(casts(result.graph), 2);
        QCOMPARE(result.graph.value(nodeNamed(result.graph, "a").inputs[1]).kind, ValueKind::WeightCopy);
    }

    void everyPolicyFollowsItsTable_data()
    {
        // reference tables: PyTorch autocast_mode.h, TensorFlow auto_mixed_precision_lists.h, MXNet amp lists, Apex amp
        // lists. f: fp32, h: the 16-bit format. The ops of block() in order.
        QTest::addColumn<QString>("policy");
        QTest::addColumn<QString>("formats");
        //                               conv bn relu gap fc ln gelu softmax exp sum loss
        QTest::newRow("fp32") << "fp32"
                              << "fffffffffff";
        QTest::newRow("fp16") << "fp16"
                              << "hhhhhffffff";
        QTest::newRow("cpu-bf16") << "cpu-bf16"
                                  << "hhhhhhhhhhf";
        QTest::newRow("mxnet-fp16") << "mxnet-fp16"
                                    << "hhhhhffffff";
        QTest::newRow("mxnet-bf16") << "mxnet-bf16"
                                    << "hhhhhhhhfff";
        QTest::newRow("O0") << "O0"
                            << "fffffffffff";
        QTest::newRow("O1") << "O1"
                            << "hhhhhffffff";
        QTest::newRow("O2") << "O2"
                            << "hhhhhhhhhhf";
        QTest::newRow("O3") << "O3"
                            << "hhhhhhhhhhf";
        // The loss is an FP32 scalar everywhere; what it reads is another matter, see pureModelsHaveNoCastsOfWeights().
        QTest::newRow("pure-fp16") << "pure-fp16"
                                   << "hhhhhhhhhhf";
        QTest::newRow("pure-bf16") << "pure-bf16"
                                   << "hhhhhhhhhhf";
        // Means are denied: the pool and what lies between it and the next infer op; the linear after it is allowed.
        QTest::newRow("tf-fp16") << "tf-fp16"
                                 << "hhhfhffffff";
        QTest::newRow("tf-bf16") << "tf-bf16"
                                 << "hhhhhhhhfff";
    }

    void everyPolicyFollowsItsTable()
    {
        QFETCH(QString, policy);
        QFETCH(QString, formats);
        const Graph forward = block();
        const AutocastResult result = applyAutocast(forward, policyNamed(policy.toStdString()));
        const DType lower = policyNamed(policy.toStdString()).lower;
        qsizetype at = 0;
        for (const Node& node : forward.nodes()) {
            const DType expected = formats[at++] == QLatin1Char('h') ? lower : DType::Float32;
            QVERIFY2(formatOf(result.graph, node.name) == expected, node.name.c_str());
            QVERIFY2(!nodeNamed(result.graph, node.name).reason.empty(), node.name.c_str());
        }
        // Norms keep their parameters in the format of the weights where they are not cast.
        const Node& norm = nodeNamed(result.graph, "bn");
        QCOMPARE(result.graph.value(norm.inputs[1]).type.dtype, policyNamed(policy.toStdString()).weights);
    }

    void pureModelsHaveNoCastsOfWeights_data()
    {
        QTest::addColumn<QString>("policy");
        QTest::addColumn<DType>("format");
        QTest::addColumn<int>("casts");
        // The samples; under O3 also the logits on their way to the loss, which gives back a gradient of its own.
        QTest::newRow("pure-fp16") << "pure-fp16" << DType::Float16 << 1;
        QTest::newRow("pure-bf16") << "pure-bf16" << DType::BFloat16 << 1;
        QTest::newRow("O3") << "O3" << DType::Float16 << 3;
    }

    void pureModelsHaveNoCastsOfWeights()
    {
        QFETCH(const QString, policy);
        QFETCH(const DType, format);
        QFETCH(const int, casts);
        const StepGraph step = buildStepGraph(lane(qPrintable(policy)), task());
        QCOMPARE(step.castsPerStep, casts);
        for (const Value& value : step.graph.values()) {
            QVERIFY2(value.kind != ValueKind::WeightCopy, value.name.c_str());
            const bool follows = value.kind == ValueKind::Parameter || value.kind == ValueKind::Gradient
                || (value.kind == ValueKind::OptimizerState && value.name != "step");
            QVERIFY2(!follows || value.type.dtype == format, value.name.c_str());
        }
        QVERIFY(std::ranges::equal(step.gradientRoundings, step.gradients));
        QCOMPARE(std::get<AdamAttributes>(nodeNamed(step.graph, "adamw").attributes).arithmetic, format);
        const Node& loss = nodeNamed(step.graph, "loss");
        const bool readsHalf = policy != QStringLiteral("O3");
        QCOMPARE(step.graph.value(loss.inputs[0]).type.dtype, readsHalf ? format : DType::Float32);
        QVERIFY(step.graph.text().find("fc1.weight:" + std::string(nameOf(format))) != std::string::npos);
    }

    void weightsHaveAFormatOfTheirOwn()
    {
        const auto stepWith = [](const char* policy, const char* weights) {
            LaneConfig config = lane(policy);
            config.precision.weights = weights;
            return buildStepGraph(config, task());
        };
        // Masters under a pure policy: cast for every op, as O2 without its exception.
        const StepGraph masters = stepWith("pure-fp16", "master");
        QCOMPARE(masters.graph.value(masters.parameters[0]).type.dtype, DType::Float32);
        QCOMPARE(std::get<AdamAttributes>(nodeNamed(masters.graph, "adamw").attributes).arithmetic, DType::Float32);
        QCOMPARE(masters.castsPerStep, 1 + 2 * static_cast<int>(masters.parameters.size()));
        // Half weights under autocast: no cast either way where the op runs in 16 bits.
        const StepGraph half = stepWith("bf16", "half");
        QCOMPARE(half.graph.value(half.gradients[0]).type.dtype, DType::BFloat16);
        QCOMPARE(half.castsPerStep, 3);
    }

    void backwardCountsWhatAccumulationAddsUp()
    {
        LaneConfig config = lane("pure-fp16");
        config.accumulation.steps = 4;
        const StepGraph step = buildStepGraph(config, task());
        QCOMPARE(roundedGradients(step), step.parameters.size());
        for (std::size_t i = 0; i < step.gradients.size(); ++i) {
            // Each micro-batch's gradient is rounded where it is computed, then added in the weights' format.
            QVERIFY(step.gradientRoundings[i] != step.gradients[i]);
            QCOMPARE(step.graph.value(step.gradients[i]).type.dtype, DType::Float16);
        }
    }

    void knowsItsPolicies()
    {
        for (const std::string& name : policyNames()) {
            QCOMPARE(policyNamed(name).name, name);
        }
        QVERIFY_THROWS_EXCEPTION(Error, policyNamed("fp61"));
    }

    void accumulatesInAChosenFormat()
    {
        Policy policy = policyNamed("fp16");
        policy.accumulate = {{"batch_norm", DType::Float16}, {"total", DType::BFloat16}};
        const AutocastResult result = applyAutocast(block(), policy);
        QCOMPARE(std::get<BatchNormAttributes>(nodeNamed(result.graph, "bn").attributes).accumulate, DType::Float16);
        QCOMPARE(std::get<ReduceAttributes>(nodeNamed(result.graph, "total").attributes).accumulate, DType::BFloat16);
        policy.accumulate = {{"relu", DType::Float16}};
        QVERIFY_THROWS_EXCEPTION(Error, applyAutocast(block(), policy));
        policy.accumulate = {{"batchnorm", DType::Float16}};
        QVERIFY_THROWS_EXCEPTION(Error, applyAutocast(block(), policy));
    }

    void overridesByNodeBeforeKind()
    {
        const Model model = mlp();
        const AutocastResult result = applyAutocast(
            model.graph, {"fp16", DType::Float16, {{"linear", DType::BFloat16}, {"fc2", DType::Float32}}});
        QCOMPARE(formatOf(result.graph, "fc1"), DType::BFloat16);
        QCOMPARE(formatOf(result.graph, "fc2"), DType::Float32);
        QCOMPARE(formatOf(result.graph, "act2"), DType::Float32);
    }

    void refusesAnOverrideOfNothing()
    {
        const Model model = mlp();
        try {
            applyAutocast(model.graph, {"fp16", DType::Float16, {{"fc9", DType::Float32}}});
            QFAIL("accepted");
        } catch (const Error& error) {
            QVERIFY(std::string_view(error.what()).find("fc9") != std::string_view::npos);
            QVERIFY(std::string_view(error.what()).find("fc1") != std::string_view::npos);
        }
    }

    void mixedInputsMeetInTheWidestFormat()
    {
        Graph graph;
        const ValueId a = graph.addValue({"a", {DType::Float16, {4}}, ValueKind::Input});
        const ValueId b = graph.addValue({"b", {DType::BFloat16, {4}}, ValueKind::Input});
        graph.append({.op = Op::Add, .name = "sum", .inputs = {a, b}}, {"sum"});
        const AutocastResult result = applyAutocast(graph, {"fp16", DType::Float16, {}});
        QCOMPARE(formatOf(result.graph, "sum"), DType::Float32);
    }

    void backwardRunsInTheFormatOfItsForward()
    {
        const StepGraph step = buildStepGraph(lane("fp16"), task());
        QCOMPARE(formatOf(step.graph, "fc2.backward.weight"), DType::Float16);
        QCOMPARE(formatOf(step.graph, "fc2.backward.input"), DType::Float16);
        QCOMPARE(formatOf(step.graph, "loss.backward.logits"), DType::Float32);
        QCOMPARE(roundedGradients(step), step.parameters.size());
        for (std::size_t i = 0; i < step.parameters.size(); ++i) {
            QCOMPARE(step.graph.value(step.gradients[i]).type, step.graph.value(step.parameters[i]).type);
        }
        // The samples are no parameter: nobody computes their gradient.
        QVERIFY(std::ranges::find(step.graph.nodes(), "fc1.backward.input", &Node::name) == step.graph.nodes().end());
        QCOMPARE(roundedGradients(buildStepGraph(lane("fp32"), task())), std::size_t {0});
    }

    void aValueUsedTwiceSumsItsGradients()
    {
        Graph graph;
        const ValueId x = graph.addValue({"x", {DType::Float32, {2, 3}}, ValueKind::Input});
        const ValueId w = graph.addValue({"w", {DType::Float32, {3, 3}}, ValueKind::Parameter});
        const ValueId target = graph.addValue({"t", {DType::Float32, {2, 3}}, ValueKind::Input});
        const ValueId one = graph.addValue({"one", {DType::Float32, {}}, ValueKind::StepInput});
        const ValueId y = graph.append({.op = Op::Linear, .name = "a", .inputs = {x, w}}, {"y"})[0];
        const ValueId z = graph.append({.op = Op::Linear, .name = "b", .inputs = {y, w}}, {"z"})[0];
        const ValueId loss = graph.append({.op = Op::MseLoss, .name = "loss", .inputs = {z, target}}, {"loss"})[0];
        const auto gradients = differentiate(graph, loss, one, std::vector {w});
        QCOMPARE(graph.nodes().back().op, Op::Add);
        QCOMPARE(graph.nodes().back().outputs[0], gradients[0]);
    }

    void gradientsLieAsTheirParametersDo()
    {
        for (const char* policy : {"fp32", "fp16"}) {
            const StepGraph step = buildStepGraph(lane(policy), task());
            const MemoryPlan plan = planMemory(step.graph);
            for (std::size_t i = 0; i < step.parameters.size(); ++i) {
                QCOMPARE(plan.offsets[step.gradients[i]], plan.offsets[step.parameters[i]]);
            }
        }
    }

    void activationsAliveTogetherDoNotOverlap()
    {
        const StepGraph step = buildStepGraph(lane("fp16"), task());
        const Graph& graph = step.graph;
        const MemoryPlan plan = planMemory(graph);
        // Lifetimes written down anew: from the first to the last node that names the value.
        std::vector<std::pair<std::size_t, std::size_t>> life(graph.values().size(), {SIZE_MAX, 0});
        for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
            for (const auto* ids : {&graph.nodes()[i].inputs, &graph.nodes()[i].outputs}) {
                for (const ValueId id : *ids) {
                    life[id] = {std::min(life[id].first, i), std::max(life[id].second, i)};
                }
            }
        }
        std::size_t all = 0;
        int pairs = 0;
        for (ValueId a = 0; a < graph.values().size(); ++a) {
            if (graph.value(a).kind != ValueKind::Activation || life[a].first == SIZE_MAX) {
                continue;
            }
            const std::size_t endA = plan.offsets[a] + graph.value(a).type.bytes();
            all += graph.value(a).type.bytes();
            QVERIFY(endA <= plan.blockBytes[static_cast<std::size_t>(ValueKind::Activation)]);
            for (ValueId b = 0; b < a; ++b) {
                const bool together = graph.value(b).kind == ValueKind::Activation && life[b].first != SIZE_MAX
                    && life[a].first <= life[b].second && life[b].first <= life[a].second;
                if (together) {
                    ++pairs;
                    const std::size_t endB = plan.offsets[b] + graph.value(b).type.bytes();
                    QVERIFY2(endA <= plan.offsets[b] || endB <= plan.offsets[a],
                        (graph.value(a).name + " and " + graph.value(b).name).c_str());
                }
            }
        }
        QVERIFY(pairs > 10);
        // Memory is reused: the block is smaller than all values side by side.
        QVERIFY(plan.blockBytes[static_cast<std::size_t>(ValueKind::Activation)] < all);
    }

    void refusesShapesThatDoNotFit()
    {
        Graph graph;
        const ValueId x = graph.addValue({"x", {DType::Float32, {2, 3}}, ValueKind::Input});
        const ValueId w = graph.addValue({"w", {DType::Float32, {4, 5}}, ValueKind::Parameter});
        try {
            graph.append({.op = Op::Linear, .name = "fc1", .inputs = {x, w}}, {"y"});
            QFAIL("accepted");
        } catch (const Error& error) {
            const std::string text = error.what();
            QCOMPARE(error.code(), ErrorCode::ShapeMismatch);
            QVERIFY(text.find("fc1") != std::string::npos);
            QVERIFY(text.find("[2, 3]") != std::string::npos);
            QVERIFY(text.find("[4, 5]") != std::string::npos);
        }
    }
};

QTEST_APPLESS_MAIN(TestAutocast)
#include "tst_autocast.moc"
