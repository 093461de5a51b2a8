#include "ui/plots/picture_file.h"

#include "engine/core/error.h"
#include "ui/plots/curve_export.h"

#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMessageBox>
#include <QPageSize>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>

namespace mantissa {

namespace {

constexpr int pixelsPerInch = 96;
constexpr double sharp = 2;

} // namespace

QImage imageOf(const QSizeF& size, double scale, const PaintPicture& paint)
{
    QImage image((size * scale).toSize(), QImage::Format_RGB32);
    QPainter painter(&image);
    painter.scale(scale, scale);
    paint(painter);
    return image;
}

void copyPicture(const QSizeF& size, const PaintPicture& paint)
{
    QGuiApplication::clipboard()->setImage(imageOf(size, sharp, paint));
}

void writePicture(const QString& file, const QSizeF& size, const QString& title, const PaintPicture& paint)
{
    writeFile(file, [&](QIODevice& device) {
        if (file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) {
            QPdfWriter writer(&device);
            writer.setResolution(pixelsPerInch);
            writer.setPageSize(QPageSize(size / pixelsPerInch, QPageSize::Inch, QString(), QPageSize::ExactMatch));
            writer.setPageMargins(QMarginsF());
            writer.setTitle(title);
            writer.setCreator(QStringLiteral("Mantissa"));
            QPainter painter(&writer);
            paint(painter);
            return true;
        }
        if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) {
            QSvgGenerator generator;
            generator.setOutputDevice(&device);
            generator.setSize(size.toSize());
            generator.setViewBox(QRectF(QPointF(), size));
            generator.setResolution(pixelsPerInch);
            generator.setTitle(title);
            QPainter painter(&generator);
            paint(painter);
            return true;
        }
        return imageOf(size, sharp, paint).save(&device, "PNG");
    });
}

QString saveByDialog(QWidget* parent, const QString& suggestion, const QString& filters,
    const std::function<void(const QString&)>& write)
{
    QString filter;
    QString file = QFileDialog::getSaveFileName(parent, QObject::tr("Export"), suggestion, filters, &filter);
    if (file.isEmpty()) {
        return {};
    }
    if (QFileInfo(file).suffix().isEmpty()) {
        file += filter.section(QLatin1Char('*'), 1).chopped(1);
    }
    try {
        write(file);
        return QObject::tr("Saved %1").arg(QDir::toNativeSeparators(file));
    } catch (const Error& error) {
        QMessageBox::warning(parent, QObject::tr("Export"), QString::fromUtf8(error.what()));
        return {};
    }
}

} // namespace mantissa
