#include "ui/style/reference_picture.h"

#include "ui/style/number_format.h"
#include "ui/style/theme.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace mantissa {

namespace {

constexpr double scaleShare = 0.3; ///< of the height, for the scales
constexpr double padding = 4;
constexpr double wideRange = 20; ///< largest loss to smallest, from which on the axis is logarithmic

QString translated(const char* text)
{
    return QCoreApplication::translate("ReferencePicture", text);
}

struct Axis
{
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    bool isLog = false;

    [[nodiscard]] std::optional<double> place(double value) const
    {
        if (!std::isfinite(value) || (isLog && value <= 0)) {
            return {};
        }
        return isLog ? std::log2(value) : value;
    }

    void include(double value)
    {
        if (const auto at = place(value)) {
            low = std::min(low, *at);
            high = std::max(high, *at);
        }
    }

    [[nodiscard]] double share(double at) const
    {
        const double length = high - low;
        return length > 0 && std::isfinite(length) ? (at - low) / length : 0.5;
    }
};

Axis lossAxis(const ReferenceRun& reference)
{
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0;
    for (const ReferenceLane& lane : reference.lanes) {
        for (const auto& [step, value] : lane.loss) {
            if (std::isfinite(value) && value > 0) {
                smallest = std::min(smallest, value);
                largest = std::max(largest, value);
            }
        }
    }
    Axis axis {.isLog = largest > wideRange * smallest};
    for (const ReferenceLane& lane : reference.lanes) {
        for (const auto& [step, value] : lane.loss) {
            axis.include(value);
        }
    }
    return axis;
}

Axis scaleAxis(const ReferenceRun& reference)
{
    Axis axis {.isLog = true};
    for (const ReferenceLane& lane : reference.lanes) {
        for (const auto& [step, value] : lane.scale) {
            axis.include(value);
        }
    }
    return axis;
}

double lastStep(const ReferenceRun& reference)
{
    double last = 1;
    for (const ReferenceLane& lane : reference.lanes) {
        if (!lane.loss.empty()) {
            last = std::max(last, lane.loss.back()[0]);
        }
    }
    return last;
}

struct Frame
{
    QRectF area;
    Axis axis;
    double steps = 1;

    [[nodiscard]] QPointF point(double step, double at) const
    {
        return {area.left() + step / steps * area.width(), area.bottom() - axis.share(at) * area.height()};
    }
};

void drawCross(QPainter& painter, const QPointF& at)
{
    constexpr double reach = 3;
    painter.drawLine(at - QPointF(reach, reach), at + QPointF(reach, reach));
    painter.drawLine(at - QPointF(reach, -reach), at + QPointF(reach, -reach));
}

void drawCurve(QPainter& painter, const ReferenceCurve& curve, const Frame& frame, bool isStairs)
{
    QPainterPath path;
    QPointF before;
    bool isDrawn = false; // whether the line goes on from there
    for (const auto& [step, value] : curve) {
        const auto at = frame.axis.place(value);
        if (!at) {
            if (isDrawn && !isStairs) {
                drawCross(painter, before);
            }
            isDrawn = false;
            continue;
        }
        const QPointF point = frame.point(step, *at);
        if (!isDrawn) {
            path.moveTo(point);
        } else {
            if (isStairs) {
                path.lineTo(point.x(), before.y());
            }
            path.lineTo(point);
        }
        before = point;
        isDrawn = true;
    }
    painter.drawPath(path);
}

/// In the column left of the curves.
void drawCaption(QPainter& painter, const QRectF& beside, double width, const QString& text, const QColor& color)
{
    painter.setPen(color);
    painter.drawText(QRectF(beside.left() - width, beside.top(), width, beside.height()),
        Qt::AlignTop | Qt::AlignLeft | Qt::TextDontClip, text);
}

} // namespace

QColor referenceColor(const ReferenceRun& reference, std::size_t lane, const QPalette& palette)
{
    const QColor own(QString::fromStdString(reference.lanes[lane].color));
    return own.isValid() ? readableOn(own, plotColors(palette).background)
                         : laneColor(static_cast<int>(lane), isDark(palette));
}

void paintReference(
    QPainter& painter, const QRectF& area, const ReferenceRun& reference, const QPalette& palette, const QFont& font)
{
    const PlotColors colors = plotColors(palette);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(area, colors.background);
    painter.setFont(font);
    const Axis scales = scaleAxis(reference);
    const bool showsScale = scales.high > scales.low;
    const double steps = lastStep(reference);
    const QString lossWord = translated(QT_TRANSLATE_NOOP("ReferencePicture", "loss"));
    const QString scaleWord = translated(QT_TRANSLATE_NOOP("ReferencePicture", "scale"));
    const QFontMetricsF metrics(font);
    const double captions
        = std::max(metrics.horizontalAdvance(lossWord), metrics.horizontalAdvance(scaleWord)) + 2 * padding;
    QRectF lossArea = area.adjusted(padding + captions, padding, -padding, -padding);
    if (showsScale) {
        lossArea.setBottom(lossArea.top() + lossArea.height() * (1 - scaleShare));
    }
    const Frame loss {lossArea, lossAxis(reference), steps};
    const Frame scale {QRectF(lossArea.left(), lossArea.bottom() + 2 * padding, lossArea.width(),
                           area.bottom() - padding - lossArea.bottom() - 2 * padding),
        scales, steps};
    drawCaption(painter, lossArea, captions, lossWord, colors.faintText);
    if (showsScale) {
        painter.setPen(QPen(colors.grid, 1));
        painter.drawLine(
            QPointF(area.left(), lossArea.bottom() + padding), QPointF(area.right(), lossArea.bottom() + padding));
        drawCaption(painter, scale.area, captions, scaleWord, colors.faintText);
    }
    for (std::size_t lane = 0; lane < reference.lanes.size(); ++lane) {
        QPen pen(referenceColor(reference, lane, palette), 1.6, laneStyle(static_cast<int>(lane)));
        pen.setJoinStyle(Qt::RoundJoin);
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        drawCurve(painter, reference.lanes[lane].loss, loss, false);
        if (showsScale) {
            drawCurve(painter, reference.lanes[lane].scale, scale, true);
        }
    }
    painter.restore();
}

QString referenceSummary(const ReferenceRun& reference)
{
    QStringList parts;
    for (const ReferenceLane& lane : reference.lanes) {
        const QString name = QString::fromStdString(lane.name);
        const QString skipped = lane.skippedSteps > 0
            ? QCoreApplication::translate("ReferencePicture", ", %1 steps skipped").arg(formatCount(lane.skippedSteps))
            : QString();
        parts.append(lane.status == RunStatus::Diverged
                ? QCoreApplication::translate("ReferencePicture", "%1: diverged after %2 steps%3")
                      .arg(name, formatCount(lane.steps), skipped)
                : QCoreApplication::translate("ReferencePicture", "%1: loss %2 after %3 steps%4")
                      .arg(name, formatValue(lane.finalLoss), formatCount(lane.steps), skipped));
    }
    return parts.join(QStringLiteral("; "));
}

} // namespace mantissa
