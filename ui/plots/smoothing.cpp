#include "ui/plots/smoothing.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

/// Values that matter to the average: those before weigh less than 1e-12 together.
std::uint64_t memoryOf(double weight)
{
    return weight <= 0 ? 1 : static_cast<std::uint64_t>(std::ceil(std::log(1e-12) / std::log(weight)));
}

/// log2 of the number of neighbouring values that may be averaged first without a visible difference: a 64th of the
/// average's time constant.
int blockShift(double weight)
{
    return std::max(0, static_cast<int>(std::floor(std::log2(1 / (1 - weight)))) - 6);
}

/// Smooths the means of blocks in place of values; exact enough where a pixel covers many blocks.
void smoothBlocks(const SeriesPyramid& series, std::int64_t first, std::int64_t last, int log2Width, int shift,
    double weight, std::vector<SeriesSample>& into)
{
    thread_local std::vector<SeriesColumn> blocks;
    series.columns(series.stepBefore(first, memoryOf(weight)), last, shift, blocks);
    DebiasedAverage average(std::pow(weight, std::int64_t {1} << shift));
    for (const SeriesColumn& block : blocks) {
        const double mean = block.stats.finite > 0 ? block.stats.mean() : block.last;
        const SeriesSample sample {block.lastStep, average.add(mean)};
        if (sample.step < first) {
            continue;
        }
        if (!into.empty() && (into.back().step >> log2Width) == (sample.step >> log2Width)) {
            into.back() = sample;
        } else {
            into.push_back(sample);
        }
    }
}

} // namespace

double DebiasedAverage::add(double value)
{
    if (!std::isfinite(value)) {
        return value;
    }
    m_average = m_average * m_weight + (1 - m_weight) * value;
    m_remaining *= m_weight;
    return m_average / (1 - m_remaining);
}

double smoothedAt(const SeriesPyramid& series, std::int64_t step, double weight)
{
    DebiasedAverage average(weight);
    double result = 0;
    series.forEach(series.stepBefore(step, memoryOf(weight)), step,
        [&](std::int64_t, double value) { result = average.add(value); });
    return result;
}

void smoothedColumns(const SeriesPyramid& series, std::int64_t first, std::int64_t last, int log2Width, double weight,
    std::vector<SeriesSample>& into)
{
    into.clear();
    if (series.empty()) {
        return;
    }
    const std::uint64_t memory = memoryOf(weight);
    const std::int64_t begin = std::max<std::int64_t>(0, first) >> log2Width << log2Width;
    if (log2Width > 0 && memory < (std::uint64_t {1} << log2Width) / 2) {
        thread_local std::vector<SeriesColumn> columns;
        series.columns(begin, last, log2Width, columns);
        for (const SeriesColumn& column : columns) {
            into.push_back({column.lastStep, smoothedAt(series, column.lastStep, weight)});
        }
        return;
    }
    const int shift = blockShift(weight);
    if (shift > 0 && log2Width >= shift + 3) {
        smoothBlocks(series, begin, last, log2Width, shift, weight, into);
        return;
    }
    DebiasedAverage average(weight);
    series.forEach(series.stepBefore(begin, memory), last, [&](std::int64_t step, double value) {
        const SeriesSample sample {step, average.add(value)};
        if (step < begin) {
            return;
        }
        if (log2Width > 0 && !into.empty() && (into.back().step >> log2Width) == (step >> log2Width)) {
            into.back() = sample;
        } else {
            into.push_back(sample);
        }
    });
}

} // namespace mantissa
