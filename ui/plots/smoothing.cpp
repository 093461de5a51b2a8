#include "ui/plots/smoothing.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr double exactly = 1e-12;
constexpr double toTheEye = 4e-3;
constexpr int blockShift = 4; // of SeriesPyramid::forEachBlock
constexpr double blockTimeConstant = 2 << blockShift; // from here on, neighbours in a block weigh nearly the same

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

DebiasedAverage averageFrom(const SeriesPyramid& series, std::int64_t step, double weight, std::uint64_t memory)
{
    DebiasedAverage average(weight);
    series.forEachStretch(series.stepBefore(step, memory), step,
        [&](std::span<const double> values, bool areFinite) { average.take(values, areFinite); });
    return average;
}

DebiasedAverage blockAverageFrom(const SeriesPyramid& series, std::int64_t step, double weight, std::uint64_t memory)
{
    DebiasedAverage average(std::pow(weight, 1 << blockShift));
    series.forEachBlock(series.stepBefore(step, memory), step, [&](std::int64_t, float mean) { average.take(mean); });
    return average;
}

/// One pass over all blocks: for averages that remember more than a column.
void smoothBlocks(const SeriesPyramid& series, std::int64_t first, std::int64_t last, int log2Width, double weight,
    std::vector<SeriesSample>& into)
{
    DebiasedAverage average(std::pow(weight, 1 << blockShift));
    std::int64_t column = first >> log2Width;
    SeriesSample newest {-1, 0};
    series.forEachBlock(series.stepBefore(first, memoryOf(weight, toTheEye)), last, [&](std::int64_t step, float mean) {
        if (step >> log2Width != column && newest.step >= first) {
            into.push_back({newest.step, std::isfinite(newest.value) ? average.value() : newest.value});
        }
        column = step >> log2Width;
        newest = {step, mean};
        average.take(mean);
    });
    if (newest.step >= first) {
        into.push_back({newest.step, std::isfinite(newest.value) ? average.value() : newest.value});
    }
}

} // namespace

void DebiasedAverage::take(std::span<const double> values, bool areFinite)
{
    if (!areFinite) {
        for (const double value : values) {
            take(value);
        }
        return;
    }
    // Horner's rule, four values a link: the chain of dependent multiplications is what takes the time.
    const double w = m_weight;
    const double w2 = w * w;
    const double w3 = w2 * w;
    const double w4 = w2 * w2;
    const double links = 1 + w + w2 + w3;
    std::size_t i = 0;
    for (; i + 4 <= values.size(); i += 4) {
        m_sum = m_sum * w4 + (values[i] * w3 + values[i + 1] * w2 + (values[i + 2] * w + values[i + 3]));
        m_norm = m_norm * w4 + links;
    }
    for (; i < values.size(); ++i) {
        take(values[i]);
    }
}

double smoothedAt(const SeriesPyramid& series, std::int64_t step, double weight)
{
    const double value = *series.at(step);
    return std::isfinite(value) ? averageFrom(series, step, weight, memoryOf(weight, exactly)).value() : value;
}

void smoothedColumns(const SeriesPyramid& series, std::span<const SeriesColumn> columns, int log2Width, double weight,
    std::vector<SeriesSample>& into)
{
    into.clear();
    if (columns.empty()) {
        return;
    }
    const std::uint64_t memory = memoryOf(weight, toTheEye);
    const bool byBlocks = 1 / (1 - weight) >= blockTimeConstant && log2Width >= blockShift + 3;
    if (log2Width > 0 && memory < (std::uint64_t {1} << log2Width)) {
        const auto average = byBlocks ? blockAverageFrom : averageFrom;
        for (const SeriesColumn& column : columns) {
            const double last = column.stats.last;
            into.push_back({column.lastStep,
                std::isfinite(last) ? average(series, column.lastStep, weight, memory).value() : last});
        }
        return;
    }
    const std::int64_t begin = columns.front().first;
    const std::int64_t end = columns.back().lastStep;
    if (byBlocks) {
        smoothBlocks(series, begin, end, log2Width, weight, into);
        return;
    }
    DebiasedAverage average(weight);
    series.forEach(series.stepBefore(begin, memoryOf(weight, exactly)), end, [&](std::int64_t step, double value) {
        const double smoothed = average.add(value);
        if (step >= begin) {
            put(into, {step, smoothed}, log2Width);
        }
    });
}

} // namespace mantissa
