/// Cases of embedding, attention, softmax, and losses on log-probabilities.
#include "tests/support/op_cases.h"

#include <algorithm>
#include <cmath>

namespace mantissa::test {

namespace {

OpCase embeddingCase(const CaseSpec& spec, RandomValues& random)
{
    const auto [rows, channels, count] = matrixSize(spec.size);
    return {{},
        {Op::Embedding, {}, {random.tensor(spec.dtype, {rows, channels}, spec.fill), random.labels(count, rows)},
            {fresh(spec.dtype, {count, channels})}},
        {{noError()}}};
}

OpCase embeddingGradCase(const CaseSpec& spec, RandomValues& random)
{
    const auto [rows, channels, count] = matrixSize(spec.size);
    OpCall call {Op::EmbeddingGrad, {},
        {random.tensor(spec.dtype, {count, channels}, spec.fill), random.labels(count, rows)},
        {fresh(spec.dtype, {rows, channels})}};
    ErrorBound bound = sumOfProducts(call, static_cast<double>(count));
    return {{}, std::move(call), {{std::move(bound)}}};
}

struct AttentionSize
{
    std::int64_t batch;
    std::int64_t queries;
    std::int64_t keys;
    std::int64_t channels;
    AttentionAttributes attributes;
};

AttentionSize attentionSize(std::int64_t size)
{
    switch (size) {
    case 1:
        return {1, 1, 1, 1, {}};
    case 3:
        return {2, 3, 5, 6, {.heads = 2}};
    case 17:
        return {1, 17, 17, 5, {.causal = true}};
    case 33:
        return {2, 9, 33, 24, {.heads = 3, .scale = 0.25F}};
    case 128:
        return {1, 40, 40, 32, {.heads = 2, .causal = true}};
    case 257:
        return {3, 7, 4, 20, {.heads = 4, .causal = true}};
    default:
        return {1, 70, 70, 16, {.heads = 1}};
    }
}

/// Operands below 1, and, for special fills, gradients and values that are not finite only where everything they touch
/// is open. Subnormals and zeros are among them.
HostTensor small(const CaseSpec& spec, const Shape& shape, RandomValues& random)
{
    return random.tensor(spec.dtype, shape, spec.fill == Fill::Plain ? Fill::Plain : Fill::Wide, 3);
}

OpCall attentionCall(const CaseSpec& spec, bool isPacked, RandomValues& random)
{
    const AttentionSize size = attentionSize(spec.size);
    const Shape y {size.batch, size.queries, size.channels};
    const Shape keys {size.batch, size.keys, size.channels};
    OpCall call {Op::Attention, size.attributes, {}, {}};
    if (isPacked) {
        call.inputs = {small(spec, {size.batch, size.queries, 3 * size.channels}, random)};
    } else {
        call.inputs = {small(spec, y, random), small(spec, keys, random), small(spec, keys, random)};
    }
    call.outputs = {fresh(spec.dtype, y), fresh(DType::Float32, {size.batch, size.attributes.heads, size.queries})};
    return call;
}

/// Scores are sums of at most `width` products below 3 * 3 * scale; errors of scores are relative errors of weights.
double scoreError(const AttentionSize& size)
{
    const auto width = static_cast<double>(size.channels / size.attributes.heads);
    const double scale = size.attributes.scale != 0 ? double {size.attributes.scale} : 1 / std::sqrt(width);
    return (width + 8) * unit * 9 * width * scale;
}

OpCase attentionCase(const CaseSpec& spec, bool isPacked, RandomValues& random)
{
    const AttentionSize size = attentionSize(spec.size);
    const auto relative = 2 * scoreError(size) + (static_cast<double>(size.keys) + 16) * 2 * unit;
    const auto bound = [relative](const Exact&, std::int64_t) { return relative * 3; }; // values stay below 3
    const auto logBound
        = [relative](const Exact& exact, std::int64_t i) { return relative + 4 * unit * std::abs(exact.out(1, i)); };
    return {isPacked ? "packed" : "separate", attentionCall(spec, isPacked, random), {{bound}, {logBound}}};
}

OpCase attentionGradCase(const CaseSpec& spec, bool isPacked, RandomValues& random)
{
    const AttentionSize size = attentionSize(spec.size);
    const OpCall forward = attentionCall(spec, isPacked, random);
    const std::vector<HostTensor> saved = exactOutputs(forward);
    OpCall call {Op::AttentionGrad, size.attributes,
        {small(spec, forward.outputs[0].before.shape(), random), saved[1].as(DType::Float32)}, {}};
    call.inputs.insert(call.inputs.end(), forward.inputs.begin(), forward.inputs.end());
    for (const HostTensor& input : forward.inputs) {
        call.outputs.push_back(fresh(spec.dtype, input.shape()));
    }
    const auto width = static_cast<double>(size.channels / size.attributes.heads);
    const auto terms = static_cast<double>(std::max(size.queries, size.keys));
    const double relative = 4 * scoreError(size) + (terms + width + 32) * 4 * unit;
    // dq and dk sum weight * (d v) * operand * scale over a row or a column of weights, dv sums weight * d; a column of
    // weights adds up to the number of queries at most.
    const double product = 2 * 3 * 3 * width * 3 / std::sqrt(width) * terms;
    const auto bound = [error = relative * std::max(product, 3 * terms)](const Exact&, std::int64_t) { return error; };
    return {isPacked ? "packed" : "separate", std::move(call), std::vector<OutputRule>(forward.inputs.size(), {bound})};
}

std::vector<OpCase> scaleMaskCases(const CaseSpec& spec, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    std::vector<OpCase> cases;
    for (const auto& attributes : {ScaleMaskAttributes {.factor = 0.125F, .causal = true},
             ScaleMaskAttributes {.factor = 0.3F, .causal = true, .maskValue = -1e9F},
             ScaleMaskAttributes {.factor = 1.7F}}) {
        const Shape shape {2, m, n};
        cases.push_back({attributes.causal ? "causal" : "plain",
            {Op::ScaleMask, attributes, {random.tensor(spec.dtype, shape, spec.fill)}, {fresh(spec.dtype, shape)}},
            {{relative(1)}}});
    }
    return cases;
}

/// The largest of the row of element i, the distance of x from it costing so many units in the exponent.
double exponentError(const Exact& exact, std::int64_t i, std::int64_t n)
{
    double largest = -INFINITY;
    for (std::int64_t c = 0; c < n; ++c) {
        largest = std::max(largest, exact.in(0, i / n * n + c));
    }
    const double distance = std::min(largest - exact.in(0, i), 200.0); // beyond, the exponential is 0
    return unit * (static_cast<double>(n) + 16 + 4 * std::abs(distance));
}

std::vector<OpCase> softmaxCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    std::vector<OpCase> cases;
    for (const DType to : {spec.dtype, DType::Float32}) {
        const Shape shape {m, n};
        const auto bound = [op, classes = n](const Exact& exact, std::int64_t i) {
            if (op == Op::Softmax) {
                return exact.out(0, i) * exponentError(exact, i, classes) + 0x1p-125;
            }
            const double x = std::isfinite(exact.in(0, i)) ? std::abs(exact.out(0, i)) : 0;
            return unit * (static_cast<double>(classes) + 8 + 4 * x);
        };
        cases.push_back({"to " + std::string(nameOf(to)),
            {op, {}, {random.tensor(spec.dtype, shape, spec.fill, moderate(spec.dtype))}, {fresh(to, shape)}},
            {{bound}}});
    }
    return cases;
}

std::vector<OpCase> softmaxGradCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    const Shape shape {m, n};
    std::vector<OpCase> cases;
    for (const DType saved : {spec.dtype, DType::Float32}) {
        const OpCall forward {op == Op::SoftmaxGrad ? Op::Softmax : Op::LogSoftmax, {},
            {random.tensor(DType::Float32, shape, spec.fill == Fill::Special ? Fill::Wide : spec.fill, 80)},
            {fresh(saved, shape)}};
        const auto bound = [op, classes = n](const Exact& exact, std::int64_t i) {
            double sum = 0;
            bool isInfinite = false;
            for (std::int64_t j = i / classes * classes; j < i / classes * classes + classes; ++j) {
                const double term = std::abs(exact.in(0, j)) * (op == Op::SoftmaxGrad ? exact.in(1, j) : 1);
                sum += std::isfinite(term) ? term : 0;
                isInfinite = isInfinite || std::isinf(term);
            }
            const double weight = op == Op::SoftmaxGrad ? exact.in(1, i) : std::exp(exact.in(1, i));
            if (isInfinite && weight < 0x1p-120) {
                return anything; // infinity times a weight that FP32 may not tell from 0
            }
            const double d = std::isfinite(exact.in(0, i)) ? std::abs(exact.in(0, i)) : 0;
            const double own = op == Op::SoftmaxGrad ? weight * d : d;
            return sum > limitsOf(DType::Float32).maxFinite
                ? anything
                : (static_cast<double>(classes) + 8) * unit * (weight * sum + own) + sum * 0x1p-125 + tiny;
        };
        cases.push_back({"saved in " + std::string(nameOf(saved)),
            {op, {}, {random.tensor(saved, shape, spec.fill), exactOutputs(forward)[0].as(saved)},
                {fresh(spec.dtype, shape)}},
            {{bound}}});
    }
    return cases;
}

