#include "ui/layers/ledger_strip.h"

#include "ui/layers/layer_words.h"
#include "ui/style/theme.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QStyleOptionFocusRect>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr int margin = 8;
constexpr int markHeight = 6;
constexpr int trackHeight = 14;
constexpr int markGap = 2;
constexpr double leastTick = 0.4; // of the track: one skipped step among thousands must be seen

} // namespace

LedgerStrip::LedgerStrip(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Steps taken and skipped"));
    setToolTip(tr("A click puts the crosshair there; Left and Right go to the skipped step before and after"));
}

void LedgerStrip::setLedger(const SkipLedger* ledger)
{
    m_ledger = ledger;
    follow();
}

void LedgerStrip::setStep(std::optional<std::int64_t> step)
{
    m_step = step;
    follow();
}

void LedgerStrip::follow()
{
    const QString words = m_ledger == nullptr ? QString() : ledgerSentence(*m_ledger);
    const QString chosen = m_ledger == nullptr || !m_step ? QString() : ledgerStepsText(*m_ledger, *m_step, *m_step);
    setAccessibleDescription(chosen.isEmpty() ? words : words + QLatin1Char('\n') + chosen);
    update();
}

QSize LedgerStrip::sizeHint() const
{
    return {200, trackHeight + 2 * (markHeight + markGap) + 2};
}

int LedgerStrip::xOf(std::int64_t step) const
{
    const auto steps = static_cast<double>(m_ledger->lastStep() - m_ledger->firstStep() + 1);
    const double width = this->width() - 2.0 * margin;
    return margin + static_cast<int>(std::floor(static_cast<double>(step - m_ledger->firstStep()) * width / steps));
}

std::optional<LedgerStrip::Steps> LedgerStrip::stepsAt(int x) const
{
    const int width = this->width() - 2 * margin;
    if (m_ledger == nullptr || m_ledger->empty() || x < margin || x >= margin + width) {
        return std::nullopt;
    }
    const std::int64_t first = m_ledger->firstStep();
    const auto steps = static_cast<double>(m_ledger->lastStep() - first + 1);
    const double perPixel = steps / width;
    // The inverse of xOf(): a step belongs to the pixel that it begins in; with few steps one lies on several pixels.
    const auto begin = first + static_cast<std::int64_t>(std::ceil((x - margin) * perPixel));
    const auto end = first + static_cast<std::int64_t>(std::ceil((x - margin + 1) * perPixel));
    if (end > begin) {
        return Steps {begin, std::min(end - 1, m_ledger->lastStep())};
    }
    return Steps {begin - 1, begin - 1};
}

void LedgerStrip::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const PlotColors colors = plotColors(palette());
    const int top = markHeight + markGap + 1;
    const QRect track(margin, top, width() - 2 * margin, trackHeight);
    painter.fillRect(track, blend(colors.text, colors.surround, 0.12));
    if (m_ledger == nullptr || m_ledger->empty()) {
        return;
    }
    const auto triangle = [&painter](int x, int base, int tip) {
        const int half = markHeight / 2;
        painter.drawPolygon(QPolygon {QPoint(x - half, base), QPoint(x + half, base), QPoint(x, tip)});
    };
    int lastGrown = -markHeight;
    int lastLowered = -markHeight;
    painter.setRenderHint(QPainter::Antialiasing);
    for (int x = track.left(); x <= track.right(); ++x) {
        const auto steps = stepsAt(x);
        const LedgerCount count = m_ledger->count(steps->first, steps->last);
        const std::int64_t all = count.taken + count.skipped;
        if (count.skipped > 0) {
            const double share = std::max(leastTick, static_cast<double>(count.skipped) / static_cast<double>(all));
            const int tall = static_cast<int>(std::round(share * trackHeight));
            painter.fillRect(QRect(x, track.bottom() + 1 - tall, 1, tall), colors.text);
        }
        // Marks that would lie on each other are one mark.
        const bool isFirstPixel = x == track.left() || stepsAt(x - 1)->first != steps->first;
        if (count.grown > 0 && isFirstPixel && x >= lastGrown + markHeight) {
            lastGrown = x;
            painter.setPen(Qt::NoPen);
            painter.setBrush(colors.axis);
            triangle(x, top - markGap, top - markGap - markHeight);
        }
        if (count.backedOff > 0 && isFirstPixel && x >= lastLowered + markHeight) {
            lastLowered = x;
            painter.setPen(QPen(colors.text, 1));
            painter.setBrush(Qt::NoBrush);
            triangle(x, track.bottom() + 1 + markGap, track.bottom() + 1 + markGap + markHeight - 1);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    if (m_step && *m_step >= m_ledger->firstStep() && *m_step <= m_ledger->lastStep()) {
        const int x = xOf(*m_step);
        painter.setPen(QPen(colors.surround, 3));
        painter.drawLine(x, track.top() - 3, x, track.bottom() + 3);
        painter.setPen(QPen(colors.text, 1));
        painter.drawLine(x, track.top() - 3, x, track.bottom() + 3);
    }
    if (hasFocus()) {
        QStyleOptionFocusRect option;
        option.initFrom(this);
        option.rect = rect().adjusted(margin / 2, 0, -margin / 2, 0);
        style()->drawPrimitive(QStyle::PE_FrameFocusRect, &option, &painter, this);
    }
}

void LedgerStrip::choose(std::int64_t step)
{
    setStep(step);
    emit stepChosen(step);
}

void LedgerStrip::mousePressEvent(QMouseEvent* event)
{
    const auto steps = stepsAt(event->position().toPoint().x());
    if (!steps || event->button() != Qt::LeftButton) {
        return;
    }
    // Among thousands of steps on a pixel the skipped one is what was aimed at.
    const std::int64_t skip = m_ledger->nextSkip(steps->first);
    choose(skip >= 0 && skip <= steps->last ? skip : steps->first);
}

void LedgerStrip::keyPressEvent(QKeyEvent* event)
{
    if (m_ledger == nullptr || m_ledger->empty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const std::int64_t from = m_step.value_or(m_ledger->firstStep() - 1);
    std::int64_t to = -1;
    switch (event->key()) {
    case Qt::Key_Left:
        to = m_ledger->skipBefore(from);
        break;
    case Qt::Key_Right:
        to = m_ledger->nextSkip(from + 1);
        break;
    case Qt::Key_Home:
        to = m_ledger->firstStep();
        break;
    case Qt::Key_End:
        to = m_ledger->lastStep();
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    if (to >= 0) {
        choose(to);
    }
}

bool LedgerStrip::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto steps = stepsAt(help->x());
        const QString text
            = steps ? ledgerStepsText(*m_ledger, steps->first, steps->last) + QLatin1Char('\n') : QString();
        QToolTip::showText(help->globalPos(), text + toolTip(), this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace mantissa
