#include "ui/views/order_strip.h"

#include "ui/language/language.h"
#include "ui/style/theme.h"
#include "ui/views/order_words.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int gap = 18; // between blocks, for the arrow
constexpr int padding = 10;
constexpr std::size_t slotCount = stepBlockCount + 1; // with backward

QString labelOf(StepBlock block, OrderStrip::Mark mark)
{
    return mark == OrderStrip::Mark::Wrong ? signOf(Tone::Problem) + QLatin1Char(' ') + blockLabel(block)
                                           : blockLabel(block);
}

} // namespace

OrderStrip::OrderStrip(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(tr("Order of the step"));
    announce();
    whenLanguageChanges(this, [this] {
        announce();
        update();
    });
}

void OrderStrip::setOrder(const StepOrder& order)
{
    if (!m_isDragging && order != m_order) {
        m_order = order;
        announce();
        update();
    }
}

void OrderStrip::setMark(StepBlock block, Mark mark, const QString& hint)
{
    Look& look = m_looks.at(static_cast<std::size_t>(block));
    if (look.mark != mark || look.hint != hint) {
        look = {mark, hint};
        update();
    }
}

void OrderStrip::announce()
{
    QStringList words {tr("backward")};
    for (const StepBlock block : m_order) {
        words << blockLabel(block);
    }
    setAccessibleDescription(words.join(QStringLiteral(", ")));
}

int OrderStrip::slotWidth() const
{
    const auto slotsCount = static_cast<int>(slotCount);
    return std::max((width() - gap * (slotsCount - 1)) / slotsCount, 1);
}

QRect OrderStrip::slotRect(std::size_t slot) const
{
    return {static_cast<int>(slot) * (slotWidth() + gap), 1, slotWidth(), height() - 2};
}

QRect OrderStrip::blockRect(StepBlock block) const
{
    return slotRect(static_cast<std::size_t>(std::ranges::find(m_order, block) - m_order.begin()) + 1);
}

QSize OrderStrip::sizeHint() const
{
    QSize size = minimumSizeHint();
    size.rwidth() += 14 * static_cast<int>(slotCount);
    return size;
}

QSize OrderStrip::minimumSizeHint() const
{
    const QFontMetrics metrics = fontMetrics();
    int widest = metrics.horizontalAdvance(tr("backward"));
    for (const StepBlock block : rightOrder) {
        widest = std::max(widest, metrics.horizontalAdvance(labelOf(block, Mark::Wrong)));
    }
    const auto slotsCount = static_cast<int>(slotCount);
    return {(widest + 2 * padding) * slotsCount + gap * (slotsCount - 1), metrics.height() + 2 * padding};
}

std::optional<std::size_t> OrderStrip::slotAt(const QPoint& position) const
{
    for (std::size_t slot = 0; slot < slotCount; ++slot) {
        if (slotRect(slot).contains(position)) {
            return slot;
        }
    }
    return std::nullopt;
}

// --- painting ---

void OrderStrip::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintBlock(painter, slotRect(0), tr("backward"), Mark::Unused, false);
    for (std::size_t i = 0; i < m_order.size(); ++i) {
        paintArrow(painter, i + 1);
        const Look& look = m_looks.at(static_cast<std::size_t>(m_order.at(i)));
        paintBlock(painter, slotRect(i + 1), labelOf(m_order.at(i), look.mark), look.mark,
            i == m_chosen && (hasFocus() || m_isDragging));
    }
}

void OrderStrip::paintBlock(QPainter& painter, const QRect& rect, const QString& text, Mark mark, bool isChosen) const
{
    const QPalette& colors = palette();
    const QColor plain = colors.color(QPalette::Text);
    const QColor faint = blend(plain, colors.color(QPalette::Base), 0.55);
    const QColor edge = mark == Mark::Wrong ? readableOn(QColor(0xD1, 0x3B, 0x2F), colors.color(QPalette::Base))
        : isChosen                          ? colors.color(QPalette::Highlight)
                                            : blend(plain, colors.color(QPalette::Base), 0.35);
    QPen pen(edge, isChosen || mark == Mark::Wrong ? 2 : 1);
    if (mark == Mark::Unused) {
        pen.setStyle(Qt::DotLine);
    }
    painter.setPen(pen);
    painter.setBrush(isChosen ? blend(colors.color(QPalette::Highlight), colors.color(QPalette::Base), 0.2)
                              : colors.color(QPalette::Base));
    painter.drawRoundedRect(QRectF(rect).adjusted(1, 1, -1, -1), 4, 4);
    painter.setPen(mark == Mark::Unused ? faint : mark == Mark::Wrong ? edge : plain);
    painter.drawText(rect, Qt::AlignCenter, text);
}

