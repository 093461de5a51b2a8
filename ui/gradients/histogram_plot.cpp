#include "ui/gradients/histogram_plot.h"

#include "ui/style/number_format.h"
#include "ui/style/place_tip.h"
#include "ui/style/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr int lowestShown = -110;
constexpr int highestShown = 60;
constexpr double barShare = 0.55; // of a lane's colour in its bars

/// A round number at or above `share`, for the top of the axis.
double roundUp(double share)
{
    const double unit = std::pow(10, std::floor(std::log10(std::max(share, 1e-6))));
    for (const double step : {1.0, 2.0, 5.0, 10.0}) {
        if (share <= step * unit) {
            return step * unit;
        }
    }
    return share;
}

double shareOf(const TensorSample& sample, std::uint64_t count, std::uint64_t total)
{
    return sample.elements == 0 || total == 0 ? 0 : static_cast<double>(count) / static_cast<double>(total);
}

} // namespace

/// Where everything lies for one size.
struct HistogramPlot::Scene
{
    QRectF area; ///< of the octaves
    QRectF zeros; ///< left of it: elements without a magnitude
    QRectF beyond; ///< right of it: infinite and NaN
    int first = 0;
    int last = 0; ///< octaves shown, both included
    double top = 1; ///< share at the upper edge
    PlotColors colors;
    QFont numbers;

    [[nodiscard]] double x(double exponent) const
    {
        return area.left() + (exponent - first) / (last + 1 - first) * area.width();
    }

    [[nodiscard]] double y(double share) const
    {
        return area.bottom() - std::clamp(share / top, 0.0, 1.0) * area.height();
    }
};

HistogramPlot::HistogramPlot(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Histogram of magnitudes"));
    setMinimumSize(minimumSizeHint());
}

void HistogramPlot::show(HistogramContent content)
{
    m_content = std::move(content);
    m_text.clear();
    setCursor(m_content->isDraggable ? Qt::SizeHorCursor : Qt::ArrowCursor);
    update();
}

void HistogramPlot::showText(const QString& why)
{
    m_content.reset();
    m_text = why;
    unsetCursor();
    setAccessibleDescription(why);
    update();
}

HistogramPlot::Scene HistogramPlot::sceneFor(const QSize& size) const
{
    Scene scene;
    scene.colors = plotColors(palette());
    scene.numbers = tabularFont(font());
    const QFontMetrics metrics(scene.numbers);
    const int line = metrics.height();
    const double left = metrics.horizontalAdvance(QStringLiteral("100 %")) + 12;
    const double side = std::max(34, metrics.horizontalAdvance(tr("zero")) + 8);
    const double bottom = size.height() - 2.0 * line - 14;
    const double top = 2.0 * line + 12;
    scene.zeros = QRectF(left, top, side, bottom - top);
    scene.beyond = QRectF(size.width() - side - 8, top, side, bottom - top);
    scene.area = QRectF(scene.zeros.right() + 8, top, scene.beyond.left() - scene.zeros.right() - 16, bottom - top);

    const HistogramContent& content = *m_content;
    int first = -28;
    int last = 18;
    double most = 0;
    const auto include = [&](const TensorSample& sample, int shift) {
        const auto count = static_cast<int>(sample.exponents.size());
        if (count > 0) {
            first = std::min(first, sample.firstExponent + shift - 2);
            last = std::max(last, sample.firstExponent + shift + count + 1);
        }
        for (const std::uint32_t bin : sample.exponents) {
            most = std::max(most, shareOf(sample, bin, sample.elements));
        }
    };
    include(content.held, 0);
    if (content.reference) {
        include(*content.reference, content.exponent);
    }
    scene.first = std::max(first, lowestShown);
    scene.last = std::min(last, highestShown);
    scene.top = roundUp(most == 0 ? 1 : most * 1.02);
    return scene;
}

double HistogramPlot::positionOf(int exponent) const
{
    return m_content ? sceneFor(size()).x(exponent + 0.5) : 0;
}

void HistogramPlot::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paint(painter, size());
}

