#include "engine/protocol/curve_comparison.h"

#include "engine/core/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

using Series = std::vector<double>;
using SeriesOfSeeds = std::span<const Series>;

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// Steps first .. last, both included.
struct Stretch
{
    std::int64_t first = 0;
    std::int64_t last = -1;

    [[nodiscard]] std::int64_t length() const { return last - first + 1; }
};

double at(const Series& series, std::int64_t step)
{
    return step < static_cast<std::int64_t>(series.size()) ? series[static_cast<std::size_t>(step)] : nothing;
}

/// Square root of the mean square.
double rootMeanSquare(std::vector<double> values)
{
    for (double& value : values) {
        value *= value;
    }
    return std::sqrt(meanOf(values));
}

/// NaN if less than half of the losses are finite.
double meanLoss(const Series& series, const Stretch& steps)
{
    std::vector<double> losses;
    for (std::int64_t step = steps.first; step <= steps.last; ++step) {
        if (std::isfinite(at(series, step))) {
            losses.push_back(at(series, step));
        }
    }
    return 2 * static_cast<std::int64_t>(losses.size()) < steps.length() ? nothing : meanOf(losses);
}

/// Standard deviation around the trend. The difference of neighbours has twice the variance, and no trend to speak of.
double jitterOf(SeriesOfSeeds all, const Stretch& steps)
{
    std::vector<double> differences;
    for (const Series& series : all) {
        for (std::int64_t step = steps.first + 1; step <= steps.last; ++step) {
            differences.push_back(at(series, step) - at(series, step - 1));
        }
    }
    return rootMeanSquare(std::move(differences)) / std::sqrt(2.0);
}

std::vector<Stretch> blocksOf(std::int64_t steps)
{
    constexpr std::int64_t most = 20;
    constexpr std::int64_t least = 4;
    constexpr std::int64_t stepsOfOne = 10;
    const std::int64_t count = std::clamp(steps / stepsOfOne, least, most);
    std::vector<Stretch> blocks;
    for (std::int64_t i = 0; i < count; ++i) {
        blocks.push_back({i * steps / count, (i + 1) * steps / count - 1});
    }
    return blocks;
}

/// The blocks at most `reach` away from `middle`.
Stretch around(std::size_t middle, std::int64_t reach, std::size_t count)
{
    const auto place = static_cast<std::int64_t>(middle);
    return {std::max<std::int64_t>(place - reach, 0),
        std::min<std::int64_t>(place + reach, static_cast<std::int64_t>(count) - 1)};
}

/// Sample standard deviation over the seeds, pooled with the neighbouring blocks.
double spreadOverSeeds(SeriesOfSeeds fp32, const std::vector<Stretch>& blocks, std::size_t middle)
{
    std::vector<double> variances;
    const Stretch near = around(middle, 1, blocks.size());
    for (std::int64_t i = near.first; i <= near.last; ++i) {
        std::vector<double> means;
        for (const Series& series : fp32) {
            means.push_back(meanLoss(series, blocks[static_cast<std::size_t>(i)]));
        }
        std::erase_if(means, [](double mean) { return std::isnan(mean); });
        if (means.size() < 2) {
            continue;
        }
        const double center = meanOf(means);
        double sum = 0;
        for (const double mean : means) {
            sum += (mean - center) * (mean - center);
        }
        variances.push_back(sum / static_cast<double>(means.size() - 1));
    }
    return std::sqrt(meanOf(variances));
}

/// Block-to-block jitter of the difference between the curves.
double jitterOfGap(const std::vector<CurveBlock>& blocks, std::size_t middle)
{
    std::vector<double> differences;
    const Stretch near = around(middle, 2, blocks.size());
    for (std::int64_t i = near.first + 1; i <= near.last; ++i) {
        const CurveBlock& here = blocks[static_cast<std::size_t>(i)];
        const CurveBlock& before = blocks[static_cast<std::size_t>(i) - 1];
        differences.push_back((here.amp - here.fp32) - (before.amp - before.fp32));
    }
    return rootMeanSquare(std::move(differences)) / std::sqrt(2.0);
}

