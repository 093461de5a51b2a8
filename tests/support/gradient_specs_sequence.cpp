// Embedding, attention, softmax, and losses on log-probabilities.
#include "tests/support/gradient_specs.h"
#include "tests/support/tensor_compare.h"

#include <algorithm>
#include <cmath>

namespace mantissa::test {

namespace {

GradientSpec embeddingSpec(RandomValues& random)
{
    const HostTensor indices(DType::Int32, Shape {2, 4}, std::vector<double> {3, 0, 3, 1, 3, 4, 0, 3});
    GradientSpec spec {"embedding", Op::Embedding, {}, {normals(random, Shape {5, 3}), indices}, {false, false}, {0},
        {}, bilinearBound(8)};
    spec.forward = [](const std::vector<Doubles>& in) {
        Doubles y;
        for (const double index : in[1]) {
            const auto row = in[0].begin() + static_cast<std::ptrdiff_t>(index) * 3;
            y.insert(y.end(), row, row + 3);
        }
        return y;
    };
    return spec;
}

constexpr std::size_t batches = 2;
constexpr std::size_t queries = 4;
constexpr std::size_t width = 6; // two heads of three

/// q, k, v as [batch][row][channel], whatever operands they come from.
Doubles attend(const Doubles& q, const Doubles& k, const Doubles& v, bool isCausal)
{
    const std::size_t keys = k.size() / batches / width;
    Doubles y(q.size());
    for (std::size_t out = 0; out < y.size(); ++out) {
        const std::size_t head = out % width / 3;
        const std::size_t row = out / width;
        const std::size_t batch = row / queries;
        double mix = 0;
        double sum = 0;
        for (std::size_t j = 0; j < keys && (!isCausal || j <= row % queries); ++j) {
            double score = 0;
            for (std::size_t c = head * 3; c < head * 3 + 3; ++c) {
                score += q[row * width + c] * k[(batch * keys + j) * width + c];
            }
            const double weight = std::exp(score / std::sqrt(3.0));
            sum += weight;
            mix += weight * v[(batch * keys + j) * width + out % width];
        }
        y[out] = mix / sum;
    }
    return y;
}

/// Operands stay below 1, so scores stay below 2 and every gradient is a sum of at most 5 x 3 products of four of them.
double attentionBound(const GradientPoint& p)
{
    double largest = 0;
    for (const double d : p.cotangent) {
        largest = std::max(largest, std::abs(d));
    }
    return 64 * unit * 15 * largest;
}

GradientSpec attentionSpec(RandomValues& random, std::int64_t keys, bool isCausal)
{
    const auto tensor = [&](std::int64_t rows) {
        return random.uniformTensor(DType::Float64, Shape {batches, rows, width}, -1, 1);
    };
    GradientSpec spec {isCausal ? "attention, causal" : "attention", Op::Attention,
        AttentionAttributes {.heads = 2, .causal = isCausal}, {tensor(queries), tensor(keys), tensor(keys)},
        {false, false, false}, {0, 1, 2}, {}, attentionBound};
    spec.forward = [isCausal](const std::vector<Doubles>& in) { return attend(in[0], in[1], in[2], isCausal); };
    return spec;
}

GradientSpec packedAttentionSpec(RandomValues& random)
{
    GradientSpec spec {"attention, packed", Op::Attention, AttentionAttributes {.heads = 2, .causal = true},
        {random.uniformTensor(DType::Float64, Shape {batches, queries, 3 * width}, -1, 1)}, {false}, {0}, {},
        attentionBound};
    spec.forward = [](const std::vector<Doubles>& in) {
        std::array<Doubles, 3> parts;
        for (std::size_t i = 0; i < in[0].size(); ++i) {
            parts.at(i / width % 3).push_back(in[0][i]);
        }
        return attend(parts[0], parts[1], parts[2], true);
    };
    return spec;
}

GradientSpec scaleMaskSpec(RandomValues& random)
{
    GradientSpec spec {"scale_mask", Op::ScaleMask,
        ScaleMaskAttributes {.factor = 0.3F, .causal = true, .maskValue = -7.0F}, {normals(random, Shape {2, 3, 4})},
        {false}, {0}, {}, bilinearBound(0)};
    spec.forward = [](const std::vector<Doubles>& in) {
        Doubles y = in[0];
        for (std::size_t i = 0; i < y.size(); ++i) {
            y[i] = i % 4 > i / 4 % 3 ? -7 : y[i] * double {0.3F};
        }
        return y;
    };
    return spec;
}

constexpr std::size_t classes = 7;

Doubles softmaxOf(const Doubles& x)
{
    Doubles y;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double sum = 0;
        for (std::size_t j = i / classes * classes; j < i / classes * classes + classes; ++j) {
            sum += std::exp(x[j] - x[i]);
        }
        y.push_back(1 / sum);
    }
    return y;
}

Doubles logSoftmaxOf(const Doubles& x)
{
    Doubles y = softmaxOf(x);
    std::transform(y.begin(), y.end(), y.begin(), [](double p) { return std::log(p); });
    return y;
}

/// dx_i = y_i (d_i - sum d y), where each y was saved with an error of `savedError` units and its rounding.
double softmaxBound(const GradientPoint& p)
{
    const Doubles y = softmaxOf(p.inputs[0]);
    const auto off = [&](std::size_t i) { return 64 * unit * y[i] + halfUlp(p.saved, y[i]); };
    double sum = 0;
    double error = 0;
    for (std::size_t j = p.i / classes * classes; j < p.i / classes * classes + classes; ++j) {
        sum += std::abs(p.cotangent[j]) * y[j];
        error += std::abs(p.cotangent[j]) * (off(j) + 16 * unit * y[j]);
    }
    const double own = std::abs(p.cotangent[p.i]) + sum;
    return off(p.i) * (own + error) + y[p.i] * (error + 8 * unit * own);
}

/// dx_i = d_i - exp(y_i) sum d
double logSoftmaxBound(const GradientPoint& p)
{
    const double y = logSoftmaxOf(p.inputs[0])[p.i];
    double sum = 0;
    for (std::size_t j = p.i / classes * classes; j < p.i / classes * classes + classes; ++j) {
        sum += std::abs(p.cotangent[j]);
    }
    const double off = 64 * unit * (1 + std::abs(y)) + halfUlp(p.saved, y);
    return std::exp(y) * sum * (std::expm1(off) + 16 * unit) + 2 * unit * (std::abs(p.cotangent[p.i]) + sum);
}

GradientSpec softmaxSpec(RandomValues& random, bool isLog, bool writesFloat32)
{
    GradientSpec spec {std::string(isLog ? "log_softmax" : "softmax") + (writesFloat32 ? " to fp32" : ""),
        isLog ? Op::LogSoftmax : Op::Softmax, {}, {normals(random, Shape {2, 3, classes})}, {false}, {0}, {},
        isLog ? logSoftmaxBound : softmaxBound, writesFloat32};
    spec.forward = [isLog](const std::vector<Doubles>& in) { return isLog ? logSoftmaxOf(in[0]) : softmaxOf(in[0]); };
    return spec;
}

HostTensor labelsWithGap(RandomValues& random)
{
    HostTensor labels = random.labels(6, classes);
    labels.set(2, -100);
    return HostTensor(DType::Int32, Shape {2, 3}, labels.values());
}

GradientSpec smoothedCrossEntropySpec(RandomValues& random)
{
    GradientSpec spec {"cross_entropy, smoothed", Op::SoftmaxCrossEntropy,
        CrossEntropyAttributes {.labelSmoothing = 0.1F},
        {normals(random, Shape {2, 3, classes}), labelsWithGap(random)}, {false, false}, {0}, {}, {}};
    spec.forward = [](const std::vector<Doubles>& in) {
        const Doubles logP = logSoftmaxOf(in[0]);
        const double share = 0.1F;
        double loss = 0;
        for (std::size_t i = 0; i < logP.size(); ++i) {
            const double label = in[1][i / classes];
            const double hit = static_cast<std::size_t>(std::max(label, 0.0)) == i % classes ? 1 - share : 0;
            loss -= label < 0 ? 0 : (hit + share / static_cast<double>(classes)) * logP[i];
        }
        return Doubles {loss / 5};
    };
    spec.bound = [](const GradientPoint& p) { return std::abs(p.cotangent[0]) / 5 * unit * 100; };
    return spec;
}

GradientSpec nllSpec(RandomValues& random, float smoothing)
{
    GradientSpec spec {smoothing == 0 ? "nll_loss" : "nll_loss, smoothed", Op::NllLoss,
        CrossEntropyAttributes {.labelSmoothing = smoothing},
        {normals(random, Shape {2, 3, classes}), labelsWithGap(random)}, {false, false}, {0}, {}, {}};
    spec.forward = [share = double {smoothing}](const std::vector<Doubles>& in) {
        double loss = 0;
        for (std::size_t row = 0; row < in[1].size(); ++row) {
            if (in[1][row] < 0) {
                continue;
            }
            loss -= (1 - share) * in[0][row * classes + static_cast<std::size_t>(in[1][row])];
            for (std::size_t i = 0; i < classes; ++i) {
                loss -= share / static_cast<double>(classes) * in[0][row * classes + i];
            }
        }
        return Doubles {loss / 5};
    };
    spec.bound = [](const GradientPoint& p) { return 2 * unit * std::abs(p.cotangent[0]) / 5; };
    return spec;
}

} // namespace

void appendSequenceSpecs(std::vector<GradientSpec>& specs, RandomValues& random)
{
    specs.push_back(embeddingSpec(random));
    specs.push_back(attentionSpec(random, 5, false));
    specs.push_back(attentionSpec(random, 4, true));
    specs.push_back(packedAttentionSpec(random));
    specs.push_back(scaleMaskSpec(random));
    for (const bool isLog : {false, true}) {
        specs.push_back(softmaxSpec(random, isLog, false));
        specs.push_back(softmaxSpec(random, isLog, true));
    }
    specs.push_back(smoothedCrossEntropySpec(random));
    specs.push_back(nllSpec(random, 0.0F));
    specs.push_back(nllSpec(random, 0.1F));
}

} // namespace mantissa::test
