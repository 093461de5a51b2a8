/// The table of layers whose last column is the heat map, layer by layer, with steps and legend below it.
#pragma once

#include "ui/layers/heat_painter.h"
#include "ui/layers/layer_table_model.h"

#include <QTableView>

#include <optional>

namespace mantissa {

/// The cell under the pointer.
struct HeatCell
{
    std::size_t row = 0;
    std::size_t column = 0;
};

class LayerTable : public QTableView
{
    Q_OBJECT
public:
    explicit LayerTable(LayerTableModel* layers, QWidget* parent = nullptr);

    [[nodiscard]] LayerOrder* order() const { return m_order; }

    /// Of the cells of a row in the viewport; empty while it is scrolled out or the row is not shown.
    [[nodiscard]] QRect cellsOf(std::size_t row) const;
    /// The grid's row that the cursor is on.
    [[nodiscard]] std::optional<std::size_t> currentRow() const;
    /// The grid's rows in the order shown.
    [[nodiscard]] std::vector<std::size_t> shownRows() const;
    [[nodiscard]] HeatContent content() const;

    void showMeasure(LayerMeasure measure); ///< its column too, if it is hidden

public slots:
    void copyText() const; ///< the selected rows, or all, tab-separated
    void togglePinned(); ///< the current row

signals:
    void columnChosen(std::size_t column);
    void measureWanted(mantissa::LayerMeasure measure); ///< to be shown step by step
    void hovered(std::optional<mantissa::HeatCell> cell);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    [[nodiscard]] std::optional<HeatCell> heatCellAt(const QPoint& position) const;
    void chooseColumns(const QPoint& position);

    LayerTableModel* m_layers;
    LayerOrder* m_order;
};

/// Below the table: the steps under their cells, and what the shades mean.
class HeatFooter : public QWidget
{
    Q_OBJECT
public:
    explicit HeatFooter(LayerTable* table, QWidget* parent = nullptr);

    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    LayerTable* m_table;
};

} // namespace mantissa
