/// Every op's gradient rule and backward op: in FP64 against central differences of an independent forward function,
/// and in FP32, FP16 and BF16 on every available backend against the FP64 result.
#include "engine/backends/backend_registry.h"
#include "engine/graph/op_def.h"
#include "tests/support/gradient_specs.h"
#include "tests/support/op_runner.h"
#include "tests/support/tensor_compare.h"

#include <QTest>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace mantissa;
using namespace mantissa::test;

namespace {

bool isFloating(DType dtype)
{
    return dtype != DType::Int32 && dtype != DType::UInt8;
}

/// One op as a graph of one node, with what its gradient rule asks for.
class OneOp final : public GradientBuilder
{
public:
    /// Floating operands in `dtype`; FP64 stands for every format being FP64.
    OneOp(const GradientSpec& spec, DType dtype)
    {
        m_node.op = spec.op;
        m_node.name = spec.name;
        m_node.attributes = spec.attributes;
        std::vector<TensorType> types;
        for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
            const bool isSingle = spec.isFloat32[i] && dtype != DType::Float64;
            const DType wanted = isSingle ? DType::Float32 : dtype;
            HostTensor input = isFloating(spec.inputs[i].dtype()) ? spec.inputs[i].as(wanted) : spec.inputs[i];
            types.push_back(input.type());
            m_node.inputs.push_back(add(std::move(input)));
        }
        for (const TensorType& type : opDef(spec.op).inferTypes(m_node, types)) {
            const bool isDouble = dtype == DType::Float64 && isFloating(type.dtype);
            const bool isSingle = spec.writesFloat32 && m_node.outputs.empty();
            const DType given = isSingle ? DType::Float32 : type.dtype;
            m_node.outputs.push_back(add(HostTensor({isDouble ? DType::Float64 : given, type.shape})));
        }
        m_graph.addNode(m_node);
        const HostTensor& output = m_tensors[m_node.outputs[0]];
        m_gradient = add(HostTensor(output.type()));
    }

    /// Makes every floating input and the cotangent non-negative.
    void makeAbsolute()
    {
        for (HostTensor& tensor : m_tensors) {
            for (std::int64_t i = 0; i < tensor.size() && isFloating(tensor.dtype()); ++i) {
                tensor.set(i, std::abs(tensor.at(i)));
            }
        }
    }

    void setCotangent(const HostTensor& values) { m_tensors[m_gradient] = values.as(m_tensors[m_gradient].dtype()); }

    [[nodiscard]] const HostTensor& cotangent() const { return m_tensors[m_gradient]; }

    [[nodiscard]] const HostTensor& output() const { return m_tensors[m_node.outputs[0]]; }

    [[nodiscard]] std::vector<Doubles> inputs() const
    {
        std::vector<Doubles> out;
        for (const ValueId id : m_node.inputs) {
            out.push_back(m_tensors[id].values());
        }
        return out;
    }

    [[nodiscard]] std::vector<HostTensor> inputTensors() const
    {
        return {m_tensors.begin(), m_tensors.begin() + static_cast<std::ptrdiff_t>(m_node.inputs.size())};
    }

    void runForward(Backend& backend)
    {
        OpCall call {m_node.op, m_node.attributes, inputTensors(), {}};
        for (const ValueId id : m_node.outputs) {
            call.outputs.push_back({m_tensors[id], std::nullopt});
        }
        const OpResult result = runOp(backend, call);
        for (std::size_t i = 0; i < result.outputs.size(); ++i) {
            m_tensors[m_node.outputs[i]] = result.outputs[i];
        }
    }

    /// Input number -> its gradient.
    std::map<std::size_t, HostTensor> runBackward(Backend& backend)
    {
        m_backend = &backend;
        m_results.clear();
        opDef(m_node.op).gradient(m_node, *this);
        return m_results;
    }

    [[nodiscard]] const Graph& graph() const override { return m_graph; }

    [[nodiscard]] ValueId gradientOf(ValueId /*value*/) const override { return m_gradient; }

    [[nodiscard]] bool wantsGradient(ValueId value) const override { return isFloating(m_tensors[value].dtype()); }

    using GradientBuilder::contribute;

    void contribute(const std::vector<ValueId>& targets, std::string_view /*part*/, Op op, Attributes attributes,
        std::vector<ValueId> inputs) override
    {
        std::vector<OpOutput> outputs;
        for (const ValueId target : targets) {
            outputs.push_back({HostTensor(m_tensors[target].type()), std::nullopt});
        }
        const OpResult result = runBackwardOp(op, attributes, inputs, std::move(outputs));
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const auto place = std::find(m_node.inputs.begin(), m_node.inputs.end(), targets[i]);
            const bool isNew
                = m_results.emplace(static_cast<std::size_t>(place - m_node.inputs.begin()), result.outputs[i]).second;
            if (!isNew) {
                throw std::logic_error("a gradient rule contributed twice to one input");
            }
        }
    }

    ValueId compute(std::string_view part, Op op, Attributes attributes, std::vector<ValueId> inputs) override
    {
        const Node node {op, std::string(part), attributes, inputs, {}, Phase::Backward, {}};
        std::vector<TensorType> types;
        for (const ValueId id : inputs) {
            types.push_back(m_tensors[id].type());
        }
        const TensorType type = opDef(op).inferTypes(node, types)[0];
        return add(runBackwardOp(op, attributes, inputs, {{HostTensor(type), std::nullopt}}).outputs[0]);
    }

