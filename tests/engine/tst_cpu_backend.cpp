// The CPU backend beyond what every backend is tested for: exactness of its half products, accuracy and equality of
// its SIMD paths, and steady steps that allocate nothing.
#include "engine/backends/cpu/cpu_backend.h"
#include "engine/backends/cpu/simd/simd_kernels.h"
#include "engine/core/cpu_features.h"
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/formats/bfloat16.h"
#include "engine/formats/convert.h"
#include "engine/formats/float16.h"
#include "tests/support/allocation_count.h"

#include <QtTest>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <thread>

using namespace mantissa;

namespace {

// --- running one kernel ---

std::vector<float> normalValues(std::size_t n, std::uint64_t stream, float deviation = 1.0F)
{
    std::vector<float> values(n);
    fillNormal(values, 0.0F, deviation, Philox(7, stream));
    return values;
}

/// A tensor in host memory, which is the CPU backend's device memory.
struct Tensor
{
    TensorType type;
    std::vector<std::byte> bytes;

    Tensor(DType dtype, Shape shape)
        : type {dtype, std::move(shape)}
        , bytes(type.bytes())
    {
    }

    Tensor(DType dtype, Shape shape, std::span<const float> values)
        : Tensor(dtype, std::move(shape))
    {
        switch (dtype) {
        case DType::Float16:
            convert(values, std::span(reinterpret_cast<Float16*>(bytes.data()), values.size()));
            break;
        case DType::BFloat16:
            convert(values, std::span(reinterpret_cast<BFloat16*>(bytes.data()), values.size()));
            break;
        case DType::Int32:
            std::transform(values.begin(), values.end(), reinterpret_cast<std::int32_t*>(bytes.data()),
                [](float value) { return static_cast<std::int32_t>(value); });
            break;
        default:
            std::memcpy(bytes.data(), values.data(), bytes.size());
        }
    }

    static Tensor scalar(float value) { return {DType::Float32, {}, std::array {value}}; }

    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(type.shape.elements()); }

    template <typename T> [[nodiscard]] T as(std::size_t i = 0) const
    {
        return reinterpret_cast<const T*>(bytes.data())[i];
    }

    [[nodiscard]] float at(std::size_t i) const
    {
        switch (type.dtype) {
        case DType::Float16:
            return as<Float16>(i).toFloat();
        case DType::BFloat16:
            return as<BFloat16>(i).toFloat();
        default:
            return as<float>(i);
        }
    }
};

/// A kernel bound to tensors that it owns; outputs may be inputs, by index.
class Prepared
{
public:
    Prepared(Op op, Attributes attributes, std::vector<Tensor> inputs, std::vector<Tensor> outputs,
        std::vector<int> inPlace = {}, int threads = 1)
        : m_inputs(std::move(inputs))
        , m_outputs(std::move(outputs))
        , m_backend(makeCpuBackend())
        , m_stream(m_backend->createStream(threads))
    {
        KernelRequest request {op, attributes, {}, {}, threads};
        for (Tensor& input : m_inputs) {
            request.inputs.push_back(input.type);
            m_binding.inputs.push_back(input.bytes.data());
        }
        for (std::size_t i = 0; i < m_outputs.size(); ++i) {
            request.outputs.push_back(m_outputs[i].type);
            const bool shares = i < inPlace.size() && inPlace[i] >= 0;
            m_binding.outputs.push_back(
                shares ? m_binding.inputs[static_cast<std::size_t>(inPlace[i])] : m_outputs[i].bytes.data());
        }
        m_kernel = m_backend->prepare(request);
        m_workspace = m_backend->allocate(m_kernel->workspaceBytes());
        m_binding.workspace = m_workspace->data();
        m_kernel->bind(m_binding);
    }

    Prepared& countInto(Census& census, ExponentHistogram* histogram = nullptr)
    {
        m_binding.census = &census;
        m_binding.histogram = histogram;
        m_kernel->bind(m_binding);
        return *this;
    }

    Prepared& run()
    {
        m_kernel->run(*m_stream);
        return *this;
    }

    [[nodiscard]] const Tensor& in(std::size_t i) const { return m_inputs[i]; }

    [[nodiscard]] const Tensor& out(std::size_t i = 0) const { return m_outputs[i]; }

private:
    std::vector<Tensor> m_inputs;
    std::vector<Tensor> m_outputs;
    std::unique_ptr<Backend> m_backend;
    std::unique_ptr<Stream> m_stream;
    std::unique_ptr<Kernel> m_kernel;
    std::unique_ptr<Buffer> m_workspace;
    KernelBinding m_binding;
};

