// The CPU backend's kernels for CNNs and transformers, beyond what every backend is tested for: nothing is allocated
// while they run, neither threads nor instruction sets change a bit, exponentials and logarithms are right for every
// half, and statistics in a 16-bit format fail exactly as the reference's do.
#include "engine/backends/backend_registry.h"
#include "engine/backends/cpu/cpu_backend.h"
#include "engine/core/cpu_features.h"
#include "engine/formats/bfloat16.h"
#include "engine/formats/float16.h"
#include "engine/graph/op_def.h"
#include "tests/support/allocation_count.h"
#include "tests/support/op_cases.h"

#include <QtTest>

#include <fmt/format.h>

#include <array>
#include <cmath>

using namespace mantissa;
using namespace mantissa::test;

namespace {

constexpr std::array formats {DType::Float32, DType::Float16, DType::BFloat16};

/// A call whose operands and results are what the shape rule says.
struct Sized
{
    Op op;
    Attributes attributes;
    std::vector<TensorType> inputs;
    std::vector<TensorType> outputs;
};

/// Ops at sizes where threads share the work. d: the dtype of tensors; parameters are FP32.
std::vector<Sized> largeCalls(DType d)
{
    const auto f32 = [](Shape shape) { return TensorType {DType::Float32, std::move(shape)}; };
    const auto t = [d](Shape shape) { return TensorType {d, std::move(shape)}; };
    const TensorType image = t({4, 28, 28, 24});
    const TensorType pooled = t({4, 14, 14, 24});
    const TensorType places {DType::UInt8, {4, 14, 14, 24}};
    const TensorType c = f32({24});
    const TensorType rows = t({6, 40, 300});
    const TensorType wide = f32({300});
    const TensorType perRow = f32({6, 40});
    const TensorType perGroup = f32({4, 3});
    const TensorType index {DType::Int32, {6, 40}};
    return {
        {Op::MaxPool2d, Pool2dAttributes {}, {image}, {pooled, places}},
        {Op::MaxPool2dGrad, Pool2dAttributes {}, {pooled, places}, {image}},
        {Op::AvgPool2d, Pool2dAttributes {}, {image}, {pooled}},
        {Op::AvgPool2dGrad, Pool2dAttributes {}, {pooled}, {image}},
        {Op::GlobalAvgPool, {}, {image}, {t({4, 24})}},
        {Op::BatchNorm2d, {}, {image, c, c, c, c}, {image, c, c, c, c}},
        {Op::BatchNorm2dGrad, {}, {image, image, c, c, c}, {image, c, c}},
        {Op::GroupNorm, NormAttributes {.groups = 3}, {image, c, c}, {image, perGroup, perGroup}},
        {Op::NormGrad, NormAttributes {.groups = 3}, {image, image, c, perGroup, perGroup}, {image, c, c}},
        {Op::LayerNorm, {}, {rows, wide, wide}, {rows, perRow, perRow}},
        {Op::RmsNorm, {}, {rows, wide}, {rows, perRow}},
        {Op::NormGrad, {}, {rows, rows, wide, perRow, perRow}, {rows, wide, wide}},
        {Op::NormGrad, {}, {rows, rows, wide, perRow}, {rows, wide}},
        {Op::Embedding, {}, {t({50, 300}), index}, {rows}},
        {Op::EmbeddingGrad, {}, {rows, index}, {t({50, 300})}},
        {Op::ScaleMask, ScaleMaskAttributes {.factor = 0.3F, .causal = true}, {rows}, {rows}},
        {Op::Softmax, {}, {rows}, {f32({6, 40, 300})}},
        {Op::LogSoftmax, {}, {rows}, {rows}},
        {Op::SoftmaxGrad, {}, {rows, rows}, {rows}},
        {Op::LogSoftmaxGrad, {}, {rows, rows}, {rows}},
        {Op::Sum, ReduceAttributes {.firstAxis = 2, .axes = 1}, {rows}, {perRow}},
        {Op::Mean, ReduceAttributes {.firstAxis = 1, .axes = 1}, {rows}, {t({6, 300})}},
        {Op::Expand, ExpandAttributes {.firstAxis = 1, .sizes = {40}, .divisor = 40}, {t({6, 300})}, {rows}},
        {Op::Permute, PermuteAttributes {{0, 2, 1}}, {rows}, {t({6, 300, 40})}},
        {Op::Concat, ConcatAttributes {1}, {rows, rows}, {t({6, 80, 300})}},
        {Op::Slice, SliceAttributes {2, 7, 100}, {rows}, {t({6, 40, 100})}},
        {Op::SliceGrad, SliceAttributes {2, 7, 100}, {t({6, 40, 100})}, {rows}},
        {Op::Exp, {}, {rows}, {rows}},
        {Op::Log, {}, {rows}, {rows}},
        {Op::LogGrad, {}, {rows, rows}, {rows}},
        {Op::Mul, {}, {rows, t({40, 300})}, {rows}},
        {Op::Add, {}, {rows, wide}, {rows}},
        {Op::BiasAdd, {}, {rows, t({300})}, {rows}},
        {Op::SumRows, {}, {rows}, {t({300})}},
        {Op::Gelu, {}, {rows}, {rows}},
        {Op::ReluGrad, {}, {rows, rows}, {rows}},
        {Op::Cast, {}, {rows}, {f32({6, 40, 300})}},
        {Op::Cast, {}, {f32({6, 40, 300})}, {rows}},
        {Op::Scale, {}, {rows, f32({})}, {rows}},
    };
}

/// Whether oneDNN has a part in it, whose sums depend on the instruction set.
std::vector<Sized> attentionCalls(DType d)
{
    const TensorType qkv {d, {4, 70, 96}};
    const TensorType y {d, {4, 70, 32}};
    const TensorType logSumExp {DType::Float32, {4, 4, 70}};
    const AttentionAttributes attributes {.heads = 4, .causal = true};
    return {{Op::Attention, attributes, {qkv}, {y, logSumExp}},
        {Op::AttentionGrad, attributes, {y, logSumExp, qkv}, {qkv}}};
}

OpCall filled(const Sized& sized, RandomValues& random)
{
    OpCall call {sized.op, sized.attributes, {}, {}};
    for (const TensorType& type : sized.inputs) {
        if (type.dtype == DType::Int32) {
            HostTensor indices(type);
            for (std::int64_t i = 0; i < indices.size(); ++i) {
                indices.set(i, static_cast<double>(random.integer(0, 49)));
            }
            call.inputs.push_back(std::move(indices));
        } else if (type.dtype == DType::UInt8) {
            HostTensor places(type);
            for (std::int64_t i = 0; i < places.size(); ++i) {
                places.set(i, static_cast<double>(random.integer(0, 3)));
            }
            call.inputs.push_back(std::move(places));
        } else {
            call.inputs.push_back(random.uniformTensor(type.dtype, type.shape, 0.1, 2));
        }
    }
    for (const TensorType& type : sized.outputs) {
        call.outputs.push_back(fresh(type.dtype, type.shape));
    }
    return call;
}

bool sameResults(const OpResult& a, const OpResult& b)
{
    return a.outputs == b.outputs && a.census == b.census && a.histogram == b.histogram && a.moreCensus == b.moreCensus;
}

/// The result of an op that statistics in a 16-bit format are asked of, on both backends.
std::array<OpResult, 2> onBoth(const OpCall& call)
{
    return {runOp(backendByName("reference"), call), runOp(backendByName("cpu"), call)};
}

} // namespace

