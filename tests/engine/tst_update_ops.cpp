/// The ops between backward and the next step, on every available backend: optimizers against PyTorch's documented
/// formulas, the non-finite check at every position, norms, unscaling and clipping.
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "tests/support/random_values.h"
#include "tests/support/tensor_compare.h"
#include "tests/support/update_calls.h"

#include <QTest>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <variant>

using namespace mantissa;
using namespace mantissa::test;

namespace {

using Doubles = std::vector<double>;
using OptimizerAttributes = std::variant<SgdAttributes, AdamAttributes>;

const double infinity = std::numeric_limits<double>::infinity();
const double notANumber = std::numeric_limits<double>::quiet_NaN();

std::vector<Backend*> backends()
{
    std::vector<Backend*> out;
    for (const DeviceInfo& device : listDevices()) {
        if (device.available.ok) {
            out.push_back(&backendByName(device.backend));
        }
    }
    return out;
}

constexpr std::array formats {DType::Float32, DType::Float16, DType::BFloat16};

HostTensor tensorOf(DType dtype, const Doubles& values)
{
    return {dtype, Shape {static_cast<std::int64_t>(values.size())}, values};
}

OptimizerUnderTest optimizer(Backend& backend, const OptimizerAttributes& attributes, HostTensor weights)
{
    return std::visit(
        [&](const auto& given) { return OptimizerUnderTest(backend, given, std::move(weights)); }, attributes);
}

/// A row of the table below: weights after each of three steps, then the states.
struct Trajectory
{
    const char* name;
    OptimizerAttributes attributes;
    double learningRate;
    std::array<Doubles, 3> weights;
    std::vector<Doubles> states;
};

const Doubles startWeights {1, -0.5, 0.25};
const std::array<Doubles, 3> tableGradients {
    Doubles {0.5, -1, 0.125}, Doubles {-0.25, -0.75, 2}, Doubles {1, 0.0625, -0.5}};

/// Worked out with 40 digits from the algorithm boxes of torch.optim.SGD, Adam and AdamW in PyTorch's documentation.
const std::vector<Trajectory> trajectories {
    {"SGD", SgdAttributes {}, 0.1,
        {Doubles {0.95, -0.4, 0.2375}, Doubles {0.975, -0.325, 0.0375}, Doubles {0.875, -0.33125, 0.0875}}, {}},
    {"SGD, weight decay", SgdAttributes {0, 0.01F, false, false}, 0.1,
        {Doubles {0.949, -0.3995, 0.23725}, Doubles {0.973051, -0.3241005, 0.03701275},
            Doubles {0.872077949, -0.3300263995, 0.08697573725}},
        {}},
    {"SGD, momentum", SgdAttributes {0.9F, 0.01F, false, false}, 0.1,
        {Doubles {0.949, -0.3995, 0.23725}, Doubles {0.927151, -0.2336505, 0.02553775},
            Doubles {0.806559749, -0.0904022995, -0.11502881275}},
        {Doubles {1.20591251, -1.432482005, 1.4056656275}}},
    {"SGD, Nesterov", SgdAttributes {0.9F, 0.01F, true, false}, 0.1,
        {Doubles {0.9031, -0.30905, 0.225775}, Doubles {0.90757411, -0.084557805, -0.1649814725},
            Doubles {0.698189208191, 0.0379926853295, -0.24114563545225}},
        {Doubles {1.2053036411, -1.43017702805, 1.403657160275}}},
    {"Adam", AdamAttributes {}, 0.01,
        {Doubles {0.9900000002, -0.4900000001, 0.2400000008},
            Doubles {0.987336629870785, -0.480174249396589, 0.232155347020838},
            Doubles {0.980755513967709, -0.472907677014994, 0.227819202477290}},
        {Doubles {0.118, -0.14225, 0.140125}, Doubles {0.00131193775, 0.00156384475, 0.004261593765625}}},
    {"Adam, weight decay", AdamAttributes {0.9, 0.999, 1e-8F, 0.1F, false, false}, 0.01,
        {Doubles {0.990000000166667, -0.490000000095238, 0.240000000666667},
            Doubles {0.985319199305860, -0.480161026478437, 0.232083983651797},
            Doubles {0.977977554763922, -0.472626108354926, 0.227588863283713}},
        {Doubles {0.144863191994559, -0.155511610265642, 0.146630839842518},
            Doubles {0.00158883093810135, 0.00173826848479771, 0.00434226467815909}}},
    {"AdamW", AdamAttributes {0.9, 0.999, 1e-8F, 0.1F, true, false}, 0.01,
        {Doubles {0.9890000002, -0.4895000001, 0.2397500008},
            Doubles {0.985347629870585, -0.479184749396489, 0.231665597020038},
            Doubles {0.977781166337638, -0.471438992265497, 0.227097786879470}},
        {Doubles {0.118, -0.14225, 0.140125}, Doubles {0.00131193775, 0.00156384475, 0.004261593765625}}},
};

/// The same algorithms in double, in the form of the papers: corrected moments instead of a corrected rate.
class Independent
{
public:
    Independent(OptimizerAttributes attributes, Doubles weights)
        : m_attributes(attributes)
        , m_weights(std::move(weights))
        , m_first(m_weights.size())
        , m_second(m_weights.size())
    {
    }