// --- oracles ---

/// One nearest-even rounding of a double to the format.
double roundTo(DType dtype, double x)
{
    switch (dtype) {
    case DType::Float16:
        return Float16::fromDouble(x).toFloat();
    case DType::BFloat16:
        return BFloat16::fromDouble(x).toFloat();
    default:
        return static_cast<float>(x);
    }
}

double ulp(float x)
{
    const float next = std::nextafter(std::abs(x), std::numeric_limits<float>::infinity());
    return std::isinf(next) ? std::ldexp(1.0, 104) : double {next} - double {std::abs(x)};
}

struct Function
{
    const char* name;
    SimdKernels::Unary SimdKernels::*kernel;
    double (*exact)(double);
    double ulps = 0.51; ///< how far off it may be
};

double logistic(double x)
{
    return 1.0 / (1.0 + std::exp(-x));
}

double normalCdf(double x)
{
    return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

double geluTanhArgument(double x)
{
    return std::sqrt(2.0 / std::numbers::pi) * (x + 0.044715 * x * x * x);
}

constexpr std::array functions {
    Function {"gelu", &SimdKernels::gelu, [](double x) { return x * normalCdf(x); }, 7.0},
    Function {
        "gelu, tanh form", &SimdKernels::geluTanh, [](double x) { return x * logistic(2 * geluTanhArgument(x)); }},
    Function {"silu", &SimdKernels::silu, [](double x) { return x * logistic(x); }},
    Function {"tanh", &SimdKernels::tanh, [](double x) { return std::tanh(x); }},
    Function {"sigmoid", &SimdKernels::sigmoid, logistic},
};

/// Every `stride`-th of all FP32 bit patterns.
std::vector<float> floatsByBits(std::uint32_t stride)
{
    std::vector<float> values;
    for (std::uint64_t bits = 0; bits <= 0xFFFFFFFFU; bits += stride) {
        values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    return values;
}

std::vector<CpuIsa> isasHere()
{
    std::vector<CpuIsa> isas;
    for (const CpuIsa isa : {CpuIsa::Baseline, CpuIsa::Avx2, CpuIsa::Avx512}) {
        if (isa <= detectedCpuIsa()) {
            isas.push_back(isa);
        }
    }
    return isas;
}

} // namespace

class TestCpuBackend : public QObject
{
    Q_OBJECT

private slots:
    void describesItself();
    void functionsAreAccurate_data();
    void functionsAreAccurate();
    void gradientsOfFunctionsAreAccurate();
    void everyInstructionSetGivesTheSameBits_data();
    void everyInstructionSetGivesTheSameBits();
    void dropoutDrawsPhilox();
    void halfProductsRoundOnce_data();
    void halfProductsRoundOnce();
    void nativeAndEmulatedBf16Agree();
    void censusChangesNothing_data();
    void censusChangesNothing();
    void unscalingByOneKeepsTheBits();
    void unscalingTestsTheIncomingValue();
    void crossEntropyOfAnUnknownLabelIsNaN();
    void skippedUpdateKeepsEverything_data();
    void skippedUpdateKeepsEverything();
    void steadyRunsAllocateNothing_data();
    void steadyRunsAllocateNothing();
    void lanesOnThreadsDoNotDisturbEachOther();
    void refusesWhatItCannotCompute();
};

void TestCpuBackend::describesItself()
{
    const DeviceInfo info = makeCpuBackend()->device();
    QCOMPARE(info.backend, std::string("cpu"));
    QVERIFY(info.available.ok);
    QVERIFY(info.fp16 == FormatSupport::Emulated);
    const bool isNative = cpuIsa() == CpuIsa::Avx512Bf16;
    QVERIFY((info.bf16 == FormatSupport::Native) == isNative);
    QCOMPARE(info.note.empty(), !isNative);
    QVERIFY(info.instructionSet.find(nameOf(cpuIsa())) == 0);

    const ScopedCpuIsa lowered(CpuIsa::Baseline);
    QVERIFY(makeCpuBackend()->device().bf16 == FormatSupport::Emulated);
    QVERIFY(makeCpuBackend()->device().instructionSet.find("baseline") == 0);
}

void TestCpuBackend::functionsAreAccurate_data()
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < functions.size(); ++i) {
        QTest::newRow(functions[i].name) << static_cast<int>(i);
    }
}

