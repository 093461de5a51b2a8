// Mouse and keyboard of PlotCanvas.
#include "ui/plots/plot_canvas.h"

#include <QKeyEvent>

#include <cmath>

namespace mantissa {

namespace {

constexpr double smallestDrag = 5; // pixels; below, a press is a click
constexpr double flatBox = 8; // pixels; a flatter box zooms one axis only
constexpr double wheelNotch = 0.83; // of the range after one notch of the wheel
constexpr int notchDelta = 120;

enum EditKind { WheelSteps = 1, WheelValues = 2, ScrollSteps = 3 };

double toUnit(double value, bool log)
{
    return log ? std::log(value) : value;
}

double fromUnit(double unit, bool log)
{
    return log ? std::exp(unit) : unit;
}

bool isUsable(const AxisRange& range, bool log)
{
    const double size = range.upper - range.lower;
    const double magnitude = std::max(std::abs(range.lower), std::abs(range.upper));
    const bool resolvable = std::isfinite(size) && size > 1e-12 * magnitude && size < 1e240;
    return resolvable && (!log || (range.lower > 1e-120 && range.upper / range.lower > 1.0001));
}

} // namespace

AxisRange PlotCanvas::limitedSteps(AxisRange range) const
{
    constexpr double fewest = 2;
    const double most = 4 * std::max(10.0, m_dataRange.upper - m_dataRange.lower);
    const double size = std::clamp(range.upper - range.lower, fewest, most);
    const double centre = (range.lower + range.upper) / 2;
    range = {centre - size / 2, centre + size / 2};
    // Some data stays in view, whatever one does.
    const double shift = std::max(0.0, m_dataRange.lower - 0.9 * size - range.lower)
        - std::max(0.0, range.upper - 0.9 * size - m_dataRange.upper);
    return {range.lower + shift, range.upper + shift};
}

void PlotCanvas::zoomSteps(double factor, double centre, int kind)
{
    ViewState next = m_view;
    const AxisRange& old = m_view.steps;
    next.steps = limitedSteps({centre - (centre - old.lower) * factor, centre + (old.upper - centre) * factor});
    next.followsSteps = false;
    edit(next, tr("Zoom"), kind);
}

void PlotCanvas::zoomValues(Metric metric, double factor, double atPixel)
{
    ViewState next = m_view;
    PanelView& zoomed = next[metric];
    const double at = toUnit(valueAxis(metric)->pixelToCoord(atPixel), zoomed.isLog);
    const double lower = toUnit(zoomed.range.lower, zoomed.isLog);
    const double upper = toUnit(zoomed.range.upper, zoomed.isLog);
    const AxisRange range {
        fromUnit(at - (at - lower) * factor, zoomed.isLog), fromUnit(at + (upper - at) * factor, zoomed.isLog)};
    if (isUsable(range, zoomed.isLog)) {
        zoomed.range = range;
        zoomed.follows = false;
        edit(next, tr("Zoom"), WheelValues);
    }
}

void PlotCanvas::mousePressEvent(QMouseEvent* event)
{
    const auto metric = metricAt(event->position());
    if (m_drag != Drag::None || !metric) {
        return;
    }
    const bool left = event->button() == Qt::LeftButton;
    if (event->button() == Qt::MiddleButton || (left && event->modifiers().testFlag(Qt::ControlModifier))) {
        m_drag = Drag::Pan;
        setCursor(Qt::ClosedHandCursor);
    } else if (left) {
        m_drag = Drag::Box;
    } else {
        return;
    }
    m_active = *metric;
    m_dragMetric = *metric;
    m_dragStart = event->position();
    m_dragNow = m_dragStart;
    m_dragView = m_view;
}

void PlotCanvas::mouseMoveEvent(QMouseEvent* event)
{
    const QPointF position = event->position();
    if (m_drag == Drag::Pan) {
        panTo(position);
    } else if (m_drag == Drag::Box) {
        const QRectF area = plotArea(m_dragMetric);
        m_dragNow = {
            std::clamp(position.x(), area.left(), area.right()), std::clamp(position.y(), area.top(), area.bottom())};
        QRectF box = QRectF(m_dragStart, m_dragNow).normalized();
        // The box shows what will be zoomed: a flat drag takes the whole height or width.
        if (box.height() < flatBox) {
            box.setTop(area.top());
            box.setBottom(area.bottom());
        } else if (box.width() < flatBox) {
            box.setLeft(area.left());
            box.setRight(area.right());
        }
        const bool isDrag = (m_dragNow - m_dragStart).manhattanLength() >= smallestDrag;
        m_cursor->setZoomBox(isDrag ? box : QRectF());
        redrawCursor();
    }
    const auto metric = metricAt(position);
    if (metric) {
        m_active = *metric;
    }
    if (m_drag != Drag::Pan) {
        emit pointerMoved(position, metric.has_value());
    }
}

void PlotCanvas::panTo(const QPointF& position)
{
    const QRectF area = plotArea(m_dragMetric);
    const QPointF moved = position - m_dragStart;
    ViewState next = m_dragView;
    const double steps = -moved.x() / area.width() * (m_dragView.steps.upper - m_dragView.steps.lower);
    if (std::abs(moved.x()) >= smallestDrag) {
        next.steps = limitedSteps({m_dragView.steps.lower + steps, m_dragView.steps.upper + steps});
        next.followsSteps = false;
    }
    PanelView& panned = next[m_dragMetric];
    if (std::abs(moved.y()) >= smallestDrag) {
        const double lower = toUnit(panned.range.lower, panned.isLog);
        const double upper = toUnit(panned.range.upper, panned.isLog);
        const double shift = moved.y() / area.height() * (upper - lower);
        const AxisRange range {fromUnit(lower + shift, panned.isLog), fromUnit(upper + shift, panned.isLog)};
        if (isUsable(range, panned.isLog)) {
            panned.range = range;
            panned.follows = false;
        }
    }
    setView(next);
}

void PlotCanvas::mouseReleaseEvent(QMouseEvent*)
{
    const Drag drag = std::exchange(m_drag, Drag::None);
    if (drag == Drag::Pan) {
        unsetCursor();
        if (!(m_view == m_dragView)) {
            emit viewEdited(m_dragView, tr("Pan"), 0);
        }
    } else if (drag == Drag::Box) {
        m_cursor->setZoomBox({});
        redrawCursor();
        if ((m_dragNow - m_dragStart).manhattanLength() >= smallestDrag) {
            zoomToBox();
        }
    }
}

void PlotCanvas::zoomToBox()
{
    const QRectF box = QRectF(m_dragStart, m_dragNow).normalized();
    ViewState next = m_view;
    if (box.width() >= flatBox) {
        next.steps = limitedSteps({pixelToStep(box.left()), pixelToStep(box.right())});
        next.followsSteps = false;
    }
    if (box.height() >= flatBox) {
        const QCPAxis* axis = valueAxis(m_dragMetric);
        const AxisRange range {axis->pixelToCoord(box.bottom()), axis->pixelToCoord(box.top())};
        PanelView& zoomed = next[m_dragMetric];
        if (isUsable(range, zoomed.isLog)) {
            zoomed.range = range;
            zoomed.follows = false;
        }
    }
    edit(next, tr("Zoom"));
}

void PlotCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    const auto metric = metricNear(event->position());
    if (event->button() != Qt::LeftButton || !metric) {
        return;
    }
    if (event->position().x() < plotArea(*metric).left()) {
        emit fitHeightRequested(*metric);
    } else {
        emit fitRequested();
    }
}

