/// Batch, group, layer and RMS normalisation with their gradients.
/// Source: Ioffe and Szegedy 2015; Wu and He 2018; Ba, Kiros and Hinton 2016; Zhang and Sennrich 2019.
#include "engine/backends/reference/kernels.h"
#include "engine/formats/round_value.h"
#include "engine/parallel/rank_totals.h"

#include <cmath>

namespace mantissa::reference {

namespace {

struct Statistics
{
    double mean = 0;
    double variance = 0; ///< biased; of RMS normalisation the mean square
    double rstd = 0;
};

/// Of element(0) .. element(count - 1); rounded on the way as op_attributes.h says of `accumulate`.
template <typename Element>
Statistics statisticsOf(Element element, std::int64_t count, double epsilon, DType accumulate, bool isCentred)
{
    const Storage round(accumulate);
    const auto n = static_cast<double>(count);
    Statistics out;
    for (std::int64_t i = 0; isCentred && i < count; ++i) {
        out.mean = round(out.mean + round(element(i)));
    }
    out.mean = round(out.mean / n);
    for (std::int64_t i = 0; i < count; ++i) {
        const double deviation = isCentred ? round(round(element(i)) - out.mean) : round(element(i));
        out.variance = round(out.variance + round(deviation * deviation));
    }
    out.variance = round(out.variance / n);
    out.rstd = round(1 / round(std::sqrt(round(out.variance + epsilon))));
    return out;
}

/// The elements that share their statistics: of an image `spatial` times `channels`, those of one group of channels.
class Blocks
{
public:
    Blocks(const Shape& x, std::int64_t groups, bool isRowwise)
        : m_channels(x.back())
        , m_spatial(isRowwise ? 1 : x.elements() / x[0] / x.back())
        , m_groups(groups)
        , m_count(x.elements() / (m_spatial * m_channels) * groups)
    {
    }

    [[nodiscard]] std::int64_t count() const { return m_count; }

    [[nodiscard]] std::int64_t size() const { return m_spatial * width(); }

    [[nodiscard]] std::int64_t index(std::int64_t block, std::int64_t i) const
    {
        return (block / m_groups * m_spatial + i / width()) * m_channels + channel(block, i);
    }

    [[nodiscard]] std::int64_t channel(std::int64_t block, std::int64_t i) const
    {
        return block % m_groups * width() + i % width();
    }

private:
    [[nodiscard]] std::int64_t width() const { return m_channels / m_groups; }

    std::int64_t m_channels;
    std::int64_t m_spatial;
    std::int64_t m_groups;
    std::int64_t m_count;
};

void normalise(const Operands& operands, const Blocks& blocks, bool isCentred)
{
    const auto attributes = operands.attributes<NormAttributes>();
    const Input x = operands.in(0);
    const Input gamma = operands.in(1);
    const Output y = operands.out(0);
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
        const Statistics statistics = statisticsOf([&](std::int64_t i) { return x[blocks.index(block, i)]; },
            blocks.size(), double {attributes.epsilon}, attributes.accumulate, isCentred);
        for (std::int64_t i = 0; i < blocks.size(); ++i) {
            const std::int64_t channel = blocks.channel(block, i);
            const double beta = operands.inputCount() > 2 ? operands.in(2)[channel] : 0;
            const std::int64_t at = blocks.index(block, i);
            y.set(at, (x[at] - statistics.mean) * statistics.rstd * gamma[channel] + beta);
        }
        operands.out(operands.outputCount() - 1).set(block, statistics.rstd);
        if (isCentred) {
            operands.out(1).set(block, statistics.mean);
        }
    }
}

/// dgamma and dbeta, as far as they are wanted.
class ParameterSums
{
public:
    ParameterSums(const Operands& operands, std::int64_t channels)
        : m_operands(&operands)
        , m_gamma(static_cast<std::size_t>(channels))
        , m_beta(static_cast<std::size_t>(channels))
    {
    }

    void add(std::int64_t channel, double d, double normal)
    {
        m_gamma[static_cast<std::size_t>(channel)] += d * normal;
        m_beta[static_cast<std::size_t>(channel)] += d;
    }

    void store() const
    {
        for (std::size_t c = 0; c < m_gamma.size(); ++c) {
            m_operands->out(1).set(static_cast<std::int64_t>(c), m_gamma[c]);
            if (m_operands->outputCount() > 2) {
                m_operands->out(2).set(static_cast<std::int64_t>(c), m_beta[c]);
            }
        }
    }

private:
    const Operands* m_operands;
    std::vector<double> m_gamma;
    std::vector<double> m_beta;
};

} // namespace

namespace {

/// Of one channel over all ranks: means first, then squares of what deviates from the mean of all.
Statistics statisticsOverRanks(const Operands& operands, const Input& x, std::int64_t channel, double& rows)
{
    const std::int64_t channels = x.shape().back();
    RankTotals totals(operands.ranks(), 2);
    for (std::int64_t i = channel; i < x.size(); i += channels) {
        totals.own()[0] += x[i];
        totals.own()[1] += 1;
    }
    totals.exchange();
    rows = totals.own()[1];
    const double mean = totals.own()[0] / rows;
    totals.own()[0] = 0;
    for (std::int64_t i = channel; i < x.size(); i += channels) {
        totals.own()[0] += (x[i] - mean) * (x[i] - mean);
    }
    totals.exchange();
    const double variance = totals.own()[0] / rows;
    return {mean, variance, 1 / std::sqrt(variance + double {operands.attributes<BatchNormAttributes>().epsilon})};
}

} // namespace