class TestCpuOps : public QObject
{
    Q_OBJECT

private slots:
    void everyOpRunsWithoutAllocating_data();
    void everyOpRunsWithoutAllocating();

    void threadsChangeNothing_data() { everyOpRunsWithoutAllocating_data(); }

    void threadsChangeNothing();

    void instructionSetsChangeNothing_data() { everyOpRunsWithoutAllocating_data(); }

    void instructionSetsChangeNothing();
    void exponentialsAndLogarithmsOfAllHalves_data();
    void exponentialsAndLogarithmsOfAllHalves();
    void runningStatisticsFollowPyTorch();
    void evaluationLeavesRunningStatisticsAlone();
    void maxPoolRoutesTiesToTheFirst();
    void sumsInFp16StopGrowing();
    void statisticsInFp16Overflow();
    void narrowStatisticsAreTheSameOnBothBackends_data();
    void narrowStatisticsAreTheSameOnBothBackends();
    void attentionKeepsNaNInItsRow();
    void anUnknownIndexGivesNaN();
    void countsEveryHalfOutput();
};

void TestCpuOps::everyOpRunsWithoutAllocating_data()
{
    QTest::addColumn<int>("dtype");
    for (const DType dtype : formats) {
        QTest::addRow("%s", std::string(nameOf(dtype)).c_str()) << static_cast<int>(dtype);
    }
}