    void step(double learningRate, const Doubles& gradient)
    {
        ++m_taken;
        for (std::size_t i = 0; i < m_weights.size(); ++i) {
            std::visit([&](const auto& given) { update(given, learningRate, gradient[i], i); }, m_attributes);
        }
    }

    [[nodiscard]] const Doubles& weights() const { return m_weights; }

private:
    void update(const SgdAttributes& given, double learningRate, double gradient, std::size_t i)
    {
        const double direction = gradient + given.weightDecay * m_weights[i];
        m_first[i] = given.momentum * m_first[i] + direction;
        m_weights[i] -= learningRate * (given.nesterov ? direction + given.momentum * m_first[i] : m_first[i]);
    }

    void update(const AdamAttributes& given, double learningRate, double gradient, std::size_t i)
    {
        if (given.decoupled) {
            m_weights[i] -= learningRate * given.weightDecay * m_weights[i];
        } else {
            gradient += given.weightDecay * m_weights[i];
        }
        m_first[i] += (1 - given.beta1) * (gradient - m_first[i]);
        m_second[i] += (1 - given.beta2) * (gradient * gradient - m_second[i]);
        const double mean = m_first[i] / (1 - std::pow(given.beta1, m_taken));
        const double variance = m_second[i] / (1 - std::pow(given.beta2, m_taken));
        m_weights[i] -= learningRate * mean / (std::sqrt(variance) + given.epsilon);
    }

    OptimizerAttributes m_attributes;
    Doubles m_weights;
    Doubles m_first;
    Doubles m_second;
    int m_taken = 0;
};

/// The tensor ops of torch.optim's _single_tensor_sgd and _single_tensor_adam on a tensor of a 16-bit format: each in
/// double, rounded once, from what the step before left behind.
class RoundedOps
{
public:
    RoundedOps(DType dtype, OptimizerAttributes attributes, Doubles weights)
        : m_dtype(dtype)
        , m_attributes(attributes)
        , m_weights(std::move(weights))
        , m_first(m_weights.size())
        , m_second(m_weights.size())
    {
    }

    void step(double learningRate, const Doubles& gradient)
    {
        ++m_taken;
        for (std::size_t i = 0; i < m_weights.size(); ++i) {
            std::visit([&](const auto& given) { update(given, learningRate, gradient[i], i); }, m_attributes);
        }
    }

    [[nodiscard]] const Doubles& weights() const { return m_weights; }

    [[nodiscard]] const Doubles& first() const { return m_first; }

    [[nodiscard]] const Doubles& second() const { return m_second; }

    /// Goes on from what a backend stored, so that a difference of one step stays one of one step.
    void restart(const OptimizerUnderTest& from)
    {
        m_weights = from.weights().values();
        for (std::size_t state = 0; state < from.state().size(); ++state) {
            (state == 0 ? m_first : m_second) = from.state()[state].values();
        }
    }

private:
    [[nodiscard]] double rounded(double value) const { return roundTo(m_dtype, value); }

    void update(const SgdAttributes& given, double learningRate, double gradient, std::size_t i)
    {
        if (given.weightDecay != 0) {
            gradient = rounded(gradient + given.weightDecay * m_weights[i]); // grad.add(param, alpha=weight_decay)
        }
        if (given.momentum != 0) {
            m_first[i] = rounded(m_first[i] * given.momentum); // buf.mul_(momentum)
            m_first[i] = rounded(m_first[i] + gradient); // buf.add_(grad)
            gradient = given.nesterov ? rounded(gradient + given.momentum * m_first[i]) : m_first[i];
        }
        m_weights[i] = rounded(m_weights[i] - learningRate * gradient); // param.add_(grad, alpha=-lr)
    }

    void update(const AdamAttributes& given, double learningRate, double gradient, std::size_t i)
    {
        if (given.weightDecay != 0 && given.decoupled) {
            m_weights[i] = rounded(m_weights[i] * (1 - learningRate * given.weightDecay)); // param.mul_
        } else if (given.weightDecay != 0) {
            gradient = rounded(gradient + given.weightDecay * m_weights[i]); // grad.add(param, alpha=weight_decay)
        }
        m_first[i] = rounded(m_first[i] + (1 - given.beta1) * (gradient - m_first[i])); // exp_avg.lerp_
        m_second[i] = rounded(m_second[i] * given.beta2); // exp_avg_sq.mul_(beta2)
        m_second[i] = rounded(m_second[i] + (1 - given.beta2) * gradient * gradient); // .addcmul_
        double denominator = rounded(std::sqrt(m_second[i])); // exp_avg_sq.sqrt()
        denominator = rounded(denominator / std::sqrt(1 - std::pow(given.beta2, m_taken)));
        denominator = rounded(denominator + given.epsilon); // .add_(eps)
        const double stepSize = learningRate / (1 - std::pow(given.beta1, m_taken));
        m_weights[i] = rounded(m_weights[i] - stepSize * m_first[i] / denominator); // param.addcdiv_
    }