/// Within 0.51 units in the last place of the exact result (7 for what computes in FP32), for every 1999th float there
/// is.
void TestCpuBackend::functionsAreAccurate()
{
    QFETCH(int, index);
    const Function& function = functions.at(static_cast<std::size_t>(index));
    const std::vector<float> x = floatsByBits(1999);
    std::vector<float> y(x.size());
    (simdKernels().*function.kernel)(y.data(), x.data(), x.size());

    double worst = 0.0;
    float worstAt = 0.0F;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = function.exact(x[i]);
        const auto rounded = static_cast<float>(exact);
        double error = 0.0;
        if (std::isfinite(rounded)) {
            // In FP32, what underflows before the last product is lost.
            const double lost = function.ulps > 1.0 ? 0x1p-149 * std::abs(double {x[i]}) : 0.0;
            error = (std::abs(double {y[i]} - exact) - lost) / ulp(rounded);
        } else if (std::isnan(rounded) ? !std::isnan(y[i]) : y[i] != rounded) {
            error = std::numeric_limits<double>::infinity();
        }
        if (!(error <= worst)) {
            worst = error;
            worstAt = x[i];
        }
    }
    QVERIFY2(worst <= function.ulps, qPrintable(QString("off by %1 ulp at %2").arg(worst).arg(double {worstAt})));
}

/// Derivatives have zeros, where the error is measured against the size of what cancels.
void TestCpuBackend::gradientsOfFunctionsAreAccurate()
{
    struct Gradient
    {
        SimdKernels::Binary kernel;
        double (*exact)(double);
        double units = 0; ///< of 2^-24 of Phi(x) + |x| phi(x), for what computes in FP32
    };

    const SimdKernels& simd = simdKernels();
    const std::array gradients {
        Gradient {simd.geluGrad,
            [](double x) { return normalCdf(x) + x * std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi); }, 8},
        Gradient {simd.geluTanhGrad,
            [](double x) {
                const double u = 2.0 * geluTanhArgument(x);
                const double slope = 2.0 * std::sqrt(2.0 / std::numbers::pi) * (1.0 + 3.0 * 0.044715 * x * x);
                return logistic(u) + x * logistic(u) * logistic(-u) * slope;
            }},
        Gradient {simd.siluGrad, [](double x) { return logistic(x) * (1.0 + x * logistic(-x)); }},
        Gradient {simd.tanhGrad, [](double y) { return 1.0 - y * y; }},
        Gradient {simd.sigmoidGrad, [](double y) { return y * (1.0 - y); }},
    };
    std::vector<float> x(200'001);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = (static_cast<float>(i) - 100'000.0F) * 1.3e-4F;
    }
    const std::vector<float> ones(x.size(), 1.0F);
    std::vector<float> y(x.size());
    for (const Gradient& gradient : gradients) {
        gradient.kernel(y.data(), ones.data(), x.data(), x.size());
        double worst = 0.0;
        float worstAt = 0.0F;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double exact = gradient.exact(x[i]);
            const double size = std::abs(double {x[i]});
            const double tail = normalCdf(-size) * (1.0 + size);
            const double density = std::exp(-0.5 * size * size) / std::sqrt(2.0 * std::numbers::pi);
            const double allowed = 0.51 * ulp(static_cast<float>(exact)) + 1e-10 * std::min(1.0, size) * tail
                + gradient.units * 0x1p-24 * (normalCdf(x[i]) + size * density);
            const double error = std::abs(double {y[i]} - exact) / allowed;
            if (!(error <= worst)) {
                worst = error;
                worstAt = x[i];
            }
        }
        QVERIFY2(worst <= 1.0, qPrintable(QString("%1 times the bound at %2").arg(worst).arg(double {worstAt})));
    }
}

