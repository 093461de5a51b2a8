#include "ui/time/time_chart.h"

#include "ui/plots/step_axis.h"
#include "ui/style/number_format.h"
#include "ui/style/place_tip.h"
#include "ui/style/theme.h"
#include "ui/time/phase_painter.h"
#include "ui/time/phase_words.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <vector>

namespace mantissa {

namespace {

constexpr double headroom = 1.15;
constexpr int swatch = 11;
constexpr int gap = 6;

/// One long step, such as the first, must not flatten all others.
double usualMost(const std::vector<TimeHistory::Bucket>& buckets)
{
    std::vector<double> totals;
    for (const TimeHistory::Bucket& bucket : buckets) {
        totals.push_back(bucket.mean().total());
    }
    constexpr double mostOfThem = 0.98;
    const auto at
        = totals.begin() + static_cast<std::ptrdiff_t>(std::floor(mostOfThem * static_cast<double>(totals.size() - 1)));
    std::ranges::nth_element(totals, at);
    return *at;
}

} // namespace

/// Where everything lies for one size.
struct TimeChart::Scene
{
    QRectF area;
    std::int64_t first = 0;
    std::int64_t end = 1; ///< behind the last step
    double most = 1; ///< milliseconds at the upper edge
    QRectF legend;
    std::vector<StepPhase> phases; ///< that take any time at all
    PlotColors colors;
    QFont numbers;

    [[nodiscard]] double x(std::int64_t step) const
    {
        return area.left() + static_cast<double>(step - first) / static_cast<double>(end - first) * area.width();
    }

    [[nodiscard]] double y(double ms) const { return area.bottom() - std::min(ms / most, 1.0) * area.height(); }
};

TimeChart::TimeChart(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Time of the steps by phase"));
    setMinimumSize(minimumSizeHint());
}

void TimeChart::show(const TimeHistory& history, const QString& lane, const QColor& color)
{
    m_history = history;
    m_lane = lane;
    m_color = color;
    m_text.clear();
    update();
}

void TimeChart::showText(const QString& why)
{
    m_history = {};
    m_text = why;
    setAccessibleDescription(why);
    update();
}

TimeChart::Scene TimeChart::sceneFor(const QSize& size) const
{
    Scene scene;
    scene.colors = plotColors(palette());
    scene.numbers = tabularFont(font());
    const QFontMetrics metrics(scene.numbers);
    const int line = metrics.height();
    const double left = metrics.horizontalAdvance(QStringLiteral("0.0000")) + line + 12;
    for (const StepPhase phase : allStepPhases) {
        const auto& buckets = m_history.buckets();
        if (std::ranges::any_of(buckets, [phase](const TimeHistory::Bucket& each) { return each.sum[phase] > 0; })) {
            scene.phases.push_back(phase);
        }
    }
    // The legend breaks into as many lines as it needs.
    double x = left;
    int lines = 1;
    for (const StepPhase phase : scene.phases) {
        const double width = swatch + gap + QFontMetrics(font()).horizontalAdvance(titleOf(phase)) + 2 * gap;
        if (x + width > size.width() - 8 && x > left) {
            ++lines;
            x = left;
        }
        x += width;
    }
    scene.legend = QRectF(left, 4, size.width() - left - 8, lines * (line + 2.0));
    scene.area = QRectF(left, scene.legend.bottom() + 6, size.width() - left - 12,
        size.height() - scene.legend.bottom() - 6 - 2.0 * line - 10);
    scene.first = m_history.buckets().front().first;
    scene.end = std::max(m_history.lastStep() + 1, scene.first + 1);
    scene.most = std::max(usualMost(m_history.buckets()) * headroom, 1e-6);
    return scene;
}

double TimeChart::xOf(std::int64_t step) const
{
    return sceneFor(size()).x(step);
}

void TimeChart::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paint(painter, size());
    if (hasFocus() && !isEmpty()) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
        painter.drawRect(sceneFor(size()).area.adjusted(-1, -1, 0, 0));
    }
}

