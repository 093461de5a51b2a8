/// What drawing needs of one series, kept between frames: a view that only grew costs only its new steps.
#pragma once

#include "ui/plots/series_pyramid.h"

#include <vector>

namespace mantissa {

/// Columns of 2^log2Width steps that touch first .. last.
struct StepWindow
{
    std::int64_t first = 0;
    std::int64_t last = 0;
    int log2Width = 0;
};

class ViewCache
{
public:
    /// As SeriesPyramid::columns(). Valid until the next call.
    const std::vector<SeriesColumn>& columns(const SeriesPyramid& series, const StepWindow& window);
    /// As smoothedColumns() of columns(). Valid until the next call.
    const std::vector<SeriesSample>& smoothed(const SeriesPyramid& series, const StepWindow& window, double weight);

private:
    /// What the kept entries were made from.
    struct Origin
    {
        std::uint64_t generation = 0;
        std::int64_t first = 0;
        std::int64_t last = -1;
        int log2Width = 0;
        double weight = 0;

        /// Whether entries made from this, but for the last of them, also serve `wanted`.
        [[nodiscard]] bool growsInto(const Origin& wanted) const;
    };

    static Origin originOf(const SeriesPyramid& series, const StepWindow& window, double weight);

    Origin m_columnsOrigin;
    std::vector<SeriesColumn> m_columns;
    Origin m_smoothedOrigin;
    std::vector<SeriesSample> m_smoothed;
};

} // namespace mantissa
