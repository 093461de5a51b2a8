#include "tests/support/gradient_specs.h"

#include "engine/core/philox.h"
#include "tests/support/tensor_compare.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace mantissa::test {

namespace {

constexpr std::int64_t m = 5;
constexpr std::int64_t n = 7;
constexpr std::int64_t k = 6;

double at(const Doubles& matrix, std::int64_t columns, std::int64_t row, std::int64_t column)
{
    return matrix[static_cast<std::size_t>(row * columns + column)];
}

GradientSpec linearSpec(RandomValues& random, bool hasBias)
{
    GradientSpec spec {hasBias ? "linear" : "linear without bias", Op::Linear, {},
        {normals(random, Shape {m, k}), normals(random, Shape {n, k})}, {false, false}, {0, 1}, {},
        bilinearBound(std::max({m, n, k}))};
    if (hasBias) {
        spec.inputs.push_back(normals(random, Shape {n}));
        spec.isFloat32.push_back(false);
        spec.differentiable.push_back(2);
    }
    spec.forward = [hasBias](const std::vector<Doubles>& in) {
        Doubles y;
        for (std::int64_t row = 0; row < m; ++row) {
            for (std::int64_t column = 0; column < n; ++column) {
                double sum = hasBias ? in[2][static_cast<std::size_t>(column)] : 0;
                for (std::int64_t j = 0; j < k; ++j) {
                    sum += at(in[0], k, row, j) * at(in[1], k, column, j);
                }
                y.push_back(sum);
            }
        }
        return y;
    };
    return spec;
}

GradientSpec matMulSpec(RandomValues& random, bool transposeA, bool transposeB)
{
    GradientSpec spec {std::string("matmul ") + (transposeA ? "a^T " : "a ") + (transposeB ? "b^T" : "b"), Op::MatMul,
        MatMulAttributes {transposeA, transposeB},
        {normals(random, transposeA ? Shape {k, m} : Shape {m, k}),
            normals(random, transposeB ? Shape {n, k} : Shape {k, n})},
        {false, false}, {0, 1}, {}, bilinearBound(std::max({m, n, k}))};
    spec.forward = [transposeA, transposeB](const std::vector<Doubles>& in) {
        Doubles y;
        for (std::int64_t row = 0; row < m; ++row) {
            for (std::int64_t column = 0; column < n; ++column) {
                double sum = 0;
                for (std::int64_t j = 0; j < k; ++j) {
                    sum += (transposeA ? at(in[0], m, j, row) : at(in[0], k, row, j))
                        * (transposeB ? at(in[1], k, column, j) : at(in[1], n, j, column));
                }
                y.push_back(sum);
            }
        }
        return y;
    };
    return spec;
}

GradientSpec addSpec(RandomValues& random, Op op)
{
    const Shape second = op == Op::BiasAdd ? Shape {n} : Shape {m, n};
    GradientSpec spec {op == Op::BiasAdd ? "bias_add" : "add", op, {},
        {normals(random, Shape {m, n}), normals(random, second)}, {false, false}, {0, 1}, {}, bilinearBound(m)};
    spec.forward = [](const std::vector<Doubles>& in) {
        Doubles y = in[0];
        for (std::size_t i = 0; i < y.size(); ++i) {
            y[i] += in[1][i % in[1].size()];
        }
        return y;
    };
    return spec;
}

using Function = double (*)(double);

GradientSpec unarySpec(RandomValues& random, std::string name, Op op, Attributes attributes, Function function,
    std::function<double(const GradientPoint&)> bound)
{
    GradientSpec spec {
        std::move(name), op, attributes, {normals(random, Shape {m, n})}, {false}, {0}, {}, std::move(bound)};
    spec.forward = [function](const std::vector<Doubles>& in) {
        Doubles y = in[0];
        std::transform(y.begin(), y.end(), y.begin(), function);
        return y;
    };
    return spec;
}

/// The derivative is off by `units` units of the gradient.
auto slopeBound(double units)
{
    return [units](const GradientPoint& p) { return units * unit * std::abs(p.cotangent[p.i]); };
}

/// d f'(y) of a saved y that was computed in FP32 and rounded: |f''| times its error, and the square of the error.
template <typename Slope> auto savedBound(Function function, Slope slope)
{
    return [function, slope](const GradientPoint& p) {
        const double y = function(p.inputs[0][p.i]);
        const double error = 8 * unit * std::abs(y) + halfUlp(p.saved, y);
        return std::abs(p.cotangent[p.i]) * (std::abs(slope(y)) * error + error * error + 4 * unit);
    };
}

double logistic(double x)
{
    return 0.5 + 0.5 * std::tanh(0.5 * x);
}

void appendActivations(std::vector<GradientSpec>& specs, RandomValues& random)
{
    specs.push_back(unarySpec(
        random, "relu", Op::Relu, {}, [](double x) { return x < 0 ? 0 : x; }, slopeBound(0)));
    specs.push_back(unarySpec(
        random, "gelu, exact", Op::Gelu, GeluAttributes {false},
        [](double x) { return 0.5 * x * (1 + std::erf(x * std::numbers::sqrt2 / 2)); }, slopeBound(8)));
    specs.push_back(unarySpec(
        random, "gelu, tanh form", Op::Gelu, GeluAttributes {true},
        [](double x) {
            return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * std::pow(x, 3))));
        },
        slopeBound(64)));
    specs.push_back(unarySpec(
        random, "silu", Op::Silu, {}, [](double x) { return x * logistic(x); }, slopeBound(16)));
    specs.push_back(unarySpec(
        random, "tanh", Op::Tanh, {}, [](double x) { return std::tanh(x); },
        savedBound([](double x) { return std::tanh(x); }, [](double y) { return 2 * y; })));
    specs.push_back(unarySpec(
        random, "sigmoid", Op::Sigmoid, {}, logistic, savedBound(logistic, [](double y) { return 1 - 2 * y; })));
    specs.push_back(unarySpec(
        random, "cast", Op::Cast, {}, [](double x) { return x; }, slopeBound(0)));
}