    DType m_dtype;
    OptimizerAttributes m_attributes;
    Doubles m_weights;
    Doubles m_first;
    Doubles m_second;
    int m_taken = 0;
};

constexpr std::array halfFormats {DType::Float16, DType::BFloat16};

/// Short decimals like 0.9 would make ties of every tenth product, which FP32 and double break differently.
const std::vector<std::pair<const char*, OptimizerAttributes>> roundedCases {
    {"SGD", SgdAttributes {}},
    {"SGD, weight decay", SgdAttributes {0, 0.0137213F, false, false}},
    {"SGD, momentum", SgdAttributes {0.8713127F, 0.0137213F, false, false}},
    {"SGD, Nesterov", SgdAttributes {0.8713127F, 0.0137213F, true, false}},
    {"Adam", AdamAttributes {0.8931237, 0.9973171, 1e-8F, 0, false, false}},
    {"Adam, weight decay", AdamAttributes {0.8931237, 0.9973171, 0.0012371F, 0.0137213F, false, false}},
    {"AdamW", AdamAttributes {0.8931237, 0.9973171, 0.0012371F, 0.0137213F, true, false}},
};

OptimizerAttributes inArithmetic(OptimizerAttributes attributes, DType arithmetic)
{
    std::visit([arithmetic](auto& given) { given.arithmetic = arithmetic; }, attributes);
    return attributes;
}

/// What is left of one weight after `steps` updates by -lr g.
double descended(Backend& backend, DType dtype, double weight, double learningRate, double gradient, int steps = 1)
{
    SgdAttributes attributes;
    attributes.arithmetic = isHalf(dtype) ? dtype : DType::Float32;
    OptimizerUnderTest tested(backend, attributes, tensorOf(dtype, {weight}));
    for (int step = 0; step < steps; ++step) {
        tested.step(learningRate, tensorOf(dtype, {gradient}));
    }
    return tested.weights().at(0);
}

struct Statistics
{
    std::vector<HostTensor> gradients;
    double foundInf;
    double sumSquares;
    double maxAbs;
    double coefficient;
};

OpOutput scalarOutput(DType dtype)
{
    return {HostTensor({dtype, Shape {}}), std::nullopt};
}

/// Runs one of the gradient ops: scalars, then the gradients, which all but GradientNorm update in place.
Statistics runGradientOp(
    Backend& backend, Op op, std::vector<HostTensor> scalars, const std::vector<HostTensor>& gradients)
{
    OpCall call {op, {}, std::move(scalars), {}};
    const std::size_t first = call.inputs.size();
    for (const HostTensor& gradient : gradients) {
        if (op != Op::GradientNorm) {
            call.outputs.push_back({gradient, call.inputs.size()});
        }
        call.inputs.push_back(gradient);
    }
    if (op == Op::GradientNorm || op == Op::Unscale) {
        call.outputs.push_back(scalarOutput(DType::Float32));
        call.outputs.push_back(scalarOutput(DType::Float64));
        call.outputs.push_back(scalarOutput(DType::Float32));
    } else if (op == Op::ClipByNorm) {
        call.outputs.push_back(scalarOutput(DType::Float32));
    }
    const std::vector<HostTensor> out = runOp(backend, call).outputs;
    Statistics result {{}, notANumber, notANumber, notANumber, notANumber};
    const std::size_t changed = op == Op::GradientNorm ? 0 : call.inputs.size() - first;
    result.gradients.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(changed));
    if (op == Op::GradientNorm || op == Op::Unscale) {
        result.foundInf = out[changed].at(0);
        result.sumSquares = out[changed + 1].at(0);
        result.maxAbs = out[changed + 2].at(0);
    } else if (op == Op::ClipByNorm) {
        result.coefficient = out[changed].at(0);
    }
    return result;
}

Statistics norm(Backend& backend, const std::vector<HostTensor>& gradients)
{
    return runGradientOp(backend, Op::GradientNorm, {}, gradients);
}

Statistics unscale(Backend& backend, double inverseScale, const std::vector<HostTensor>& gradients)
{
    return runGradientOp(backend, Op::Unscale, {HostTensor::scalar(DType::Float32, inverseScale)}, gradients);
}

Statistics clipByNorm(Backend& backend, double maxNorm, double sumSquares, const std::vector<HostTensor>& gradients)
{
    return runGradientOp(backend, Op::ClipByNorm,
        {HostTensor::scalar(DType::Float32, maxNorm), HostTensor::scalar(DType::Float64, sumSquares)}, gradients);
}

Doubles clipByValue(Backend& backend, DType dtype, double limit, const Doubles& values)
{
    return runGradientOp(
        backend, Op::ClipByValue, {HostTensor::scalar(DType::Float32, limit)}, {tensorOf(dtype, values)})
        .gradients[0]
        .values();
}

/// All bit patterns of a half format.
HostTensor everyHalf(DType dtype)
{
    HostTensor out(TensorType {dtype, Shape {65536}});
    for (std::size_t i = 0; i < 65536; ++i) {
        out.bytes()[2 * i] = static_cast<std::byte>(i & 0xffU);
        out.bytes()[2 * i + 1] = static_cast<std::byte>(i >> 8U);
    }
    return out;
}