/// All results of one table, one after another, for n elements.
static std::vector<float> everything(const SimdKernels& simd, std::size_t n)
{
    std::vector<float> all;
    std::vector<float> y(n);
    std::vector<float> a = normalValues(n, 1, 3.0F);
    std::vector<float> b = normalValues(n, 2);
    for (std::size_t i = 0; i + 1 < n; i += 97) { // special values in all lanes
        a[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i * 0x9E3779B9U));
    }
    const auto keep = [&all](std::span<const float> values) { all.insert(all.end(), values.begin(), values.end()); };
    const auto keepSums = [&all](const LaneSums& sums) {
        const auto bits = std::bit_cast<std::array<float, 2>>(total(sums));
        all.insert(all.end(), bits.begin(), bits.end());
    };
    for (const auto unary : {simd.relu, simd.gelu, simd.geluTanh, simd.silu, simd.tanh, simd.sigmoid}) {
        unary(y.data(), a.data(), n);
        keep(y);
    }
    for (const auto binary : {simd.add, simd.mul, simd.reluGrad, simd.geluGrad, simd.geluTanhGrad, simd.siluGrad,
             simd.tanhGrad, simd.sigmoidGrad}) {
        binary(y.data(), b.data(), a.data(), n);
        keep(y);
    }
    simd.scale(y.data(), a.data(), 0.3F, n);
    keep(y);
    simd.clamp(y.data(), a.data(), 0.7F, n);
    keep(y);
    simd.philoxUniform(y.data(), 3, 5, (std::uint64_t {9} << 32U) + 11, n);
    keep(y);
    std::vector<std::uint8_t> mask(n);
    std::vector<float> dropped(n);
    simd.dropout(dropped.data(), mask.data(), b.data(), y.data(), 0.3F, 1.25F, n);
    keep(dropped);
    simd.dropoutGrad(y.data(), b.data(), mask.data(), 1.25F, n);
    keep(y);

    const float max = simd.rowMax(b.data(), n);
    const double sum = simd.sumExp(b.data(), max, n);
    all.push_back(max);
    simd.logSoftmax(y.data(), b.data(), max, std::log(sum), n);
    keep(y);
    simd.crossEntropyGrad(y.data(), std::vector(y).data(), {0.01, 0.9}, n / 2, 0.125, n);
    keep(y);
    simd.mseGrad(y.data(), a.data(), b.data(), 0.25, n);
    keep(y);
    simd.bceGrad(y.data(), a.data(), b.data(), 0.25, n);
    keep(y);
    LaneSums errors;
    simd.squaredErrors(&errors, b.data(), dropped.data(), n);
    keepSums(errors);
    LaneSums terms;
    simd.bceTerms(&terms, b.data(), dropped.data(), n);
    keepSums(terms);

    GradientLanes lanes;
    simd.unscale(&lanes, y.data(), b.data(), 0.3F, n);
    simd.measure(&lanes, dropped.data(), n);
    keep(y);
    keepSums(lanes.squares);
    all.push_back(maximum(lanes));
    UpdateLanes update;
    std::vector<float> w = normalValues(n, 3);
    std::vector<float> m = normalValues(n, 4);
    std::vector<float> v(n, 0.5F);
    simd.sgd(&update, w.data(), m.data(), b.data(), {0.1F, 0.9F, 0.01F, true}, n);
    simd.adam(&update, w.data(), m.data(), v.data(), b.data(),
        {0.9F, 0.1F, 0.999F, 0.001F, 1e-8F, 0.01F, 1.0F, 0.02F, 1.5F}, n);
    keep(w);
    keep(m);
    keep(v);
    keepSums(update.update);
    keepSums(update.weight);
    return all;
}

void TestCpuBackend::everyInstructionSetGivesTheSameBits_data()
{
    QTest::addColumn<int>("elements");
    for (const int n : {1, 3, 7, 15, 16, 17, 100, 1023, 4096}) {
        QTest::addRow("%d elements", n) << n;
    }
}

void TestCpuBackend::everyInstructionSetGivesTheSameBits()
{
    QFETCH(int, elements);
    const std::vector<float> expected = everything(baselineKernels, static_cast<std::size_t>(elements));
    for (const CpuIsa isa : isasHere()) {
        const ScopedCpuIsa scope(isa);
        const std::vector<float> got = everything(simdKernels(), static_cast<std::size_t>(elements));
        QCOMPARE(got.size(), expected.size());
        std::size_t differing = 0;
        for (std::size_t i = 0; i < got.size(); ++i) {
            // Which NaN comes out of two NaN is left open; that one comes out is not.
            const bool same = std::isnan(expected[i])
                ? std::isnan(got[i])
                : std::bit_cast<std::uint32_t>(got[i]) == std::bit_cast<std::uint32_t>(expected[i]);
            differing += same ? 0 : 1;
        }
        QVERIFY2(differing == 0, qPrintable(QString("%1: %2 results").arg(simdKernels().name).arg(differing)));
    }
}

