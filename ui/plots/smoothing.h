/// The exponential moving average of TensorBoard's line charts, debiased so that the first values do not sag toward 0.
#pragma once

#include "ui/plots/series_pyramid.h"

#include <vector>

namespace mantissa {

/// s_n = (1 - w) sum_i w^(n-i) x_i / (1 - w^n) over the finite values so far. Values that are not finite pass through
/// and leave the average as it is. A constant series comes out unchanged (up to the last bit). Source: TensorBoard,
/// line_chart_v2 "classicSmoothing"; the bias correction is Adam's (Kingma and Ba, 2015, section 3).
class DebiasedAverage
{
public:
    explicit DebiasedAverage(double weight)
        : m_weight(weight)
    {
    }

    double add(double value);

private:
    double m_weight;
    double m_average = 0;
    double m_remaining = 1; ///< w^n
};

/// The largest weight that can be chosen.
constexpr double maximumSmoothing = 0.999;

/// The smoothed value at `step`, which must have one. Reads only as far back as matters (relative weight 1e-12).
double smoothedAt(const SeriesPyramid& series, std::int64_t step, double weight);

/// The smoothed series at the last step of every column of 2^log2Width steps in first .. last, for drawing: where a
/// column covers many steps it may read only as far back as the eye can tell (relative weight 1e-3) or average 16
/// neighbours first.
void smoothedColumns(const SeriesPyramid& series, std::int64_t first, std::int64_t last, int log2Width, double weight,
    std::vector<SeriesSample>& into);

} // namespace mantissa
