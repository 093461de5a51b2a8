#include "ui/plots/curve_export.h"

#include "engine/core/error.h"
#include "ui/plots/plot_canvas.h"
#include "ui/style/number_format.h"

#include <QCoreApplication>
#include <QSaveFile>

namespace mantissa {

namespace {

QByteArray number(const std::optional<double>& value)
{
    return value ? formatExact(*value).toLatin1() : QByteArray();
}

} // namespace

QByteArray quoted(const QString& text, char separator)
{
    QByteArray field = text.toUtf8();
    if (field.contains(separator) || field.contains('"') || field.contains('\n')) {
        field.replace("\"", "\"\"");
        field = '"' + field + '"';
    }
    return field;
}

bool writeCurves(QIODevice& device, const LaneCollection& lanes, std::int64_t first, std::int64_t last, char separator)
{
    const QList<QByteArray> header {"lane", "step", "loss", "grad_norm", "grad_norm_clipped", "scale", "skipped",
        "validation_loss", "validation_accuracy"};
    bool ok = device.write(header.join(separator) + '\n') >= 0;
    for (const auto& lane : lanes.lanes()) {
        if (!lane->isVisible) {
            continue;
        }
        const QByteArray name = quoted(lane->curve.name, separator);
        lane->steps.forEach(first, last, [&](std::int64_t step, double) {
            const auto norm = lane->gradNorm.at(step);
            const auto clipped = lane->gradNormClipped.at(step);
            const QByteArray line = name + separator + QByteArray::number(static_cast<qlonglong>(step)) + separator
                + number(lane->loss.at(step)) + separator + number(norm) + separator + number(clipped ? clipped : norm)
                + separator + number(lane->scale.at(step)) + separator
                + (!lane->curve.knowsSkips           ? ""
                        : lane->skips.contains(step) ? "1"
                                                     : "0")
                + separator + number(lane->heldOutLoss.at(step)) + separator + number(lane->accuracy.at(step)) + '\n';
            ok = ok && device.write(line) == line.size();
        });
    }
    return ok;
}

void paintCanvas(PlotCanvas& canvas, QPaintDevice& device, double scale)
{
    QCPPainter painter(&device);
    painter.setMode(QCPPainter::pmVectorized, device.paintEngine()->type() != QPaintEngine::Raster);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.scale(scale, scale);
    painter.fillRect(QRect(QPoint(0, 0), canvas.size()), canvas.colors().surround);
    canvas.toPainter(&painter, canvas.width(), canvas.height());
}

void writeFile(const QString& file, const std::function<bool(QIODevice&)>& write)
{
    QSaveFile target(file);
    const bool written = target.open(QIODevice::WriteOnly) && write(target) && target.commit();
    if (!written) {
        const QString text = QCoreApplication::translate(
            "mantissa::Dashboard", "Cannot write %1: %2. Choose another folder, or free space on the disk.")
                                 .arg(file, target.errorString());
        throw Error(ErrorCode::Io, text.toStdString());
    }
}

} // namespace mantissa
