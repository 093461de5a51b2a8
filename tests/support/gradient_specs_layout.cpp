// Batched products, broadcasting, reductions, exp and log, and the ops that move elements.
#include "tests/support/gradient_specs.h"
#include "tests/support/tensor_compare.h"

#include <algorithm>
#include <cmath>

namespace mantissa::test {

namespace {

using Forward = std::function<Doubles(const std::vector<Doubles>&)>;

GradientSpec unary(RandomValues& random, std::string name, Op op, Attributes attributes, const Shape& shape,
    std::function<double(const GradientPoint&)> bound, Forward forward)
{
    return {std::move(name), op, std::move(attributes), {normals(random, shape)}, {false}, {0}, std::move(forward),
        std::move(bound)};
}

double noError(const GradientPoint& /*point*/)
{
    return 0;
}

/// y[i] = x[source(i)]
template <typename Source> Forward moved(std::size_t count, Source source)
{
    return [count, source](const std::vector<Doubles>& in) {
        Doubles y;
        for (std::size_t i = 0; i < count; ++i) {
            y.push_back(in[0][source(i)]);
        }
        return y;
    };
}

/// Two batches of op(a)[3,4] op(b)[4,2], or, with one b, six rows times it.
GradientSpec batchedSpec(RandomValues& random, bool transposeA, bool transposeB, bool hasOneB)
{
    const Shape a = transposeA ? Shape {2, 4, 3} : Shape {2, 3, 4};
    const Shape b = transposeB ? Shape {2, 4} : Shape {4, 2};
    GradientSpec spec {std::string("matmul, batched") + (transposeA ? " a^T" : " a") + (transposeB ? " b^T" : " b")
            + (hasOneB ? " once" : ""),
        Op::MatMul, MatMulAttributes {transposeA, transposeB},
        {normals(random, a), normals(random, hasOneB ? b : Shape {2, b[0], b[1]})}, {false, false}, {0, 1}, {},
        bilinearBound(8)};
    spec.forward = [=](const std::vector<Doubles>& in) {
        Doubles y;
        for (std::size_t i = 0; i < 12; ++i) {
            const std::size_t batch = i / 6;
            const std::size_t row = i / 2 % 3;
            const std::size_t column = i % 2;
            double sum = 0;
            for (std::size_t j = 0; j < 4; ++j) {
                sum += in[0][batch * 12 + (transposeA ? j * 3 + row : row * 4 + j)]
                    * in[1][(hasOneB ? 0 : batch * 8) + (transposeB ? column * 4 + j : j * 2 + column)];
            }
            y.push_back(sum);
        }
        return y;
    };
    return spec;
}

/// a^T b over all rows of [2,3,4] and [2,3,2].
GradientSpec joinedRowsSpec(RandomValues& random)
{
    GradientSpec spec {"matmul, joined rows", Op::MatMul, MatMulAttributes {.transposeA = true, .joinRows = true},
        {normals(random, Shape {2, 3, 4}), normals(random, Shape {2, 3, 2})}, {false, false}, {0, 1}, {},
        bilinearBound(8)};
    spec.forward = [](const std::vector<Doubles>& in) {
        Doubles y(8);
        for (std::size_t i = 0; i < 48; ++i) {
            y[i % 8] += in[0][i / 8 * 4 + i % 8 / 2] * in[1][i / 8 * 2 + i % 2];
        }
        return y;
    };
    return spec;
}

GradientSpec deepLinearSpec(RandomValues& random)
{
    GradientSpec spec {"linear over [b, t, c]", Op::Linear, {},
        {normals(random, Shape {2, 3, 4}), normals(random, Shape {5, 4}), normals(random, Shape {5})},
        {false, false, false}, {0, 1, 2}, {}, bilinearBound(8)};
    spec.forward = [](const std::vector<Doubles>& in) {
        Doubles y;
        for (std::size_t i = 0; i < 30; ++i) {
            double sum = in[2][i % 5];
            for (std::size_t j = 0; j < 4; ++j) {
                sum += in[0][i / 5 * 4 + j] * in[1][i % 5 * 4 + j];
            }
            y.push_back(sum);
        }
        return y;
    };
    return spec;
}

GradientSpec broadcastSpec(RandomValues& random, Op op, const Shape& second, const char* what)
{
    const bool isProduct = op == Op::Mul;
    GradientSpec spec {std::string(isProduct ? "mul" : "add") + what, op, {},
        {normals(random, Shape {2, 3, 4}), normals(random, second)}, {false, false}, {0, 1}, {}, {}};
    spec.forward = [isProduct](const std::vector<Doubles>& in) {
        Doubles y = in[0];
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double b = in[1][i % in[1].size()];
            y[i] = isProduct ? y[i] * b : y[i] + b;
        }
        return y;
    };
    spec.bound = [isProduct](const GradientPoint& p) {
        // A repeated factor's products are rounded to the op's format before they are summed.
        const bool isSummed = isProduct && p.input == 1 && p.inputs[1].size() != p.inputs[0].size();
        double products = 0;
        for (std::size_t i = p.i; isSummed && i < p.cotangent.size(); i += p.inputs[1].size()) {
            products += 2 * halfUlp(p.saved, p.cotangent[i] * p.inputs[0][i]);
        }
        return 24 * unit * p.magnitude + products * (1 + 24 * unit);
    };
    return spec;
}

GradientSpec reduceSpec(RandomValues& random, Op op, bool writesFloat32)
{
    const bool isMean = op == Op::Mean;
    GradientSpec spec = unary(
        random, std::string(isMean ? "mean" : "sum") + (writesFloat32 ? " to fp32" : ""), op,
        ReduceAttributes {.firstAxis = 1, .axes = 2}, Shape {2, 3, 2, 4},
        [](const GradientPoint& p) { return 2 * unit * p.magnitude; },
        [isMean](const std::vector<Doubles>& in) {
            Doubles y(8);
            for (std::size_t i = 0; i < 48; ++i) {
                y[i / 24 * 4 + i % 4] += in[0][i] / (isMean ? 6 : 1);
            }
            return y;
        });
    spec.writesFloat32 = writesFloat32;
    return spec;
}

GradientSpec expandSpec(RandomValues& random, std::int64_t divisor)
{
    return unary(
        random, divisor == 1 ? "expand" : "expand and divide", Op::Expand,
        ExpandAttributes {.firstAxis = 1, .sizes = {3, 2}, .divisor = divisor}, Shape {2, 4},
        [divisor](const GradientPoint& p) {
            // The sum is rounded to the op's format before it is divided.
            const double rounding = divisor == 1 ? 0 : 2 * halfUlp(p.saved, p.magnitude * static_cast<double>(divisor));
            return 16 * unit * p.magnitude + rounding;
        },
        [divisor](const std::vector<Doubles>& in) {
            Doubles y;
            for (std::size_t i = 0; i < 48; ++i) {
                y.push_back(in[0][i / 24 * 4 + i % 4] / static_cast<double>(divisor));
            }
            return y;
        });
}

GradientSpec concatSpec(RandomValues& random)
{
    GradientSpec spec {"concat", Op::Concat, ConcatAttributes {1},
        {normals(random, Shape {2, 3, 2}), normals(random, Shape {2, 1, 2}), normals(random, Shape {2, 2, 2})},
        {false, false, false}, {0, 1, 2}, {}, noError};
    spec.forward = [](const std::vector<Doubles>& in) {
        Doubles y;
        for (std::size_t batch = 0; batch < 2; ++batch) {
            for (const Doubles& part : in) {
                const auto half = static_cast<std::ptrdiff_t>(part.size() / 2);
                const auto begin = part.begin() + static_cast<std::ptrdiff_t>(batch) * half;
                y.insert(y.end(), begin, begin + half);
            }
        }
        return y;
    };
    return spec;
}

GradientSpec logSpec(RandomValues& random)
{
    GradientSpec spec = unary(
        random, "log", Op::Log, {}, Shape {5, 3}, [](const GradientPoint& p) { return 4 * unit * p.magnitude; },
        [](const std::vector<Doubles>& in) {
            Doubles y = in[0];
            std::transform(y.begin(), y.end(), y.begin(), [](double x) { return std::log(x); });
            return y;
        });
    spec.inputs[0] = random.uniformTensor(DType::Float64, Shape {5, 3}, 0.5, 4);
    return spec;
}

GradientSpec expSpec(RandomValues& random)
{
    return unary(
        random, "exp", Op::Exp, {}, Shape {5, 3},
        [](const GradientPoint& p) {
            const double y = std::exp(p.inputs[0][p.i]);
            return std::abs(p.cotangent[p.i]) * (16 * unit * y + 2 * halfUlp(p.saved, y));
        },
        [](const std::vector<Doubles>& in) {
            Doubles y = in[0];
            std::transform(y.begin(), y.end(), y.begin(), [](double x) { return std::exp(x); });
            return y;
        });
}

} // namespace

