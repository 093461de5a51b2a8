// Normalisations: all of them are one function of blocks that share their statistics.
#include "tests/support/gradient_specs.h"
#include "tests/support/tensor_compare.h"

#include <cmath>

namespace mantissa::test {

namespace {

/// Which elements are normalised together, and by which of the c parameters each is scaled.
struct Layout
{
    std::size_t channels;
    std::function<std::size_t(std::size_t)> block; ///< of element i
    std::size_t blocks;
    bool isCentred = true;
    bool usesRunning = false; ///< statistics are inputs 3 and 4
    double epsilon = 1e-5F;
};

struct Moments
{
    double count = 0;
    double mean = 0;
    double rstd = 0;
};

std::vector<Moments> momentsOf(const std::vector<Doubles>& in, const Layout& layout)
{
    std::vector<Moments> out(layout.blocks);
    std::vector<double> squares(layout.blocks);
    for (std::size_t i = 0; i < in[0].size(); ++i) {
        Moments& moments = out[layout.block(i)];
        moments.count += 1;
        moments.mean += layout.isCentred ? in[0][i] : 0;
    }
    for (Moments& moments : out) {
        moments.mean /= moments.count;
    }
    for (std::size_t i = 0; i < in[0].size(); ++i) {
        squares[layout.block(i)] += std::pow(in[0][i] - out[layout.block(i)].mean, 2);
    }
    for (std::size_t b = 0; b < layout.blocks; ++b) {
        out[b].rstd = 1 / std::sqrt(squares[b] / out[b].count + layout.epsilon);
        if (layout.usesRunning) {
            out[b].mean = in[3][b];
            out[b].rstd = 1 / std::sqrt(in[4][b] + layout.epsilon);
        }
    }
    return out;
}

Doubles normalise(const std::vector<Doubles>& in, const Layout& layout)
{
    const std::vector<Moments> moments = momentsOf(in, layout);
    Doubles y;
    for (std::size_t i = 0; i < in[0].size(); ++i) {
        const Moments& m = moments[layout.block(i)];
        const std::size_t channel = i % layout.channels;
        y.push_back((in[0][i] - m.mean) * m.rstd * in[1][channel] + (in.size() > 2 ? in[2][channel] : 0));
    }
    return y;
}

/// dx = rstd (g d - mean(g d) - n mean(g d n)), dgamma = sum d n, dbeta = sum d, with n = (x - mean) rstd that is off
/// by units of |x| + |mean|.
double boundOf(const GradientPoint& p, const Layout& layout)
{
    const std::vector<Moments> moments = momentsOf(p.inputs, layout);
    const auto reach = [&](std::size_t i) {
        const Moments& m = moments[layout.block(i)];
        return (std::abs(p.inputs[0][i]) + std::abs(m.mean)) * m.rstd;
    };
    const auto scaled = [&](std::size_t i) { return std::abs(p.cotangent[i] * p.inputs[1][i % layout.channels]); };
    double magnitude = 0;
    if (p.input == 0) {
        const Moments& own = moments[layout.block(p.i)];
        double sum = 0;
        double product = 0;
        for (std::size_t i = 0; i < p.cotangent.size(); ++i) {
            sum += layout.block(i) == layout.block(p.i) ? scaled(i) : 0;
            product += layout.block(i) == layout.block(p.i) ? scaled(i) * reach(i) : 0;
        }
        magnitude = own.rstd * (scaled(p.i) + sum / own.count + reach(p.i) * product / own.count);
    } else {
        for (std::size_t i = p.i; i < p.cotangent.size(); i += layout.channels) {
            magnitude += std::abs(p.cotangent[i]) * (p.input == 1 ? reach(i) : 1);
        }
    }
    return (2 * static_cast<double>(p.cotangent.size()) + 32) * unit * magnitude;
}

GradientSpec normSpec(RandomValues& random, std::string name, Op op, Attributes attributes, const Shape& x,
    const Layout& layout, bool hasBeta = true)
{
    const Shape vector {x.back()};
    GradientSpec spec {std::move(name), op, std::move(attributes), {normals(random, x), normals(random, vector)},
        {false, true}, {0, 1}, {}, {}};
    if (hasBeta) {
        spec.inputs.push_back(normals(random, vector));
        spec.isFloat32.push_back(true);
        spec.differentiable.push_back(2);
    }
    spec.forward = [layout](const std::vector<Doubles>& in) { return normalise(in, layout); };
    spec.bound = [layout](const GradientPoint& p) { return boundOf(p, layout); };
    return spec;
}

GradientSpec batchNormSpec(RandomValues& random, bool isTraining)
{
    const Shape x {3, 4, 2, 5};
    const Layout layout {5, [](std::size_t i) { return i % 5; }, 5, true, !isTraining};
    GradientSpec spec = normSpec(random, isTraining ? "batch_norm" : "batch_norm, eval", Op::BatchNorm2d,
        BatchNormAttributes {.training = isTraining}, x, layout);
    spec.inputs.push_back(normals(random, Shape {5}));
    spec.inputs.push_back(random.uniformTensor(DType::Float64, Shape {5}, 0.5, 2));
    spec.isFloat32.insert(spec.isFloat32.end(), {true, true});
    return spec;
}

} // namespace

void appendNormSpecs(std::vector<GradientSpec>& specs, RandomValues& random)
{
    specs.push_back(batchNormSpec(random, true));
    specs.push_back(batchNormSpec(random, false));
    const auto byGroup = [](std::size_t i) { return i / 36 * 3 + i % 6 / 2; };
    specs.push_back(normSpec(
        random, "group_norm", Op::GroupNorm, NormAttributes {.groups = 3}, Shape {2, 3, 2, 6}, {6, byGroup, 6}));
    const auto byRow = [](std::size_t i) { return i / 9; };
    specs.push_back(normSpec(random, "layer_norm", Op::LayerNorm, {}, Shape {2, 3, 9}, {9, byRow, 6}));
    specs.push_back(normSpec(random, "layer_norm without beta", Op::LayerNorm, {}, Shape {6, 9}, {9, byRow, 6}, false));
    specs.push_back(normSpec(random, "rms_norm", Op::RmsNorm, {}, Shape {2, 3, 9}, {9, byRow, 6, false}, false));
}

} // namespace mantissa::test
