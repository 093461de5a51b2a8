/// Parallel coordinates of a sweep: an axis for each setting and result, a line for each run, coloured by a result.
///
/// A drag along an axis keeps the runs that pass there, a click on the axis drops that; a click on a line selects it.
/// With the keyboard: left and right go from axis to axis, up and down from run to run along it, Shift with them widens
/// what is kept on the axis, Escape drops it.
#pragma once

#include "ui/sweep/sweep_axis.h"

#include <QColor>
#include <QWidget>

#include <map>
#include <optional>
#include <utility>
#include <vector>

class QPainter;

namespace mantissa {

struct ResultRange;

class ParallelPlot : public QWidget
{
    Q_OBJECT
public:
    explicit ParallelPlot(QWidget* parent = nullptr);

    /// `range` colours the lines. What was kept on an axis of the same title stays.
    void show(const SweepTable& table, const ResultRange& range);
    void showText(const QString& why); ///< instead of a plot

    [[nodiscard]] const std::vector<SweepAxis>& axes() const { return m_axes; }

    void select(std::optional<std::size_t> row);

    [[nodiscard]] std::optional<std::size_t> selected() const { return m_selected; }

    /// Keeps the rows between two places of an axis; equal places drop it.
    void keep(std::size_t axis, double from, double to);
    void keepAll();
    [[nodiscard]] bool isKept(std::size_t row) const;

    [[nodiscard]] bool keepsSome() const { return !m_kept.empty(); }

    /// As on the screen, into any device; for exports.
    void paint(QPainter& painter, const QSize& size) const;
    /// Where a row meets an axis, in the widget's pixels; nothing where it has no value.
    [[nodiscard]] std::optional<QPointF> pointOf(std::size_t row, std::size_t axis) const;
    /// The run at a place, in words; empty where there is none.
    [[nodiscard]] QString textAt(const QPoint& position) const;

    [[nodiscard]] QSize sizeHint() const override { return {560, 260}; }

    [[nodiscard]] QSize minimumSizeHint() const override { return {280, 170}; }

signals:
    void rowSelected(int row); ///< by a person; -1: none
    void keptChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override; ///< tooltips, and keys before shortcuts take them
    void changeEvent(QEvent* event) override;

private:
    struct Scene;

    [[nodiscard]] Scene sceneFor(const QSize& size) const;
    void paintAxis(QPainter& painter, const Scene& scene, std::size_t axis) const;
    void paintLines(QPainter& painter, const Scene& scene) const;
    void paintRow(QPainter& painter, const Scene& scene, std::size_t row) const;
    void paintLegend(QPainter& painter, const Scene& scene) const;
    [[nodiscard]] std::optional<std::size_t> rowAt(const QPointF& position) const;
    [[nodiscard]] std::optional<std::size_t> axisAt(const QPointF& position) const;
    void choose(std::optional<std::size_t> row);
    void goAlong(int direction);
    void widen(int direction);
    void describeSelf();

    std::vector<SweepAxis> m_axes;
    std::vector<double> m_shares; ///< by row, for its colour; NaN: none
    QString m_colorTitle;
    QString m_colorLow;
    QString m_colorHigh;
    QString m_text;
    std::map<std::size_t, std::pair<double, double>> m_kept; ///< by axis: from, to
    std::optional<std::size_t> m_selected;
    std::size_t m_axis = 0; ///< of the keyboard
    std::optional<std::pair<std::size_t, double>> m_drag; ///< axis and place where it began
    bool m_hasMoved = false;
};

} // namespace mantissa
