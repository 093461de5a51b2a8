/// Every op of the CUDA backend against exact results, on the host layer: the kernels' own sources, with threads and
/// streams in three orders, over sizes with tails and over data with subnormals, overflow, infinities and NaN.
#include "engine/core/error.h"
#include "engine/graph/op_def.h"
#include "tests/cuda/on_host.h"
#include "tests/support/op_verdict.h"

#include <QTest>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

using namespace mantissa;
using namespace mantissa::test;

namespace {

Backend& cuda()
{
    return backendByName("cuda");
}

/// The result must be right, and the same bits in every order.
std::optional<std::string> complaintAbout(const OpCase& opCase)
{
    std::optional<OpResult> first;
    for (const Schedule& schedule : schedules) {
        schedule.set();
        try {
            OpResult result = runOp(cuda(), opCase.call);
            if (!first) {
                first = std::move(result);
            } else if (result.outputs != first->outputs || result.census != first->census
                || result.moreCensus != first->moreCensus || result.histogram != first->histogram) {
                return fmt::format("{}: not what it is in other orders", schedule.name);
            }
        } catch (const Error& error) {
            return fmt::format("{}: {} {}", schedule.name, error.what(), host_layer::lastFault());
        }
        if (!host_layer::lastFault().empty()) {
            return fmt::format("{}: {}", schedule.name, host_layer::lastFault());
        }
    }
    return Verdict(opCase).complaintAbout(*first, cuda().device());
}

} // namespace

class TstCudaOps : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanup();
    void agreesWithExactResults_data();
    void agreesWithExactResults();
    void takesLargeTensors_data();
    void takesLargeTensors();
    void addsUpInSixteenBits();
    void roundsWeightsAsTheCpuDoes();
    void refusesWhatItCannotDo();
    void memoryIsAlignedAndItsEndIsAnError();
};

void TstCudaOps::initTestCase()
{
    useCudaOnHost();
    QVERIFY2(cuda().device().available.ok, cuda().device().available.reason.c_str());
}

void TstCudaOps::cleanup()
{
    host_layer::reset();
}

void TstCudaOps::agreesWithExactResults_data()
{
    QTest::addColumn<int>("op");
    QTest::addColumn<int>("dtype");
    for (const OpDef& def : allOps()) {
        for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
            QTest::addRow("%s %s", std::string(def.name).c_str(), std::string(mantissa::nameOf(dtype)).c_str())
                << static_cast<int>(def.op) << static_cast<int>(dtype);
        }
    }
}

void TstCudaOps::agreesWithExactResults()
{
    QFETCH(int, op);
    QFETCH(int, dtype);
    constexpr std::array<std::pair<std::int64_t, Fill>, 4> data {
        {{1, Fill::Special}, {33, Fill::Special}, {257, Fill::Wide}, {1000, Fill::Plain}}};
    RandomValues random(static_cast<std::uint64_t>(op * 16 + dtype));
    for (const auto& [size, fill] : data) {
        for (const OpCase& opCase : casesOf(static_cast<Op>(op), {static_cast<DType>(dtype), size, fill}, random)) {
            const auto complaint = complaintAbout(opCase);
            QVERIFY2(!complaint.has_value(),
                fmt::format("size {}, {}, {}; {}; {}", size, nameOf(fill), opCase.name, complaint.value_or(""),
                    RandomValues::seedText())
                    .c_str());
        }
    }
}

void TstCudaOps::takesLargeTensors_data()
{
    QTest::addColumn<int>("op");
    QTest::addColumn<int>("size");
    // Several chunks of a tensor with a tail; more elements than a grid has threads.
    for (const Op op : {Op::GradientNorm, Op::Unscale, Op::ClipByNorm, Op::ClipByValue, Op::SgdUpdate, Op::AdamUpdate,
             Op::EmaUpdate, Op::MseLoss, Op::BceWithLogits}) {
        QTest::addRow("%s", std::string(opDef(op).name).c_str()) << static_cast<int>(op) << 9001;
    }
    for (const Op op : {Op::Dropout, Op::ReluGrad, Op::Slice}) {
        QTest::addRow("%s", std::string(opDef(op).name).c_str()) << static_cast<int>(op) << 530001;
    }
}

void TstCudaOps::takesLargeTensors()
{
    QFETCH(int, op);
    QFETCH(int, size);
    RandomValues random(static_cast<std::uint64_t>(op) + 4096);
    std::vector<OpCase> cases = casesOf(static_cast<Op>(op), {DType::Float16, size, Fill::Plain}, random);
    cases.resize(std::min<std::size_t>(cases.size(), 2));
    for (const OpCase& opCase : cases) {
        const auto complaint = complaintAbout(opCase);
        QVERIFY2(!complaint.has_value(),
            fmt::format("{}; {}; {}", opCase.name, complaint.value_or(""), RandomValues::seedText()).c_str());
    }
}

