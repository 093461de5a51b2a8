/// A lane's sampled steps as a grid: layers or tensors down, steps across, every measure in each cell.
#pragma once

#include "engine/train/layer_measure.h"
#include "ui/session/sample_history.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace mantissa {

class LayerGrid
{
public:
    /// Takes over the samples, by step; only those that are new cost anything. True if the rows are others than before.
    bool follow(const std::vector<SamplePtr>& samples, LayerGrouping grouping);

    [[nodiscard]] const std::vector<std::string>& rows() const { return m_rows; }

    [[nodiscard]] std::size_t columns() const { return m_columns.size(); }

    [[nodiscard]] std::int64_t step(std::size_t column) const { return m_columns[column]->sample->step; }

    [[nodiscard]] const SamplePtr& sample(std::size_t column) const { return m_columns[column]->sample; }

    /// The column of the step, or else of the last step before it, or else the first. Not without columns.
    [[nodiscard]] std::size_t columnAt(std::int64_t step) const;
    [[nodiscard]] double value(std::size_t row, std::size_t column, LayerMeasure measure) const;
    /// Whether the measure says something about the row at some step.
    [[nodiscard]] bool applies(std::size_t row, LayerMeasure measure) const;

private:
    struct Column
    {
        SamplePtr sample;
        std::vector<LayerValues> values; ///< by row; rows that came later are not there
    };

    [[nodiscard]] std::shared_ptr<const Column> columnOf(const SamplePtr& sample);
    std::size_t rowOf(const std::string& name);

    LayerGrouping m_grouping = LayerGrouping::Layers;
    std::vector<std::string> m_rows;
    std::vector<std::array<bool, allLayerMeasures.size()>> m_applies; ///< by row
    std::vector<std::shared_ptr<const Column>> m_columns; ///< shared by copies of the grid
};

/// From the least to the greatest finite value of a measure in the grid; how it is told apart by shade.
struct HeatScale
{
    double lower = 0; ///< logarithmic: greater than 0
    double upper = 0; ///< not greater than lower: there is nothing to tell apart
    bool isLog = false;
    bool isReversed = false; ///< the least value is the one to look at

    /// 0: no worry, 1: the worst. Of a number; infinity is the worst.
    [[nodiscard]] double strength(double value) const;
};

/// Whether the measure spans powers of ten.
bool isLogarithmic(LayerMeasure measure);
bool isShare(LayerMeasure measure);

HeatScale heatScale(const LayerGrid& grid, LayerMeasure measure);

/// Of the columns [begin, end), the one to look at in the row: where the value is not a number, or else the strongest.
std::size_t strongestColumn(const LayerGrid& grid, const HeatScale& scale, LayerMeasure measure, std::size_t row,
    std::size_t begin, std::size_t end);

} // namespace mantissa