/// FP32 patterns that arithmetic would change: signalling and signed NaN with payloads, subnormals, both zeros.
HostTensor oddFloats()
{
    const std::vector<std::uint32_t> bits {0x7f800001U, 0xff812345U, 0x7fc00007U, 0xffffffffU, 0x00000001U, 0x807fffffU,
        0x00000000U, 0x80000000U, 0x7f800000U, 0xff800000U, 0x7f7fffffU};
    HostTensor out(TensorType {DType::Float32, Shape {static_cast<std::int64_t>(bits.size())}});
    const auto source = std::as_bytes(std::span(bits));
    std::copy(source.begin(), source.end(), out.bytes().begin());
    return out;
}

} // namespace

class TstUpdateOps : public QObject
{
    Q_OBJECT

private slots:
    void matchesPyTorchsFormulas_data();
    void matchesPyTorchsFormulas();
    void followsAnIndependentImplementation_data();
    void followsAnIndependentImplementation();
    void halfArithmeticRoundsEveryTensorOp_data();
    void halfArithmeticRoundsEveryTensorOp();
    void halfWeightsLoseUpdatesBelowHalfAnUlp();
    void halfAdamLosesItsEpsilonAndItsDecay();
    void halfArithmeticWantsHalfWeights();
    void skipLeavesEveryBit();
    void skippedStepsDoNotCountForAdam();
    void withoutSkippingNonFiniteGradientsReachTheWeights();
    void measuresTheUpdateAsStored();
    void unscaleByOneKeepsEveryBit();
    void unscaleTestsWhatComesIn();
    void findsNonFiniteAtEveryPosition_data();
    void findsNonFiniteAtEveryPosition();
    void normsAreExactWhereTheyCanBe();
    void clipByNormFollowsPyTorch();
    void clipByNormOfNonFiniteGradients();
    void clipByValueFollowsClamp();
};

void TstUpdateOps::matchesPyTorchsFormulas_data()
{
    QTest::addColumn<std::size_t>("index");
    for (std::size_t i = 0; i < trajectories.size(); ++i) {
        QTest::addRow("%s", trajectories[i].name) << i;
    }
}

void TstUpdateOps::matchesPyTorchsFormulas()
{
    QFETCH(std::size_t, index);
    const Trajectory& expected = trajectories[index];
    // Each of three steps rounds numbers of order 1 about eight times.
    const double tolerance = 3 * 8 * unit;
    for (Backend* const backend : backends()) {
        OptimizerUnderTest tested = optimizer(*backend, expected.attributes, tensorOf(DType::Float32, startWeights));
        for (std::size_t step = 0; step < 3; ++step) {
            tested.step(expected.learningRate, tensorOf(DType::Float32, tableGradients[step]));
            for (std::size_t i = 0; i < 3; ++i) {
                const double weight = tested.weights().at(static_cast<std::int64_t>(i));
                QVERIFY2(std::abs(weight - expected.weights[step][i]) <= tolerance,
                    fmt::format("{} step {}: {:.9g}, expected {:.9g}", backend->device().name, step, weight,
                        expected.weights[step][i])
                        .c_str());
            }
        }
        for (std::size_t state = 0; state < expected.states.size(); ++state) {
            for (std::size_t i = 0; i < 3; ++i) {
                const double value = tested.state()[state].at(static_cast<std::int64_t>(i));
                const double wanted = expected.states[state][i];
                QVERIFY2(std::abs(value - wanted) <= tolerance * std::abs(wanted),
                    fmt::format("{} state {}: {:.9g}, expected {:.9g}", backend->device().name, state, value, wanted)
                        .c_str());
            }
        }
    }
}

void TstUpdateOps::followsAnIndependentImplementation_data()
{
    matchesPyTorchsFormulas_data();
}

void TstUpdateOps::followsAnIndependentImplementation()
{
    QFETCH(std::size_t, index);
    const OptimizerAttributes& attributes = trajectories[index].attributes;
    RandomValues random(20 + index);
    constexpr int steps = 30;
    for (Backend* const backend : backends()) {
        for (const std::int64_t size : {1, 7, 33, 1000}) {
            const Shape shape {size};
            OptimizerUnderTest tested
                = optimizer(*backend, attributes, random.tensor(DType::Float32, shape, Fill::Plain));
            Independent independent(attributes, tested.weights().values());
            double largest = 1;
            for (int step = 0; step < steps; ++step) {
                // Gradients of one size per element keep Adam's quotient away from 0/0.
                const HostTensor gradient = random.uniformTensor(DType::Float32, shape, 0.5, 1.5);
                const double learningRate = roundTo(DType::Float32, 0.02);
                tested.step(learningRate, gradient);
                independent.step(learningRate, gradient.values());
            }
            for (std::int64_t i = 0; i < size; ++i) {
                const double expected = independent.weights()[static_cast<std::size_t>(i)];
                largest = std::max({largest, std::abs(expected)});
                // Eight roundings a step; an error in the velocity acts on for 1 / (1 - momentum) = 10 steps.
                const double tolerance = steps * 8 * unit * 10 * largest;
                QVERIFY2(std::abs(tested.weights().at(i) - expected) <= tolerance,
                    fmt::format("{}: {:.9g}, expected {:.9g}; {}", backend->device().name, tested.weights().at(i),
                        expected, RandomValues::seedText())
                        .c_str());
            }
        }
    }
}

