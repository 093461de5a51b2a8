/// The exponential moving average of TensorBoard's line charts, debiased so that the first values do not sag toward 0.
#pragma once

#include "ui/plots/series_pyramid.h"

#include <cmath>
#include <span>
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

    void take(double value)
    {
        if (std::isfinite(value)) {
            m_sum = m_sum * m_weight + value;
            m_norm = m_norm * m_weight + 1;
        }
    }

    /// As take() for each, but faster if all are finite.
    void take(std::span<const double> values, bool areFinite);

    /// The average after `value`; `value` itself if it is not finite.
    double add(double value)
    {
        take(value);
        return std::isfinite(value) ? m_sum / m_norm : value;
    }

    /// NaN before the first finite value.
    [[nodiscard]] double value() const { return m_sum / m_norm; }

private:
    double m_weight;
    double m_sum = 0; ///< of w^(n-i) x_i
    double m_norm = 0; ///< of w^(n-i)
};

/// The largest weight that can be chosen.
constexpr double maximumSmoothing = 0.999;

/// The smoothed value at `step`, which must have one. Reads only as far back as matters (relative weight 1e-12).
double smoothedAt(const SeriesPyramid& series, std::int64_t step, double weight);

/// The smoothed series at the last step of each of `columns`, neighbours of 2^log2Width steps, for drawing: where a
/// column covers many steps it may read only as far back as the eye can tell (relative weight 4e-3) or average 4 or 16
/// neighbours first.
void smoothedColumns(const SeriesPyramid& series, std::span<const SeriesColumn> columns, int log2Width, double weight,
    std::vector<SeriesSample>& into);

} // namespace mantissa
