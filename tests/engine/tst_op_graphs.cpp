// The ops of convolutional nets and transformers inside a graph: formats, state updated in place, views, errors.
#include "engine/autocast/autocast.h"
#include "engine/autodiff/differentiate.h"
#include "engine/backends/backend_registry.h"
#include "engine/backends/executor.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/graph/memory_plan.h"
#include "engine/graph/op_def.h"
#include "tests/support/graph_lookup.h"

#include <QtTest>

#include <algorithm>

using namespace mantissa;
using test::formatOf;
using test::nodeNamed;

namespace {

/// A graph under construction, with values of every kind by name.
struct Builder
{
    Graph graph {};

    ValueId value(const char* name, Shape shape, ValueKind kind, DType dtype = DType::Float32)
    {
        return graph.addValue({name, {dtype, std::move(shape)}, kind});
    }

    ValueId parameter(const char* name, Shape shape) { return value(name, std::move(shape), ValueKind::Parameter); }

    ValueId op(Op kind, const char* name, std::vector<ValueId> inputs, Attributes attributes = {})
    {
        const std::string prefix = name;
        return graph.append(
            {.op = kind, .name = name, .attributes = std::move(attributes), .inputs = std::move(inputs)},
            {prefix + ".out", prefix + ".saved1", prefix + ".saved2"})[0];
    }
};

/// conv, batch norm, pooling, flattening, a linear layer and a loss.
struct SmallNet : Builder
{
    ValueId runningMean = value("bn.running_mean", {4}, ValueKind::Buffer);
    ValueId runningVar = value("bn.running_var", {4}, ValueKind::Buffer);
    std::vector<ValueId> parameters {};
    ValueId loss = 0;

    SmallNet()
    {
        const ValueId x = value("x", {2, 6, 6, 3}, ValueKind::Input);
        const ValueId labels = value("labels", {2}, ValueKind::Input, DType::Int32);
        parameters = {parameter("conv.weight", {4, 3, 3, 3}), parameter("bn.weight", {4}), parameter("bn.bias", {4}),
            parameter("fc.weight", {5, 36}), parameter("fc.bias", {5})};
        const ValueId conv = op(Op::Conv2d, "conv", {x, parameters[0]}, Conv2dAttributes {.padding = {1, 1}});
        const ValueId bn = op(Op::BatchNorm2d, "bn", {conv, parameters[1], parameters[2], runningMean, runningVar});
        const ValueId pooled = op(Op::MaxPool2d, "pool", {bn});
        const ValueId flat = op(Op::Reshape, "flatten", {pooled}, ReshapeAttributes {{2, 36}});
        const ValueId logits = op(Op::Linear, "fc", {flat, parameters[3], parameters[4]});
        loss = op(Op::SoftmaxCrossEntropy, "loss", {logits, labels});
    }
};

/// A decoder of one block with its loss: attention in one op, or op by op so that the scores are values.
struct SmallDecoder : Builder
{
    std::vector<ValueId> parameters {};
    ValueId loss = 0;

    explicit SmallDecoder(bool isFused)
    {
        const ValueId tokens = value("x", {2, 5}, ValueKind::Input, DType::Int32);
        const ValueId labels = value("labels", {2, 5}, ValueKind::Input, DType::Int32);
        parameters = {parameter("wte", {7, 8}), parameter("wpe", {5, 8}), parameter("ln.weight", {8}),
            parameter("ln.bias", {8}), parameter("qkv.weight", {24, 8}), parameter("qkv.bias", {24}),
            parameter("proj.weight", {8, 8})};
        const ValueId embedded = op(Op::Embedding, "embedding", {parameters[0], tokens});
        const ValueId x = op(Op::Add, "position", {embedded, parameters[1]});
        const ValueId normal = op(Op::LayerNorm, "ln", {x, parameters[2], parameters[3]});
        const ValueId qkv = op(Op::Linear, "qkv", {normal, parameters[4], parameters[5]});
        const ValueId mixed = isFused
            ? op(Op::Attention, "attention", {qkv}, AttentionAttributes {.heads = 2, .causal = true})
            : attend(qkv);
        const ValueId projected = op(Op::Linear, "proj", {mixed, parameters[6]});
        const ValueId sum = op(Op::Add, "residual", {x, projected});
        const ValueId logits = op(Op::Linear, "head", {sum, parameters[0]});
        loss = op(Op::SoftmaxCrossEntropy, "loss", {logits, labels});
    }

