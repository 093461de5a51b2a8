#include "ui/plots/view_cache.h"

#include "ui/plots/smoothing.h"

#include <algorithm>

namespace mantissa {

bool ViewCache::Origin::growsInto(const Origin& wanted) const
{
    return generation == wanted.generation && first == wanted.first && log2Width == wanted.log2Width
        && weight == wanted.weight && last <= wanted.last;
}

ViewCache::Origin ViewCache::originOf(const SeriesPyramid& series, const StepWindow& window, double weight)
{
    const std::int64_t columnMask = (std::int64_t {1} << window.log2Width) - 1;
    const std::int64_t last = series.empty() ? -1 : std::min(window.last | columnMask, series.lastStep());
    return {series.generation(), window.first, last, window.log2Width, weight};
}

const std::vector<SeriesColumn>& ViewCache::columns(const SeriesPyramid& series, const StepWindow& window)
{
    const Origin wanted = originOf(series, window, 0);
    if (m_columns.empty() || !m_columnsOrigin.growsInto(wanted)) {
        series.columns(window.first, wanted.last, window.log2Width, m_columns);
    } else if (m_columnsOrigin.last < wanted.last) {
        const std::int64_t from = m_columns.back().first;
        m_columns.pop_back();
        thread_local std::vector<SeriesColumn> added;
        series.columns(from, wanted.last, window.log2Width, added);
        m_columns.insert(m_columns.end(), added.begin(), added.end());
    }
    m_columnsOrigin = wanted;
    return m_columns;
}

const std::vector<SeriesSample>& ViewCache::smoothed(
    const SeriesPyramid& series, const StepWindow& window, double weight)
{
    const Origin wanted = originOf(series, window, weight);
    const std::span<const SeriesColumn> all = columns(series, window);
    if (m_smoothed.empty() || !m_smoothedOrigin.growsInto(wanted)) {
        smoothedColumns(series, all, window.log2Width, weight, m_smoothed);
    } else if (m_smoothedOrigin.last < wanted.last) {
        const std::int64_t from = m_smoothed.back().step >> window.log2Width << window.log2Width;
        m_smoothed.pop_back();
        const auto added = std::partition_point(
            all.begin(), all.end(), [from](const SeriesColumn& column) { return column.first < from; });
        thread_local std::vector<SeriesSample> samples;
        smoothedColumns(series, {added, all.end()}, window.log2Width, weight, samples);
        m_smoothed.insert(m_smoothed.end(), samples.begin(), samples.end());
    }
    m_smoothedOrigin = wanted;
    return m_smoothed;
}

} // namespace mantissa
