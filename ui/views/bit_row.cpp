#include "ui/views/bit_row.h"

#include "ui/style/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int partGap = 4; // between sign, exponent and fraction

} // namespace

BitRow::BitRow(const FloatFormat& format, QWidget* parent)
    : QWidget(parent)
    , m_format(format)
    , m_chosen(format.bits() - 1)
{
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setCursor(Qt::PointingHandCursor);
    setToolTip(tr("Sign, exponent, fraction. Click a bit to turn it over; left and right choose one, Space turns it"));
}

void BitRow::setBits(std::uint32_t bits)
{
    if (bits != m_bits) {
        m_bits = bits;
        QString digits;
        for (int bit = m_format.bits() - 1; bit >= 0; --bit) {
            digits += (m_bits >> bit & 1U) != 0 ? QLatin1Char('1') : QLatin1Char('0');
        }
        setAccessibleDescription(digits);
        update();
    }
}

int BitRow::boxWidth() const
{
    return fontMetrics().horizontalAdvance(QLatin1Char('0')) + 5;
}

QSize BitRow::sizeHint() const
{
    return {m_format.bits() * boxWidth() + 2 * partGap + 2, fontMetrics().height() + 6};
}

QRect BitRow::bitRect(int bit) const
{
    const int fromLeft = m_format.bits() - 1 - bit;
    const int gaps = (fromLeft >= 1 ? 1 : 0) + (fromLeft >= 1 + m_format.exponentBits ? 1 : 0);
    return {1 + fromLeft * boxWidth() + gaps * partGap, 1, boxWidth(), height() - 2};
}

void BitRow::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    const QColor text = palette().color(QPalette::Text);
    const QColor base = palette().color(QPalette::Base);
    const bool isDark = base.lightness() < 128;
    for (int bit = m_format.bits() - 1; bit >= 0; --bit) {
        const QRect rect = bitRect(bit);
        const bool isSet = (m_bits >> bit & 1U) != 0;
        const int part = bit == m_format.bits() - 1 ? 3 : bit >= m_format.fractionBits ? 0 : 2;
        painter.fillRect(rect.adjusted(0, 0, -1, 0), blend(laneColor(part, isDark), base, isSet ? 0.4 : 0.12));
        painter.setPen(isSet ? text : blend(text, base, 0.6));
        painter.drawText(rect, Qt::AlignCenter, isSet ? QStringLiteral("1") : QStringLiteral("0"));
        if (hasFocus() && bit == m_chosen) {
            painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
            painter.drawRect(rect.adjusted(0, 0, -2, -1));
        }
    }
}

void BitRow::flip(int bit)
{
    m_chosen = bit;
    setBits(m_bits ^ (std::uint32_t {1} << bit));
    emit flipped(m_bits);
}

void BitRow::mousePressEvent(QMouseEvent* event)
{
    for (int bit = 0; bit < m_format.bits(); ++bit) {
        if (bitRect(bit).contains(event->position().toPoint())) {
            flip(bit);
            return;
        }
    }
}

void BitRow::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Left:
        m_chosen = std::min(m_chosen + 1, m_format.bits() - 1);
        break;
    case Qt::Key_Right:
        m_chosen = std::max(m_chosen - 1, 0);
        break;
    case Qt::Key_Space:
        flip(m_chosen);
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    update();
}

void BitRow::focusInEvent(QFocusEvent* event)
{
    QWidget::focusInEvent(event);
    update();
}

void BitRow::focusOutEvent(QFocusEvent* event)
{
    QWidget::focusOutEvent(event);
    update();
}

} // namespace mantissa
