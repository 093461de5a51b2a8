#include "ui/graph/op_map_picture.h"

#include "ui/plots/picture_file.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace mantissa {

namespace {

constexpr double margin = 12;

} // namespace

OpMapPicture::OpMapPicture(const OpMap& map, const OpMapLayout& layout, const QFont& font, const QPalette& palette)
    : m_map(map)
    , m_layout(layout)
    , m_mapPainter(font, palette)
    , m_font(inPixels(font))
    , m_palette(palette)
{
}

void OpMapPicture::setTitle(const QString& title, const QString& summary, const QColor& laneColor)
{
    m_title = title;
    m_summary = summary;
    m_laneColor = laneColor;
}

double OpMapPicture::headerHeight() const
{
    return 2 * QFontMetricsF(m_font).height() + 2 * margin;
}

QSizeF OpMapPicture::size() const
{
    const double text = QFontMetricsF(m_font).horizontalAdvance(m_summary) + 2 * margin;
    return {std::max(m_layout.bounds.width(), text), m_layout.bounds.height() + headerHeight()};
}

void OpMapPicture::paint(QPainter& painter) const
{
    const QFontMetricsF metrics(m_font);
    painter.fillRect(QRectF(QPointF(), size()), m_palette.color(QPalette::Base));
    painter.fillRect(QRectF(0, 0, size().width(), 4), m_laneColor);
    painter.setPen(m_palette.color(QPalette::Text));
    QFont bold = m_font;
    bold.setBold(true);
    painter.setFont(bold);
    painter.drawText(QPointF(margin, margin + metrics.ascent()), m_title);
    painter.setFont(m_font);
    painter.drawText(QPointF(margin, margin + metrics.height() + metrics.ascent()), m_summary);
    painter.translate(0, headerHeight());
    m_mapPainter.paint(painter, m_map, m_layout, {}, m_layout.bounds);
}

QImage OpMapPicture::image(double scale) const
{
    return imageOf(size(), scale, [this](QPainter& painter) { paint(painter); });
}

void OpMapPicture::write(const QString& file) const
{
    writePicture(file, size(), m_title, [this](QPainter& painter) { paint(painter); });
}

} // namespace mantissa
