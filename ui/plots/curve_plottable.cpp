#include "ui/plots/curve_plottable.h"

#include "ui/style/theme.h"

#include <cmath>

namespace mantissa {

namespace {

constexpr double bandShare = 0.26; // of a curve's colour in its band
constexpr double dimmedShare = 0.38;
constexpr double dimmedBandShare = 0.08;
constexpr double markerSpacing = 9; // pixels between markers of one kind
constexpr double markerRadius = 3.6;
constexpr double strokeOffset = 0.8; // between both strokes of a highlighted line

// Qt's dashed pens go through a path stroker that is a hundred times slower, so dashes are cut here.

/// Dashes along a line, by its length.
void appendDashes(const QPolygonF& line, double on, double off, std::vector<QLineF>& into)
{
    const double period = on + off;
    double travelled = 0;
    for (qsizetype i = 1; i < line.size(); ++i) {
        const QPointF from = line[i - 1];
        const QPointF along = line[i] - from;
        const double length = std::hypot(along.x(), along.y());
        for (double at = 0; at < length;) {
            const double phase = std::fmod(travelled + at, period);
            const bool inked = phase < on;
            const double rest = std::max(1e-3, (inked ? on : period) - phase);
            const double end = std::min(length, at + rest);
            if (inked) {
                into.emplace_back(from + along * (at / length), from + along * (end / length));
            }
            at = end;
        }
        travelled += length;
    }
}

/// Dashes of a line that goes up and down so much that they could not be told apart along it: cut by x only.
void appendDashesByX(const QPolygonF& line, double on, double off, std::vector<QLineF>& into)
{
    const double period = on + off;
    const double start = line.front().x();
    for (qsizetype i = 1; i < line.size(); ++i) {
        if (std::fmod(line[i - 1].x() - start, period) < on) {
            into.emplace_back(line[i - 1], line[i]);
        }
    }
}

double lengthOf(const QPolygonF& line)
{
    double length = 0;
    for (qsizetype i = 1; i < line.size(); ++i) {
        length += std::abs(line[i].x() - line[i - 1].x()) + std::abs(line[i].y() - line[i - 1].y());
    }
    return length;
}

/// Each value holds until the next point.
QPolygonF stairs(const QPolygonF& line)
{
    QPolygonF result {line.front()};
    for (qsizetype i = 1; i < line.size(); ++i) {
        if (line[i].y() != line[i - 1].y()) {
            result.append(QPointF(line[i].x(), line[i - 1].y()));
            result.append(line[i]);
        }
    }
    result.append(line.back());
    return result;
}

} // namespace

double CurvePlottable::View::y(double value) const
{
    if (logarithmic) {
        if (!(value > 0)) {
            return bottom - 2; // above the axis line
        }
        value = std::log10(value);
    }
    // Far outside, coordinates would overflow the rasteriser.
    const double margin = bottom - top;
    return std::clamp(bottom - (value - lower) * pixelsPerUnit, top - margin, bottom + margin);
}

CurvePlottable::CurvePlottable(QCPAxis* keyAxis, QCPAxis* valueAxis)
    : QCPAbstractPlottable(keyAxis, valueAxis)
{
    setSelectable(QCP::stNone);
}

CurvePlottable::View CurvePlottable::view() const
{
    View view;
    const QRect area = mKeyAxis->axisRect()->rect();
    const QCPRange keys = mKeyAxis->range();
    const QCPRange values = mValueAxis->range();
    view.left = area.left();
    view.firstKey = keys.lower;
    view.pixelsPerStep = area.width() / keys.size();
    view.top = area.top();
    view.bottom = area.top() + area.height();
    view.logarithmic = mValueAxis->scaleType() == QCPAxis::stLogarithmic;
    view.lower = view.logarithmic ? std::log10(values.lower) : values.lower;
    view.pixelsPerUnit = area.height() / ((view.logarithmic ? std::log10(values.upper) : values.upper) - view.lower);
    view.steps.first = static_cast<std::int64_t>(std::max(0.0, std::floor(keys.lower) - 1));
    view.steps.last = static_cast<std::int64_t>(std::clamp(std::ceil(keys.upper) + 1, -1.0, 4e15));
    while (std::ldexp(view.pixelsPerStep, view.steps.log2Width) < 1 && view.steps.log2Width < 50) {
        ++view.steps.log2Width;
    }
    return view;
}

int CurvePlottable::log2ColumnWidth() const
{
    return view().steps.log2Width;
}

double CurvePlottable::valueToPixel(double value) const
{
    return view().y(value);
}

QColor CurvePlottable::lineColor(const Curve& curve) const
{
    return curve.dimmed ? blend(curve.color, m_background, dimmedShare) : curve.color;
}

QColor CurvePlottable::bandColor(const Curve& curve) const
{
    return blend(curve.color, m_background, curve.dimmed ? dimmedBandShare : bandShare);
}

void CurvePlottable::draw(QCPPainter* painter)
{
    const View seen = view();
    std::erase_if(m_cache, [this](const auto& entry) {
        return std::none_of(
            m_curves.begin(), m_curves.end(), [&](const Curve& curve) { return curve.series == entry.first; });
    });
    std::vector<const Curve*> ordered;
    for (const bool highlighted : {false, true}) {
        for (const Curve& curve : m_curves) {
            if (curve.highlighted == highlighted && !curve.series->empty()) {
                ordered.push_back(&curve);
            }
        }
    }
    drawBands(painter, ordered, seen);
    for (const Curve* curve : ordered) {
        drawLine(painter, *curve, seen);
        drawSkips(painter, *curve, seen);
        drawNonFinite(painter, *curve, seen);
        drawEnd(painter, *curve, seen);
    }
}

/// Calls fill(QRect) with each column's bar, in units of 1 / scale pixels.
template <typename Fill>
void CurvePlottable::forEachBandColumn(const Curve& curve, const View& view, double scale, Fill fill)
{
    const double width = std::ldexp(view.pixelsPerStep, view.steps.log2Width);
    for (const SeriesColumn& column : m_cache[curve.series].columns(*curve.series, view.steps)) {
        if (column.stats.finite == 0) {
            continue;
        }
        // Neighbours share a pixel edge, so that the band has no stripes.
        const double x = view.x(static_cast<double>(column.first));
        const int left = static_cast<int>(std::floor(x * scale));
        const int right = std::max(left + 1, static_cast<int>(std::floor((x + width) * scale)));
        const int top = static_cast<int>(std::floor(view.y(column.stats.maximum) * scale));
        const int bottom = std::max(top + 1, static_cast<int>(std::ceil(view.y(column.stats.minimum) * scale)));
        fill(QRect(left, top, right - left, bottom - top));
    }
}

void CurvePlottable::drawBands(QCPPainter* painter, const std::vector<const Curve*>& curves, const View& view)
{
    if (view.steps.log2Width == 0) {
        for (const Curve* curve : curves) {
            if (curve->smoothing > 0) {
                collect(*curve, view, false);
                strokePieces(painter, *curve, bandColor(*curve));
            }
        }
        return;
    }
    painter->setAntialiasing(false);
    if (painter->modes().testFlag(QCPPainter::pmVectorized)) {
        for (const Curve* curve : curves) {
            if (curve->hasBand) {
                const QColor color = bandColor(*curve);
                forEachBandColumn(*curve, view, 1, [&](const QRect& bar) { painter->fillRect(bar, color); });
            }
        }
        return;
    }
    const QRect area = mKeyAxis->axisRect()->rect();
    const double scale = painter->deviceTransform().m11();
    const QPoint corner(
        static_cast<int>(std::floor(area.left() * scale)), static_cast<int>(std::floor(area.top() * scale)));
    m_bands.start(
        QSize(static_cast<int>(std::ceil(area.width() * scale)), static_cast<int>(std::ceil(area.height() * scale))));
    for (const Curve* curve : curves) {
        if (curve->hasBand) {
            m_bands.startBand(bandColor(*curve));
            forEachBandColumn(
                *curve, view, scale, [&](const QRect& bar) { m_bands.addColumn(bar.translated(-corner)); });
        }
    }
    const QRect rows = m_bands.rows();
    if (!rows.isEmpty()) {
        painter->drawImage(
            QRectF(QPointF(corner + rows.topLeft()) / scale, QSizeF(rows.size()) / scale), m_bands.paint(), rows);
    }
}

void CurvePlottable::drawLine(QCPPainter* painter, const Curve& curve, const View& view)
{
    collect(curve, view, curve.smoothing > 0);
    strokePieces(painter, curve, lineColor(curve));
}

/// Fills m_pieces with the stretches of the curve between its breaks.
void CurvePlottable::collect(const Curve& curve, const View& view, bool smooth)
{
    m_samples.clear();
    if (smooth) {
        m_samples = m_cache[curve.series].smoothed(*curve.series, view.steps, curve.smoothing);
    } else if (view.steps.log2Width == 0) {
        // One value beyond either edge, wherever it lies: the line goes on outside.
        const auto& series = *curve.series;
        std::int64_t last = view.steps.last;
        if (curve.bridgesGaps && last < series.lastStep()) {
            last = std::max(last, series.stepAfter(last));
        }
        series.samples(series.stepBefore(view.steps.first, 1), last, m_samples);
    } else {
        for (const SeriesColumn& column : m_cache[curve.series].columns(*curve.series, view.steps)) {
            const bool finite = column.stats.finite > 0;
            const std::int64_t middle = curve.stepped ? column.first : (column.first + column.lastStep) / 2;
            const double value = !finite                            ? column.stats.last
                : curve.stepped && std::isfinite(column.stats.last) ? column.stats.last
                                                                    : column.stats.mean();
            m_samples.push_back({middle, value});
        }
    }
    breakPieces(curve, view);
}

void CurvePlottable::breakPieces(const Curve& curve, const View& view)
{
    m_pieces.clear();
    const std::int64_t reach = std::int64_t {2} << view.steps.log2Width;
    bool open = false;
    std::int64_t previous = 0;
    for (const SeriesSample& sample : m_samples) {
        if (!std::isfinite(sample.value)) {
            open = false;
            continue;
        }
        if (!open || (!curve.bridgesGaps && sample.step - previous >= reach)) {
            m_pieces.emplace_back();
            open = true;
        }
        previous = sample.step;
        m_pieces.back().append(QPointF(view.x(static_cast<double>(sample.step)), view.y(sample.value)));
    }
}

void CurvePlottable::strokePieces(QCPPainter* painter, const Curve& curve, const QColor& color)
{
    // Level stretches blur over two rows where they are smoothed; dashes would fade away.
    painter->setAntialiasing(!curve.stepped && curve.style == Qt::SolidLine);
    painter->setBrush(Qt::NoBrush);
    QPen pen(color, 1);
    pen.setCapStyle(Qt::FlatCap);
    painter->setPen(pen);
    const double on = curve.style == Qt::DashLine ? 7 : 2;
    const double off = curve.style == Qt::DashLine ? 4 : 3;
    // A thicker pen would be drawn a hundred times slower than the line a second time, beside itself.
    const int strokes = curve.highlighted ? 2 : 1;
    for (const QPolygonF& piece : m_pieces) {
        if (piece.size() == 1) {
            painter->fillRect(QRectF(piece.front() - QPointF(1.5, 1.5), QSizeF(3, 3)), color);
            continue;
        }
        QPolygonF line = curve.stepped ? stairs(piece) : piece;
        m_lines.clear();
        if (curve.style != Qt::SolidLine) {
            constexpr double restless = 4; // times as long as wide
            const bool byX = lengthOf(line) > restless * (line.back().x() - line.front().x() + off);
            byX ? appendDashesByX(line, on, off, m_lines) : appendDashes(line, on, off, m_lines);
        }
        for (int stroke = 0; stroke < strokes; ++stroke) {
            if (curve.style == Qt::SolidLine) {
                painter->drawPolyline(line);
            } else {
                painter->drawLines(m_lines.data(), static_cast<int>(m_lines.size()));
            }
            line.translate(0, strokeOffset);
            for (QLineF& dash : m_lines) {
                dash.translate(0, strokeOffset);
            }
        }
    }
}

void CurvePlottable::drawNonFinite(QCPPainter* painter, const Curve& curve, const View& view) const
{
    const auto& runs = curve.series->nonFiniteRuns();
    auto run = std::partition_point(
        runs.begin(), runs.end(), [&](const NonFiniteRun& candidate) { return candidate.last < view.steps.first; });
    painter->setAntialiasing(true);
    const QColor color = lineColor(curve);
    painter->setPen(QPen(color, 1));
    double next = view.left - markerSpacing;
    for (; run != runs.end() && run->first <= view.steps.last; ++run) {
        const double height = std::isnan(run->heightBefore) ? view.bottom : view.y(run->heightBefore);
        const double y = std::clamp(height, view.top + markerRadius + 1, view.bottom - markerRadius - 1);
        const double runEnd = view.x(static_cast<double>(std::min(run->last, view.steps.last)));
        const double up = std::isinf(run->value) && run->value < 0 ? -1 : 1;
        painter->setBrush(std::isnan(run->value) ? m_background : color);
        for (double x = std::max(next, view.x(static_cast<double>(run->first))); x <= runEnd; x += markerSpacing) {
            const QPointF corners[]
                = {{x - markerRadius, y + up * 3.0}, {x + markerRadius, y + up * 3.0}, {x, y - up * 3.6}};
            painter->drawPolygon(corners, 3);
            next = x + markerSpacing;
        }
    }
}

void CurvePlottable::drawSkips(QCPPainter* painter, const Curve& curve, const View& view) const
{
    if (curve.skips == nullptr) {
        return;
    }
    painter->setAntialiasing(true);
    painter->setPen(QPen(lineColor(curve), 1));
    const auto stride = std::max<std::int64_t>(1, static_cast<std::int64_t>(markerSpacing / view.pixelsPerStep));
    constexpr double arm = 3;
    for (std::int64_t step = curve.skips->next(view.steps.first); step >= 0 && step <= view.steps.last;
         step = curve.skips->next(step + stride)) {
        const auto sample = curve.series->at(step);
        if (!sample || !std::isfinite(*sample)) {
            continue;
        }
        const QPointF at(view.x(static_cast<double>(step)), view.y(*sample));
        painter->drawLine(at + QPointF(-arm, -arm), at + QPointF(arm, arm));
        painter->drawLine(at + QPointF(-arm, arm), at + QPointF(arm, -arm));
    }
}

void CurvePlottable::drawEnd(QCPPainter* painter, const Curve& curve, const View& view) const
{
    if (curve.endStep < 0) {
        return;
    }
    const auto end = curve.series->lastFinite(curve.endStep);
    if (!end) {
        return;
    }
    constexpr double radius = 5;
    const double y = std::clamp(view.y(end->value), view.top + radius + 1, view.bottom - radius - 1);
    const QPointF at(view.x(static_cast<double>(end->step)), y);
    painter->setAntialiasing(true);
    painter->setPen(QPen(lineColor(curve), 1));
    painter->setBrush(m_background);
    painter->drawEllipse(at, radius, radius);
    constexpr double arm = 2.4;
    painter->drawLine(at + QPointF(-arm, -arm), at + QPointF(arm, arm));
    painter->drawLine(at + QPointF(-arm, arm), at + QPointF(arm, -arm));
}

double CurvePlottable::selectTest(const QPointF&, bool, QVariant*) const
{
    return -1;
}

QCPRange CurvePlottable::getKeyRange(bool& foundRange, QCP::SignDomain) const
{
    QCPRange range;
    foundRange = false;
    for (const Curve& curve : m_curves) {
        if (!curve.series->empty()) {
            const QCPRange keys(
                static_cast<double>(curve.series->firstStep()), static_cast<double>(curve.series->lastStep()));
            range = foundRange ? range.expanded(keys) : keys;
            foundRange = true;
        }
    }
    return range;
}

QCPRange CurvePlottable::getValueRange(bool& foundRange, QCP::SignDomain inSignDomain, const QCPRange& inKeyRange) const
{
    SeriesStats all;
    for (const Curve& curve : m_curves) {
        const bool limited = inKeyRange != QCPRange();
        all.merge(curve.series->stats(limited ? static_cast<std::int64_t>(inKeyRange.lower) : 0,
            limited ? static_cast<std::int64_t>(inKeyRange.upper) : SeriesPyramid::maximumStep));
    }
    const double lower = inSignDomain == QCP::sdPositive ? all.smallestPositive : all.minimum;
    foundRange = all.finite > 0 && std::isfinite(lower) && lower <= all.maximum;
    return foundRange ? QCPRange(lower, all.maximum) : QCPRange();
}

void CurvePlottable::drawLegendIcon(QCPPainter* painter, const QRectF& rect) const
{
    painter->setPen(QPen(m_curves.empty() ? m_background : m_curves.front().color, 1));
    painter->drawLine(QPointF(rect.left(), rect.center().y()), QPointF(rect.right(), rect.center().y()));
}

} // namespace mantissa
