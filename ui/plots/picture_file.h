/// What can be painted, as an image or as a file that a person chose.
#pragma once

#include <QImage>
#include <QSizeF>
#include <QString>

#include <functional>

class QPainter;
class QWidget;

namespace mantissa {

using PaintPicture = std::function<void(QPainter&)>;

/// `size` is in pixels of 1/96 inch, here and below; the image is `scale` times as large.
QImage imageOf(const QSizeF& size, double scale, const PaintPicture& paint);

/// Onto the clipboard, twice the size.
void copyPicture(const QSizeF& size, const PaintPicture& paint);

/// As PNG (twice the size), PDF or SVG, by the file's suffix. Throws Error (Io) naming the file.
void writePicture(const QString& file, const QSizeF& size, const QString& title, const PaintPicture& paint);

/// Asks for a file and hands it to `write`; a name without a suffix gets that of the chosen filter ("Picture (*.png)").
/// Says what was saved, or nothing if there is nothing to say. What `write` throws (Error) is shown.
QString saveByDialog(QWidget* parent, const QString& suggestion, const QString& filters,
    const std::function<void(const QString&)>& write);

} // namespace mantissa