    /// softmax(q k^T / 2) v with heads of four channels.
    ValueId attend(ValueId qkv)
    {
        const ValueId split = op(Op::Reshape, "split", {qkv}, ReshapeAttributes {{2, 5, 3, 2, 4}});
        const ValueId byHead = op(Op::Permute, "heads", {split}, PermuteAttributes {{2, 0, 3, 1, 4}});
        std::vector<ValueId> parts;
        for (const std::int64_t i : {0, 1, 2}) {
            const std::string name = std::to_string(i);
            const ValueId part = op(Op::Slice, ("part" + name).c_str(), {byHead}, SliceAttributes {0, i, 1});
            parts.push_back(op(Op::Reshape, ("flat" + name).c_str(), {part}, ReshapeAttributes {{2, 2, 5, 4}}));
        }
        const ValueId scores = op(Op::MatMul, "scores", {parts[0], parts[1]}, MatMulAttributes {.transposeB = true});
        const ValueId masked
            = op(Op::ScaleMask, "mask", {scores}, ScaleMaskAttributes {.factor = 0.5F, .causal = true});
        const ValueId weights = op(Op::Softmax, "softmax", {masked});
        const ValueId mixed = op(Op::MatMul, "mixed", {weights, parts[2]}, MatMulAttributes {});
        const ValueId back = op(Op::Permute, "rows", {mixed}, PermuteAttributes {{0, 2, 1, 3}});
        return op(Op::Reshape, "joined", {back}, ReshapeAttributes {{2, 5, 8}});
    }
};

struct Outcome
{
    float loss = 0;
    std::vector<std::vector<float>> gradients {};
    std::vector<float> runningVar {};
};

/// Forward and backward once, on parameters and inputs drawn anew from fixed streams.
template <typename Net> Outcome runOnce(Net net, const char* backend)
{
    const ValueId one = net.value("one", {}, ValueKind::StepInput);
    const auto gradients = differentiate(net.graph, net.loss, one, net.parameters);
    net.graph.value(net.loss).kind = ValueKind::StepOutput; // activations make room for others
    for (const ValueId id : gradients) {
        net.graph.value(id).kind = ValueKind::Gradient;
    }
    Executor executor(net.graph, backendByName(backend), 1);
    for (ValueId id = 0; id < net.graph.values().size(); ++id) {
        const Value& value = net.graph.value(id);
        const auto count = static_cast<std::size_t>(value.type.shape.elements());
        if (value.kind == ValueKind::Input && value.type.dtype == DType::Int32) {
            std::vector<std::int32_t> labels(count);
            for (std::size_t i = 0; i < count; ++i) {
                labels[i] = static_cast<std::int32_t>((i * 3 + id) % 5);
            }
            executor.write(id, std::as_bytes(std::span(labels)));
        } else if (value.kind == ValueKind::Parameter || value.kind == ValueKind::Input
            || value.kind == ValueKind::Buffer) {
            std::vector<float> values(count);
            fillUniform(values, 0.1F, 0.9F, Philox(3, id));
            executor.write(id, std::as_bytes(std::span(values)));
        }
    }
    executor.setScalar(one, 1.0F);
    executor.uploadStepInputs();
    executor.run(Phase::Forward);
    executor.run(Phase::Backward);
    const auto read = [&](ValueId id) {
        std::vector<float> values(static_cast<std::size_t>(net.graph.value(id).type.shape.elements()));
        executor.read(id, std::as_writable_bytes(std::span(values)));
        return values;
    };
    Outcome outcome {.loss = read(net.loss)[0]};
    for (const ValueId id : gradients) {
        outcome.gradients.push_back(read(id));
    }
    if constexpr (requires { net.runningVar; }) {
        outcome.runningVar = read(net.runningVar);
    }
    return outcome;
}

/// The largest difference between two outcomes.
double distance(const Outcome& a, const Outcome& b)
{
    double largest = std::abs(double {a.loss} - double {b.loss});
    for (std::size_t i = 0; i < a.gradients.size(); ++i) {
        for (std::size_t j = 0; j < a.gradients[i].size(); ++j) {
            largest = std::max(largest, std::abs(double {a.gradients[i][j]} - double {b.gradients.at(i).at(j)}));
        }
    }
    for (std::size_t i = 0; i < a.runningVar.size(); ++i) {
        largest = std::max(largest, std::abs(double {a.runningVar[i]} - double {b.runningVar.at(i)}));
    }
    return largest;
}

} // namespace

