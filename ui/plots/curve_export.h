/// The dashboard's numbers and pictures as files.
#pragma once

#include "ui/plots/lane_data.h"

#include <QString>

#include <functional>

class QIODevice;
class QPaintDevice;

namespace mantissa {

class PlotCanvas;

/// Steps first .. last of the visible lanes as text: lane, step, loss, grad_norm, grad_norm_clipped, scale, skipped,
/// one line per lane and step under a header line; full digits, C locale, "nan" and "inf" as pandas reads them. Commas
/// in names are quoted. False if the device refused the text.
bool writeCurves(QIODevice& device, const LaneCollection& lanes, std::int64_t first, std::int64_t last, char separator);

/// Paints `canvas`, legend included, in its size on screen.
void paintCanvas(PlotCanvas& canvas, QPaintDevice& device, double scale);

/// `text` as a field of a line whose fields `separator` parts: quoted where it must be.
QByteArray quoted(const QString& text, char separator);

/// Opens `file`, lets `write` fill it, and replaces the old file only if all went well. Throws Error (Io).
void writeFile(const QString& file, const std::function<bool(QIODevice&)>& write);

} // namespace mantissa