void TestCpuBackend::dropoutDrawsPhilox()
{
    const std::size_t n = 5003;
    const Tensor x(DType::Float16, {static_cast<std::int64_t>(n)}, std::vector<float>(n, 1.0F));
    const Tensor counter(DType::Int32, {}, std::array {41.0F});
    const DropoutAttributes attributes {0.25F, 123, randomStream(RandomPurpose::Dropout, "drop1")};
    Prepared dropout(Op::Dropout, attributes, {x, counter}, {x, Tensor(DType::UInt8, x.type.shape)});
    dropout.run();
    const Philox random(attributes.seed, attributes.stream);
    for (std::size_t i = 0; i < n; ++i) {
        const auto word = random((std::uint64_t {41} << 32U) | i / 4).at(i % 4);
        const bool isKept = toUnitFloat(word) >= 0.25F;
        QCOMPARE(dropout.out(1).as<std::uint8_t>(i), static_cast<std::uint8_t>(isKept ? 1 : 0));
        QCOMPARE(dropout.out().at(i), isKept ? Float16::fromFloat(1.0F / 0.75F).toFloat() : 0.0F);
    }
}

void TestCpuBackend::halfProductsRoundOnce_data()
{
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("transposes");
    QTest::addColumn<bool>("isLinear");
    QTest::addColumn<int>("input");
    QTest::addColumn<int>("output");
    constexpr std::array<std::array<int, 3>, 6> shapes {
        {{1, 1, 1}, {1, 10, 64}, {64, 1, 3}, {10, 64, 1}, {33, 17, 65}, {64, 32, 128}}};
    for (const auto& [m, n, k] : shapes) {
        for (int form = 0; form < 5; ++form) {
            for (const DType input : {DType::Float16, DType::BFloat16, DType::Float32}) {
                for (const DType output : {input, DType::Float32}) {
                    QTest::addRow(
                        "%dx%dx%d form %d %s to %s", m, n, k, form, nameOf(input).data(), nameOf(output).data())
                        << m << n << k << form << (form == 4) << static_cast<int>(input) << static_cast<int>(output);
                }
            }
        }
    }
}

/// Whole-number operands keep every FP32 sum exact, so that the one rounding is all that may happen.
void TestCpuBackend::halfProductsRoundOnce()
{
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    QFETCH(int, transposes);
    QFETCH(bool, isLinear);
    QFETCH(int, input);
    QFETCH(int, output);
    const auto inputType = static_cast<DType>(input);
    const auto outputType = static_cast<DType>(output);
    const bool transposeA = !isLinear && (transposes & 1) != 0;
    const bool transposeB = isLinear || (transposes & 2) != 0;
    const auto wholeNumbers = [](std::size_t count, std::uint64_t stream) {
        std::vector<float> values(count);
        fillUniform(values, -100.0F, 100.0F, Philox(11, stream));
        std::transform(values.begin(), values.end(), values.begin(), [](float x) { return std::nearbyint(x); });
        return values;
    };
    const auto size = [](int rows, int columns) { return static_cast<std::size_t>(rows * columns); };
    const Shape shapeA = transposeA ? Shape {k, m} : Shape {m, k};
    const Shape shapeB = transposeB ? Shape {n, k} : Shape {k, n};
    const Tensor a(inputType, shapeA, wholeNumbers(size(m, k), 1));
    const Tensor b(inputType, shapeB, wholeNumbers(size(k, n), 2));
    const Tensor bias(inputType, {n}, wholeNumbers(static_cast<std::size_t>(n), 3));

    std::vector<Tensor> inputs {a, b};
    if (isLinear) {
        inputs.push_back(bias);
    }
    const Attributes attributes = isLinear ? Attributes {} : Attributes {MatMulAttributes {transposeA, transposeB}};
    Prepared product(isLinear ? Op::Linear : Op::MatMul, attributes, inputs, {Tensor(outputType, {m, n})});
    product.run();
    for (int row = 0; row < m; ++row) {
        for (int column = 0; column < n; ++column) {
            double sum = isLinear ? double {bias.at(static_cast<std::size_t>(column))} : 0.0;
            for (int i = 0; i < k; ++i) {
                sum += double {a.at(transposeA ? size(i, m) + static_cast<std::size_t>(row)
                                               : size(row, k) + static_cast<std::size_t>(i))}
                    * double {b.at(transposeB ? size(column, k) + static_cast<std::size_t>(i)
                                              : size(i, n) + static_cast<std::size_t>(column))};
            }
            QCOMPARE(
                double {product.out().at(size(row, n) + static_cast<std::size_t>(column))}, roundTo(outputType, sum));
        }
    }
}

