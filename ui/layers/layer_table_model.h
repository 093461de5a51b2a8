/// The layers of a lane at one sampled step: a row each, a column per measure, and one that holds all steps.
#pragma once

#include "ui/layers/layer_grid.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <QStringList>

#include <set>
#include <string>

namespace mantissa {

class LayerTableModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    static constexpr int nameColumn = 0;
    static constexpr int measureColumns = static_cast<int>(allLayerMeasures.size());
    static constexpr int heatColumn = measureColumns + 1;

    static constexpr int columnOf(LayerMeasure measure) { return static_cast<int>(measure) + 1; }

    static constexpr LayerMeasure measureOf(int column) { return static_cast<LayerMeasure>(column - 1); }

    enum Role {
        SortRole = Qt::UserRole, ///< names: their place in the forward pass; steps: the strongest value of all
        CopyRole ///< text with every digit, C locale
    };

    explicit LayerTableModel(QObject* parent = nullptr);

    /// Shows another lane, or the same with more steps.
    void setSamples(const std::vector<SamplePtr>& samples, LayerGrouping grouping);
    void setMeasure(LayerMeasure measure); ///< that all steps are shown of
    void setColumn(std::size_t column); ///< the step of the other columns

    [[nodiscard]] const LayerGrid& grid() const { return m_grid; }

    [[nodiscard]] LayerMeasure measure() const { return m_measure; }

    [[nodiscard]] std::size_t column() const { return m_column; }

    [[nodiscard]] const HeatScale& scale() const { return m_scale; }

    void setPinned(int row, bool isPinned); ///< stays on top, by name: also in another lane

    [[nodiscard]] bool isPinned(int row) const;

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void tellAll();
    [[nodiscard]] double sortValue(int row, int column) const;

    LayerGrid m_grid;
    LayerMeasure m_measure = LayerMeasure::GradientNorm;
    HeatScale m_scale;
    std::size_t m_column = 0;
    std::set<std::string> m_pinned;
};

/// Pinned rows first, what is not a number last; shows rows that the measure applies to and that hold every word.
class LayerOrder : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit LayerOrder(LayerTableModel* layers, QObject* parent = nullptr);

    void setWords(const QString& text);
    void measureChanged();

protected:
    [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    LayerTableModel* m_layers;
    QStringList m_words;
};

} // namespace mantissa