void TestCpuOps::everyOpRunsWithoutAllocating()
{
    QFETCH(int, dtype);
    RandomValues random(71);
    Backend& backend = backendByName("cpu");
    const auto stream = backend.createStream(1);
    for (const OpDef& def : allOps()) {
        for (OpCase& opCase : casesOf(def.op, {static_cast<DType>(dtype), 128, Fill::Plain}, random)) {
            OpCall& call = opCase.call;
            const auto kernel = backend.prepare(call.request());
            const auto workspace = backend.allocate(kernel->workspaceBytes());
            Census census;
            KernelBinding binding;
            for (HostTensor& input : call.inputs) {
                binding.inputs.push_back(input.bytes().data());
            }
            for (OpOutput& output : call.outputs) {
                binding.outputs.push_back(
                    output.updates ? binding.inputs.at(*output.updates) : output.before.bytes().data());
            }
            binding.workspace = workspace->data();
            binding.census = hasCensus(call) ? &census : nullptr;
            kernel->bind(binding);
            kernel->run(*stream);
            const std::uint64_t allocated = allocationCount();
            const std::uint64_t created = cpuPrimitivesCreated();
            kernel->run(*stream);
            kernel->run(*stream);
            QVERIFY2(allocationCount() == allocated && cpuPrimitivesCreated() == created,
                (std::string(def.name) + ", " + opCase.name).c_str());
        }
    }
}

void TestCpuOps::threadsChangeNothing()
{
    QFETCH(int, dtype);
    RandomValues random(72);
    std::vector<Sized> calls = largeCalls(static_cast<DType>(dtype));
    for (Sized& more : attentionCalls(static_cast<DType>(dtype))) {
        calls.push_back(std::move(more));
    }
    for (const Sized& sized : calls) {
        OpCall call = filled(sized, random);
        const OpResult one = runOp(backendByName("cpu"), call);
        for (const int threads : {2, 3, 5}) {
            call.threads = threads;
            QVERIFY2(sameResults(runOp(backendByName("cpu"), call), one),
                fmt::format("{} on {} threads", opDef(call.op).name, threads).c_str());
        }
    }
}

void TestCpuOps::instructionSetsChangeNothing()
{
    QFETCH(int, dtype);
    RandomValues random(73);
    for (const Sized& sized : largeCalls(static_cast<DType>(dtype))) {
        const OpCall call = filled(sized, random);
        const OpResult expected = runOp(backendByName("cpu"), call);
        for (const CpuIsa isa : {CpuIsa::Baseline, CpuIsa::Avx2, CpuIsa::Avx512}) {
            if (isa <= detectedCpuIsa()) {
                const ScopedCpuIsa scope(isa);
                QVERIFY2(sameResults(runOp(backendByName("cpu"), call), expected),
                    fmt::format("{} on {}", opDef(call.op).name, nameOf(isa)).c_str());
            }
        }
    }
}

void TestCpuOps::exponentialsAndLogarithmsOfAllHalves_data()
{
    QTest::addColumn<int>("op");
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    for (const Op op : {Op::Exp, Op::Log}) {
        for (const DType from : {DType::Float16, DType::BFloat16}) {
            for (const DType to : {from, DType::Float32}) {
                QTest::addRow("%s %s to %s", std::string(opDef(op).name).c_str(), std::string(nameOf(from)).c_str(),
                    std::string(nameOf(to)).c_str())
                    << static_cast<int>(op) << static_cast<int>(from) << static_cast<int>(to);
            }
        }
    }
}