/// Labels of which about one in four is the one to be ignored.
HostTensor labelsWithGaps(std::int64_t rows, std::int64_t classes, RandomValues& random)
{
    HostTensor labels = random.labels(rows, classes);
    for (std::int64_t i = 1; i < rows; i += 4) {
        labels.set(i, -100);
    }
    return labels;
}

OpCase nllCase(const CaseSpec& spec, float smoothing, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    const auto bound = [classes = n, share = double {smoothing}](const Exact& exact, std::int64_t) {
        double sum = 0;
        for (std::int64_t i = 0; i < exact.call.inputs[0].size(); ++i) {
            const auto label = static_cast<std::int64_t>(exact.in(1, i / classes));
            const double weight = share / static_cast<double>(classes) + (label == i % classes ? 1 - share : 0);
            const double term = label < 0 || weight == 0 ? 0 : weight * std::abs(exact.in(0, i));
            sum += std::isfinite(term) ? term : 0;
        }
        return sum > limitsOf(DType::Float32).maxFinite
            ? anything
            : (static_cast<double>(exact.call.inputs[1].size()) + 2) * (unit * sum + tiny);
    };
    return {smoothing == 0 ? "" : "smoothed",
        {Op::NllLoss, CrossEntropyAttributes {.labelSmoothing = smoothing},
            {random.tensor(spec.dtype, {m, n}, spec.fill), labelsWithGaps(m, n, random)}, {fresh(DType::Float32, {})}},
        {{bound}}};
}

