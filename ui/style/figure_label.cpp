#include "ui/style/figure_label.h"

#include <QEvent>
#include <QPainter>

#include <utility>

namespace mantissa {

FigureLabel::FigureLabel(QString widest, QWidget* parent)
    : QWidget(parent)
    , m_widest(std::move(widest))
{
}

void FigureLabel::setText(const QString& text)
{
    if (text != m_text) {
        m_text = text;
        update();
    }
}

QSize FigureLabel::sizeHint() const
{
    const QFontMetrics metrics = fontMetrics();
    return {metrics.horizontalAdvance(m_widest), metrics.height()};
}

QSize FigureLabel::minimumSizeHint() const
{
    return sizeHint();
}

void FigureLabel::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.setPen(palette().color(foregroundRole()));
    painter.drawText(
        rect(), Qt::AlignRight | Qt::AlignVCenter, fontMetrics().elidedText(m_text, Qt::ElideMiddle, width()));
}

void FigureLabel::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        updateGeometry();
    }
    QWidget::changeEvent(event);
}

} // namespace mantissa
