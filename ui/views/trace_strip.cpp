#include "ui/views/trace_strip.h"

#include "ui/style/number_format.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyleOptionFocusRect>
#include <QToolTip>

#include <algorithm>

namespace mantissa {

TraceStrip::TraceStrip(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Steps"));
}

void TraceStrip::setSteps(std::vector<bool> overflows)
{
    m_steps = std::move(overflows);
    moveTo(m_current);
    updateGeometry();
    emit changed();
}

void TraceStrip::setLength(int steps)
{
    std::vector<bool> resized = m_steps;
    resized.resize(static_cast<std::size_t>(std::max(steps, 1)), false);
    setSteps(std::move(resized));
}

int TraceStrip::side() const
{
    return fontMetrics().height() + 4;
}

int TraceStrip::columns(int width) const
{
    return std::max(1, width / side());
}

QRect TraceStrip::cell(int step) const
{
    const int across = columns(width());
    return {(step % across) * side(), (step / across) * side(), side() - 2, side() - 2};
}

int TraceStrip::stepAt(const QPoint& position) const
{
    const int column = position.x() / side();
    const int step = (position.y() / side()) * columns(width()) + column;
    const bool isInside = position.x() >= 0 && position.y() >= 0 && column < columns(width());
    return isInside && step < static_cast<int>(m_steps.size()) ? step : -1;
}

QSize TraceStrip::sizeHint() const
{
    const int wide = side() * 20;
    return {wide, heightForWidth(wide)};
}

int TraceStrip::heightForWidth(int width) const
{
    const int across = columns(width);
    return side() * ((static_cast<int>(m_steps.size()) + across - 1) / across);
}

QString TraceStrip::wordsFor(int step) const
{
    return m_steps[static_cast<std::size_t>(step)] ? tr("Step %1: a gradient is not finite").arg(formatCount(step))
                                                   : tr("Step %1: all gradients are finite").arg(formatCount(step));
}

void TraceStrip::set(int step, bool overflows)
{
    if (m_steps[static_cast<std::size_t>(step)] == overflows) {
        return;
    }
    m_steps[static_cast<std::size_t>(step)] = overflows;
    moveTo(step);
    emit changed();
}

void TraceStrip::moveTo(int step)
{
    m_current = std::clamp(step, 0, std::max(0, static_cast<int>(m_steps.size()) - 1));
    setAccessibleDescription(m_steps.empty() ? QString() : wordsFor(m_current));
    update();
}

void TraceStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    for (int step = 0; step < static_cast<int>(m_steps.size()); ++step) {
        const QRect area = cell(step);
        const bool overflows = m_steps[static_cast<std::size_t>(step)];
        painter.fillRect(area, palette().color(overflows ? QPalette::Text : QPalette::Base));
        painter.setPen(palette().color(overflows ? QPalette::Base : QPalette::Mid));
        if (overflows) {
            painter.drawText(area, Qt::AlignCenter, QStringLiteral("\u00d7"));
        } else {
            painter.drawRect(area.adjusted(0, 0, -1, -1));
        }
        if (hasFocus() && step == m_current) {
            painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
            painter.drawRect(area.adjusted(1, 1, -1, -1));
        }
    }
}

void TraceStrip::mousePressEvent(QMouseEvent* event)
{
    const int step = stepAt(event->position().toPoint());
    if (step >= 0 && event->button() == Qt::LeftButton) {
        m_paints = !m_steps[static_cast<std::size_t>(step)];
        set(step, m_paints);
    }
}

void TraceStrip::mouseMoveEvent(QMouseEvent* event)
{
    const int step = stepAt(event->position().toPoint());
    if (step >= 0 && event->buttons().testFlag(Qt::LeftButton)) {
        set(step, m_paints);
    }
}

void TraceStrip::keyPressEvent(QKeyEvent* event)
{
    const int across = columns(width());
    switch (event->key()) {
    case Qt::Key_Left:
        moveTo(m_current - 1);
        return;
    case Qt::Key_Right:
        moveTo(m_current + 1);
        return;
    case Qt::Key_Up:
        moveTo(m_current - across);
        return;
    case Qt::Key_Down:
        moveTo(m_current + across);
        return;
    case Qt::Key_Home:
        moveTo(0);
        return;
    case Qt::Key_End:
        moveTo(static_cast<int>(m_steps.size()) - 1);
        return;
    case Qt::Key_Space:
        if (!m_steps.empty()) {
            set(m_current, !m_steps[static_cast<std::size_t>(m_current)]);
        }
        return;
    default:
        QWidget::keyPressEvent(event);
    }
}

bool TraceStrip::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int step = stepAt(help->pos());
        QToolTip::showText(
            help->globalPos(), step >= 0 ? wordsFor(step) + QLatin1Char('\n') + toolTip() : QString(), this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace mantissa
