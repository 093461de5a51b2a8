#include "ui/plots/smoothing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr double exactly = 1e-12;
constexpr double toTheEye = 1e-3;
constexpr int blockShift = 4; // of SeriesPyramid::forEachBlock

/// Values that matter to the average: those before together weigh less than `tolerance`.
std::uint64_t memoryOf(double weight, double tolerance)
{
    return weight <= 0 ? 1 : static_cast<std::uint64_t>(std::ceil(std::log(tolerance) / std::log(weight)));
}

/// Appends `sample`, or replaces the last one if it lies in the same column.
void put(std::vector<SeriesSample>& into, const SeriesSample& sample, int log2Width)
{
    if (!into.empty() && (into.back().step >> log2Width) == (sample.step >> log2Width)) {
        into.back() = sample;
    } else {
        into.push_back(sample);
    }
}

double smoothedFrom(const SeriesPyramid& series, std::int64_t step, double weight, std::uint64_t memory)
{
    DebiasedAverage average(weight);
    double result = 0;
    series.forEach(
        series.stepBefore(step, memory), step, [&](std::int64_t, double value) { result = average.add(value); });
    return result;
}

void smoothBlocks(const SeriesPyramid& series, std::int64_t first, std::int64_t last, int log2Width, double weight,
    std::vector<SeriesSample>& into)
{
    DebiasedAverage average(std::pow(weight, 1 << blockShift));
    series.forEachBlock(
        series.stepBefore(first, memoryOf(weight, toTheEye)), last, [&](std::int64_t step, const SeriesStats& stats) {
            const double mean = stats.finite > 0 ? stats.mean() : std::numeric_limits<double>::quiet_NaN();
            const double smoothed = average.add(mean);
            if (step >= first) {
                put(into, {step, smoothed}, log2Width);
            }
        });
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
    return smoothedFrom(series, step, weight, memoryOf(weight, exactly));
}

void smoothedColumns(const SeriesPyramid& series, std::int64_t first, std::int64_t last, int log2Width, double weight,
    std::vector<SeriesSample>& into)
{
    into.clear();
    if (series.empty()) {
        return;
    }
    const std::int64_t begin = std::max<std::int64_t>(0, first) >> log2Width << log2Width;
    const double timeConstant = 1 / (1 - weight);
    if (timeConstant >= (4 << blockShift) && log2Width >= blockShift + 3) {
        smoothBlocks(series, begin, last, log2Width, weight, into);
        return;
    }
    const std::uint64_t memory = memoryOf(weight, toTheEye);
    if (log2Width > 0 && memory < (std::uint64_t {1} << log2Width)) {
        thread_local std::vector<SeriesColumn> columns;
        series.columns(begin, last, log2Width, columns);
        for (const SeriesColumn& column : columns) {
            into.push_back({column.lastStep, smoothedFrom(series, column.lastStep, weight, memory)});
        }
        return;
    }
    DebiasedAverage average(weight);
    series.forEach(series.stepBefore(begin, memoryOf(weight, exactly)), last, [&](std::int64_t step, double value) {
        const double smoothed = average.add(value);
        if (step >= begin) {
            put(into, {step, smoothed}, log2Width);
        }
    });
}

} // namespace mantissa