void TimeChart::paint(QPainter& painter, const QSize& size) const
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
    painter.fillRect(scene.area, colors.background);
    const PhasePainter phases(m_color, palette());
    painter.save();
    painter.setClipRect(scene.area);
    for (const TimeHistory::Bucket& bucket : m_history.buckets()) {
        const double left = scene.x(bucket.first);
        const double right = scene.x(std::min(bucket.first + m_history.bucketSteps(), m_history.lastStep() + 1));
        const double width = std::max(1.0, right - left - (right - left > 4 ? 1 : 0));
        const PhaseMs mean = bucket.mean();
        double sum = 0;
        for (const StepPhase phase : scene.phases) {
            const double bottom = scene.y(sum);
            sum += mean[phase];
            const double top = scene.y(sum);
            phases.fill(painter, QRectF(left, top, width, bottom - top), phase);
        }
    }
    painter.restore();

    const QFontMetrics metrics(scene.numbers);
    painter.setFont(scene.numbers);
    const double step = roundStep(scene.most * metrics.height() * 2.5 / scene.area.height());
    for (int i = 0; i * step <= scene.most; ++i) {
        const double y = scene.y(i * step);
        painter.setPen(colors.axis);
        painter.drawLine(QPointF(scene.area.left() - 3, y), QPointF(scene.area.left(), y));
        painter.setPen(colors.faintText);
        painter.drawText(QRectF(0, y - metrics.height() / 2.0, scene.area.left() - 5, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, formatValue(i * step, 3));
    }
    painter.setPen(colors.axis);
    painter.drawLine(scene.area.topLeft(), scene.area.bottomLeft());
    painter.drawLine(scene.area.bottomLeft(), scene.area.bottomRight());
    painter.setFont(font());
    paintStepAxis(painter, scene.area, scene.first, scene.end,
        m_history.bucketSteps() == 1 ? tr("step") : tr("step (means of %1)").arg(formatCount(m_history.bucketSteps())),
        colors, scene.numbers);
    painter.save();
    painter.translate(metrics.height() + 1, scene.area.center().y());
    painter.rotate(-90);
    painter.drawText(QRectF(-scene.area.height() / 2, -metrics.height(), scene.area.height(), metrics.height()),
        Qt::AlignCenter, tr("ms a step"));
    painter.restore();
    paintLegend(painter, scene);
}

void TimeChart::paintLegend(QPainter& painter, const Scene& scene) const
{
    const PhasePainter phases(m_color, palette());
    const QFontMetrics metrics(font());
    QPointF at = scene.legend.topLeft();
    for (const StepPhase phase : scene.phases) {
        const QString title = titleOf(phase);
        const double width = swatch + gap + metrics.horizontalAdvance(title) + 2 * gap;
        if (at.x() + width > scene.legend.right() && at.x() > scene.legend.left()) {
            at = QPointF(scene.legend.left(), at.y() + metrics.height() + 2);
        }
        const QRectF box(at.x(), at.y() + (metrics.height() - swatch) / 2.0, swatch, swatch);
        phases.fill(painter, box, phase);
        painter.setPen(scene.colors.axis);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box);
        painter.setPen(scene.colors.text);
        painter.drawText(QRectF(box.right() + gap, at.y(), width, metrics.height()), Qt::AlignLeft, title);
        at.rx() += width;
    }
}

const TimeHistory::Bucket* TimeChart::bucketAt(const QPoint& position) const
{
    if (isEmpty()) {
        return nullptr;
    }
    const Scene scene = sceneFor(size());
    if (!scene.area.contains(position)) {
        return nullptr;
    }
    const auto& buckets = m_history.buckets();
    const auto found = std::ranges::find_if(buckets, [&](const TimeHistory::Bucket& bucket) {
        return position.x() >= scene.x(bucket.first) && position.x() < scene.x(bucket.first + m_history.bucketSteps());
    });
    return found == buckets.end() ? nullptr : &*found;
}

QString TimeChart::textAt(const QPoint& position) const
{
    const TimeHistory::Bucket* bucket = bucketAt(position);
    if (bucket == nullptr) {
        return {};
    }
    const PhaseMs mean = bucket->mean();
    const std::int64_t last = std::min(bucket->first + m_history.bucketSteps() - 1, m_history.lastStep());
    QStringList lines {last == bucket->first
            ? tr("%1, step %2: %3").arg(m_lane, formatCount(last), durationText(mean.total()))
            : tr("%1, steps %2 to %3: %4 each")
                  .arg(m_lane, formatCount(bucket->first), formatCount(last), durationText(mean.total()))};
    for (const StepPhase phase : allStepPhases) {
        if (mean[phase] > 0) {
            lines << tr("%1: %2, %3").arg(titleOf(phase), durationText(mean[phase]), percent(mean.share(phase)));
        }
    }
    return lines.join(QLatin1Char('\n'));
}

void TimeChart::mousePressEvent(QMouseEvent* event)
{
    const TimeHistory::Bucket* bucket = bucketAt(event->position().toPoint());
    if (bucket != nullptr && event->button() == Qt::LeftButton) {
        emit stepChosen(bucket->first);
    }
}

bool TimeChart::event(QEvent* event)
{
    return showTipAtPlace(this, event, [this](const QPoint& place) { return textAt(place); }) || QWidget::event(event);
}

} // namespace mantissa