class TestOpGraphs : public QObject
{
    Q_OBJECT

private slots:

    void batchNormFollowsItsInputAndKeepsItsParameters()
    {
        const SmallNet net;
        const AutocastResult result = applyAutocast(net.graph, {"fp16", DType::Float16, {}});
        QCOMPARE(formatOf(result.graph, "conv"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "bn"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "flatten"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "loss"), DType::Float32);
        const Node& bn = nodeNamed(result.graph, "bn");
        for (std::size_t i = 1; i < bn.inputs.size(); ++i) {
            QCOMPARE(result.graph.value(bn.inputs[i]).type.dtype, DType::Float32);
        }
        QCOMPARE(result.graph.value(bn.outputs[1]).type.dtype, DType::Float32);
    }

    void runningStatisticsStayTheSameValues()
    {
        const SmallNet net;
        const AutocastResult result = applyAutocast(net.graph, {"bf16", DType::BFloat16, {}});
        for (const Graph* graph : {&net.graph, static_cast<const Graph*>(&result.graph)}) {
            const Node& bn = nodeNamed(*graph, "bn");
            QCOMPARE(bn.outputs.size(), std::size_t {5});
            QCOMPARE(bn.outputs[3], bn.inputs[3]);
            QCOMPARE(bn.outputs[4], bn.inputs[4]);
            QCOMPARE(graph->value(bn.outputs[3]).kind, ValueKind::Buffer);
        }
        QCOMPARE(result.values[net.runningMean], nodeNamed(result.graph, "bn").outputs[3]);
        QCOMPARE(planMemory(net.graph).blockBytes[static_cast<std::size_t>(ValueKind::Buffer)], std::size_t {32});
    }

    void softmaxAndSumReadHalfAndWriteFp32()
    {
        Builder net;
        const ValueId x = net.value("x", {2, 3, 8}, ValueKind::Input, DType::Float16);
        for (const auto& [kind, name] : {std::pair {Op::Softmax, "softmax"}, std::pair {Op::LogSoftmax, "log_softmax"},
                 std::pair {Op::Sum, "sum"}, std::pair {Op::Mean, "mean"}, std::pair {Op::Exp, "exp"},
                 std::pair {Op::Log, "log"}, std::pair {Op::ScaleMask, "mask"}}) {
            net.op(kind, name, {x});
        }
        const AutocastResult result = applyAutocast(net.graph, {"fp16", DType::Float16, {}});
        for (const char* name : {"softmax", "log_softmax", "sum"}) {
            QCOMPARE(formatOf(result.graph, name), DType::Float32);
            const Node& node = nodeNamed(result.graph, name);
            QCOMPARE(result.graph.value(node.inputs[0]).type.dtype, DType::Float16);
            QVERIFY(node.reason.find("writes fp32") != std::string::npos);
        }
        QCOMPARE(formatOf(result.graph, "mean"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "mask"), DType::Float16);
        for (const char* name : {"exp", "log"}) {
            QCOMPARE(formatOf(result.graph, name), DType::Float32);
            QCOMPARE(result.graph.value(nodeNamed(result.graph, name).inputs[0]).type.dtype, DType::Float32);
        }
        const AutocastResult overridden
            = applyAutocast(net.graph, {"fp16", DType::Float16, {{"softmax", DType::Float16}}});
        QCOMPARE(formatOf(overridden.graph, "softmax"), DType::Float16);
    }

