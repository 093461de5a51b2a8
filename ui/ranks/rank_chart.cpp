#include "ui/ranks/rank_chart.h"

#include "ui/plots/step_axis.h"
#include "ui/style/number_format.h"
#include "ui/style/place_tip.h"
#include "ui/style/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace mantissa {

namespace {

constexpr int gap = 6;
constexpr int lineLength = 22; ///< of the legend
constexpr double mostMarksHeight = 0.3; ///< of the chart

} // namespace

/// One of the plots above each other; logarithmic, with 0 at its lower edge.
struct RankChart::Axis
{
    QString title;
    double RankHistory::Span::*number = nullptr;
    QRectF area {};
    double low = 0; ///< powers of ten
    double high = 1;
    bool hasValues = false;
    bool hasZero = false; ///< the lower edge is 0, and a decade below what is not
    bool isAllZero = true;

    [[nodiscard]] double y(double value) const
    {
        const double at = value > 0 ? std::clamp((std::log10(value) - low) / (high - low), 0.0, 1.0) : 0.0;
        return area.bottom() - at * area.height();
    }
};

/// Where everything lies for one size.
struct RankChart::Scene
{
    std::array<Axis, 3> axes;
    QRectF marks; ///< a row for each rank
    std::int64_t first = 0;
    std::int64_t end = 1; ///< behind the last step
    QRectF legend;
    PlotColors colors;
    QFont numbers;

    [[nodiscard]] double x(std::int64_t step) const
    {
        return marks.left() + static_cast<double>(step - first) / static_cast<double>(end - first) * marks.width();
    }
};

RankChart::RankChart(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("The ranks of a lane over its steps"));
    setMinimumSize(minimumSizeHint());
}

void RankChart::show(const RankHistory& history, const QString& lane, const QColor& color, RankMeasure measure)
{
    m_history = history;
    m_lane = lane;
    m_color = color;
    m_measure = measure;
    m_text.clear();
    update();
}

void RankChart::showText(const QString& why)
{
    m_history = {};
    m_text = why;
    setAccessibleDescription(why);
    update();
}

