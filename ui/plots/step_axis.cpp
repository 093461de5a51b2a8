#include "ui/plots/step_axis.h"

#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QFontMetrics>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace mantissa {

double roundStep(double step)
{
    const double unit = std::pow(10, std::floor(std::log10(step)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * unit >= step) {
            return factor * unit;
        }
    }
    return 10 * unit;
}

void paintStepAxis(QPainter& painter, const QRectF& area, std::int64_t first, std::int64_t end, const QString& title,
    const PlotColors& colors, const QFont& numbers)
{
    const QFont before = painter.font();
    const QFontMetrics metrics(numbers);
    const auto steps = static_cast<double>(end - first);
    const double perLabel = metrics.horizontalAdvance(QStringLiteral("1,000,000")) * 1.5;
    const auto every = static_cast<std::int64_t>(roundStep(std::max(1.0, steps * perLabel / area.width())));
    painter.setFont(numbers);
    for (std::int64_t at = (first + every - 1) / every * every; at < end; at += every) {
        const double x = area.left() + static_cast<double>(at - first) / steps * area.width();
        painter.setPen(colors.axis);
        painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 3));
        painter.setPen(colors.faintText);
        painter.drawText(
            QRectF(x - perLabel / 2, area.bottom() + 4, perLabel, metrics.height()), Qt::AlignHCenter, formatCount(at));
    }
    painter.setFont(before);
    painter.setPen(colors.text);
    painter.drawText(QRectF(area.left(), area.bottom() + metrics.height() + 5, area.width(), metrics.height() + 2),
        Qt::AlignHCenter, title);
}

} // namespace mantissa