void HistogramPlot::paint(QPainter& painter, const QSize& size) const
{
    const PlotColors colors = plotColors(palette());
    painter.setFont(font());
    painter.fillRect(QRect(QPoint(0, 0), size), colors.surround);
    if (!m_content) {
        painter.setPen(colors.text);
        painter.drawText(QRect(QPoint(16, 0), size - QSize(32, 0)), Qt::AlignCenter | Qt::TextWordWrap, m_text);
        return;
    }
    const Scene scene = sceneFor(size);
    for (const QRectF& part : {scene.zeros, scene.area, scene.beyond}) {
        painter.fillRect(part, colors.background);
    }
    paintZones(painter, scene);
    paintBars(painter, scene);
    paintReference(painter, scene);
    paintAxes(painter, scene);
    paintLegend(painter, scene);
    if (hasFocus()) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(scene.area.adjusted(-1, -1, 0, 0));
    }
}

void HistogramPlot::paintZones(QPainter& painter, const Scene& scene) const
{
    if (!m_content->format) {
        return;
    }
    const FormatLimits& limits = limitsOf(*m_content->format);
    const double flushes = std::log2(limits.flushesUpTo);
    const double normal = std::log2(limits.minNormal);
    const double overflows = std::log2(limits.overflowsFrom);

    struct Zone
    {
        double from;
        double to;
        double tint;
        Qt::BrushStyle hatch;
        QString name;
    };

    const Zone zones[] = {
        {scene.first - 1.0, flushes, 0.16, Qt::BDiagPattern, tr("flushes to zero")},
        {flushes, normal, 0.07, Qt::NoBrush, tr("subnormal")},
        {normal, overflows, 0, Qt::NoBrush, tr("normal")},
        {overflows, scene.last + 2.0, 0.16, Qt::FDiagPattern, tr("overflows")},
    };
    const QFontMetrics metrics(font());
    for (const Zone& zone : zones) {
        const double left = std::clamp(scene.x(zone.from), scene.area.left(), scene.area.right());
        const double right = std::clamp(scene.x(zone.to), scene.area.left(), scene.area.right());
        if (right - left < 1) {
            continue;
        }
        const QRectF part(left, scene.area.top(), right - left, scene.area.height());
        if (zone.tint > 0) {
            painter.fillRect(part, blend(scene.colors.text, scene.colors.background, zone.tint));
        }
        if (zone.hatch != Qt::NoBrush) {
            painter.fillRect(part, QBrush(blend(scene.colors.text, scene.colors.background, 0.32), zone.hatch));
        }
        painter.setPen(scene.colors.axis);
        for (const double edge : {left, right}) {
            if (edge > scene.area.left() && edge < scene.area.right()) {
                painter.drawLine(QPointF(edge, scene.area.top() - 4), QPointF(edge, scene.area.bottom()));
            }
        }
        painter.setPen(scene.colors.text);
        const QRectF label(left + 2, scene.area.top() - metrics.height() - 4, right - left - 4, metrics.height() + 2);
        if (label.width() > 12) {
            painter.drawText(label, Qt::AlignHCenter | Qt::AlignBottom,
                metrics.elidedText(zone.name, Qt::ElideRight, static_cast<int>(label.width())));
        }
    }
}