/// To the bit: computed in FP32 and rounded once. FP32 itself may be a neighbour where the exact result lies next to a
/// tie.
void TestCpuOps::exponentialsAndLogarithmsOfAllHalves()
{
    QFETCH(int, op);
    QFETCH(int, from);
    QFETCH(int, to);
    const Shape shape {65536};
    HostTensor x({static_cast<DType>(from), shape});
    for (std::size_t i = 0; i < 65536; ++i) {
        x.bytes()[2 * i] = static_cast<std::byte>(i & 0xFFU);
        x.bytes()[2 * i + 1] = static_cast<std::byte>(i >> 8U);
    }
    const auto target = static_cast<DType>(to);
    const OpResult result = runOp(backendByName("cpu"), {static_cast<Op>(op), {}, {x}, {fresh(target, shape)}});
    int neighbours = 0;
    for (std::int64_t i = 0; i < 65536; ++i) {
        const double exact = static_cast<Op>(op) == Op::Exp ? std::exp(x.at(i)) : std::log(x.at(i));
        const double wanted = roundTo(target, roundTo(DType::Float32, exact));
        const double value = result.outputs[0].at(i);
        if (value == wanted || (std::isnan(value) && std::isnan(wanted))) {
            continue;
        }
        ++neighbours;
        const double error = std::abs(value - exact);
        QVERIFY2(target == DType::Float32 && error <= 1.001 * halfUlp(target, exact),
            fmt::format("of {}: {}, expected {}", x.at(i), value, wanted).c_str());
    }
    QVERIFY(neighbours < 20);
}

void TestCpuOps::runningStatisticsFollowPyTorch()
{
    // Two channels of [[1, 10], [3, 30]]: means 2 and 20, unbiased variances 2 and 200; torch.nn.BatchNorm1d gives
    // these.
    const auto vector = [](double a, double b) { return HostTensor(DType::Float32, {2}, std::vector {a, b}); };
    OpCall call {Op::BatchNorm2d, BatchNormAttributes {},
        {HostTensor(DType::Float32, {2, 2}, std::vector {1.0, 10.0, 3.0, 30.0}), vector(1, 1), vector(0, 0),
            vector(0, 0), vector(1, 1)},
        {fresh(DType::Float32, {2, 2}), fresh(DType::Float32, {2}), fresh(DType::Float32, {2})}};
    call.outputs.push_back({call.inputs[3], 3});
    call.outputs.push_back({call.inputs[4], 4});
    for (const OpResult& result : onBoth(call)) {
        QVERIFY(std::abs(result.outputs[3].at(0) - 0.2) < 1e-7);
        QVERIFY(std::abs(result.outputs[3].at(1) - 2.0) < 1e-6);
        QVERIFY(std::abs(result.outputs[4].at(0) - 1.1) < 1e-6);
        QVERIFY(std::abs(result.outputs[4].at(1) - 20.9) < 1e-5);
        QVERIFY(std::abs(result.outputs[0].at(0) + 1 / std::sqrt(1 + 1e-5)) < 1e-6);
    }
}

void TestCpuOps::evaluationLeavesRunningStatisticsAlone()
{
    RandomValues random(74);
    OpCall call = filled(largeCalls(DType::Float16)[5], random);
    call.attributes = BatchNormAttributes {.training = false};
    call.outputs[3] = {call.inputs[3], 3};
    call.outputs[4] = {call.inputs[4], 4};
    for (const OpResult& result : onBoth(call)) {
        QVERIFY(result.outputs[3] == call.inputs[3]);
        QVERIFY(result.outputs[4] == call.inputs[4]);
        QVERIFY(result.outputs[1] == call.inputs[3]);
    }
}

void TestCpuOps::maxPoolRoutesTiesToTheFirst()
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    // 2049 and 2050 differ in FP32 but are one FP16 value: the first of equals gets the gradient.
    const HostTensor x(DType::Float16, {1, 2, 4, 1}, std::vector {2049.0, 1.0, nan, 5.0, 2050.0, 3.0, nan, 7.0});
    const Shape pooled {1, 1, 2, 1};
    const OpCall call {Op::MaxPool2d, {}, {x}, {fresh(DType::Float16, pooled), fresh(DType::UInt8, pooled)}};
    for (const OpResult& result : onBoth(call)) {
        QCOMPARE(result.outputs[0].at(0), x.at(4));
        QCOMPARE(result.outputs[1].at(0), x.at(0) == x.at(4) ? 0.0 : 2.0);
        QVERIFY(std::isnan(result.outputs[0].at(1)));
        QCOMPARE(result.outputs[1].at(1), 2.0); // the last NaN, as in PyTorch
    }
}