/// Colour means a lane: its ranks are told apart by lines and by how much of the colour they have.
QPen RankChart::penOf(std::size_t rank) const
{
    constexpr std::array styles {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
    const auto last = static_cast<double>(std::max<std::size_t>(m_history.ranks(), 2) - 1);
    const double share = 1 - 0.45 * static_cast<double>(rank) / last;
    const PlotColors colors = plotColors(palette());
    return {
        blend(readableOn(m_color, colors.background), colors.background, share), 1.6, styles.at(rank % styles.size())};
}

RankChart::Scene RankChart::sceneFor(const QSize& size) const
{
    Scene scene;
    scene.colors = plotColors(palette());
    scene.numbers = tabularFont(font());
    const QFontMetrics metrics(scene.numbers);
    const int line = metrics.height();
    const double left = metrics.horizontalAdvance(QStringLiteral("0.0000e-00")) + line + 12;
    const double width = size.width() - left - 12;
    const auto ranks = static_cast<double>(m_history.ranks());
    scene.legend = QRectF(left, 4, width, line + 2.0);
    const double bottom = size.height() - 2.0 * line - 10;
    const double rowHeight = std::min(line * 1.0, mostMarksHeight * size.height() / std::max(ranks, 1.0));
    scene.marks = QRectF(left, bottom - rowHeight * ranks, width, rowHeight * ranks);
    scene.axes = {Axis {tr("gradient norm"), &RankHistory::Span::norm}, Axis {tr("scale"), &RankHistory::Span::scale},
        Axis {titleOf(m_measure),
            m_measure == RankMeasure::Distance ? &RankHistory::Span::distance : &RankHistory::Span::flushed}};
    const double top = scene.legend.bottom() + gap;
    const double each = (scene.marks.top() - 2.0 * gap - top) / static_cast<double>(scene.axes.size());
    for (std::size_t i = 0; i < scene.axes.size(); ++i) {
        Axis& axis = scene.axes[i];
        axis.area = QRectF(left, top + static_cast<double>(i) * each, width, each - 2.0 * gap);
        double least = std::numeric_limits<double>::infinity();
        double most = 0;
        for (const RankHistory::Bucket& bucket : m_history.buckets()) {
            for (const RankHistory::Span& span : bucket.ranks) {
                const double value = span.*axis.number;
                axis.hasValues = axis.hasValues || !std::isnan(value);
                axis.hasZero = axis.hasZero || value == 0;
                if (std::isfinite(value) && value > 0) {
                    least = std::min(least, value);
                    most = std::max(most, value);
                }
            }
        }
        axis.isAllZero = most == 0;
        if (most > 0) {
            axis.low = std::floor(std::log10(least) - 0.05) - (axis.hasZero ? 1 : 0);
            axis.high = std::max(std::ceil(std::log10(most) + 0.05), axis.low + 1);
        }
    }
    scene.first = m_history.buckets().front().first;
    scene.end = std::max(m_history.lastStep() + 1, scene.first + 1);
    return scene;
}

double RankChart::xOf(std::int64_t step) const
{
    return sceneFor(size()).x(step);
}

double RankChart::markY(std::size_t rank) const
{
    const QRectF marks = sceneFor(size()).marks;
    return marks.top() + (static_cast<double>(rank) + 0.5) * marks.height() / static_cast<double>(m_history.ranks());
}

void RankChart::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paint(painter, size());
    if (hasFocus() && !isEmpty()) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void RankChart::paint(QPainter& painter, const QSize& size) const
{
    const PlotColors colors = plotColors(palette());
    painter.setFont(font());
    painter.fillRect(QRect(QPoint(0, 0), size), colors.surround);
    if (isEmpty()) {
        painter.setPen(colors.text);
        painter.drawText(QRect(QPoint(16, 0), size - QSize(32, 0)), Qt::AlignCenter | Qt::TextWordWrap, m_text);
        return;
    }
    const Scene scene = sceneFor(size);
    for (const Axis& axis : scene.axes) {
        painter.fillRect(axis.area, colors.background);
        paintAxis(painter, scene, axis);
        paintLines(painter, scene, axis);
    }
    painter.fillRect(scene.marks, colors.background);
    paintMarks(painter, scene);
    painter.setFont(font());
    paintStepAxis(painter, scene.marks, scene.first, scene.end,
        m_history.bucketSteps() == 1 ? tr("step") : tr("step (%1 in one)").arg(formatCount(m_history.bucketSteps())),
        colors, scene.numbers);
    paintLegend(painter, scene);
}

void RankChart::paintAxis(QPainter& painter, const Scene& scene, const Axis& axis) const
{
    const QFontMetrics metrics(scene.numbers);
    painter.setFont(scene.numbers);
    const double decades = axis.high - axis.low;
    const double fit = std::max(1.0, axis.area.height() / (metrics.height() * 1.6));
    const double step = std::max(1.0, std::ceil(decades / fit));
    const double last = axis.isAllZero ? axis.low : axis.high;
    for (double power = axis.low; power <= last + 1e-9 && axis.hasValues; power += step) {
        const bool isZero = axis.hasZero && power == axis.low;
        const double y = axis.area.bottom() - (power - axis.low) / decades * axis.area.height();
        painter.setPen(scene.colors.grid);
        painter.drawLine(QPointF(axis.area.left(), y), QPointF(axis.area.right(), y));
        painter.setPen(scene.colors.faintText);
        painter.drawText(QRectF(0, y - metrics.height() / 2.0, axis.area.left() - 5, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, formatValue(isZero ? 0.0 : std::pow(10.0, power), 3));
    }
    painter.setPen(scene.colors.axis);
    painter.drawLine(axis.area.topLeft(), axis.area.bottomLeft());
    painter.drawLine(axis.area.bottomLeft(), axis.area.bottomRight());
    painter.setFont(font());
    painter.setPen(scene.colors.text);
    painter.drawText(axis.area.adjusted(gap, 2, -gap, 0), Qt::AlignLeft | Qt::AlignTop, axis.title);
}

/// A value that is not finite has no place: the row of marks has it.
void RankChart::paintLines(QPainter& painter, const Scene& scene, const Axis& axis) const
{
    painter.save();
    painter.setClipRect(axis.area.adjusted(-1, -1, 1, 1));
    painter.setRenderHint(QPainter::Antialiasing);
    for (std::size_t rank = m_history.ranks(); rank-- > 0;) { // rank 0 comes to lie on top
        painter.setPen(penOf(rank));
        QPolygonF line;
        for (const RankHistory::Bucket& bucket : m_history.buckets()) {
            const double value = rank < bucket.ranks.size() ? bucket.ranks[rank].*axis.number : RankHistory::none;
            if (!std::isnan(value)) {
                line << QPointF(scene.x(bucket.first), axis.y(value));
            }
        }
        if (line.size() == 1) {
            line << line.front() + QPointF(2, 0);
        }
        painter.drawPolyline(line);
    }
    painter.restore();
}

void RankChart::paintMarks(QPainter& painter, const Scene& scene) const
{
    const QFontMetrics metrics(scene.numbers);
    const double height = scene.marks.height() / static_cast<double>(m_history.ranks());
    const bool hasNames = height >= metrics.height() * 0.75;
    painter.setFont(scene.numbers);
    for (std::size_t rank = 0; rank < m_history.ranks(); ++rank) {
        const double top = scene.marks.top() + static_cast<double>(rank) * height;
        if (hasNames || rank == 0) {
            painter.setPen(scene.colors.faintText);
            painter.drawText(QRectF(0, top, scene.marks.left() - 5, std::max(height, metrics.height() * 1.0)),
                Qt::AlignRight | Qt::AlignVCenter, hasNames ? tr("inf in %1").arg(rank) : tr("inf"));
        }
        for (const RankHistory::Bucket& bucket : m_history.buckets()) {
            if (rank >= bucket.ranks.size()
                || (bucket.ranks[rank].foundInf == 0 && bucket.ranks[rank].notFinite == 0)) {
                continue;
            }
            // Filled: its own gradient; hollow: what it learnt from the others.
            const double left = scene.x(bucket.first);
            const double right = scene.x(bucket.first + m_history.bucketSteps());
            const QRectF box(left, top + 1, std::max(3.0, right - left), std::max(2.0, height - 2));
            painter.setPen(QPen(penOf(0).color(), 1));
            painter.setBrush(bucket.ranks[rank].notFinite > 0 ? QBrush(penOf(0).color()) : QBrush(Qt::NoBrush));
            painter.drawRect(box);
        }
    }
    painter.setBrush(Qt::NoBrush);
    painter.setPen(scene.colors.axis);
    painter.drawLine(scene.marks.topLeft(), scene.marks.bottomLeft());
    painter.drawLine(scene.marks.bottomLeft(), scene.marks.bottomRight());
}

void RankChart::paintLegend(QPainter& painter, const Scene& scene) const
{
    painter.setFont(font());
    const QFontMetrics metrics(font());
    double x = scene.legend.left();
    const double middle = scene.legend.center().y();
    for (std::size_t rank = 0; rank < m_history.ranks(); ++rank) {
        const QString title = tr("rank %1").arg(rank);
        const double width = lineLength + gap + metrics.horizontalAdvance(title) + 2 * gap;
        if (x + width > scene.legend.right()) {
            painter.setPen(scene.colors.faintText);
            painter.drawText(QPointF(x, middle + metrics.ascent() / 2.0), QStringLiteral("\u2026"));
            return;
        }
        painter.setPen(penOf(rank));
        painter.drawLine(QPointF(x, middle), QPointF(x + lineLength, middle));
        painter.setPen(scene.colors.text);
        painter.drawText(QRectF(x + lineLength + gap, scene.legend.top(), width, scene.legend.height()),
            Qt::AlignLeft | Qt::AlignVCenter, title);
        x += width;
    }
}

const RankHistory::Bucket* RankChart::bucketAt(const QPoint& position) const
{
    if (isEmpty()) {
        return nullptr;
    }
    const Scene scene = sceneFor(size());
    const QRectF all = scene.axes.front().area.united(scene.marks);
    if (!all.contains(position)) {
        return nullptr;
    }
    const auto found = std::ranges::find_if(m_history.buckets(), [&](const RankHistory::Bucket& bucket) {
        return position.x() >= scene.x(bucket.first) && position.x() < scene.x(bucket.first + m_history.bucketSteps());
    });
    return found == m_history.buckets().end() ? nullptr : &*found;
}

QString RankChart::textAt(const QPoint& position) const
{
    constexpr std::size_t mostLines = 16;
    const RankHistory::Bucket* const bucket = bucketAt(position);
    if (bucket == nullptr) {
        return {};
    }
    const std::int64_t last = std::min(bucket->first + m_history.bucketSteps() - 1, m_history.lastStep());
    QStringList lines {last == bucket->first
            ? tr("%1, step %2").arg(m_lane, formatCount(last))
            : tr("%1, steps %2 to %3").arg(m_lane, formatCount(bucket->first), formatCount(last))};
    for (std::size_t rank = 0; rank < std::min(bucket->ranks.size(), mostLines); ++rank) {
        const RankHistory::Span& span = bucket->ranks[rank];
        const QString norm = span.notFinite > 0 ? tr("not finite") : formatValue(span.norm, 4);
        QString line = tr("rank %1: gradient norm %2, scale %3").arg(rank).arg(norm, formatValue(span.scale, 4));
        if (!std::isnan(span.distance)) {
            line += tr(", distance %1").arg(formatValue(span.distance, 3));
        }
        if (span.flushed > 0) {
            line += tr(", lost %1").arg(formatValue(span.flushed, 3));
        }
        lines << line + (span.skipped > 0 ? tr(", skipped") : QString());
    }
    if (bucket->ranks.size() > mostLines) {
        lines << QStringLiteral("\u2026");
    }
    return lines.join(QLatin1Char('\n'));
}

void RankChart::mousePressEvent(QMouseEvent* event)
{
    const RankHistory::Bucket* const bucket = bucketAt(event->position().toPoint());
    if (bucket != nullptr && event->button() == Qt::LeftButton) {
        emit stepChosen(bucket->first);
    }
}

bool RankChart::event(QEvent* event)
{
    return showTipAtPlace(this, event, [this](const QPoint& place) { return textAt(place); }) || QWidget::event(event);
}

} // namespace mantissa
