/// Cases of the normalisations, and of sums and means.
#include "tests/support/op_cases.h"

#include <algorithm>
#include <cmath>

namespace mantissa::test {

namespace {

/// What of a normalised tensor belongs together.
struct Blocks
{
    std::int64_t channels;
    std::function<std::int64_t(std::int64_t)> of; ///< block of element i
    std::int64_t count;
    bool isCentred = true;
    bool usesRunning = false; ///< statistics are inputs 3 and 4
};

struct Moments
{
    double count = 0;
    double mean = 0;
    double rstd = 0;
    double meanError = 0;
    double rstdError = 0; ///< relative
};

/// The statistics and how far off FP32 sums may make them: n + 8 units of the sum of magnitudes for the mean, and the
/// same of the variance and of what an error of x - mean adds to it.
std::vector<Moments> momentsOf(const HostTensor& x, const OpCall& call, const Blocks& blocks)
{
    std::vector<Moments> out(static_cast<std::size_t>(blocks.count));
    std::vector<double> magnitude(out.size());
    std::vector<double> variance(out.size());
    const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(blocks.of(i)); };
    for (std::int64_t i = 0; i < x.size(); ++i) {
        out[at(i)].count += 1;
        out[at(i)].mean += blocks.isCentred ? x.at(i) : 0;
        magnitude[at(i)] += std::abs(x.at(i));
    }
    for (std::size_t b = 0; b < out.size(); ++b) {
        out[b].mean /= out[b].count;
        magnitude[b] /= out[b].count;
        out[b].meanError = blocks.isCentred ? (out[b].count + 8) * unit * magnitude[b] : 0;
    }
    for (std::int64_t i = 0; i < x.size(); ++i) {
        variance[at(i)] += std::pow(x.at(i) - out[at(i)].mean, 2) / out[at(i)].count;
    }
    for (std::size_t b = 0; b < out.size(); ++b) {
        const double epsilon = 1e-5F;
        const double deviation = std::sqrt(variance[b]);
        const double error = (out[b].count + 8) * unit * (variance[b] + 2 * deviation * magnitude[b])
            + out[b].meanError * out[b].meanError;
        out[b].rstd = 1 / std::sqrt(variance[b] + epsilon);
        out[b].rstdError = error * out[b].rstd * out[b].rstd + 8 * unit;
        if (blocks.usesRunning) {
            out[b].mean = call.inputs[3].at(static_cast<std::int64_t>(b));
            out[b].rstd = 1 / std::sqrt(call.inputs[4].at(static_cast<std::int64_t>(b)) + epsilon);
            out[b].meanError = 0;
            out[b].rstdError = 8 * unit;
        }
    }
    return out;
}

/// Infinite operands leave no finite bound, and what is finite in spite of them (0 where rstd is) is not to be judged.
double orAnything(double bound)
{
    return std::isnan(bound) ? anything : bound;
}

OutputRule statisticsRule(std::vector<Moments> moments, bool isMean)
{
    return {[moments = std::move(moments), isMean](const Exact&, std::int64_t i) {
        const Moments& m = moments[static_cast<std::size_t>(i)];
        return orAnything(
            isMean ? m.meanError + 4 * unit * std::abs(m.mean) + tiny : (m.rstdError + 4 * unit) * m.rstd);
    }};
}

OutputRule normalisedRule(std::vector<Moments> moments, const Blocks& blocks)
{
    return {[moments = std::move(moments), blocks](const Exact& exact, std::int64_t i) {
        const Moments& m = moments[static_cast<std::size_t>(blocks.of(i))];
        const std::int64_t channel = i % blocks.channels;
        const double slope = std::abs(exact.in(1, channel)) * m.rstd;
        const double reach = std::abs(exact.in(0, i)) + std::abs(m.mean);
        const double beta = exact.call.inputs.size() > 2 ? std::abs(exact.in(2, channel)) : 0;
        return orAnything(
            slope * (m.meanError + 4 * unit * reach) + slope * reach * m.rstdError + 4 * unit * beta + tiny);
    }};
}

/// Vectors of parameters come in FP32 and in the tensor's own format.
std::vector<DType> parameterTypes(DType dtype)
{
    return dtype == DType::Float32 ? std::vector {dtype} : std::vector {DType::Float32, dtype};
}

HostTensor normalisable(const CaseSpec& spec, const Shape& shape, RandomValues& random)
{
    return random.tensor(spec.dtype, shape, spec.fill, moderate(spec.dtype));
}

struct NormSize
{
    Shape x;
    std::int64_t groups;
};

NormSize normSize(std::int64_t size)
{
    switch (size) {
    case 1:
        return {{2, 1, 1, 1}, 1};
    case 3:
        return {{2, 5, 1, 3}, 3};
    case 17:
        return {{1, 3, 4, 18}, 2};
    case 33:
        return {{3, 2, 2, 36}, 4};
    case 128:
        return {{2, 4, 4, 128}, 8};
    case 257:
        return {{2, 3, 1, 514}, 2};
    default:
        return {{2, 1, 3, 1030}, 5};
    }
}

OpCase batchNormCase(const CaseSpec& spec, DType parameters, bool isTraining, RandomValues& random)
{
    const Shape x = normSize(spec.size).x;
    const Shape vector {x.back()};
    OpCall call {Op::BatchNorm2d, BatchNormAttributes {.training = isTraining},
        {normalisable(spec, x, random), random.tensor(parameters, vector, Fill::Plain),
            random.tensor(parameters, vector, Fill::Plain), random.tensor(DType::Float32, vector, Fill::Plain),
            random.uniformTensor(DType::Float32, vector, 0.1, 3)},
        {fresh(spec.dtype, x), fresh(DType::Float32, vector), fresh(DType::Float32, vector)}};
    call.outputs.push_back({call.inputs[3], 3});
    call.outputs.push_back({call.inputs[4], 4});
    const std::int64_t channels = x.back();
    const Blocks blocks {channels, [channels](std::int64_t i) { return i % channels; }, channels, true, !isTraining};
    const std::vector<Moments> moments = momentsOf(call.inputs[0], call, blocks);
    const auto runningMean = [moments](const Exact& exact, std::int64_t i) {
        const Moments& m = moments[static_cast<std::size_t>(i)];
        return m.meanError + 4 * unit * (std::abs(m.mean) + std::abs(exact.in(3, i)));
    };
    const auto runningVar = [moments](const Exact& exact, std::int64_t i) {
        const Moments& m = moments[static_cast<std::size_t>(i)];
        const double variance = 1 / (m.rstd * m.rstd);
        return variance * (2 * m.rstdError + 8 * unit) * m.count + 4 * unit * exact.in(4, i);
    };
    return {std::string(isTraining ? "training" : "eval") + ", parameters in " + std::string(nameOf(parameters)),
        std::move(call),
        {normalisedRule(moments, blocks), statisticsRule(moments, true), statisticsRule(moments, false), {runningMean},
            {runningVar}}};
}

OpCase normCase(Op op, const CaseSpec& spec, DType parameters, bool hasBeta, RandomValues& random)
{
    const auto [x, groups] = normSize(spec.size);
    const Shape vector {x.back()};
    const std::int64_t channels = x.back();
    const std::int64_t spatial = x[1] * x[2];
    Shape statistics {x[0], x[1], x[2]};
    Blocks blocks {
        channels, [channels](std::int64_t i) { return i / channels; }, statistics.elements(), op != Op::RmsNorm};
    NormAttributes attributes;
    if (op == Op::GroupNorm) {
        attributes.groups = groups;
        statistics = {x[0], groups};
        const auto of = [spatial, channels = x.back(), cut = groups](std::int64_t i) {
            return i / (spatial * channels) * cut + i % channels / (channels / cut);
        };
        blocks = {channels, of, statistics.elements()};
    }
    OpCall call {op, attributes, {normalisable(spec, x, random), random.tensor(parameters, vector, Fill::Plain)},
        {fresh(spec.dtype, x)}};
    if (hasBeta) {
        call.inputs.push_back(random.tensor(parameters, vector, Fill::Plain));
    }
    const std::vector<Moments> moments = momentsOf(call.inputs[0], call, blocks);
    std::vector<OutputRule> rules {normalisedRule(moments, blocks)};
    if (blocks.isCentred) {
        call.outputs.push_back(fresh(DType::Float32, statistics));
        rules.push_back(statisticsRule(moments, true));
    }
    call.outputs.push_back(fresh(DType::Float32, statistics));
    rules.push_back(statisticsRule(moments, false));
    return {std::string(hasBeta ? "with" : "without") + " beta, parameters in " + std::string(nameOf(parameters)),
        std::move(call), std::move(rules)};
}

/// The gradient of a normalisation. Saved statistics are what the forward op finds, so they stay in proportion.
OpCase normGradCase(Op op, const CaseSpec& spec, Op forward, DType parameters, RandomValues& random)
{
    const bool isBatch = op == Op::BatchNorm2dGrad;
    const OpCase before = isBatch ? batchNormCase(spec, parameters, true, random)
                                  : normCase(forward, spec, parameters, forward != Op::RmsNorm, random);
    const std::vector<HostTensor> saved = exactOutputs(before.call);
    const HostTensor& x = before.call.inputs[0];
    const Shape vector {x.shape().back()};
    OpCall call {op, before.call.attributes,
        {random.tensor(spec.dtype, x.shape(), spec.fill, 1e4), x, before.call.inputs[1]},
        {fresh(spec.dtype, x.shape()), fresh(parameters, vector)}};
    const std::size_t rstd = forward == Op::RmsNorm ? 1 : 2;
    if (isBatch) {
        call.inputs.push_back(saved[1].as(DType::Float32));
        call.inputs.push_back(saved[2].as(DType::Float32));
    } else {
        call.inputs.push_back(saved[rstd].as(DType::Float32));
    }
    if (!isBatch && forward != Op::RmsNorm) {
        call.inputs.push_back(saved[1].as(DType::Float32));
    }
    if (forward != Op::RmsNorm) {
        call.outputs.push_back(fresh(parameters, vector));
    }
    const HostTensor inverse = call.inputs[isBatch ? 4 : 3];
    const HostTensor mean = isBatch ? call.inputs[3]
        : forward == Op::RmsNorm    ? HostTensor({DType::Float32, inverse.shape()})
                                    : call.inputs[4];
    // Statistics are per channel, or per group and image, or per row.
    const std::int64_t channels = x.shape().back();
    const std::int64_t groups = attributesOf<NormAttributes>(call.attributes).groups;
    const std::int64_t blockRows = isBatch ? 0 : x.size() / channels * groups / inverse.size();
    const auto block = [=](std::int64_t i) {
        return isBatch ? i % channels : i / channels / blockRows * groups + i % channels / (channels / groups);
    };
    const auto reach = [=](std::int64_t i) {
        const double size = std::abs(x.at(i)) + std::abs(mean.at(block(i)));
        return size * inverse.at(block(i));
    };

    struct Sums
    {
        double count = 0;
        double scaled = 0;
        double product = 0;
    };

    std::vector<Sums> sums(static_cast<std::size_t>(inverse.size()));
    std::vector<double> gammaSums(static_cast<std::size_t>(channels));
    std::vector<double> betaSums(gammaSums.size());
    const auto magnitude = [&call](std::int64_t i) {
        const double d = std::abs(call.inputs[0].at(i));
        return std::isfinite(d) ? d : 0;
    };
    for (std::int64_t i = 0; i < x.size(); ++i) {
        const double scaled = magnitude(i) * std::abs(call.inputs[2].at(i % channels));
        Sums& own = sums[static_cast<std::size_t>(block(i))];
        own.count += 1;
        own.scaled += scaled;
        own.product += scaled * reach(i);
        gammaSums[static_cast<std::size_t>(i % channels)] += magnitude(i) * reach(i);
        betaSums[static_cast<std::size_t>(i % channels)] += magnitude(i);
    }
    const auto rows = static_cast<double>(x.size() / channels);
    const auto inputBound = [=](const Exact& exact, std::int64_t i) {
        const Sums& own = sums[static_cast<std::size_t>(block(i))];
        const double scaled = std::abs(exact.in(0, i) * exact.in(2, i % channels));
        const double size = scaled + own.scaled / own.count + reach(i) * own.product / own.count;
        return (own.count + 16) * unit * inverse.at(block(i)) * size + tiny;
    };
    const auto parameterBound = [rows](std::vector<double> all) {
        return [rows, all = std::move(all)](const Exact&, std::int64_t i) {
            return (rows + 16) * unit * all[static_cast<std::size_t>(i)] + tiny;
        };
    };
    std::vector<OutputRule> rules {{inputBound}, {parameterBound(gammaSums)}, {parameterBound(betaSums)}};
    rules.resize(call.outputs.size());
    return {before.name, std::move(call), std::move(rules)};
}

std::vector<OpCase> reduceCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    const Shape x = normSize(spec.size).x;
    std::vector<OpCase> cases;
    const auto add = [&](std::int64_t first, std::int64_t axes, Shape y, DType to) {
        const std::int64_t count = x.elements() / y.elements();
        OpCall call {op, ReduceAttributes {.firstAxis = first, .axes = axes}, {random.tensor(spec.dtype, x, spec.fill)},
            {fresh(to, y)}};
        ErrorBound bound = sumOfProducts(call, static_cast<double>(count + 3));
        cases.push_back({"axis " + std::to_string(first) + ", to " + std::string(nameOf(to)), std::move(call),
            {{std::move(bound)}}});
    };
    add(0, -1, {}, spec.dtype);
    add(3, 1, {x[0], x[1], x[2]}, spec.dtype);
    add(1, 2, {x[0], x[3]}, spec.dtype);
    add(0, 1, {x[1], x[2], x[3]}, DType::Float32);
    add(2, 0, x, DType::Float32);
    return cases;
}

} // namespace

