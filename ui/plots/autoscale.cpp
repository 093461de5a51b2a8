#include "ui/plots/autoscale.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr double keptShare = 0.4; // of a range that data must fill for the range to stay
constexpr double outlierFactor = 20;
// What QCustomPlot can map to pixels: ranges below 1e250, and an upper end that divided by the lower one is finite.
constexpr double farthest = 1e200;
constexpr double leastPositive = 1e-100;

double roundStep(double span)
{
    const double power = std::pow(10.0, std::floor(std::log10(span)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (span <= factor * power * 1.0000001) {
            return factor * power;
        }
    }
    return 10 * power;
}

AxisRange linearRange(double minimum, double maximum)
{
    double span = maximum - minimum;
    if (!(span > 1e-12 * std::max(std::abs(minimum), std::abs(maximum)))) {
        span = maximum == 0 ? 1 : 0.2 * std::abs(maximum);
    }
    const double margin = 0.04 * span;
    const double step = roundStep(span / 8);
    double lower = std::floor((minimum - margin) / step) * step;
    if (minimum >= 0 && (minimum <= 0.3 * maximum || lower < 0)) {
        lower = 0;
    }
    return {lower, std::ceil((maximum + margin) / step) * step};
}

AxisRange log10Range(double minimum, double maximum)
{
    // Ends on 1 or 3 times a power of ten.
    const auto snap = [](double exponent, bool up) {
        const double whole = std::floor(exponent);
        const double rest = exponent - whole;
        const double half = std::log10(3.0);
        if (up) {
            return rest <= 0 ? whole : rest <= half ? whole + half : whole + 1;
        }
        return rest >= half ? whole + half : whole;
    };
    const double margin = 0.03;
    double lower = snap(std::log10(minimum) - margin, false);
    double upper = snap(std::log10(maximum) + margin, true);
    if (upper - lower < 0.5) {
        lower = std::floor(lower);
        upper = std::ceil(upper + 1e-9);
    }
    return {std::pow(10.0, lower), std::pow(10.0, upper)};
}

AxisRange log2Range(double minimum, double maximum)
{
    const double lower = std::floor(std::log2(minimum)) - 1;
    const double upper = std::ceil(std::log2(maximum)) + 1;
    return {std::exp2(lower), std::exp2(upper)};
}

double position(double value, AxisScale scale)
{
    return scale == AxisScale::Linear ? value : std::log2(value);
}

} // namespace

AxisRange stepRange(std::int64_t first, std::int64_t last, std::int64_t expectedSteps, bool growing)
{
    const double start = first < last / 2 || first < 20 ? 0 : static_cast<double>(first);
    const double end = static_cast<double>(last);
    if (expectedSteps > 0 && end < static_cast<double>(expectedSteps)) {
        const double planned = static_cast<double>(expectedSteps);
        return {start, std::max(start + 1, planned)};
    }
    if (!growing) {
        return {start, std::max(start + 1, end + std::ceil(0.01 * (end - start)))};
    }
    const double span = std::max(10.0, 1.02 * (end - start));
    const double power = std::pow(10.0, std::floor(std::log10(span)));
    for (const double factor : {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0}) {
        if (span <= factor * power) {
            return {start, start + factor * power};
        }
    }
    return {start, start + 10 * power};
}

AxisRange valueRange(double minimum, double maximum, AxisScale scale, const AxisRange& previous)
{
    const double least = scale == AxisScale::Linear ? -farthest : leastPositive;
    minimum = std::clamp(minimum, least, farthest);
    maximum = std::clamp(maximum, minimum, farthest);
    if (previous.lower <= minimum && maximum <= previous.upper && (scale == AxisScale::Linear || previous.lower > 0)) {
        const double range = position(previous.upper, scale) - position(previous.lower, scale);
        const bool fromZero = scale == AxisScale::Linear && previous.lower == 0;
        const double filled = position(maximum, scale) - (fromZero ? 0 : position(minimum, scale));
        if (filled >= keptShare * range) {
            return previous;
        }
    }
    switch (scale) {
    case AxisScale::Log10:
        return log10Range(minimum, maximum);
    case AxisScale::Log2:
        return log2Range(minimum, maximum);
    case AxisScale::Linear:
        break;
    }
    return linearRange(minimum, maximum);
}

double maximumWithoutOutliers(const SeriesStats& stats, std::vector<double>& maxima)
{
    if (maxima.size() < 20) {
        return stats.maximum;
    }
    const auto rank = static_cast<std::ptrdiff_t>(0.95 * static_cast<double>(maxima.size()));
    std::nth_element(maxima.begin(), maxima.begin() + rank, maxima.end());
    const double usual = maxima[static_cast<std::size_t>(rank)];
    const bool squashes = stats.maximum - stats.minimum > outlierFactor * (usual - stats.minimum);
    return squashes && usual > stats.minimum ? usual : stats.maximum;
}

double heightOfDivergence(double minimum, std::vector<double>& heights)
{
    constexpr double factor = 1e4;
    const auto middle = heights.begin() + static_cast<std::ptrdiff_t>((heights.size() - 1) / 2);
    std::ranges::nth_element(heights, middle);
    return *middle > minimum ? minimum + factor * (*middle - minimum) : std::numeric_limits<double>::infinity();
}

} // namespace mantissa