void TestCpuBackend::nativeAndEmulatedBf16Agree()
{
    if (detectedCpuIsa() < CpuIsa::Avx512Bf16) {
        QSKIP("This CPU has no native BF16 instructions (AVX512_BF16) to compare with.");
    }
    const Tensor a(DType::BFloat16, {40, 100}, normalValues(4000, 1));
    const Tensor b(DType::BFloat16, {30, 100}, normalValues(3000, 2));
    const Tensor y(DType::Float32, {40, 30});
    const auto compute = [&](CpuIsa isa) {
        const ScopedCpuIsa scope(isa);
        return Prepared(Op::Linear, {}, {a, b}, {y}).run().out();
    };
    const Tensor native = compute(CpuIsa::Avx512Bf16);
    const Tensor emulated = compute(CpuIsa::Avx512);
    for (std::size_t i = 0; i < y.size(); ++i) {
        QVERIFY(std::abs(native.at(i) - emulated.at(i)) <= 100.0F * 0x1p-23F * 10.0F);
    }
}

void TestCpuBackend::censusChangesNothing_data()
{
    QTest::addColumn<int>("dtype");
    QTest::newRow("fp16") << static_cast<int>(DType::Float16);
    QTest::newRow("bf16") << static_cast<int>(DType::BFloat16);
}

/// Products that overflow, underflow and stay: counted with and without the histogram, the bits are the same.
void TestCpuBackend::censusChangesNothing()
{
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    std::vector<float> values = normalValues(4000, 1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = std::ldexp(values[i], static_cast<int>(i % 37) - 20);
    }
    values[17] = std::numeric_limits<float>::infinity();
    values[1234] = std::numeric_limits<float>::quiet_NaN();
    const Tensor a(type, {100, 40}, values);
    const Tensor b(type, {40, 50}, std::span(values).first(2000));
    const Tensor y(type, {100, 50});
    const Tensor plain = Prepared(Op::MatMul, MatMulAttributes {}, {a, b}, {y}).run().out();

    Census counts;
    ExponentHistogram histogram {};
    Prepared counted(Op::MatMul, MatMulAttributes {}, {a, b}, {y});
    counted.countInto(counts).run();
    QVERIFY(counted.out().bytes == plain.bytes);
    QCOMPARE(counts.total(), std::uint64_t {5000});
    QVERIFY(counts.nan > 0);
    const Census once = counts;
    counted.countInto(counts, &histogram).run();
    QVERIFY(counted.out().bytes == plain.bytes);
    QCOMPARE(counts.total(), std::uint64_t {10000});
    QCOMPARE(counts.normal, 2 * once.normal);
    QCOMPARE(std::accumulate(histogram.begin(), histogram.end(), std::uint64_t {0}), std::uint64_t {5000});
}

void TestCpuBackend::unscalingByOneKeepsTheBits()
{
    Tensor g(DType::Float16, {70});
    for (std::size_t i = 0; i < g.bytes.size(); ++i) {
        g.bytes[i] = static_cast<std::byte>(i * 151 + 3); // among them NaN with payloads
    }
    const Tensor f32(DType::Float32, {});
    const Tensor f64(DType::Float64, {});
    Prepared unscale(Op::Unscale, {}, {Tensor::scalar(1.0F), g}, {g, f32, f64, f32}, {1});
    unscale.run();
    QVERIFY(unscale.in(1).bytes == g.bytes);
}

/// A finite gradient that unscaling overflows is not what the scaler looks for; an infinite one is.
void TestCpuBackend::unscalingTestsTheIncomingValue()
{
    const Tensor f32(DType::Float32, {});
    const Tensor f64(DType::Float64, {});
    const auto unscale = [&](DType dtype, std::vector<float> values, float factor) {
        const auto n = static_cast<std::int64_t>(values.size());
        const Tensor g(dtype, {n}, values);
        Prepared kernel(Op::Unscale, {}, {Tensor::scalar(factor), g}, {g, f32, f64, f32}, {1});
        kernel.run();
        return std::array {double {kernel.out(1).at(0)}, kernel.out(2).as<double>(), double {kernel.out(3).at(0)}};
    };
    const double infinity = std::numeric_limits<double>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    QCOMPARE(unscale(DType::Float16, {60000.0F, 3.0F}, 4.0F), (std::array {0.0, infinity, infinity}));
    QCOMPARE(unscale(DType::Float32, {3.0F, -4.0F}, 0.5F), (std::array {0.0, 6.25, 2.0}));
    QCOMPARE(unscale(DType::Float32, {3.0F, -4.0F}, 1.0F), (std::array {0.0, 25.0, 4.0}));
    const auto withNaN = unscale(DType::Float32, {2.0F, nan}, 0.5F);
    QCOMPARE(withNaN[0], 1.0);
    QVERIFY(std::isnan(withNaN[1]));
    QCOMPARE(withNaN[2], 1.0);
}