void TstUpdateOps::halfArithmeticRoundsEveryTensorOp_data()
{
    QTest::addColumn<std::size_t>("index");
    for (std::size_t i = 0; i < roundedCases.size(); ++i) {
        QTest::addRow("%s", roundedCases[i].first) << i;
    }
}

void TstUpdateOps::halfArithmeticRoundsEveryTensorOp()
{
    QFETCH(std::size_t, index);
    RandomValues random(60 + index);
    constexpr std::int64_t size = 1037;
    constexpr int steps = 6;
    for (Backend* const backend : backends()) {
        for (const DType dtype : halfFormats) {
            const OptimizerAttributes attributes = inArithmetic(roundedCases[index].second, dtype);
            OptimizerUnderTest tested
                = optimizer(*backend, attributes, random.uniformTensor(dtype, Shape {size}, -2, 2));
            RoundedOps model(dtype, attributes, tested.weights().values());
            int differences = 0;
            for (int step = 0; step < steps; ++step) {
                const HostTensor gradient = random.uniformTensor(dtype, Shape {size}, -1.5, 1.5);
                const double learningRate = roundTo(DType::Float32, 0.0203719);
                tested.step(learningRate, gradient);
                model.step(learningRate, gradient.values());
                const auto compare = [&](const HostTensor& stored, const Doubles& expected, double least) {
                    for (std::int64_t i = 0; i < size; ++i) {
                        const double wanted = expected[static_cast<std::size_t>(i)];
                        const double got = stored.at(i);
                        if (got == wanted || (std::isnan(got) && std::isnan(wanted))) {
                            continue; // FP16's lost epsilon makes infinities and NaN of small gradients
                        }
                        ++differences;
                        const double largest = std::max({std::abs(wanted), std::abs(got), least});
                        QVERIFY2(std::abs(got - wanted) <= 8 * 2 * halfUlp(dtype, largest),
                            fmt::format("{} {} step {}: {:.9g}, expected {:.9g}; {}", backend->device().name,
                                nameOf(dtype), step, got, wanted, RandomValues::seedText())
                                .c_str());
                    }
                };
                // FP32 within an op puts a result on the other side of a tie at times: then it is off by a unit in the
                // last place, and what is computed from it by one of an operand, whose size `least` stands for.
                compare(tested.weights(), model.weights(), learningRate);
                for (std::size_t state = 0; state < tested.state().size(); ++state) {
                    compare(tested.state()[state], state == 0 ? model.first() : model.second(), state == 0 ? 1 : 0);
                }
                model.restart(tested);
            }
            // A tie is within FP32's error once in 2^12 results (FP16), of which an element has at most eight a step.
            const auto results = static_cast<double>(steps * size);
            QVERIFY2(differences <= results * 8 / 4096 + 8,
                fmt::format("{} {}: {} differ", backend->device().name, nameOf(dtype), differences).c_str());
        }
    }
}

void TstUpdateOps::halfWeightsLoseUpdatesBelowHalfAnUlp()
{
    for (Backend* const backend : backends()) {
        const auto half = [backend](double weight, double learningRate, double gradient, int steps = 1) {
            return descended(*backend, DType::Float16, weight, learningRate, gradient, steps);
        };
        // 1 + 2^-11 is a tie, which goes to even; a little more arrives.
        QCOMPARE(half(1, 0x1p-11, -1), 1.0);
        QCOMPARE(half(1, 4.9e-4, -1), 1 + 0x1p-10);
        QCOMPARE(half(1, 1e-4, -1, 1000), 1.0);
        QVERIFY(std::abs(descended(*backend, DType::Float32, 1, 1e-4, -1, 1000) - 1.1) <= 1000 * unit * 1.1);
        QCOMPARE(descended(*backend, DType::BFloat16, 1, 1e-3, -1, 1000), 1.0);
        // Between ratios of 2^11 and 2^12 it depends on the weight.
        QCOMPARE(half(1.5, 4.8e-4, -1), 1.5);
        QCOMPARE(half(2 - 0x1p-10, 6e-4, -1), 2.0);
        // Below a power of two the threshold is half as large.
        QCOMPARE(half(1, 2.5e-4, 1), 1 - 0x1p-11);
        QCOMPARE(half(1, 0x1p-12, 1), 1.0);
        for (const DType dtype : halfFormats) {
            const double lost = dtype == DType::Float16 ? 0x1p-12 : 0x1p-9;
            RandomValues random(70);
            for (const double weight : random.uniformTensor(dtype, Shape {50}, 0.001, 100).values()) {
                QCOMPARE(descended(*backend, dtype, weight, lost * 0.99, -weight), weight);
                QVERIFY(descended(*backend, dtype, weight, 2 * lost * 1.02, -weight) > weight);
            }
        }
    }
}