std::vector<OpCase> nllGradCases(const CaseSpec& spec, RandomValues& random)
{
    const auto [m, n, k] = matrixSize(spec.size);
    std::vector<OpCase> cases;
    for (const double d : {1.0, 65536.0, 1e-3}) {
        for (const float smoothing : {0.0F, 0.1F}) {
            cases.push_back({"d = " + std::to_string(d) + (smoothing == 0 ? "" : ", smoothed"),
                {Op::NllLossGrad, CrossEntropyAttributes {.labelSmoothing = smoothing},
                    {HostTensor::scalar(DType::Float32, d), labelsWithGaps(m, n, random)}, {fresh(spec.dtype, {m, n})}},
                {{relative(2)}}});
        }
    }
    return cases;
}

} // namespace

std::vector<OpCase> sequenceCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    const bool hasPacked = attentionSize(spec.size).queries == attentionSize(spec.size).keys;
    std::vector<OpCase> cases;
    switch (op) {
    case Op::Embedding:
        return {embeddingCase(spec, random)};
    case Op::EmbeddingGrad:
        return {embeddingGradCase(spec, random)};
    case Op::Attention:
    case Op::AttentionGrad:
        for (const bool isPacked : {false, true}) {
            if (!isPacked || hasPacked) {
                cases.push_back(op == Op::Attention ? attentionCase(spec, isPacked, random)
                                                    : attentionGradCase(spec, isPacked, random));
            }
        }
        return cases;
    case Op::ScaleMask:
        return scaleMaskCases(spec, random);
    case Op::Softmax:
    case Op::LogSoftmax:
        return softmaxCases(op, spec, random);
    case Op::SoftmaxGrad:
    case Op::LogSoftmaxGrad:
        return softmaxGradCases(op, spec, random);
    case Op::NllLoss:
        return {nllCase(spec, 0.0F, random), nllCase(spec, 0.1F, random)};
    case Op::NllLossGrad:
        return nllGradCases(spec, random);
    default:
        return {};
    }
}

} // namespace mantissa::test
