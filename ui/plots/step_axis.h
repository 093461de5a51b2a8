/// The axis of steps below a plot that is painted by hand.
#pragma once

#include <QRectF>
#include <QString>

#include <cstdint>

class QFont;
class QPainter;

namespace mantissa {

struct PlotColors;

/// 1, 2 or 5 times a power of ten, at least `step`: the distance of an axis' marks.
double roundStep(double step);

/// Steps [first, end) over the width of `area`, marked and numbered below it, and the title below the numbers: two
/// lines of text in all. Leaves the painter with the font it came with.
void paintStepAxis(QPainter& painter, const QRectF& area, std::int64_t first, std::int64_t end, const QString& title,
    const PlotColors& colors, const QFont& numbers);

} // namespace mantissa
