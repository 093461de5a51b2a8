/// Axis ranges that follow the data in steps, so that an axis does not breathe while a run grows.
#pragma once

#include "ui/plots/series_pyramid.h"

#include <cstdint>
#include <vector>

namespace mantissa {

struct AxisRange
{
    double lower = 0;
    double upper = 1;
    bool operator==(const AxisRange&) const = default;
};

/// Not a range; as the `previous` of valueRange() it is never kept.
constexpr AxisRange noRange {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};

enum class AxisScale { Linear, Log10, Log2 };

/// The step axis for data on first .. last. With `expectedSteps` > 0 it reaches that far from the start; while data
/// still grows without a known end it reaches to the next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten.
AxisRange stepRange(std::int64_t first, std::int64_t last, std::int64_t expectedSteps, bool growing);

/// A range around minimum .. maximum with a margin, its ends on round numbers. `previous` is kept while it holds the
/// data and the data still fills two fifths of it. Log scales need minimum > 0.
AxisRange valueRange(double minimum, double maximum, AxisScale scale, const AxisRange& previous);

/// Drops a top that would squash everything else: if the largest value lies more than 20 times higher above the
/// smallest than 95 % of the columns' maxima do, returns the height that those reach; otherwise stats.maximum. Reorders
/// `maxima`.
double maximumWithoutOutliers(const SeriesStats& stats, std::vector<double>& maxima);

/// Above it a lane has left the others: 10 000 times higher above `minimum` than the one in the middle. Far more than a
/// lane that does not learn stands above lanes that do. Reorders `heights`, the largest value of each lane, of which
/// there must be one.
double heightOfDivergence(double minimum, std::vector<double>& heights);

} // namespace mantissa
