/// The stacked plots as one QCustomPlot: axes, ranges, mouse and keyboard. Knows curves and pixels, not lanes.
#pragma once

#include "ui/plots/curve_plottable.h"
#include "ui/plots/plot_overlays.h"
#include "ui/plots/view_state.h"

#include <QElapsedTimer>

#include <array>
#include <optional>

namespace mantissa {

class PanelHeader;

class PlotCanvas : public QCustomPlot
{
    Q_OBJECT

public:
    explicit PlotCanvas(QWidget* parent = nullptr);
    ~PlotCanvas() override;

    // --- view ---
    [[nodiscard]] const ViewState& view() const { return m_view; }

    void setView(const ViewState& view); ///< not undoable; the owner pushes commands
    /// Changes the view on a person's behalf and announces it for the undo history. `kind`: see ViewCommand.
    void edit(const ViewState& view, const QString& what, int kind = 0);
    void zoomSteps(double factor, double centre, int kind);

    /// Largest step range that zooming and panning may reach.
    void setDataRange(const AxisRange& steps) { m_dataRange = steps; }

    // --- content ---
    void setCurves(Metric metric, std::vector<Curve> curves);
    void setNote(Metric metric, const QString& note);

    [[nodiscard]] QString note(Metric metric) const { return panel(metric).note; }

    [[nodiscard]] QString title(Metric metric) const;

    [[nodiscard]] DecorOverlay* decor() const { return m_decor; }

    [[nodiscard]] CursorOverlay* cursorOverlay() const { return m_cursor; }

    void redrawCursor();

    [[nodiscard]] PanelHeader* header(Metric metric) const { return panel(metric).header; }

    // --- geometry ---
    [[nodiscard]] std::vector<Metric> shownMetrics() const;
    [[nodiscard]] bool isShown(Metric metric) const;
    [[nodiscard]] QRect plotArea(Metric metric) const;
    [[nodiscard]] QRect titleRect(Metric metric) const;
    [[nodiscard]] double stepToPixel(std::int64_t step) const;
    [[nodiscard]] double pixelToStep(double x) const;
    [[nodiscard]] double valueToPixel(Metric metric, double value) const;
    [[nodiscard]] int log2ColumnWidth() const;
    [[nodiscard]] std::optional<Metric> metricAt(const QPointF& position) const;

    /// The plot that the pointer was in last.
    [[nodiscard]] Metric activeMetric() const { return m_active; }

    [[nodiscard]] const PlotColors& colors() const { return m_colors; }

    /// Whether the keyboard brought the focus here: a mouse user needs no frame.
    [[nodiscard]] bool showsFocus() const { return m_showsFocus; }

    /// Replots when the event loop is next idle; nothing while hidden.
    void requestReplot();

    /// Milliseconds of the last replot, and how many there were.
    [[nodiscard]] double replotMs() const { return m_replotMs; }

    /// Takes the legend into the picture while it lives.
    class ExportScope
    {
    public:
        ExportScope(PlotCanvas& canvas, std::vector<LegendRow::Entry> entries);
        ~ExportScope();
        ExportScope(const ExportScope&) = delete;
        ExportScope& operator=(const ExportScope&) = delete;

    private:
        PlotCanvas& m_canvas;
        LegendRow* m_legend;
    };

signals:
    /// The view was changed by a person, from `before` to view().
    void viewEdited(const mantissa::ViewState& before, const QString& what, int kind);
    void pointerMoved(const QPointF& position, bool inPlot);
    void cursorKey(int steps, bool toEnd);
    void fitRequested();
    void fitHeightRequested(mantissa::Metric metric);
    void menuRequested(mantissa::Metric metric, const QPoint& globalPosition);
    void replotted(double milliseconds);

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

    [[nodiscard]] QSize sizeHint() const override { return {720, 480}; }

private:
    struct Panel
    {
        QCPAxisRect* rect = nullptr;
        CurvePlottable* curves = nullptr;
        PanelHeader* header = nullptr;
        QString note;
        bool isShown = true;
    };

    enum class Drag { None, Box, Pan };

    [[nodiscard]] Panel& panel(Metric metric) { return m_panels[static_cast<std::size_t>(metric)]; }

    [[nodiscard]] const Panel& panel(Metric metric) const { return m_panels[static_cast<std::size_t>(metric)]; }

    [[nodiscard]] QCPAxis* stepAxis(Metric metric) const;
    [[nodiscard]] QCPAxis* valueAxis(Metric metric) const;
    void buildPanel(Metric metric);
    void showPanels();
    void applyTheme();
    void applyAxisStyle(Metric metric);
    void applyScale(Metric metric);
    void applyMargins();
    void placeHeaders();
    void applyRanges();
    void zoomToBox();
    void panTo(const QPointF& position);
    void zoomValues(Metric metric, double factor, double atPixel);
    [[nodiscard]] AxisRange limitedSteps(AxisRange range) const;
    [[nodiscard]] std::optional<Metric> metricNear(const QPointF& position) const; ///< axis labels included

    std::array<Panel, metricCount> m_panels;
    ViewState m_view;
    AxisRange m_dataRange {0, 100};
    PlotColors m_colors;
    DecorOverlay* m_decor = nullptr;
    CursorOverlay* m_cursor = nullptr;
    Metric m_active = Metric::Loss;
    Drag m_drag = Drag::None;
    Metric m_dragMetric = Metric::Loss;
    QPointF m_dragStart;
    QPointF m_dragNow;
    ViewState m_dragView;
    QElapsedTimer m_clock;
    double m_replotMs = 0;
    bool m_showsFocus = false;
};

} // namespace mantissa
