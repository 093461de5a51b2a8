/// What lies over and beside the curves: titles, marks of changes, the crosshair, the zoom box.
#pragma once

#include "ui/style/theme.h"

#include <qcustomplot.h>

#include <optional>
#include <vector>

namespace mantissa {

class PlotCanvas;

/// A vertical line through all plots.
struct MarkLine
{
    std::int64_t step = 0;
    QColor color;
    QString text; ///< shown when it is pointed at
    QString label {}; ///< shown beside the line in the topmost plot
};

/// A pennant on the difference plot where a lane parts from the baseline.
struct PartingFlag
{
    std::int64_t step = 0;
    QColor color;
    QString text;
};

/// Titles and marks; redrawn with the curves.
class DecorOverlay : public QCPLayerable
{
    Q_OBJECT

public:
    explicit DecorOverlay(PlotCanvas* canvas);

    void setMarks(std::vector<MarkLine> marks) { m_marks = std::move(marks); } ///< by ascending step

    void setFlags(std::vector<PartingFlag> flags) { m_flags = std::move(flags); }

    /// Texts of the marks and flags near `position`; empty if there are none.
    [[nodiscard]] QString textAt(const QPointF& position) const;

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    [[nodiscard]] QRect clipRect() const override;

private:
    void drawTitles(QCPPainter* painter) const;
    void drawMarks(QCPPainter* painter) const;
    void drawLabels(QCPPainter* painter) const;
    void drawFlags(QCPPainter* painter) const;

    PlotCanvas* m_canvas;
    std::vector<MarkLine> m_marks;
    std::vector<PartingFlag> m_flags;
};

/// A dot where the crosshair meets a curve.
struct CursorDot
{
    int panel = 0;
    double value = 0;
    QColor color;
    bool isNearest = false;
};

/// Crosshair and zoom box: on a buffered layer of its own, so that moving it draws no curve.
class CursorOverlay : public QCPLayerable
{
    Q_OBJECT

public:
    explicit CursorOverlay(PlotCanvas* canvas);

    void setCursor(std::optional<std::int64_t> step, std::vector<CursorDot> dots);

    [[nodiscard]] bool isEmpty() const { return !m_step && m_box.isNull(); }

    [[nodiscard]] std::optional<std::int64_t> cursor() const { return m_step; }

    void setZoomBox(const QRectF& box) { m_box = box; }

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    [[nodiscard]] QRect clipRect() const override;

private:
    PlotCanvas* m_canvas;
    std::optional<std::int64_t> m_step;
    std::vector<CursorDot> m_dots;
    QRectF m_box;
};

/// The lanes' names and colours in one row; only part of exported pictures, since the window has the lane table.
class LegendRow : public QCPLayoutElement
{
    Q_OBJECT

public:
    struct Entry
    {
        QString name;
        QColor color;
        Qt::PenStyle style;
    };

    LegendRow(QCustomPlot* plot, std::vector<Entry> entries, const QFont& font, const QColor& text);

protected:
    void draw(QCPPainter* painter) override;
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    [[nodiscard]] QSize minimumOuterSizeHint() const override;
    [[nodiscard]] QSize maximumOuterSizeHint() const override;

private:
    std::vector<Entry> m_entries;
    QFont m_font;
    QColor m_text;
};

} // namespace mantissa
