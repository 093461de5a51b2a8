/// Draws the heat map, on screen and into files. Colour means a lane (ui.md), so cells are grey, in steps of lightness
/// that look even; what is no number is hatched, what does not apply is left blank.
#pragma once

#include "ui/layers/layer_grid.h"

#include <QFont>
#include <QImage>
#include <QPalette>
#include <QRectF>
#include <QString>

#include <optional>

class QPainter;

namespace mantissa {

/// What is drawn; the grid must outlive it.
struct HeatContent
{
    const LayerGrid* grid = nullptr;
    LayerMeasure measure = LayerMeasure::GradientNorm;
    HeatScale scale {};
    std::optional<std::size_t> column {}; ///< the chosen step's
};

class HeatPainter
{
public:
    HeatPainter(const QFont& font, const QPalette& palette);

    /// 0: nothing to worry about, 1: the worst.
    [[nodiscard]] QColor shade(double strength) const;

    void paintRow(QPainter& painter, const QRectF& rect, const HeatContent& content, std::size_t row) const;
    /// The first, the last and the chosen step, below the cells that span `rect`'s width.
    void paintSteps(QPainter& painter, const QRectF& rect, const HeatContent& content) const;
    void paintLegend(QPainter& painter, const QRectF& rect, const HeatContent& content) const;

    /// Where a column's cell begins, from the left of a row that has `width` for all of them; few cells leave some of
    /// it free. `column` may be `columns`: where the last one ends.
    static double left(std::size_t column, std::size_t columns, double width);
    static std::size_t columnAt(double x, std::size_t columns, double width);

private:
    void paintCell(
        QPainter& painter, const QRectF& cell, const HeatContent& content, std::size_t row, std::size_t column) const;

    QFont m_font;
    QPalette m_palette;
};

/// The rows of a heat map with their names, its steps and legend, as a picture of its own.
class HeatPicture
{
public:
    HeatPicture(const HeatContent& content, std::vector<std::size_t> rows, const QFont& font, const QPalette& palette);

    void setTitle(const QString& title, const QColor& laneColor);

    [[nodiscard]] QSizeF size() const;
    void paint(QPainter& painter) const;
    [[nodiscard]] QImage image(double scale) const;
    /// PNG, PDF or SVG by the file's suffix. Throws Error (Io).
    void write(const QString& file) const;

private:
    [[nodiscard]] double namesWidth() const;
    [[nodiscard]] double lineHeight() const;

    HeatContent m_content;
    std::vector<std::size_t> m_rows; ///< in the order shown
    QFont m_font;
    QPalette m_palette;
    HeatPainter m_painter;
    QString m_title;
    QColor m_laneColor;
};

} // namespace mantissa