void batchNorm2d(const Operands& operands)
{
    const auto attributes = operands.attributes<BatchNormAttributes>();
    const Input x = operands.in(0);
    const Output y = operands.out(0);
    const Output runningMean = operands.out(3);
    const Output runningVar = operands.out(4);
    const std::int64_t channels = x.shape().back();
    const std::int64_t rows = x.size() / channels;
    const double epsilon = attributes.epsilon;
    for (std::int64_t c = 0; c < channels; ++c) {
        const double oldMean = operands.in(3)[c];
        const double oldVar = operands.in(4)[c];
        Statistics statistics {oldMean, oldVar, 1 / std::sqrt(oldVar + epsilon)};
        double newMean = oldMean;
        double newVar = oldVar;
        if (attributes.training) {
            auto allRows = static_cast<double>(rows);
            statistics = operands.ranks() != nullptr ? statisticsOverRanks(operands, x, c, allRows)
                                                     : statisticsOf([&](std::int64_t i) { return x[i * channels + c]; },
                                                         rows, epsilon, attributes.accumulate, true);
            const double momentum = attributes.momentum;
            const double unbiased = statistics.variance * allRows / (allRows - 1);
            newMean = (1 - momentum) * oldMean + momentum * statistics.mean;
            newVar = (1 - momentum) * oldVar + momentum * unbiased;
        }
        runningMean.set(c, newMean);
        runningVar.set(c, newVar);
        operands.out(1).set(c, statistics.mean);
        operands.out(2).set(c, statistics.rstd);
        for (std::int64_t i = c; i < x.size(); i += channels) {
            y.set(i, (x[i] - statistics.mean) * statistics.rstd * operands.in(1)[c] + operands.in(2)[c]);
        }
    }
}

void batchNorm2dGrad(const Operands& operands)
{
    const Input d = operands.in(0);
    const Input x = operands.in(1);
    const Input gamma = operands.in(2);
    const Input mean = operands.in(3);
    const Input rstd = operands.in(4);
    const Output dx = operands.out(0);
    const std::int64_t channels = gamma.size();
    const bool isTraining = operands.attributes<BatchNormAttributes>().training;
    RankTotals totals(isTraining ? operands.ranks() : nullptr, 3);
    for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        double product = 0;
        for (std::int64_t i = c; i < x.size(); i += channels) {
            sum += d[i];
            product += d[i] * (x[i] - mean[c]) * rstd[c];
        }
        operands.out(1).set(c, product);
        operands.out(2).set(c, sum);
        totals.own()[0] = sum;
        totals.own()[1] = product;
        totals.own()[2] = static_cast<double>(x.size() / channels);
        totals.exchange();
        for (std::int64_t i = c; i < x.size(); i += channels) {
            const double normal = (x[i] - mean[c]) * rstd[c];
            // In training, mean and rstd depend on x too.
            const double through
                = isTraining ? totals.own()[0] / totals.own()[2] + normal * totals.own()[1] / totals.own()[2] : 0;
            dx.set(i, gamma[c] * rstd[c] * (d[i] - through));
        }
    }
}

void groupNorm(const Operands& operands)
{
    normalise(operands, Blocks(operands.in(0).shape(), operands.attributes<NormAttributes>().groups, false), true);
}

void layerNorm(const Operands& operands)
{
    normalise(operands, Blocks(operands.in(0).shape(), 1, true), true);
}

void rmsNorm(const Operands& operands)
{
    normalise(operands, Blocks(operands.in(0).shape(), 1, true), false);
}

void normGrad(const Operands& operands)
{
    const Input d = operands.in(0);
    const Input x = operands.in(1);
    const Input gamma = operands.in(2);
    const Input rstd = operands.in(3);
    const bool isCentred = operands.inputCount() > 4;
    const Output dx = operands.out(0);
    const std::int64_t groups = operands.attributes<NormAttributes>().groups;
    // Statistics per image and group, or per row.
    const Blocks blocks(x.shape(), groups, rstd.size() * x.shape().back() == x.size() && groups == 1);
    ParameterSums parameters(operands, gamma.size());
    const auto n = static_cast<double>(blocks.size());
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
        const double mean = isCentred ? operands.in(4)[block] : 0;
        double sum = 0;
        double product = 0;
        for (std::int64_t i = 0; i < blocks.size(); ++i) {
            const std::int64_t at = blocks.index(block, i);
            const double normal = (x[at] - mean) * rstd[block];
            const double scaled = d[at] * gamma[blocks.channel(block, i)];
            sum += isCentred ? scaled : 0;
            product += scaled * normal;
            parameters.add(blocks.channel(block, i), d[at], normal);
        }
        for (std::int64_t i = 0; i < blocks.size(); ++i) {
            const std::int64_t at = blocks.index(block, i);
            const double normal = (x[at] - mean) * rstd[block];
            const double scaled = d[at] * gamma[blocks.channel(block, i)];
            dx.set(at, rstd[block] * (scaled - sum / n - normal * product / n));
        }
    }
    parameters.store();
}

} // namespace mantissa::reference
