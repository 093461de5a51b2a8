#include "ui/plots/smoothing.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr double exactly = 1e-12;
constexpr double toTheEye = 4e-3;
constexpr double blocksPerTimeConstant = 1.5; // so many at least, and neighbours in a block weigh nearly the same
constexpr int columnShift = 3; // a column is 2^3 blocks at least

struct StepSpan
{
    std::int64_t first;
    std::int64_t last;
};

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

/// The widest blocks that may stand for their values, as a power of two; 0: each value must be read. Reading a million
/// of them from memory takes a third of a frame.
int blockShiftFor(double weight, int log2Width)
{
    for (const int shift : SeriesPyramid::blockShifts) {
        if (1 / (1 - weight) >= std::ldexp(blocksPerTimeConstant, shift) && log2Width >= shift + columnShift) {
            return shift;
        }
    }
    return 0;
}

DebiasedAverage blockAverageFrom(
    const SeriesPyramid& series, std::int64_t step, double weight, std::uint64_t memory, int shift)
{
    DebiasedAverage average(std::pow(weight, 1 << shift));
    series.forEachBlock(
        series.stepBefore(step, memory), step, shift, [&](std::int64_t, float mean) { average.take(mean); });
    return average;
}

/// One pass over all blocks: for averages that remember more than a column.
void smoothBlocks(const SeriesPyramid& series, StepSpan steps, int log2Width, double weight, int shift,
    std::vector<SeriesSample>& into)
{
    DebiasedAverage average(std::pow(weight, 1 << shift));
    std::int64_t column = steps.first >> log2Width;
    SeriesSample newest {-1, 0};
    const auto put = [&] {
        if (newest.step >= steps.first) {
            into.push_back({newest.step, std::isfinite(newest.value) ? average.value() : newest.value});
        }
    };
    const std::int64_t from = series.stepBefore(steps.first, memoryOf(weight, toTheEye));
    series.forEachBlock(from, steps.last, shift, [&](std::int64_t step, float mean) {
        if (step >> log2Width != column) {
            put();
        }
        column = step >> log2Width;
        newest = {step, mean};
        average.take(mean);
    });
    put();
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
    const int shift = blockShiftFor(weight, log2Width);
    if (log2Width > 0 && memory < (std::uint64_t {1} << log2Width)) {
        for (const SeriesColumn& column : columns) {
            const auto average = [&] {
                return shift > 0 ? blockAverageFrom(series, column.lastStep, weight, memory, shift)
                                 : averageFrom(series, column.lastStep, weight, memory);
            };
            const double last = column.stats.last;
            into.push_back({column.lastStep, std::isfinite(last) ? average().value() : last});
        }
        return;
    }
    const std::int64_t begin = columns.front().first;
    const std::int64_t end = columns.back().lastStep;
    if (shift > 0) {
        smoothBlocks(series, {begin, end}, log2Width, weight, shift, into);
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