void TestCpuBackend::crossEntropyOfAnUnknownLabelIsNaN()
{
    const Tensor logits(DType::Float16, {2, 3}, normalValues(6, 1));
    for (const float label : {-1.0F, 3.0F}) {
        const Tensor labels(DType::Int32, {2}, std::array {0.0F, label});
        Prepared loss(Op::SoftmaxCrossEntropy, {}, {logits, labels},
            {Tensor(DType::Float32, {}), Tensor(DType::Float32, {2, 3})});
        QVERIFY(std::isnan(loss.run().out().at(0)));
        Prepared gradient(Op::SoftmaxCrossEntropyGrad, {}, {Tensor::scalar(1.0F), loss.out(1), labels},
            {Tensor(DType::Float16, {2, 3})});
        QVERIFY(std::isfinite(gradient.run().out().at(5)));
    }
}

void TestCpuBackend::skippedUpdateKeepsEverything_data()
{
    censusChangesNothing_data();
    QTest::newRow("fp32") << static_cast<int>(DType::Float32);
}

void TestCpuBackend::skippedUpdateKeepsEverything()
{
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    const Tensor w(type, {3000}, normalValues(3000, 1));
    const Tensor g(type, {3000}, normalValues(3000, 2));
    const Tensor v(type, {3000}, std::vector<float>(3000, 0.5F));
    const Tensor f64(DType::Float64, {});
    AdamAttributes attributes;
    attributes.skipOnNonFinite = true;
    const auto step = [&](float foundInf) {
        Prepared adam(Op::AdamUpdate, attributes,
            {Tensor::scalar(0.1F), Tensor::scalar(foundInf), g, w, g, v, Tensor::scalar(6.0F)},
            {w, w, w, Tensor::scalar(0.0F), f64, f64}, {3, 4, 5, 6});
        adam.run();
        return adam;
    };
    const Prepared skipped = step(1.0F);
    QVERIFY(skipped.in(3).bytes == w.bytes);
    QVERIFY(skipped.in(4).bytes == g.bytes);
    QVERIFY(skipped.in(5).bytes == v.bytes);
    QCOMPARE(skipped.in(6).at(0), 6.0F);
    QCOMPARE(skipped.out(4).as<double>(), 0.0);
    double squares = 0.0;
    for (std::size_t i = 0; i < w.size(); ++i) {
        squares += double {w.at(i)} * double {w.at(i)};
    }
    QVERIFY(std::abs(skipped.out(5).as<double>() - squares) <= 1e-12 * squares);
    const Prepared taken = step(0.0F);
    QVERIFY(taken.in(3).bytes != w.bytes);
    QCOMPARE(taken.in(6).at(0), 7.0F);
    QVERIFY(taken.out(4).as<double>() > 0.0);
}

void TestCpuBackend::steadyRunsAllocateNothing_data()
{
    skippedUpdateKeepsEverything_data();
}