void TstUpdateOps::halfAdamLosesItsEpsilonAndItsDecay()
{
    for (Backend* const backend : backends()) {
        // (1 - 0.999) 0.005^2 = 2.5e-8 rounds to 0 and so does epsilon: the step divides by 0.
        AdamAttributes attributes;
        attributes.arithmetic = DType::Float16;
        OptimizerUnderTest adam(*backend, attributes, tensorOf(DType::Float16, {1, 1}));
        adam.step(0.001, tensorOf(DType::Float16, {0.005, 0}));
        QCOMPARE(adam.state()[1].values(), (Doubles {0, 0}));
        QCOMPARE(adam.weights().at(0), -infinity);
        QVERIFY(std::isnan(adam.weights().at(1)));
        // The smallest epsilon that is not lost lies above 2^-25.
        for (const auto& [epsilon, isLost] : {std::pair {0x1p-25F, true}, std::pair {0x1.000002p-25F, false}}) {
            attributes.epsilon = epsilon;
            OptimizerUnderTest guarded(*backend, attributes, tensorOf(DType::Float16, {1}));
            guarded.step(0.001, tensorOf(DType::Float16, {0}));
            QCOMPARE(std::isnan(guarded.weights().at(0)), isLost);
        }
        // v = 1 decays by less than half an ulp of BF16 at 0.999, and by just more than that at 0.998.
        for (const auto& [beta2, expected] : {std::pair {0.999, 1.0}, std::pair {0.998, 0.99609375}}) {
            AdamAttributes slow {0.9, beta2, 1e-8F, 0, false, false, DType::BFloat16};
            OptimizerUnderTest decaying(*backend, slow, tensorOf(DType::BFloat16, {0}));
            const double large = std::sqrt(1 / (1 - beta2));
            decaying.step(0, tensorOf(DType::BFloat16, {large}));
            const double before = decaying.state()[1].at(0);
            QCOMPARE(before, 1.0);
            decaying.step(0, tensorOf(DType::BFloat16, {0}));
            QCOMPARE(decaying.state()[1].at(0), expected);
            for (int step = 0; beta2 == 0.999 && step < 500; ++step) {
                decaying.step(0, tensorOf(DType::BFloat16, {0}));
            }
            QCOMPARE(decaying.state()[1].at(0), expected);
        }
    }
}

void TstUpdateOps::halfArithmeticWantsHalfWeights()
{
    SgdAttributes attributes;
    attributes.arithmetic = DType::Float16;
    OptimizerUnderTest masters(backendByName("cpu"), attributes, tensorOf(DType::Float32, {1}));
    QVERIFY_THROWS_EXCEPTION(Error, masters.step(0.1, tensorOf(DType::Float32, {1})));
}

void TstUpdateOps::skipLeavesEveryBit()
{
    RandomValues random(41);
    for (Backend* const backend : backends()) {
        for (const DType dtype : formats) {
            for (const OptimizerAttributes& attributes : {OptimizerAttributes {SgdAttributes {0.9F, 0.1F, true, true}},
                     OptimizerAttributes {SgdAttributes {0, 0, false, true}},
                     OptimizerAttributes {AdamAttributes {0.9, 0.999, 1e-8F, 0.1F, true, true}}}) {
                const HostTensor start = random.tensor(dtype, Shape {131}, Fill::Wide, 1e4);
                OptimizerUnderTest tested = optimizer(*backend, attributes, start);
                tested.step(0.1, random.tensor(dtype, Shape {131}, Fill::Plain));
                const OptimizerUnderTest before = tested;
                tested.step(0.1, random.tensor(dtype, Shape {131}, Fill::Special), true);
                QVERIFY(tested.weights() == before.weights());
                QVERIFY(tested.state() == before.state());
                QCOMPARE(tested.taken(), before.taken());
                QCOMPARE(tested.updateSquares(), 0.0);
                const Doubles weights = tested.weights().values();
                const double squares = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
                QVERIFY(std::abs(tested.weightSquares() - squares) <= 131 * 0x1p-52 * squares);
            }
        }
        // Weights that are lost already stay as they are, payloads included.
        OptimizerUnderTest lost(*backend, SgdAttributes {0, 0, false, true}, oddFloats());
        lost.step(0.1, HostTensor(oddFloats().type()), true);
        QVERIFY(lost.weights() == oddFloats());
        QCOMPARE(lost.updateSquares(), 0.0);
    }
}

void TstUpdateOps::skippedStepsDoNotCountForAdam()
{
    RandomValues random(42);
    const AdamAttributes attributes {0.9, 0.999, 1e-8F, 0, true, true};
    const HostTensor start = random.tensor(DType::Float32, Shape {50}, Fill::Plain);
    const HostTensor first = random.tensor(DType::Float32, Shape {50}, Fill::Plain);
    const HostTensor second = random.tensor(DType::Float32, Shape {50}, Fill::Plain);
    for (Backend* const backend : backends()) {
        OptimizerUnderTest straight(*backend, attributes, start);
        straight.step(0.1, first);
        straight.step(0.1, second);
        OptimizerUnderTest interrupted(*backend, attributes, start);
        interrupted.step(0.1, second, true);
        interrupted.step(0.1, first);
        interrupted.step(0.1, second, true);
        interrupted.step(0.1, second);
        QVERIFY(interrupted.weights() == straight.weights());
        QVERIFY(interrupted.state() == straight.state());
        QCOMPARE(interrupted.taken(), 2.0);
    }
}

