#include "ui/layers/layer_grid.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mantissa {

namespace {

LayerValues noValues()
{
    LayerValues values;
    values.fill(TensorSample::none);
    return values;
}

} // namespace

bool LayerGrid::follow(const std::vector<SamplePtr>& samples, LayerGrouping grouping)
{
    const std::vector<std::string> rowsBefore = m_rows;
    auto before = std::exchange(m_columns, {});
    // Rows of another model, or of a lane from the start again, must not stay.
    const bool isSame
        = grouping == m_grouping && !before.empty() && !samples.empty() && before.front()->sample == samples.front();
    if (!isSame) {
        before.clear();
        m_rows.clear();
        m_applies.clear();
        m_grouping = grouping;
    }
    m_columns.reserve(samples.size());
    std::size_t known = 0;
    for (const SamplePtr& sample : samples) {
        while (known < before.size() && before[known]->sample->step < sample->step) {
            ++known;
        }
        if (known < before.size() && before[known]->sample == sample) {
            m_columns.push_back(before[known++]);
        } else {
            m_columns.push_back(columnOf(sample));
        }
    }
    return m_rows != rowsBefore;
}

std::shared_ptr<const LayerGrid::Column> LayerGrid::columnOf(const SamplePtr& sample)
{
    auto column = std::make_shared<Column>();
    column->sample = sample;
    column->values.assign(m_rows.size(), noValues());
    for (const LayerFigures& figures : figuresOf(*sample, m_grouping)) {
        const std::size_t row = rowOf(figures.name);
        column->values.resize(m_rows.size(), noValues());
        column->values[row] = figures.values;
        for (std::size_t measure = 0; measure < allLayerMeasures.size(); ++measure) {
            m_applies[row][measure] = m_applies[row][measure] || !std::isnan(figures.values[measure]);
        }
    }
    return column;
}

std::size_t LayerGrid::rowOf(const std::string& name)
{
    const auto found = std::find(m_rows.begin(), m_rows.end(), name);
    if (found != m_rows.end()) {
        return static_cast<std::size_t>(found - m_rows.begin());
    }
    m_rows.push_back(name);
    m_applies.emplace_back();
    return m_rows.size() - 1;
}

std::size_t LayerGrid::columnAt(std::int64_t step) const
{
    const auto after = std::partition_point(
        m_columns.begin(), m_columns.end(), [step](const auto& column) { return column->sample->step <= step; });
    return after == m_columns.begin() ? 0 : static_cast<std::size_t>(after - m_columns.begin()) - 1;
}

double LayerGrid::value(std::size_t row, std::size_t column, LayerMeasure measure) const
{
    const std::vector<LayerValues>& values = m_columns[column]->values;
    return row < values.size() ? values[row][static_cast<std::size_t>(measure)] : TensorSample::none;
}

bool LayerGrid::applies(std::size_t row, LayerMeasure measure) const
{
    return m_applies[row][static_cast<std::size_t>(measure)];
}

bool isLogarithmic(LayerMeasure measure)
{
    return measure == LayerMeasure::GradientNorm || measure == LayerMeasure::RelativeError
        || measure == LayerMeasure::UpdateRatio || measure == LayerMeasure::ActivationLargest;
}

bool isShare(LayerMeasure measure)
{
    return !isLogarithmic(measure) && measure != LayerMeasure::Cosine;
}

double HeatScale::strength(double value) const
{
    if (std::isinf(value)) {
        return 1;
    }
    if (!(upper > lower)) {
        return 0;
    }
    const double position = isLog ? (value <= lower ? 0 : std::log(value / lower) / std::log(upper / lower))
                                  : (value - lower) / (upper - lower);
    const double inside = std::clamp(position, 0.0, 1.0);
    return isReversed ? 1 - inside : inside;
}

HeatScale heatScale(const LayerGrid& grid, LayerMeasure measure)
{
    HeatScale scale;
    scale.isLog = isLogarithmic(measure);
    scale.isReversed = measure == LayerMeasure::Cosine;
    double least = std::numeric_limits<double>::infinity();
    double greatest = -std::numeric_limits<double>::infinity();
    for (std::size_t column = 0; column < grid.columns(); ++column) {
        for (std::size_t row = 0; row < grid.rows().size(); ++row) {
            const double value = grid.value(row, column, measure);
            if (std::isfinite(value) && !(scale.isLog && value <= 0)) {
                least = std::min(least, value);
                greatest = std::max(greatest, value);
            }
        }
    }
    if (least > greatest) {
        return scale;
    }
    // Shares count from 0 and the cosine from 1, so that shades mean the same from lane to lane as far as can be.
    scale.lower = isShare(measure) ? 0 : least;
    scale.upper = scale.isReversed ? 1 : greatest;
    return scale;
}

std::size_t strongestColumn(const LayerGrid& grid, const HeatScale& scale, LayerMeasure measure, std::size_t row,
    std::size_t begin, std::size_t end)
{
    constexpr double notANumber = 2; // stands out
    std::size_t strongest = begin;
    double greatest = -1;
    for (std::size_t column = begin; column < end; ++column) {
        const double value = grid.value(row, column, measure);
        const double strength = std::isnan(value) ? notANumber : scale.strength(value);
        if (strength > greatest) {
            greatest = strength;
            strongest = column;
        }
    }
    return strongest;
}

} // namespace mantissa