std::vector<OpCase> normCases(Op op, const CaseSpec& spec, RandomValues& random)
{
    std::vector<OpCase> cases;
    if (op == Op::Sum || op == Op::Mean) {
        return reduceCases(op, spec, random);
    }
    for (const DType parameters : parameterTypes(spec.dtype)) {
        switch (op) {
        case Op::BatchNorm2d:
            cases.push_back(batchNormCase(spec, parameters, true, random));
            cases.push_back(batchNormCase(spec, parameters, false, random));
            break;
        case Op::LayerNorm:
            cases.push_back(normCase(op, spec, parameters, false, random));
            [[fallthrough]];
        case Op::GroupNorm:
            cases.push_back(normCase(op, spec, parameters, true, random));
            break;
        case Op::RmsNorm:
            cases.push_back(normCase(op, spec, parameters, false, random));
            break;
        case Op::BatchNorm2dGrad:
            cases.push_back(normGradCase(op, spec, Op::BatchNorm2d, parameters, random));
            break;
        case Op::NormGrad:
            for (const Op forward : {Op::GroupNorm, Op::LayerNorm, Op::RmsNorm}) {
                cases.push_back(normGradCase(op, spec, forward, parameters, random));
            }
            break;
        default:
            return {};
        }
    }
    return cases;
}

} // namespace mantissa::test
