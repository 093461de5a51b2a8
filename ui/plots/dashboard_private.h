/// The parts of Dashboard and how they act together.
#pragma once

#include "ui/plots/dashboard.h"
#include "ui/plots/lane_data.h"
#include "ui/plots/lane_table.h"
#include "ui/plots/plot_canvas.h"
#include "ui/plots/view_state.h"

#include <QElapsedTimer>
#include <QLabel>
#include <QPointF>
#include <QUndoStack>

namespace mantissa {

class Dashboard::Private
{
public:
    explicit Private(Dashboard* dashboard);

    // --- content (dashboard_content.cpp) ---
    void touch() { m_isDirty = true; }

    void retranslate();

    void refresh();
    /// `view` with every axis that follows fitted to the data.
    [[nodiscard]] ViewState fitted(ViewState view) const;
    void updateContent();
    void updateTable();
    void updateCursor();
    [[nodiscard]] const LaneData* baselineLane() const;
    [[nodiscard]] bool showsDistance() const;
    [[nodiscard]] QString summary() const;

    // --- actions (dashboard_actions.cpp) ---
    void connectParts();
    void editView(ViewState view, const QString& what, int kind = 0);
    void announce(const ViewState& before);
    void onPointer(const QPointF& position, bool inPlot);
    void placeCursor(std::optional<std::int64_t> step);
    void toggleLog(Metric metric);
    void fitHeight(Metric metric);
    void showMenu(Metric metric, const QPoint& globalPosition);
    void fillExportMenu(QMenu* menu);
    void save(const QString& file, const std::function<void()>& write);
    void chooseFileAndSave(int kind);
    [[nodiscard]] std::vector<LegendRow::Entry> legend() const;

    Dashboard* q;
    LaneCollection data;
    PlotCanvas* canvas = nullptr;
    LaneTable* table = nullptr;
    QLabel* emptyLabel = nullptr;
    QLabel* frameLabel = nullptr;
    QUndoStack* undo = nullptr;
    std::optional<quint64> baselineKey;
    std::optional<quint64> distanceKey;
    std::optional<quint64> highlighted;
    qint64 expectedSteps = 0;
    FrameTime frame;

    void setDrawingShare(double share) { m_drawingShare = share; }

private:
    [[nodiscard]] bool isFrameDue() const;
    [[nodiscard]] bool isLayoutFresh() const;

    struct PanelSeries
    {
        const LaneData* lane;
        const SeriesPyramid* series;
        bool isSecond = false; ///< beside the lane's curve that the plot is about: dotted, never smoothed
    };

    [[nodiscard]] std::vector<PanelSeries> seriesOf(Metric metric) const;
    [[nodiscard]] double usualMaximum(Metric metric, std::int64_t first, std::int64_t last, double minimum) const;
    [[nodiscard]] AxisRange fittedValues(Metric metric, const ViewState& view) const;
    [[nodiscard]] std::vector<Curve> curvesOf(Metric metric) const;
    [[nodiscard]] QString noteOf(Metric metric) const;
    [[nodiscard]] QColor colorOf(const LaneData& lane) const;
    [[nodiscard]] Qt::PenStyle styleOf(const LaneData& lane) const;
    [[nodiscard]] LaneRow rowOf(const LaneData& lane) const;
    void updateMarks();
    void addDots(const LaneData& lane, std::vector<CursorDot>& dots, double& pointerDistance) const;
    [[nodiscard]] QString endingAt(const QPointF& position) const;

    std::optional<std::int64_t> m_cursorStep;
    std::optional<QPointF> m_pointer;
    std::optional<quint64> m_nearest;
    std::map<quint64, double> m_pointerDistances;
    bool m_isDirty = true;
    bool m_isTableStale = true;
    bool m_showsTip = false;
    double m_refreshMs = 0;
    double m_drawingShare = 1;
    QElapsedTimer m_sinceFrame;
    QElapsedTimer m_tableClock;
    QElapsedTimer m_sinceLayout; ///< since the difference was opened or closed
    QElapsedTimer m_frameLabelClock;
};

} // namespace mantissa
