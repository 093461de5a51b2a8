#include "ui/protocol/picture_view.h"

#include <QPainter>

namespace mantissa {

PictureView::PictureView(QWidget* parent)
    : QWidget(parent)
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void PictureView::show(const QByteArray& svg, const QSizeF& size)
{
    m_renderer.load(svg);
    m_size = size;
    updateGeometry();
    update();
}

QSize PictureView::sizeHint() const
{
    return m_size.toSize();
}

int PictureView::heightForWidth(int width) const
{
    return static_cast<int>(width * m_size.height() / m_size.width());
}

void PictureView::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(rect(), Qt::white);
    const QSizeF fitting = m_size.scaled(size(), Qt::KeepAspectRatio);
    m_renderer.render(&painter,
        QRectF((width() - fitting.width()) / 2, (height() - fitting.height()) / 2, fitting.width(), fitting.height()));
}

} // namespace mantissa