void TstUpdateOps::withoutSkippingNonFiniteGradientsReachTheWeights()
{
    for (Backend* const backend : backends()) {
        for (const DType dtype : formats) {
            OptimizerUnderTest sgd(*backend, SgdAttributes {}, tensorOf(dtype, {1, 2, 3}));
            sgd.step(0.5, tensorOf(dtype, {notANumber, infinity, 1}), true);
            QVERIFY(std::isnan(sgd.weights().at(0)));
            QCOMPARE(sgd.weights().at(1), -infinity);
            QCOMPARE(sgd.weights().at(2), 2.5);
            OptimizerUnderTest adam(*backend, AdamAttributes {}, tensorOf(dtype, {1, 2, 3}));
            adam.step(0.5, tensorOf(dtype, {notANumber, infinity, 1}), true);
            QVERIFY(std::isnan(adam.weights().at(0)));
            QVERIFY(std::isnan(adam.weights().at(1))); // infinity over infinity
            QVERIFY(std::abs(adam.weights().at(2) - 2.5) <= 2 * halfUlp(dtype, 2.5));
            QCOMPARE(adam.taken(), 1.0);
        }
    }
}

void TstUpdateOps::measuresTheUpdateAsStored()
{
    for (Backend* const backend : backends()) {
        // 1 - 0.0001 rounds back to 1 in both 16-bit formats: nothing moves, and that is what must be reported.
        for (const DType dtype : {DType::Float16, DType::BFloat16}) {
            OptimizerUnderTest stuck(*backend, SgdAttributes {}, tensorOf(dtype, {1, 1, 1, 1, 1}));
            stuck.step(1e-4, tensorOf(dtype, {1, 1, 1, 1, 1}));
            QCOMPARE(stuck.updateSquares(), 0.0);
            QCOMPARE(stuck.weightSquares(), 5.0);
        }
        OptimizerUnderTest moving(*backend, SgdAttributes {}, tensorOf(DType::Float32, {1, 2, 3, 4, 5}));
        moving.step(0.5, tensorOf(DType::Float32, {1, 1, 1, 1, 2}));
        QCOMPARE(moving.updateSquares(), 4 * 0.25 + 1);
        QCOMPARE(moving.weightSquares(), 0.25 + 2.25 + 6.25 + 12.25 + 16);
    }
}

void TstUpdateOps::unscaleByOneKeepsEveryBit()
{
    for (Backend* const backend : backends()) {
        for (const HostTensor& gradient : {oddFloats(), everyHalf(DType::Float16), everyHalf(DType::BFloat16)}) {
            const Statistics result = unscale(*backend, 1, {gradient});
            QVERIFY(result.gradients[0] == gradient);
            QCOMPARE(result.foundInf, 1.0);
            QCOMPARE(result.maxAbs, infinity);
        }
    }
}

void TstUpdateOps::unscaleTestsWhatComesIn()
{
    for (Backend* const backend : backends()) {
        for (const DType dtype : formats) {
            const double maxFinite = limitsOf(dtype).maxFinite;
            const Statistics grown = unscale(*backend, 2, {tensorOf(dtype, {1, maxFinite, -3})});
            QCOMPARE(grown.foundInf, 0.0);
            QCOMPARE(grown.gradients[0].values(), (Doubles {2, infinity, -6}));
            QCOMPARE(grown.maxAbs, infinity);
            const Statistics shrunk = unscale(*backend, 1.0 / 65536, {tensorOf(dtype, {65536 / 4, -infinity, 0})});
            QCOMPARE(shrunk.foundInf, 1.0);
            QCOMPARE(shrunk.gradients[0].values(), (Doubles {0.25, -infinity, 0}));
            // The statistics are of the unscaled values.
            const Statistics scaled = unscale(*backend, 0.25, {tensorOf(dtype, {12, -16}), tensorOf(dtype, {0, 48})});
            QCOMPARE(scaled.sumSquares, 9.0 + 16 + 144);
            QCOMPARE(scaled.maxAbs, 12.0);
        }
    }
}

void TstUpdateOps::findsNonFiniteAtEveryPosition_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("op");
    for (const DType dtype : formats) {
        QTest::addRow("norm %s", std::string(nameOf(dtype)).c_str())
            << static_cast<int>(dtype) << static_cast<int>(Op::GradientNorm);
        QTest::addRow("unscale %s", std::string(nameOf(dtype)).c_str())
            << static_cast<int>(dtype) << static_cast<int>(Op::Unscale);
    }
}

void TstUpdateOps::findsNonFiniteAtEveryPosition()
{
    QFETCH(int, dtype);
    QFETCH(int, op);
    const auto format = static_cast<DType>(dtype);
    for (Backend* const backend : backends()) {
        const auto found = [&](const std::vector<HostTensor>& gradients) {
            return static_cast<Op>(op) == Op::Unscale ? unscale(*backend, 0.5, gradients).foundInf
                                                      : norm(*backend, gradients).foundInf;
        };
        for (const std::int64_t size : {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 67, 130}) {
            HostTensor first(TensorType {format, Shape {size}});
            HostTensor second = tensorOf(format, {1, 2, 3});
            for (std::int64_t i = 0; i < size; ++i) {
                first.set(i, limitsOf(format).maxFinite); // large is not infinite
            }
            QCOMPARE(found({first, second}), 0.0);
            for (std::int64_t i = 0; i < size; ++i) {
                for (const double bad : {notANumber, infinity, -infinity}) {
                    HostTensor broken = first;
                    broken.set(i, bad);
                    QCOMPARE(found({broken, second}), 1.0);
                    QCOMPARE(found({second, broken}), 1.0);
                }
            }
        }
    }
}