void TestCpuOps::sumsInFp16StopGrowing()
{
    const HostTensor ones(DType::Float16, {5000}, std::vector<double>(5000, 1.0));
    for (const auto& [accumulate, expected] :
        {std::pair {DType::Float16, 2048.0}, std::pair {DType::BFloat16, 256.0}, std::pair {DType::Float32, 5000.0}}) {
        const OpCall call {Op::Sum, ReduceAttributes {.accumulate = accumulate}, {ones}, {fresh(DType::Float32, {})}};
        for (const OpResult& result : onBoth(call)) {
            QCOMPARE(result.outputs[0].at(0), expected);
        }
    }
    // The mean of 100 values of 1000 passes through a sum that FP16 does not have.
    const HostTensor large(DType::Float16, {100}, std::vector<double>(100, 1000.0));
    OpCall mean {Op::Mean, ReduceAttributes {.accumulate = DType::Float16}, {large}, {fresh(DType::Float16, {})}};
    for (const OpResult& result : onBoth(mean)) {
        QVERIFY(std::isinf(result.outputs[0].at(0)));
    }
    mean.attributes = ReduceAttributes {};
    for (const OpResult& result : onBoth(mean)) {
        QCOMPARE(result.outputs[0].at(0), 1000.0);
    }
}

/// Deviations of 300 have squares beyond 65504: rstd becomes 0, the result is beta, and the census of rstd counts
/// zeros.
void TestCpuOps::statisticsInFp16Overflow()
{
    HostTensor x({DType::Float16, {8, 2}});
    for (std::int64_t i = 0; i < x.size(); ++i) {
        x.set(i, i % 2 == 0 ? (i % 4 == 0 ? 300 : -300) : 0.25 * static_cast<double>(i));
    }
    const auto vector = [](DType dtype, double value) { return HostTensor(dtype, {2}, std::vector {value, value}); };
    for (const DType accumulate : {DType::Float16, DType::Float32}) {
        const bool isNarrow = accumulate == DType::Float16;
        const OpCall call {Op::BatchNorm2d, BatchNormAttributes {.accumulate = accumulate},
            {x, vector(DType::Float32, 1), vector(DType::Float32, 0.5), vector(DType::Float32, 0),
                vector(DType::Float32, 1)},
            {fresh(DType::Float16, {8, 2}), fresh(accumulate, {2}), fresh(accumulate, {2}), fresh(DType::Float32, {2}),
                fresh(DType::Float32, {2})}};
        for (const OpResult& result : onBoth(call)) {
            QCOMPARE(result.outputs[2].at(0) == 0, isNarrow);
            QCOMPARE(result.outputs[0].at(0) == 0.5, isNarrow);
            QVERIFY(result.outputs[2].at(1) > 0);
            QCOMPARE(result.moreCensus[1].zero, std::uint64_t {isNarrow ? 1U : 0U});
            QCOMPARE(std::isinf(result.outputs[4].at(0)), isNarrow);
        }
    }
}

void TestCpuOps::narrowStatisticsAreTheSameOnBothBackends_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("accumulate");
    for (const DType dtype : formats) {
        for (const DType accumulate : {DType::Float16, DType::BFloat16}) {
            QTest::addRow("%s in %s", std::string(nameOf(dtype)).c_str(), std::string(nameOf(accumulate)).c_str())
                << static_cast<int>(dtype) << static_cast<int>(accumulate);
        }
    }
}