void OrderStrip::paintArrow(QPainter& painter, std::size_t slot) const
{
    const QRect rect = slotRect(slot);
    const QPointF tip(rect.left() - 4, rect.center().y() + 0.5);
    painter.setPen(QPen(blend(palette().color(QPalette::Text), palette().color(QPalette::Window), 0.55), 1.2));
    painter.drawLine(QPointF(rect.left() - gap + 4, tip.y()), tip);
    painter.drawLine(tip, tip + QPointF(-4, -3));
    painter.drawLine(tip, tip + QPointF(-4, 3));
}

// --- hand ---

void OrderStrip::moveBlock(std::size_t from, std::size_t to)
{
    const auto at = [this](std::size_t i) { return m_order.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to) {
        std::rotate(at(from), at(from + 1), at(to + 1));
    } else {
        std::rotate(at(to), at(from), at(from + 1));
    }
    m_chosen = to;
    announce();
    update();
}

void OrderStrip::mousePressEvent(QMouseEvent* event)
{
    const std::optional<std::size_t> slot = slotAt(event->position().toPoint());
    if (event->button() == Qt::LeftButton && slot && *slot > 0) {
        m_chosen = *slot - 1;
        m_before = m_order;
        m_isDragging = true;
        setCursor(Qt::ClosedHandCursor);
        update();
    }
}

void OrderStrip::mouseMoveEvent(QMouseEvent* event)
{
    const QPoint position = event->position().toPoint();
    const std::optional<std::size_t> slot = slotAt({position.x(), height() / 2});
    if (!m_isDragging) {
        setCursor(slot && *slot > 0 ? Qt::OpenHandCursor : Qt::ArrowCursor);
    } else if (slot && *slot > 0 && *slot - 1 != m_chosen) {
        moveBlock(m_chosen, *slot - 1);
    }
}

void OrderStrip::mouseReleaseEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_isDragging) {
        m_isDragging = false;
        setCursor(Qt::OpenHandCursor);
        update();
        if (m_order != m_before) {
            emit reordered(m_order);
        }
    }
}

void OrderStrip::keyPressEvent(QKeyEvent* event)
{
    const bool isLeft = event->key() == Qt::Key_Left;
    const bool isRight = event->key() == Qt::Key_Right;
    if (event->key() == Qt::Key_Escape && m_isDragging) {
        m_isDragging = false;
        m_order = m_before;
        unsetCursor();
        update();
        return;
    }
    if ((!isLeft && !isRight) || m_isDragging) {
        QWidget::keyPressEvent(event);
        return;
    }
    const std::size_t to
        = isLeft ? m_chosen - std::min<std::size_t>(m_chosen, 1) : std::min(m_chosen + 1, m_order.size() - 1);
    if (to == m_chosen) {
        return;
    }
    if ((event->modifiers() & Qt::ControlModifier) != 0) {
        moveBlock(m_chosen, to);
        emit reordered(m_order);
    } else {
        m_chosen = to;
        update();
    }
}

void OrderStrip::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update();
}

void OrderStrip::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    update();
}

bool OrderStrip::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    const std::optional<std::size_t> slot = slotAt(help->pos());
    if (!slot) {
        QToolTip::hideText();
        return true;
    }
    QString text = tr("Forward and backward: the gradients of the scaled loss");
    if (*slot > 0) {
        const StepBlock block = m_order.at(*slot - 1);
        const QString& hint = m_looks.at(static_cast<std::size_t>(block)).hint;
        text = blockHint(block) + (hint.isEmpty() ? QString() : QLatin1Char('\n') + hint);
    }
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

} // namespace mantissa