/// Where a policy asks for it every step of a sum is rounded, from the first element to the last: nothing is left open.
void TstCudaOps::addsUpInSixteenBits()
{
    RandomValues random(5);
    for (const DType format : {DType::Float16, DType::BFloat16}) {
        const HostTensor x = random.tensor(format, Shape {3, 70, 5}, Fill::Plain);
        for (const Op op : {Op::Sum, Op::Mean}) {
            const OpCall call {op, ReduceAttributes {1, 1, format}, {x}, {fresh(format, Shape {3, 5})}};
            QVERIFY(runOp(cuda(), call).outputs == runOp(backendByName("reference"), call).outputs);
        }
        const HostTensor rows = random.tensor(format, Shape {9, 70}, Fill::Plain);
        const HostTensor ones(DType::Float32, Shape {70}, std::vector<double>(70, 1.0));
        const OpCall norm {Op::LayerNorm, NormAttributes {1e-3F, 1, format}, {rows, ones, ones},
            {fresh(format, Shape {9, 70}), fresh(format, Shape {9}), fresh(format, Shape {9})}};
        const auto expected = runOp(backendByName("reference"), norm).outputs;
        const auto actual = runOp(cuda(), norm).outputs;
        QVERIFY(actual[1] == expected[1] && actual[2] == expected[2]);
    }
}

void TstCudaOps::roundsWeightsAsTheCpuDoes()
{
    RandomValues random(6);
    for (const DType format : {DType::Float16, DType::BFloat16}) {
        for (const WeightRounding rounding :
            {WeightRounding::Nearest, WeightRounding::Stochastic, WeightRounding::Compensated}) {
            SgdAttributes attributes;
            attributes.rounding = rounding;
            attributes.seed = 11;
            const Shape shape {300};
            OpCall call {Op::SgdUpdate, attributes,
                {HostTensor::scalar(DType::Float32, 1e-3), HostTensor::scalar(DType::Float32, 0),
                    random.tensor(DType::Float32, shape, Fill::Plain), random.tensor(format, shape, Fill::Plain)},
                {}};
            if (rounding == WeightRounding::Compensated) {
                call.inputs.push_back(random.uniformTensor(format, shape, -1e-4, 1e-4));
            }
            for (std::size_t i = 3; i < call.inputs.size(); ++i) {
                call.outputs.push_back({call.inputs[i], i});
            }
            if (rounding == WeightRounding::Stochastic) {
                call.inputs.push_back(HostTensor::scalar(DType::Int32, 77));
            }
            call.outputs.push_back(fresh(DType::Float64, Shape {}));
            call.outputs.push_back(fresh(DType::Float64, Shape {}));
            auto expected = runOp(backendByName("cpu"), call).outputs;
            auto actual = runOp(cuda(), call).outputs;
            QVERIFY(expected[0] != call.inputs[3]);
            for (std::size_t i = 0; i + 2 < actual.size(); ++i) {
                QVERIFY2(actual[i] == expected[i],
                    fmt::format("{}, rounding {}, output {}", mantissa::nameOf(format), static_cast<int>(rounding), i)
                        .c_str());
            }
        }
    }
}

void TstCudaOps::refusesWhatItCannotDo()
{
    const TensorType integers {DType::Int32, Shape {4, 4}};
    try {
        cuda().prepare({Op::MatMul, MatMulAttributes {}, {integers, integers}, {integers}, 1});
        QFAIL("a product of integers must be refused");
    } catch (const Error& error) {
        QVERIFY(error.code() == ErrorCode::UnsupportedDtype);
        QVERIFY(std::string_view(error.what()).find("matmul") != std::string_view::npos);
        QVERIFY(std::string_view(error.what()).find("int32") != std::string_view::npos);
    }
    // Whatever the op: no operands, or operands that do not fit, end in an answer.
    for (const OpDef& def : allOps()) {
        QVERIFY_EXCEPTION_THROWN(cuda().prepare({def.op, {}, {}, {}, 1}), Error);
        const TensorType halves {DType::Float16, Shape {3, 5}};
        const TensorType doubles {DType::Float64, Shape {3, 5}};
        QVERIFY_EXCEPTION_THROWN(cuda().prepare({def.op, {}, {halves, doubles}, {doubles, halves}, 1}), Error);
    }
}

void TstCudaOps::memoryIsAlignedAndItsEndIsAnError()
{
    for (const std::size_t bytes : {0U, 1U, 63U, 64U, 65U, 1000003U}) {
        const auto buffer = cuda().allocate(bytes);
        QVERIFY(buffer->data() != nullptr);
        QCOMPARE(reinterpret_cast<std::uintptr_t>(buffer->data()) % 64, std::uintptr_t {0});
        QCOMPARE(buffer->bytes(), bytes);
    }
    try {
        cuda().allocate(std::numeric_limits<std::size_t>::max() - 100);
        QFAIL("allocating the whole address space must fail");
    } catch (const Error& error) {
        QVERIFY(error.code() == ErrorCode::OutOfMemory);
    }
}

QTEST_APPLESS_MAIN(TstCudaOps)
#include "tst_cuda_ops.moc"
