/// A small picture of a reference run in the window's colours: the losses, and below them the scales where these move
/// or differ.
#pragma once

#include "engine/verify/reference_run.h"

#include <QFont>
#include <QPalette>
#include <QRectF>
#include <QString>

class QPainter;

namespace mantissa {

/// The lane's colour in the window: its own, or that of its place.
QColor referenceColor(const ReferenceRun& reference, std::size_t lane, const QPalette& palette);

/// Paints into `area`. Captions ("loss", "scale") are in `font`. A curve that breaks off ends in a cross.
void paintReference(
    QPainter& painter, const QRectF& area, const ReferenceRun& reference, const QPalette& palette, const QFont& font);

/// The picture in words, for those who do not see it: how each lane ended.
QString referenceSummary(const ReferenceRun& reference);

} // namespace mantissa