void PlotCanvas::wheelEvent(QWheelEvent* event)
{
    const auto metric = metricNear(event->position());
    if (!metric || m_drag != Drag::None) {
        event->ignore();
        return;
    }
    event->accept();
    m_active = *metric;
    // Alt turns a vertical wheel into a horizontal one on some systems.
    const QPoint delta = event->angleDelta();
    const double notches = static_cast<double>(delta.y() != 0 ? delta.y() : delta.x()) / notchDelta;
    const bool onLabels = event->position().x() < plotArea(*metric).left();
    if (event->modifiers().testFlag(Qt::ControlModifier) || onLabels) {
        zoomValues(*metric, std::pow(wheelNotch, notches), event->position().y());
    } else if (event->modifiers().testFlag(Qt::ShiftModifier) || (delta.y() == 0 && delta.x() != 0)) {
        ViewState next = m_view;
        const double shift = -0.1 * notches * (m_view.steps.upper - m_view.steps.lower);
        next.steps = limitedSteps({m_view.steps.lower + shift, m_view.steps.upper + shift});
        next.followsSteps = false;
        edit(next, tr("Pan"), ScrollSteps);
    } else {
        zoomSteps(std::pow(wheelNotch, notches), pixelToStep(event->position().x()), WheelSteps);
    }
    emit pointerMoved(event->position(), metricAt(event->position()).has_value());
}

void PlotCanvas::leaveEvent(QEvent* event)
{
    QCustomPlot::leaveEvent(event);
    emit pointerMoved({}, false);
}

void PlotCanvas::keyPressEvent(QKeyEvent* event)
{
    const int stride = event->modifiers().testFlag(Qt::ShiftModifier) ? 10 : 1;
    switch (event->key()) {
    case Qt::Key_Left:
        emit cursorKey(-stride, false);
        return;
    case Qt::Key_Right:
        emit cursorKey(stride, false);
        return;
    case Qt::Key_Home:
        emit cursorKey(-1, true);
        return;
    case Qt::Key_End:
        emit cursorKey(1, true);
        return;
    case Qt::Key_Escape:
        if (m_drag == Drag::Pan) {
            unsetCursor();
            setView(m_dragView);
        }
        m_drag = Drag::None;
        m_cursor->setZoomBox({});
        emit pointerMoved({}, false);
        redrawCursor();
        return;
    default:
        event->ignore();
    }
}

void PlotCanvas::contextMenuEvent(QContextMenuEvent* event)
{
    if (event->reason() == QContextMenuEvent::Keyboard) {
        emit menuRequested(m_active, mapToGlobal(plotArea(m_active).center()));
    } else if (const auto metric = metricNear(event->pos())) {
        m_active = *metric;
        emit menuRequested(*metric, event->globalPos());
    }
}

void PlotCanvas::focusInEvent(QFocusEvent* event)
{
    QCustomPlot::focusInEvent(event);
    m_showsFocus = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason
        || event->reason() == Qt::ShortcutFocusReason;
    if (m_showsFocus) {
        requestReplot();
    }
}

void PlotCanvas::focusOutEvent(QFocusEvent* event)
{
    QCustomPlot::focusOutEvent(event);
    if (std::exchange(m_showsFocus, false)) {
        requestReplot();
    }
}

} // namespace mantissa