    void anFp32OperandMakesASumOrConcatenationFp32()
    {
        Builder net;
        const ValueId half = net.value("half", {2, 3}, ValueKind::Input, DType::Float16);
        const ValueId full = net.value("full", {2, 3}, ValueKind::Input);
        const ValueId table = net.parameter("table", {9, 3});
        const ValueId index = net.value("index", {2}, ValueKind::Input, DType::Int32);
        net.op(Op::Concat, "mixed", {half, half, full}, ConcatAttributes {1});
        net.op(Op::Concat, "narrow", {half, half}, ConcatAttributes {1});
        net.op(Op::Embedding, "embedding", {table, index});
        const AutocastResult result = applyAutocast(net.graph, {"fp16", DType::Float16, {}});
        QCOMPARE(formatOf(result.graph, "mixed"), DType::Float32);
        QCOMPARE(formatOf(result.graph, "narrow"), DType::Float16);
        QCOMPARE(formatOf(result.graph, "embedding"), DType::Float32);
    }

    void gradientsHaveTheTypesOfTheirParameters()
    {
        SmallNet net;
        AutocastResult result = applyAutocast(net.graph, {"fp16", DType::Float16, {}});
        std::vector<ValueId> parameters;
        for (const ValueId id : net.parameters) {
            parameters.push_back(result.values[id]);
        }
        const ValueId one = result.graph.addValue({"one", {DType::Float32, {}}, ValueKind::StepInput});
        const auto gradients = differentiate(result.graph, result.values[net.loss], one, parameters);
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            QVERIFY(result.graph.value(gradients[i]).type == result.graph.value(parameters[i]).type);
        }
        const Node& bn = nodeNamed(result.graph, "bn.backward.input");
        QCOMPARE(bn.outputs.size(), std::size_t {3});
        QCOMPARE(result.graph.value(bn.outputs[0]).type.dtype, DType::Float16);
        QCOMPARE(result.graph.value(bn.outputs[1]).type.dtype, DType::Float32);
        // The images are no parameter.
        QVERIFY(
            std::ranges::find(result.graph.nodes(), "conv.backward.input", &Node::name) == result.graph.nodes().end());
    }

    void oneValueAsQueryKeyAndValueSumsItsGradients()
    {
        Builder net;
        const ValueId x = net.value("x", {2, 4, 6}, ValueKind::Input);
        const ValueId w = net.parameter("w", {6, 6});
        const ValueId target = net.value("t", {2, 4, 6}, ValueKind::Input);
        const ValueId y = net.op(Op::Linear, "proj", {x, w});
        const ValueId z = net.op(Op::Attention, "attn", {y, y, y}, AttentionAttributes {.heads = 2});
        const ValueId loss = net.op(Op::MseLoss, "loss", {z, target});
        const ValueId one = net.value("one", {}, ValueKind::StepInput);
        differentiate(net.graph, loss, one, std::vector {w});
        QCOMPARE(std::ranges::count(net.graph.nodes(), Op::Add, &Node::op), std::ptrdiff_t {2});
    }

    void reshapedActivationsShareTheirMemory()
    {
        SmallNet net;
        const ValueId one = net.value("one", {}, ValueKind::StepInput);
        differentiate(net.graph, net.loss, one, net.parameters);
        const MemoryPlan plan = planMemory(net.graph);
        for (const char* name : {"flatten", "flatten.backward.input"}) {
            const Node& node = nodeNamed(net.graph, name);
            QCOMPARE(plan.offsets[node.outputs[0]], plan.offsets[node.inputs[0]]);
        }
        // A view keeps what it shows alive: nothing that lives until the view's last use may lie there.
        const ValueId pooled = nodeNamed(net.graph, "pool").outputs[0];
        const ValueId logits = nodeNamed(net.graph, "fc").outputs[0];
        const std::size_t end = plan.offsets[pooled] + net.graph.value(pooled).type.bytes();
        QVERIFY(plan.offsets[logits] >= end
            || plan.offsets[logits] + net.graph.value(logits).type.bytes() <= plan.offsets[pooled]);
    }

    void bothBackendsFindTheSameGradients()
    {
        QVERIFY(distance(runOnce(SmallNet(), "reference"), runOnce(SmallNet(), "cpu")) < 1e-5);
        QVERIFY(distance(runOnce(SmallDecoder(true), "reference"), runOnce(SmallDecoder(true), "cpu")) < 1e-5);
        const Outcome outcome = runOnce(SmallNet(), "cpu");
        QVERIFY(outcome.loss > 0.5F);
        for (const std::vector<float>& gradient : outcome.gradients) {
            QVERIFY(std::ranges::any_of(gradient, [](float g) { return std::abs(g) > 1e-4F; }));
        }
    }

    void attentionOpByOpIsAttention()
    {
        for (const char* backend : {"reference", "cpu"}) {
            QVERIFY(distance(runOnce(SmallDecoder(true), backend), runOnce(SmallDecoder(false), backend)) < 1e-5);
        }
    }

    void refusesWhatDoesNotFit_data()
    {
        QTest::addColumn<int>("op");
        QTest::addColumn<int>("row");
        int row = 0;
        for (const Op op : {Op::Conv2d, Op::Conv2d, Op::Conv2d, Op::MaxPool2d, Op::MaxPool2d, Op::BatchNorm2d,
                 Op::BatchNorm2d, Op::GroupNorm, Op::LayerNorm, Op::Attention, Op::Attention, Op::Add, Op::Concat,
                 Op::Slice, Op::Reshape, Op::Permute, Op::Sum, Op::MatMul}) {
            QTest::addRow("%s %d", std::string(opDef(op).name).c_str(), row) << static_cast<int>(op) << row;
            ++row;
        }
    }

    void refusesWhatDoesNotFit()
    {
        QFETCH(int, row);
        QFETCH(int, op);

        struct Wrong
        {
            std::vector<Shape> shapes;
            Attributes attributes;
        };

        const std::vector<Wrong> wrong {
            {{{2, 6, 6, 3}, {4, 5, 3, 3}}, Conv2dAttributes {}},
            {{{2, 2, 2, 3}, {4, 3, 3, 3}}, Conv2dAttributes {}},
            {{{2, 6, 6, 3}, {4, 3, 3, 3}}, Conv2dAttributes {.stride = {0, 1}}},
            {{{2, 6, 6}}, Pool2dAttributes {}},
            {{{2, 6, 6, 3}}, Pool2dAttributes {.padding = {2, 2}}},
            {{{2, 6, 6, 3}, {3}, {3}, {4}, {3}}, BatchNormAttributes {}},
            {{{1, 1, 1, 3}, {3}, {3}, {3}, {3}}, BatchNormAttributes {}},
            {{{2, 6, 6, 3}, {3}, {3}}, NormAttributes {.groups = 2}},
            {{{2, 6}, {5}, {6}}, NormAttributes {}},
            {{{2, 4, 6}, {2, 5, 6}, {2, 4, 6}}, AttentionAttributes {}},
            {{{2, 4, 12}}, AttentionAttributes {.heads = 3}},
            {{{2, 4}, {2}}, {}},
            {{{2, 4}, {3, 5}}, ConcatAttributes {0}},
            {{{2, 4}}, SliceAttributes {1, 3, 2}},
            {{{2, 4}}, ReshapeAttributes {{3, 3}}},
            {{{2, 4}}, PermuteAttributes {{0, 0}}},
            {{{2, 4}}, ReduceAttributes {.firstAxis = 1, .axes = 2}},
            {{{2, 3, 4}, {3, 4, 5}}, MatMulAttributes {}},
        };
        Builder net;
        std::vector<ValueId> inputs;
        for (const Shape& shape : wrong.at(static_cast<std::size_t>(row)).shapes) {
            inputs.push_back(net.value("x", shape, ValueKind::Input));
        }
        try {
            net.op(static_cast<Op>(op), "layer7", inputs, wrong.at(static_cast<std::size_t>(row)).attributes);
            QFAIL("accepted");
        } catch (const Error& error) {
            const std::string text = error.what();
            QVERIFY(error.code() == ErrorCode::ShapeMismatch || error.code() == ErrorCode::InvalidArgument);
            QVERIFY(text.find("layer7") != std::string::npos);
            for (const Shape& shape : wrong.at(static_cast<std::size_t>(row)).shapes) {
                QVERIFY2(text.find(shape.text()) != std::string::npos, text.c_str());
            }
        }
    }
};

QTEST_APPLESS_MAIN(TestOpGraphs)
#include "tst_op_graphs.moc"