void TestCpuBackend::steadyRunsAllocateNothing()
{
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    const Tensor x(type, {64, 48}, normalValues(3072, 1));
    const Tensor w(type, {32, 48}, normalValues(1536, 2));
    const Tensor bias(type, {32}, normalValues(32, 3));
    const Tensor y(type, {64, 32}, normalValues(2048, 4));
    const Tensor labels(DType::Int32, {64}, std::vector<float>(64, 5.0F));
    const Tensor logProbabilities(DType::Float32, {64, 32}, normalValues(2048, 5));
    const Tensor f32 = Tensor::scalar(0.5F);
    const Tensor f64(DType::Float64, {});
    const Tensor other(type == DType::Float32 ? DType::Float16 : DType::Float32, {64, 32});

    std::vector<Prepared> kernels;
    kernels.emplace_back(Op::Linear, Attributes {}, std::vector {x, w, bias}, std::vector {y});
    kernels.emplace_back(Op::MatMul, MatMulAttributes {true, false}, std::vector {y, x}, std::vector {w});
    kernels.emplace_back(Op::BiasAdd, Attributes {}, std::vector {y, bias}, std::vector {y});
    kernels.emplace_back(Op::SumRows, Attributes {}, std::vector {y}, std::vector {bias});
    kernels.emplace_back(Op::Gelu, GeluAttributes {}, std::vector {y}, std::vector {y});
    kernels.emplace_back(Op::GeluGrad, GeluAttributes {}, std::vector {y, y}, std::vector {y});
    kernels.emplace_back(Op::Cast, Attributes {}, std::vector {y}, std::vector {other});
    kernels.emplace_back(Op::Scale, Attributes {}, std::vector {y, f32}, std::vector {y});
    kernels.emplace_back(Op::Accumulate, Attributes {}, std::vector {y, f32, f32}, std::vector {y});
    kernels.emplace_back(Op::Dropout, DropoutAttributes {}, std::vector {y, Tensor(DType::Int32, {})},
        std::vector {y, Tensor(DType::UInt8, {64, 32})});
    kernels.emplace_back(
        Op::SoftmaxCrossEntropy, Attributes {}, std::vector {y, labels}, std::vector {f32, logProbabilities});
    kernels.emplace_back(
        Op::SoftmaxCrossEntropyGrad, Attributes {}, std::vector {f32, logProbabilities, labels}, std::vector {y});
    kernels.emplace_back(Op::MseLoss, Attributes {}, std::vector {y, logProbabilities}, std::vector {f32});
    kernels.emplace_back(Op::MseLossGrad, Attributes {}, std::vector {f32, y, logProbabilities}, std::vector {y});
    kernels.emplace_back(Op::Unscale, Attributes {}, std::vector {f32, y, w}, std::vector {y, w, f32, f64, f32});
    kernels.emplace_back(Op::ClipByNorm, Attributes {}, std::vector {f32, f64, y}, std::vector {y, f32});
    kernels.emplace_back(Op::ClipByValue, Attributes {}, std::vector {f32, y}, std::vector {y});
    kernels.emplace_back(Op::SgdUpdate, SgdAttributes {}, std::vector {f32, f32, y, y}, std::vector {y, f64, f64});
    kernels.emplace_back(Op::AdamUpdate, AdamAttributes {}, std::vector {f32, f32, y, y, y, y, f32},
        std::vector {y, y, y, f32, f64, f64});
    Census census;
    ExponentHistogram histogram {};
    for (Prepared& kernel : kernels) {
        kernel.countInto(census, &histogram);
    }

    const std::uint64_t primitives = cpuPrimitivesCreated();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const std::uint64_t before = test::allocationCount();
        kernels[i].run();
        kernels[i].run();
        const std::uint64_t made = test::allocationCount() - before;
        QVERIFY2(made == 0, qPrintable(QString("kernel %1: %2 allocations").arg(i).arg(made)));
    }
    QCOMPARE(cpuPrimitivesCreated(), primitives);
    kernels.emplace_back(Op::Linear, Attributes {}, std::vector {x, w, bias}, std::vector {y});
    QCOMPARE(cpuPrimitivesCreated(), primitives + 1);
}

void TestCpuBackend::lanesOnThreadsDoNotDisturbEachOther()
{
    const Tensor x(DType::Float16, {64, 128}, normalValues(8192, 1));
    const Tensor w(DType::Float16, {96, 128}, normalValues(12288, 2));
    const Tensor y(DType::Float16, {64, 96});
    const Tensor expected = Prepared(Op::Linear, {}, {x, w}, {y}).run().out();
    std::array<int, 4> differences {};
    std::vector<std::thread> lanes;
    for (int& count : differences) {
        lanes.emplace_back([&x, &w, &y, &expected, &count] {
            Prepared linear(Op::Linear, {}, {x, w}, {y});
            for (int i = 0; i < 50; ++i) {
                count += linear.run().out().bytes == expected.bytes ? 0 : 1;
            }
        });
    }
    for (std::thread& lane : lanes) {
        lane.join();
    }
    QCOMPARE(differences, (std::array<int, 4> {}));
}

void TestCpuBackend::refusesWhatItCannotCompute()
{
    const auto backend = makeCpuBackend();
    const TensorType bytes {DType::UInt8, {4, 4}};
    const TensorType floats {DType::Float32, {4, 4}};
    const auto messageOf = [&](const KernelRequest& request) {
        try {
            const auto kernel = backend->prepare(request);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string message = messageOf({Op::Gelu, GeluAttributes {}, {bytes}, {bytes}});
    QVERIFY(message.find("[gelu]") == 0);
    QVERIFY(message.find("uint8 [4, 4]") != std::string::npos);
    QVERIFY(!messageOf({Op::Linear, {}, {floats, {DType::Float32, {4, 5}}}, {floats}}).empty());
    QVERIFY(!messageOf({Op::SgdUpdate, SgdAttributes {}, {floats}, {floats}}).empty());
    QVERIFY(messageOf({Op::MatMul, MatMulAttributes {}, {floats, floats}, {floats}}).empty());
}

QTEST_APPLESS_MAIN(TestCpuBackend)
#include "tst_cpu_backend.moc"