private:
    OpResult runBackwardOp(
        Op op, const Attributes& attributes, const std::vector<ValueId>& inputs, std::vector<OpOutput> outputs)
    {
        OpCall call {op, attributes, {}, std::move(outputs)};
        for (const ValueId id : inputs) {
            call.inputs.push_back(m_tensors[id]);
        }
        return runOp(*m_backend, call);
    }

    ValueId add(HostTensor tensor)
    {
        m_tensors.push_back(std::move(tensor));
        Value value;
        value.name = "value" + std::to_string(m_tensors.size());
        value.type = m_tensors.back().type();
        return m_graph.addValue(value);
    }

    Node m_node;
    Graph m_graph;
    std::vector<HostTensor> m_tensors; ///< by ValueId
    ValueId m_gradient = 0;
    Backend* m_backend = nullptr;
    std::map<std::size_t, HostTensor> m_results;
};

double dot(const Doubles& a, const Doubles& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

double sumAbs(const Doubles& values)
{
    double sum = 0;
    for (const double value : values) {
        sum += std::abs(value);
    }
    return sum;
}

HostTensor randomCotangent(const HostTensor& output, RandomValues& random)
{
    return random.tensor(DType::Float32, output.shape(), Fill::Plain);
}

/// (f(x+h) - f(x-h)) / 2h of f = cotangent . forward, and how far it may be from the derivative.
Expectation centralDifference(
    const GradientSpec& spec, std::vector<Doubles> inputs, const Doubles& cotangent, std::size_t input, std::size_t i)
{
    // The error h^2/6 |f'''| + roundoff |f| / h is smallest near h = cbrt(roundoff); a power of two keeps h exact.
    const double step = 0x1p-17;
    double& x = inputs[input][i];
    const double middle = x;
    x = middle + step;
    const double high = x;
    const Doubles above = spec.forward(inputs);
    x = middle - step;
    const double low = x;
    const Doubles below = spec.forward(inputs);
    // The third derivatives of all ops stay below 8; forward functions cost some roundings of their terms each.
    const double truncation = step * step / 6 * 8 * sumAbs(cotangent);
    const double roundoff = 64 * 0x1p-53 * (sumAbs(cotangent) + std::abs(dot(cotangent, above)) + 100) / step;
    return {(dot(cotangent, above) - dot(cotangent, below)) / (high - low), truncation + roundoff};
}

} // namespace

class TstOpGradients : public QObject
{
    Q_OBJECT

private slots:
    void everyDifferentiableOpIsTested();

    void forwardMatchesItsDefinition_data() { specRows(); }

    void forwardMatchesItsDefinition();

    void backwardMatchesFiniteDifferences_data() { specRows(); }

    void backwardMatchesFiniteDifferences();
    void backwardInEveryFormatStaysWithinItsRoundings_data();
    void backwardInEveryFormatStaysWithinItsRoundings();
    void dropoutKeepsTheShareItShould();

private:
    void specRows();
    RandomValues m_random {5};
    std::vector<GradientSpec> m_specs = gradientSpecs(m_random);
};

void TstOpGradients::specRows()
{
    QTest::addColumn<std::size_t>("index");
    for (std::size_t i = 0; i < m_specs.size(); ++i) {
        QTest::addRow("%s", m_specs[i].name.c_str()) << i;
    }
}

void TstOpGradients::everyDifferentiableOpIsTested()
{
    std::set<Op> tested;
    for (const GradientSpec& spec : m_specs) {
        tested.insert(spec.op);
    }
    for (const OpDef& def : allOps()) {
        QVERIFY2((def.gradient != nullptr) == tested.contains(def.op), std::string(def.name).c_str());
    }
}

void TstOpGradients::forwardMatchesItsDefinition()
{
    QFETCH(std::size_t, index);
    const GradientSpec& spec = m_specs[index];
    OneOp op(spec, DType::Float64);
    op.runForward(backendByName("reference"));
    const Doubles expected = spec.forward(op.inputs());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double value = op.output().at(static_cast<std::int64_t>(i));
        QVERIFY2(std::abs(value - expected[i]) <= 64 * 0x1p-53 * (std::abs(expected[i]) + 4),
            fmt::format("element {}: {} and {}; {}", i, value, expected[i], RandomValues::seedText()).c_str());
    }
}