/// To the bit, wide magnitudes included. Normalised values agree within their FP32 arithmetic; the statistics exactly.
void TestCpuOps::narrowStatisticsAreTheSameOnBothBackends()
{
    QFETCH(int, dtype);
    QFETCH(int, accumulate);
    const auto d = static_cast<DType>(dtype);
    const auto narrow = static_cast<DType>(accumulate);
    RandomValues random(75);
    const Shape image {3, 5, 4, 6};
    const Shape vector {6};
    for (const Fill fill : {Fill::Plain, Fill::Wide, Fill::Special}) {
        const HostTensor x = random.tensor(d, image, fill, 3e4);
        const HostTensor c = random.uniformTensor(DType::Float32, vector, 0.5, 1.5);
        const NormAttributes norm {.groups = 3, .accumulate = narrow};
        const Shape rows {3, 5, 4};
        const std::vector<OpCall> calls {
            {Op::BatchNorm2d, BatchNormAttributes {.accumulate = narrow}, {x, c, c, c, c},
                {fresh(d, image), fresh(narrow, vector), fresh(narrow, vector), fresh(DType::Float32, vector),
                    fresh(DType::Float32, vector)}},
            {Op::GroupNorm, norm, {x, c, c}, {fresh(d, image), fresh(narrow, {3, 3}), fresh(narrow, {3, 3})}},
            {Op::LayerNorm, norm, {x, c, c}, {fresh(d, image), fresh(narrow, rows), fresh(narrow, rows)}},
            {Op::RmsNorm, norm, {x, c}, {fresh(d, image), fresh(narrow, rows)}},
            {Op::Softmax, SoftmaxAttributes {narrow}, {x}, {fresh(d, image)}},
            {Op::LogSoftmax, SoftmaxAttributes {narrow}, {x}, {fresh(d, image)}},
            {Op::Sum, ReduceAttributes {.firstAxis = 1, .axes = 2, .accumulate = narrow}, {x}, {fresh(d, {3, 6})}},
            {Op::Mean, ReduceAttributes {.firstAxis = 3, .axes = 1, .accumulate = narrow}, {x}, {fresh(d, rows)}},
            {Op::GlobalAvgPool, ReduceAttributes {.accumulate = narrow}, {x}, {fresh(d, {3, 6})}},
        };
        for (const OpCall& call : calls) {
            const auto [expected, actual] = onBoth(call);
            const bool isNorm = call.outputs.size() > 1;
            for (std::size_t output = isNorm ? 1 : 0; output < std::min<std::size_t>(3, call.outputs.size());
                 ++output) {
                for (std::int64_t i = 0; i < actual.outputs[output].size(); ++i) {
                    const double wanted = expected.outputs[output].at(i);
                    const double value = actual.outputs[output].at(i);
                    QVERIFY2(value == wanted || (std::isnan(value) && std::isnan(wanted)),
                        fmt::format("{} output {} element {}: {}, expected {}; {}", opDef(call.op).name, output, i,
                            value, wanted, RandomValues::seedText())
                            .c_str());
                }
            }
        }
    }
}

void TestCpuOps::attentionKeepsNaNInItsRow()
{
    RandomValues random(76);
    for (const DType dtype : formats) {
        OpCall call = filled(attentionCalls(dtype)[0], random);
        const std::int64_t query = 13 * 96 + 3; // batch 0, query 13, head 0
        call.inputs[0].set(query, std::numeric_limits<double>::quiet_NaN());
        const OpResult result = runOp(backendByName("cpu"), call);
        for (std::int64_t i = 0; i < result.outputs[0].size(); ++i) {
            const bool isThere = i / 32 == 13 && i % 32 < 8;
            QCOMPARE(std::isnan(result.outputs[0].at(i)), isThere);
        }
    }
}

void TestCpuOps::anUnknownIndexGivesNaN()
{
    const HostTensor table(DType::Float16, {2, 3}, std::vector<double>(6, 1.0));
    for (const double bad : {-1.0, 2.0}) {
        const HostTensor index(DType::Int32, {2}, std::vector {1.0, bad});
        const OpCall call {Op::Embedding, {}, {table, index}, {fresh(DType::Float16, {2, 3})}};
        const OpResult result = runOp(backendByName("cpu"), call);
        QCOMPARE(result.outputs[0].at(2), 1.0);
        QVERIFY(std::isnan(result.outputs[0].at(3)));
        const OpCall gradient {Op::EmbeddingGrad, {}, {table, index}, {fresh(DType::Float16, {2, 3})}};
        const OpResult sums = runOp(backendByName("cpu"), gradient);
        QCOMPARE(sums.outputs[0].at(0), 0.0);
        QCOMPARE(sums.outputs[0].at(5), 1.0);
        QVERIFY_EXCEPTION_THROWN(runOp(backendByName("reference"), call), std::exception);
    }
}

void TestCpuOps::countsEveryHalfOutput()
{
    RandomValues random(77);
    const TensorType rows {DType::Float16, {30, 20}};
    const TensorType vector {DType::Float16, {20}};
    const TensorType perRow {DType::Float32, {30}};
    const OpCall call
        = filled({Op::NormGrad, {}, {rows, rows, vector, perRow, perRow}, {rows, vector, vector}}, random);
    for (const OpResult& result : onBoth(call)) {
        QCOMPARE(result.census.total(), std::uint64_t {600});
        QCOMPARE(result.moreCensus[0].total(), std::uint64_t {20});
        QCOMPARE(result.moreCensus[1].total(), std::uint64_t {20});
    }
}

QTEST_APPLESS_MAIN(TestCpuOps)
#include "tst_cpu_ops.moc"