void TstUpdateOps::normsAreExactWhereTheyCanBe()
{
    for (Backend* const backend : backends()) {
        for (const DType dtype : formats) {
            const Statistics small = norm(*backend, {tensorOf(dtype, {3}), tensorOf(dtype, {0, -4, 0})});
            QCOMPARE(small.sumSquares, 25.0);
            QCOMPARE(small.maxAbs, 4.0);
            QCOMPARE(small.foundInf, 0.0);
            const Statistics mixed = norm(*backend, {tensorOf(dtype, {notANumber, -2, notANumber, 1})});
            QVERIFY(std::isnan(mixed.sumSquares));
            QCOMPARE(mixed.maxAbs, 2.0);
            QCOMPARE(norm(*backend, {tensorOf(dtype, {1, -infinity})}).sumSquares, infinity);
            const double tinySquare = std::pow(limitsOf(dtype).minSubnormal, 2);
            QCOMPARE(norm(*backend, {tensorOf(dtype, {limitsOf(dtype).minSubnormal})}).sumSquares, tinySquare);
        }
        // Squares beyond FP32's range do not overflow the norm.
        const double large = roundTo(DType::Float32, 1e30);
        QCOMPARE(norm(*backend, {tensorOf(DType::Float32, {large, large})}).sumSquares, 2 * large * large);
    }
}

void TstUpdateOps::clipByNormFollowsPyTorch()
{
    for (Backend* const backend : backends()) {
        const HostTensor gradient = tensorOf(DType::Float32, {3, 0, -4});
        const Statistics clipped = clipByNorm(*backend, 1, 25, {gradient});
        QVERIFY(std::abs(clipped.coefficient - 1 / 5.000001) <= 4 * unit);
        QVERIFY(std::abs(clipped.gradients[0].at(0) - 3 / 5.000001) <= 8 * unit);
        QVERIFY(std::abs(clipped.gradients[0].at(2) + 4 / 5.000001) <= 8 * unit);
        // Below the limit nothing changes, not even a NaN's payload.
        for (const HostTensor& odd : {oddFloats(), everyHalf(DType::Float16)}) {
            const Statistics kept = clipByNorm(*backend, 6, 25, {odd});
            QCOMPARE(kept.coefficient, 1.0);
            for (std::int64_t i = 0; i < odd.size(); ++i) {
                QVERIFY(
                    std::isnan(odd.at(i)) ? std::isnan(kept.gradients[0].at(i)) : kept.gradients[0].at(i) == odd.at(i));
            }
        }
        QCOMPARE(clipByNorm(*backend, 1, 0, {tensorOf(DType::Float32, {0, 0})}).coefficient, 1.0);
        QCOMPARE(clipByNorm(*backend, 0, 25, {gradient}).gradients[0].values(), (Doubles {0, 0, 0}));
    }
}

void TstUpdateOps::clipByNormOfNonFiniteGradients()
{
    for (Backend* const backend : backends()) {
        for (const DType dtype : formats) {
            // An infinite norm: coefficient 0, so finite gradients vanish and infinite ones become NaN.
            const Statistics infinite = clipByNorm(*backend, 1, infinity, {tensorOf(dtype, {3, infinity, -4})});
            QCOMPARE(infinite.coefficient, 0.0);
            QCOMPARE(infinite.gradients[0].at(0), 0.0);
            QVERIFY(std::isnan(infinite.gradients[0].at(1)));
            QCOMPARE(infinite.gradients[0].at(2), 0.0);
            // A NaN norm spreads to every gradient.
            const Statistics lost = clipByNorm(*backend, 1, notANumber, {tensorOf(dtype, {3, 0, -4})});
            QVERIFY(std::isnan(lost.coefficient));
            for (const double value : lost.gradients[0].values()) {
                QVERIFY(std::isnan(value));
            }
        }
    }
}

void TstUpdateOps::clipByValueFollowsClamp()
{
    for (Backend* const backend : backends()) {
        for (const DType dtype : formats) {
            const Doubles clamped = clipByValue(
                *backend, dtype, 0.5, {0.25, -0.25, 0.75, -3, infinity, -infinity, notANumber, -0.0, 0.5});
            const Doubles expected {0.25, -0.25, 0.5, -0.5, 0.5, -0.5, notANumber, -0.0, 0.5};
            for (std::size_t i = 0; i < expected.size(); ++i) {
                QVERIFY(std::isnan(expected[i]) ? std::isnan(clamped[i]) : clamped[i] == expected[i]);
                QVERIFY(std::isnan(expected[i]) || std::signbit(clamped[i]) == std::signbit(expected[i]));
            }
            // A limit between two values of the format: rounded like any result.
            QCOMPARE(
                clipByValue(*backend, dtype, 0.3, {1, -1}), (Doubles {roundTo(dtype, 0.3F), -roundTo(dtype, 0.3F)}));
            QCOMPARE(clipByValue(*backend, dtype, 0, {1, -1}), (Doubles {0, 0}));
        }
    }
}

QTEST_APPLESS_MAIN(TstUpdateOps)
#include "tst_update_ops.moc"