GradientSpec scaleSpec(RandomValues& random)
{
    GradientSpec spec {"scale", Op::Scale, {},
        {normals(random, Shape {m, n}), HostTensor::scalar(DType::Float64, roundTo(DType::Float32, 3.7))},
        {false, true}, {0}, {}, bilinearBound(1)};
    spec.forward = [](const std::vector<Doubles>& in) {
        Doubles y = in[0];
        for (double& value : y) {
            value *= in[1][0];
        }
        return y;
    };
    return spec;
}

GradientSpec dropoutSpec(RandomValues& random)
{
    const DropoutAttributes attributes {0.25F, 0x123456789abcdefULL, randomStream(RandomPurpose::Dropout, "fc1")};
    GradientSpec spec {"dropout", Op::Dropout, attributes,
        {normals(random, Shape {m, n}), HostTensor::scalar(DType::Int32, -3)}, {false, false}, {0}, {}, slopeBound(8)};
    spec.forward = [attributes](const std::vector<Doubles>& in) {
        // The counter -3 as 32 bits, in the upper half of Philox's counter.
        const std::uint64_t high = 0xfffffffdULL * 0x100000000ULL;
        const Philox philox(attributes.seed, attributes.stream);
        Doubles y = in[0];
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double draw = std::floor(philox(high + i / 4)[i % 4] / 256.0) / 16777216.0;
            y[i] = draw < 0.25 ? 0 : y[i] / 0.75;
        }
        return y;
    };
    return spec;
}