bool isOutside(const CurveBlock& block, double floor)
{
    const double gap = std::abs(block.amp - block.fp32);
    return std::isnan(gap) || gap > std::max(block.band, floor);
}

} // namespace

CurveComparison compareCurves(SeriesOfSeeds fp32, SeriesOfSeeds amp, std::int64_t steps)
{
    CurveComparison result;
    result.usesSeeds = fp32.size() > 1;
    result.timesNoise = result.usesSeeds ? 2 : 3;
    const std::vector<Stretch> stretches = blocksOf(steps);
    for (const Stretch& stretch : stretches) {
        CurveBlock block {.firstStep = stretch.first, .lastStep = stretch.last};
        std::vector<double> means;
        for (const Series& series : fp32) {
            means.push_back(meanLoss(series, stretch));
        }
        block.fp32 = meanOf(means);
        means.clear();
        for (const Series& series : amp) {
            means.push_back(meanLoss(series, stretch));
        }
        // One seed whose loss is not finite is enough to say that AMP's is not.
        block.amp = std::ranges::any_of(means, [](double mean) { return std::isnan(mean); }) ? nothing : meanOf(means);
        result.blocks.push_back(block);
    }
    for (std::size_t i = 0; i < stretches.size(); ++i) {
        const Stretch near = around(i, 1, stretches.size());
        const double jitter = jitterOf(fp32,
            {stretches[static_cast<std::size_t>(near.first)].first,
                stretches[static_cast<std::size_t>(near.last)].last});
        const double ofMean = jitter / std::sqrt(static_cast<double>(stretches[i].length()));
        result.blocks[i].noise = result.usesSeeds ? std::fmax(spreadOverSeeds(fp32, stretches, i), ofMean)
                                                  : std::fmax(std::sqrt(2.0) * ofMean, jitterOfGap(result.blocks, i));
        result.blocks[i].band = result.timesNoise * result.blocks[i].noise;
    }

    std::vector<double> starts;
    for (const Series& series : fp32) {
        starts.push_back(at(series, 0));
    }
    result.fp32Start = meanOf(starts);
    const std::size_t quarter = (result.blocks.size() + 3) / 4;
    std::vector<double> fp32End;
    std::vector<double> ampEnd;
    std::vector<double> noiseEnd;
    bool isAmpFinite = true;
    for (const CurveBlock& block : std::span(result.blocks).last(quarter)) {
        fp32End.push_back(block.fp32);
        ampEnd.push_back(block.amp);
        noiseEnd.push_back(block.noise);
        isAmpFinite = isAmpFinite && std::isfinite(block.amp);
    }
    result.fp32End = meanOf(fp32End);
    result.ampEnd = isAmpFinite ? meanOf(ampEnd) : nothing;
    result.gap = isAmpFinite ? result.ampEnd - result.fp32End : std::numeric_limits<double>::infinity();
    result.noiseEnd = meanOf(noiseEnd);
    constexpr double nil = 0.01; // of what was learnt: too little to matter, however quiet the curves
    const double floor = std::fmax(nil * result.learnt(), 0.0);
    result.tolerance = std::fmax(result.timesNoise * result.noiseEnd, floor);
    for (const CurveBlock& block : result.blocks) {
        const bool outside = isOutside(block, floor);
        result.blocksOutside += outside ? 1 : 0;
        if (!outside) {
            result.apartSince = -1;
        } else if (result.apartSince < 0) {
            result.apartSince = block.firstStep;
        }
    }
    const Stretch secondHalf {steps / 2, steps - 1};
    result.fp32Jitter = jitterOf(fp32, secondHalf);
    result.ampJitter = jitterOf(amp, secondHalf);
    return result;
}

} // namespace mantissa