void appendLayoutSpecs(std::vector<GradientSpec>& specs, RandomValues& random)
{
    for (const bool transposeA : {false, true}) {
        for (const bool transposeB : {false, true}) {
            specs.push_back(batchedSpec(random, transposeA, transposeB, false));
        }
    }
    specs.push_back(batchedSpec(random, false, false, true));
    specs.push_back(batchedSpec(random, false, true, true));
    specs.push_back(joinedRowsSpec(random));
    specs.push_back(deepLinearSpec(random));
    for (const Op op : {Op::Add, Op::Mul}) {
        specs.push_back(broadcastSpec(random, op, Shape {3, 4}, ", repeated over the batch"));
        specs.push_back(broadcastSpec(random, op, Shape {1, 3, 4}, ", repeated, with a leading 1"));
        specs.push_back(broadcastSpec(random, op, Shape {4}, ", a vector"));
        specs.push_back(broadcastSpec(random, op, Shape {2, 3, 4}, ", equal shapes"));
    }
    specs.push_back(reduceSpec(random, Op::Sum, false));
    specs.push_back(reduceSpec(random, Op::Sum, true));
    specs.push_back(reduceSpec(random, Op::Mean, false));
    specs.push_back(expandSpec(random, 1));
    specs.push_back(expandSpec(random, 6));
    specs.push_back(expSpec(random));
    specs.push_back(logSpec(random));
    specs.push_back(unary(random, "reshape", Op::Reshape, ReshapeAttributes {{4, 3}}, Shape {2, 6}, noError,
        moved(12, [](std::size_t i) { return i; })));
    specs.push_back(unary(random, "permute", Op::Permute, PermuteAttributes {{2, 0, 1}}, Shape {2, 3, 4}, noError,
        moved(24, [](std::size_t i) { return i % 6 * 4 + i / 6; })));
    specs.push_back(concatSpec(random));
    specs.push_back(unary(random, "slice", Op::Slice, SliceAttributes {1, 1, 2}, Shape {2, 4, 3}, noError,
        moved(12, [](std::size_t i) { return i / 6 * 12 + 3 + i % 6; })));
}

} // namespace mantissa::test