GradientSpec crossEntropySpec(RandomValues& random)
{
    GradientSpec spec {"cross_entropy", Op::SoftmaxCrossEntropy, {},
        {normals(random, Shape {m, n}), random.labels(m, n)}, {false, false}, {0}, {}, {}};
    spec.forward = [](const std::vector<Doubles>& in) {
        double loss = 0;
        for (std::int64_t row = 0; row < m; ++row) {
            double sum = 0;
            for (std::int64_t column = 0; column < n; ++column) {
                sum += std::exp(at(in[0], n, row, column));
            }
            loss += std::log(
                sum / std::exp(at(in[0], n, row, static_cast<std::int64_t>(in[1][static_cast<std::size_t>(row)]))));
        }
        return Doubles {loss / m};
    };
    spec.bound = [](const GradientPoint& p) {
        // The saved log-probability is off by n + 8 + 4 |x - max| units; |x - max| < 16 here.
        return std::abs(p.cotangent[0]) / m * unit * (static_cast<double>(n) + 8 + 64 + 8);
    };
    return spec;
}

GradientSpec mseSpec(RandomValues& random)
{
    GradientSpec spec {"mse", Op::MseLoss, {}, {normals(random, Shape {m, n}), normals(random, Shape {m, n})},
        {false, true}, {0}, {}, {}};
    spec.forward = [](const std::vector<Doubles>& in) {
        double sum = 0;
        for (std::size_t i = 0; i < in[0].size(); ++i) {
            sum += std::pow(in[0][i] - in[1][i], 2);
        }
        return Doubles {sum / static_cast<double>(in[0].size())};
    };
    spec.bound = [](const GradientPoint& p) {
        const double size = std::abs(p.inputs[0][p.i]) + std::abs(p.inputs[1][p.i]);
        return 16 * unit * size * std::abs(p.cotangent[0]) / static_cast<double>(p.inputs[0].size());
    };
    return spec;
}

GradientSpec bceSpec(RandomValues& random)
{
    GradientSpec spec {"bce_with_logits", Op::BceWithLogits, {},
        {normals(random, Shape {m, n}), random.uniformTensor(DType::Float64, Shape {m, n}, 0, 1)}, {false, true}, {0},
        {}, {}};
    spec.forward = [](const std::vector<Doubles>& in) {
        double sum = 0;
        for (std::size_t i = 0; i < in[0].size(); ++i) {
            const double probability = logistic(in[0][i]);
            sum -= in[1][i] * std::log(probability) + (1 - in[1][i]) * std::log(1 - probability);
        }
        return Doubles {sum / static_cast<double>(in[0].size())};
    };
    spec.bound = [](const GradientPoint& p) {
        return 16 * unit * std::abs(p.cotangent[0]) / static_cast<double>(p.inputs[0].size());
    };
    return spec;
}

} // namespace

HostTensor normals(RandomValues& random, const Shape& shape)
{
    HostTensor out(TensorType {DType::Float64, shape});
    for (std::int64_t i = 0; i < out.size(); ++i) {
        const double value = 1.5 * random.normal();
        // Away from 0, where relu has no derivative.
        out.set(i, std::abs(value) < 0.01 ? 0.5 : value);
    }
    return out;
}

std::function<double(const GradientPoint&)> bilinearBound(std::int64_t terms)
{
    return [terms](const GradientPoint& p) { return static_cast<double>(terms + 3) * unit * p.magnitude; };
}

std::vector<GradientSpec> gradientSpecs(RandomValues& random)
{
    std::vector<GradientSpec> specs {linearSpec(random, true), linearSpec(random, false),
        matMulSpec(random, false, false), matMulSpec(random, false, true), matMulSpec(random, true, false),
        matMulSpec(random, true, true), addSpec(random, Op::BiasAdd), addSpec(random, Op::Add), scaleSpec(random),
        dropoutSpec(random), crossEntropySpec(random), mseSpec(random), bceSpec(random)};
    appendActivations(specs, random);
    appendImageSpecs(specs, random);
    appendNormSpecs(specs, random);
    appendSequenceSpecs(specs, random);
    appendLayoutSpecs(specs, random);
    return specs;
}

} // namespace mantissa::test