void TstOpGradients::backwardMatchesFiniteDifferences()
{
    QFETCH(std::size_t, index);
    const GradientSpec& spec = m_specs[index];
    OneOp op(spec, DType::Float64);
    Backend& backend = backendByName("reference");
    op.setCotangent(randomCotangent(op.output(), m_random));
    op.runForward(backend);
    const auto gradients = op.runBackward(backend);
    for (const std::size_t input : spec.differentiable) {
        QVERIFY2(gradients.contains(input), "the gradient rule contributes nothing to an input");
        const HostTensor& gradient = gradients.at(input);
        for (std::int64_t i = 0; i < gradient.size(); ++i) {
            const Expectation expected
                = centralDifference(spec, op.inputs(), op.cotangent().values(), input, static_cast<std::size_t>(i));
            QVERIFY2(expected.accepts(DType::Float64, gradient.at(i)),
                fmt::format("input {} element {}: {}, expected {}; {}", input, i, gradient.at(i),
                    expected.text(DType::Float64), RandomValues::seedText())
                    .c_str());
        }
    }
}

void TstOpGradients::backwardInEveryFormatStaysWithinItsRoundings_data()
{
    QTest::addColumn<std::size_t>("index");
    QTest::addColumn<int>("dtype");
    QTest::addColumn<QString>("backend");
    for (std::size_t i = 0; i < m_specs.size(); ++i) {
        for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
            for (const DeviceInfo& device : listDevices()) {
                if (device.available.ok) {
                    QTest::addRow(
                        "%s %s %s", m_specs[i].name.c_str(), std::string(nameOf(dtype)).c_str(), device.backend.c_str())
                        << i << static_cast<int>(dtype) << QString::fromStdString(device.backend);
                }
            }
        }
    }
}

void TstOpGradients::backwardInEveryFormatStaysWithinItsRoundings()
{
    QFETCH(std::size_t, index);
    QFETCH(int, dtype);
    QFETCH(QString, backend);
    const GradientSpec& spec = m_specs[index];
    Backend& device = backendByName(backend.toStdString());
    Backend& reference = backendByName("reference");
    OneOp narrow(spec, static_cast<DType>(dtype));
    narrow.setCotangent(randomCotangent(narrow.output(), m_random));
    narrow.runForward(device);
    const auto actual = narrow.runBackward(device);

    // The same operands, already rounded, and everything after them in FP64.
    GradientSpec rounded = spec;
    rounded.inputs = narrow.inputTensors();
    OneOp exact(rounded, DType::Float64);
    exact.setCotangent(narrow.cotangent());
    OneOp magnitude = exact;
    magnitude.makeAbsolute();
    exact.runForward(reference);
    magnitude.runForward(reference);
    const auto expected = exact.runBackward(reference);
    const auto magnitudes = magnitude.runBackward(reference);

    const std::vector<Doubles> inputs = narrow.inputs();
    const Doubles cotangent = narrow.cotangent().values();
    for (const std::size_t input : spec.differentiable) {
        const HostTensor& gradient = actual.at(input);
        QVERIFY(gradient.dtype() == narrow.inputTensors().at(input).dtype());
        for (std::int64_t i = 0; i < gradient.size(); ++i) {
            const GradientPoint point {inputs, cotangent, magnitudes.at(input).at(i), narrow.output().dtype(),
                static_cast<std::size_t>(i), input};
            const Expectation wanted {expected.at(input).at(i), spec.bound(point) + tiny};
            QVERIFY2(wanted.accepts(gradient.dtype(), gradient.at(i)),
                fmt::format("input {} element {}: {}, expected {}; {}", input, i, gradient.at(i),
                    wanted.text(gradient.dtype()), RandomValues::seedText())
                    .c_str());
        }
    }
}

void TstOpGradients::dropoutKeepsTheShareItShould()
{
    constexpr std::int64_t count = 20000;
    const double p = 0.25;
    for (const DeviceInfo& device : listDevices()) {
        if (!device.available.ok) {
            continue;
        }
        const Shape shape {count};
        const OpCall call {Op::Dropout, DropoutAttributes {static_cast<float>(p), 7, 9},
            {HostTensor(DType::Float32, shape, Doubles(count, 1.0)), HostTensor::scalar(DType::Int32, 1)},
            {{HostTensor({DType::Float32, shape}), std::nullopt}, {HostTensor({DType::UInt8, shape}), std::nullopt}}};
        const OpResult result = runOp(backendByName(device.backend), call);
        const double kept = sumAbs(result.outputs[1].values());
        // Five standard deviations of a binomial count.
        QVERIFY(std::abs(kept - count * (1 - p)) < 5 * std::sqrt(count * p * (1 - p)));
        for (std::int64_t i = 0; i < count; ++i) {
            const double expected = result.outputs[1].at(i) == 0 ? 0 : roundTo(DType::Float32, 1 / (1 - p));
            QVERIFY(std::abs(result.outputs[0].at(i) - expected) <= 2 * unit);
        }
    }
}

QTEST_APPLESS_MAIN(TstOpGradients)
#include "tst_op_gradients.moc"
