/// The whole op map as a picture: title, counts and legend above it. In its size at zoom 1.
#pragma once

#include "ui/graph/op_map_painter.h"

#include <QColor>
#include <QImage>
#include <QString>

namespace mantissa {

class OpMapPicture
{
public:
    /// Keeps references to `map` and `layout`.
    OpMapPicture(const OpMap& map, const OpMapLayout& layout, const QFont& font, const QPalette& palette);

    void setTitle(const QString& title, const QString& summary, const QColor& laneColor);

    [[nodiscard]] QSizeF size() const;
    [[nodiscard]] QImage image(double scale) const;
    /// As PNG (twice the size), PDF or SVG, by the file's suffix. Throws Error (Io) naming the file.
    void write(const QString& file) const;

private:
    void paint(QPainter& painter) const;
    [[nodiscard]] double headerHeight() const;

    const OpMap& m_map;
    const OpMapLayout& m_layout;
    OpMapPainter m_mapPainter;
    QFont m_font;
    QPalette m_palette;
    QString m_title;
    QString m_summary;
    QColor m_laneColor;
};

} // namespace mantissa