void HistogramPlot::paintAxes(QPainter& painter, const Scene& scene) const
{
    const QFontMetrics metrics(scene.numbers);
    painter.setFont(scene.numbers);
    painter.setPen(scene.colors.axis);
    for (const QRectF& part : {scene.zeros, scene.area, scene.beyond}) {
        painter.drawLine(part.bottomLeft(), part.bottomRight());
    }
    painter.drawLine(scene.zeros.topLeft(), scene.zeros.bottomLeft());
    painter.setPen(scene.colors.faintText);
    for (const double part : {0.0, 0.5, 1.0}) {
        const double y = scene.y(scene.top * part);
        painter.drawText(QRectF(0, y - metrics.height() / 2.0, scene.zeros.left() - 5, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, exactPercent(scene.top * part));
    }
    const double octave = scene.area.width() / (scene.last + 1 - scene.first);
    const int widest = metrics.horizontalAdvance(QStringLiteral("2^-108 "));
    int every = 1;
    while (every * octave < widest) {
        every *= 2;
    }
    const double baseline = scene.area.bottom() + metrics.ascent() + 5;
    for (int exponent = scene.first; exponent <= scene.last + 1; ++exponent) {
        if (exponent % every != 0) {
            continue;
        }
        const double x = scene.x(exponent);
        painter.setPen(scene.colors.axis);
        painter.drawLine(QPointF(x, scene.area.bottom()), QPointF(x, scene.area.bottom() + 3));
        painter.setPen(scene.colors.faintText);
        const QString label = QStringLiteral("2^%1").arg(exponent);
        painter.drawText(QPointF(x - metrics.horizontalAdvance(label) / 2.0, baseline), label);
    }
    for (const auto& [part, name] : {std::pair(scene.zeros, tr("zero")), std::pair(scene.beyond, tr("inf, NaN"))}) {
        painter.drawText(QRectF(part.left() - 8, scene.area.bottom() + 3, part.width() + 16, metrics.height() + 2),
            Qt::AlignHCenter, metrics.elidedText(name, Qt::ElideRight, static_cast<int>(part.width() + 16)));
    }
    painter.setFont(font());
    painter.setPen(scene.colors.text);
    painter.drawText(
        QRectF(scene.area.left(), scene.area.bottom() + metrics.height() + 6, scene.area.width(), metrics.height() + 2),
        Qt::AlignHCenter, m_content->axisTitle);
}

void HistogramPlot::paintBars(QPainter& painter, const Scene& scene) const
{
    const TensorSample& held = m_content->held;
    const QColor strong = readableOn(m_content->color, scene.colors.background);
    const QColor fill = blend(strong, scene.colors.background, barShare);
    for (std::size_t i = 0; i < held.exponents.size(); ++i) {
        const int exponent = held.firstExponent + static_cast<int>(i);
        const double y = scene.y(shareOf(held, held.exponents[i], held.elements));
        const double left = scene.x(exponent);
        const double right = scene.x(exponent + 1);
        if (held.exponents[i] > 0 && right > scene.area.left() && left < scene.area.right()) {
            // A single element is still to be seen.
            const double top = std::min(y, scene.area.bottom() - 1);
            painter.fillRect(QRectF(left, top, std::max(1.0, right - left - 1), scene.area.bottom() - top), fill);
        }
    }
    // Of several micro-batches the census counts all; its shares are what is comparable. These columns hold shares of
    // everything and are drawn on a scale of their own, 0 to 100 %.
    const Census& census = held.census;
    const auto column = [&](const QRectF& part, std::uint64_t lost, std::uint64_t whole) {
        const double all = shareOf(held, whole, census.total());
        const double dead = shareOf(held, lost, census.total());
        const auto height = [&](double share) { return share == 0 ? 0 : std::max(1.0, share * part.height()); };
        const QRectF bar(part.left() + 5, part.bottom() - height(all), part.width() - 10, height(all));
        painter.fillRect(bar, fill);
        const QRectF hatched(bar.left(), part.bottom() - height(dead), bar.width(), height(dead));
        painter.fillRect(hatched, strong);
        painter.fillRect(hatched, QBrush(scene.colors.background, Qt::BDiagPattern));
        if (all > 0) {
            painter.setPen(scene.colors.text);
            const double above = std::max(part.top(), bar.top() - QFontMetrics(font()).height() - 1);
            painter.drawText(QRectF(part.left() - 8, above, part.width() + 16, QFontMetrics(font()).height()),
                Qt::AlignHCenter, exactPercent(all));
        }
    };
    column(scene.zeros, census.flushed, census.flushed + census.zero);
    column(scene.beyond, census.overflowed, census.overflowed + census.infinite + census.nan);
}

void HistogramPlot::paintReference(QPainter& painter, const Scene& scene) const
{
    if (!m_content->reference) {
        return;
    }
    const TensorSample& reference = *m_content->reference;
    QPolygonF line;
    for (std::size_t i = 0; i < reference.exponents.size(); ++i) {
        const int exponent = reference.firstExponent + static_cast<int>(i) + m_content->exponent;
        const double y = scene.y(shareOf(reference, reference.exponents[i], reference.elements));
        line << QPointF(scene.x(exponent), y) << QPointF(scene.x(exponent + 1), y);
    }
    if (line.isEmpty()) {
        return;
    }
    line.prepend(QPointF(line.front().x(), scene.area.bottom()));
    line.append(QPointF(line.back().x(), scene.area.bottom()));
    painter.save();
    painter.setClipRect(scene.area);
    painter.setPen(QPen(scene.colors.text, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
    painter.restore();
}

void HistogramPlot::paintLegend(QPainter& painter, const Scene& scene) const
{
    const QFontMetrics metrics(font());
    double x = scene.zeros.left();
    const double y = 2;
    const double box = metrics.ascent();
    const auto entry = [&](const QString& name, bool isLine) {
        if (isLine) {
            painter.setPen(QPen(scene.colors.text, 2));
            painter.drawLine(QPointF(x, y + metrics.height() / 2.0), QPointF(x + box, y + metrics.height() / 2.0));
        } else {
            painter.fillRect(QRectF(x, y + 2, box, box),
                blend(readableOn(m_content->color, scene.colors.background), scene.colors.background, barShare));
        }
        painter.setPen(scene.colors.text);
        const double room = scene.beyond.right() - x - box - 5;
        const QString text = metrics.elidedText(name, Qt::ElideRight, static_cast<int>(std::max(0.0, room)));
        painter.drawText(QPointF(x + box + 5, y + metrics.ascent() + 1), text);
        x += box + 5 + metrics.horizontalAdvance(text) + 16;
    };
    entry(m_content->heldName, false);
    if (m_content->reference) {
        entry(m_content->referenceName, true);
    }
}

void HistogramPlot::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_content && m_content->isDraggable) {
        m_isDragging = true;
        m_dragFrom = event->position().x();
        m_dragStart = m_content->exponent;
    }
}

void HistogramPlot::mouseMoveEvent(QMouseEvent* event)
{
    if (m_isDragging && m_content && (event->buttons() & Qt::LeftButton) != 0) {
        const Scene scene = sceneFor(size());
        const double octave = scene.area.width() / (scene.last + 1 - scene.first);
        const int to = m_dragStart + static_cast<int>(std::lround((event->position().x() - m_dragFrom) / octave));
        if (to != m_content->exponent) {
            emit exponentDragged(to);
        }
    }
}

void HistogramPlot::keyPressEvent(QKeyEvent* event)
{
    const bool isArrow = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right;
    if (isArrow && event->modifiers() == Qt::NoModifier && m_content && m_content->isDraggable) {
        emit exponentDragged(m_content->exponent + (event->key() == Qt::Key_Left ? -1 : 1));
    } else {
        QWidget::keyPressEvent(event);
    }
}

QString HistogramPlot::tipAt(const QPoint& position) const
{
    if (!m_content) {
        return {};
    }
    const Scene scene = sceneFor(size());
    const TensorSample& held = m_content->held;
    if (scene.zeros.contains(position)) {
        return tr("%1 elements are zero: %2 of them were flushed when they were rounded")
            .arg(formatCount(static_cast<qint64>(held.census.zero + held.census.flushed)),
                formatCount(static_cast<qint64>(held.census.flushed)));
    }
    if (scene.beyond.contains(position)) {
        return tr("%1 overflowed when they were rounded, %2 were infinite, %3 are NaN")
            .arg(formatCount(static_cast<qint64>(held.census.overflowed)),
                formatCount(static_cast<qint64>(held.census.infinite)),
                formatCount(static_cast<qint64>(held.census.nan)));
    }
    if (!scene.area.contains(position)) {
        return {};
    }
    const int exponent = scene.first
        + static_cast<int>((position.x() - scene.area.left()) / scene.area.width() * (scene.last + 1 - scene.first));
    const auto countAt = [](const TensorSample& sample, int at) {
        const int index = at - sample.firstExponent;
        return index >= 0 && index < static_cast<int>(sample.exponents.size())
            ? static_cast<qint64>(sample.exponents[static_cast<std::size_t>(index)])
            : qint64 {0};
    };
    QString text = tr("From 2^%1 to below 2^%2: %3 elements")
                       .arg(exponent)
                       .arg(exponent + 1)
                       .arg(formatCount(countAt(held, exponent)));
    if (m_content->reference) {
        text += tr("; %1 in FP32, times 2^%2")
                    .arg(formatCount(countAt(*m_content->reference, exponent - m_content->exponent)))
                    .arg(m_content->exponent);
    }
    return text;
}

bool HistogramPlot::event(QEvent* event)
{
    if (showTipAtPlace(this, event, [this](const QPoint& place) { return tipAt(place); })) {
        return true;
    }
    if (event->type() == QEvent::MouseButtonRelease) {
        m_isDragging = false;
    }
    return QWidget::event(event);
}

} // namespace mantissa
