#include "ui/compare/compare_chart.h"

#include "ui/compare/comparison_words.h"
#include "ui/models/run_cells.h"
#include "ui/plots/step_axis.h"
#include "ui/style/number_format.h"
#include "ui/style/place_tip.h"
#include "ui/style/theme.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace mantissa {

namespace {

constexpr int gapBetween = 26; // room for a plot's title
constexpr double margin = 1.1; // of an axis beyond its data

/// Of the finite ones, that below which nearly all lie: the first steps must not flatten the others.
double usualMost(std::vector<double> values)
{
    std::erase_if(values, [](double value) { return !std::isfinite(value); });
    if (values.empty()) {
        return 0;
    }
    constexpr double nearlyAll = 0.98;
    const auto at
        = values.begin() + static_cast<std::ptrdiff_t>(std::floor(nearlyAll * static_cast<double>(values.size() - 1)));
    std::ranges::nth_element(values, at);
    return *at;
}

/// The line through the windows' values; it breaks where there is none.
void drawLine(QPainter& painter, const std::vector<double>& values, const QRectF& clip,
    const std::function<QPointF(std::size_t, double)>& place)
{
    QPolygonF line;
    painter.save();
    painter.setClipRect(clip.adjusted(0, -1, 0, 1));
    for (std::size_t i = 0; i <= values.size(); ++i) {
        if (i < values.size() && std::isfinite(values[i])) {
            line << place(i, values[i]);
        } else {
            painter.drawPolyline(line);
            line.clear();
        }
    }
    painter.restore();
}

} // namespace

/// Where everything lies for one size.
struct CompareChart::Scene
{
    QRectF gap;
    QRectF distance; ///< empty: not known
    QRectF scale; ///< empty: both stayed at 1
    std::int64_t first = 0;
    std::int64_t end = 1;
    PlotColors colors;
    QFont numbers;
    QColor a;
    QColor b;

    [[nodiscard]] double x(double step) const
    {
        return gap.left() + (step - static_cast<double>(first)) / static_cast<double>(end - first) * gap.width();
    }

    [[nodiscard]] QRectF bottom() const { return !scale.isEmpty() ? scale : !distance.isEmpty() ? distance : gap; }

    /// A frame, its title above it, and marks at the values with their texts left of it.
    void frame(QPainter& painter, const QRectF& area, const QString& title,
        const std::vector<std::pair<double, QString>>& marks) const
    {
        const QFontMetrics metrics(numbers);
        painter.setPen(colors.text);
        painter.drawText(QRectF(area.left(), area.top() - metrics.height() - 4, area.width(), metrics.height() + 2),
            Qt::AlignLeft | Qt::AlignVCenter,
            metrics.elidedText(title, Qt::ElideRight, static_cast<int>(area.width())));
        painter.setFont(numbers);
        for (const auto& [y, text] : marks) {
            painter.setPen(colors.grid);
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y));
            painter.setPen(colors.faintText);
            painter.drawText(QRectF(0, y - metrics.height() / 2.0, area.left() - 5, metrics.height()),
                Qt::AlignRight | Qt::AlignVCenter, text);
        }
        painter.setPen(colors.axis);
        painter.drawLine(area.topLeft(), area.bottomLeft());
        painter.drawLine(area.bottomLeft(), area.bottomRight());
    }
};

CompareChart::CompareChart(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Two runs compared"));
    setMinimumSize(minimumSizeHint());
}

void CompareChart::show(ComparisonPtr comparison, const QColor& a, const QColor& b)
{
    m_comparison = std::move(comparison);
    m_colorA = a;
    m_colorB = b;
    setAccessibleDescription(verdictOf(*m_comparison));
    update();
}

void CompareChart::showText(const QString& why)
{
    m_comparison.reset();
    m_text = why;
    setAccessibleDescription(why);
    update();
}

CompareChart::Scene CompareChart::sceneFor(const QSize& size) const
{
    const ComparedSteps& steps = m_comparison->steps;
    Scene scene;
    scene.colors = plotColors(palette());
    scene.numbers = tabularFont(font());
    scene.a = readableOn(m_colorA, scene.colors.background);
    scene.b = readableOn(m_colorB, scene.colors.background);
    const QFontMetrics metrics(scene.numbers);
    scene.first = steps.first.front();
    scene.end = steps.first.back() + steps.window;
    const double left = metrics.horizontalAdvance(QStringLiteral("-0.00001")) + 8;
    const double width = size.width() - left - 12;
    const bool hasDistance
        = std::ranges::any_of(steps.distance, [](double value) { return std::isfinite(value) && value > 0; });
    const auto isOne = [](double value) { return value == 1 || std::isnan(value); };
    const bool hasScale = !std::ranges::all_of(steps.scaleA, isOne) || !std::ranges::all_of(steps.scaleB, isOne);
    const double all = size.height() - gapBetween - 2.0 * metrics.height() - 10 - (hasDistance ? gapBetween : 0)
        - (hasScale ? gapBetween : 0);
    const double unit = all / (2.0 + (hasDistance ? 1 : 0) + (hasScale ? 1 : 0));
    scene.gap = QRectF(left, gapBetween, width, 2 * unit);
    double top = scene.gap.bottom() + gapBetween;
    if (hasDistance) {
        scene.distance = QRectF(left, top, width, unit);
        top += unit + gapBetween;
    }
    if (hasScale) {
        scene.scale = QRectF(left, top, width, unit);
    }
    return scene;
}

double CompareChart::xOf(std::size_t window) const
{
    const ComparedSteps& steps = m_comparison->steps;
    return sceneFor(size()).x(static_cast<double>(steps.first[window]) + static_cast<double>(steps.window) / 2);
}

void CompareChart::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paint(painter, size());
}

void CompareChart::paint(QPainter& painter, const QSize& size) const
{
    const PlotColors colors = plotColors(palette());
    painter.setFont(font());
    painter.fillRect(QRect(QPoint(0, 0), size), colors.surround);
    if (!m_comparison || m_comparison->steps.size() == 0) {
        painter.setPen(colors.text);
        painter.drawText(QRect(QPoint(16, 0), size - QSize(32, 0)), Qt::AlignCenter | Qt::TextWordWrap,
            m_comparison ? verdictOf(*m_comparison) : m_text);
        return;
    }
    const Scene scene = sceneFor(size);
    for (const QRectF& area : {scene.gap, scene.distance, scene.scale}) {
        painter.fillRect(area, colors.background);
    }
    paintGap(painter, scene, scene.gap);
    if (!scene.distance.isEmpty()) {
        paintDistance(painter, scene, scene.distance);
    }
    if (!scene.scale.isEmpty()) {
        paintScales(painter, scene, scene.scale);
    }
    painter.setFont(font());
    const std::int64_t window = m_comparison->steps.window;
    paintStepAxis(painter, scene.bottom(), scene.first, scene.end,
        window == 1 ? tr("step") : tr("step (means of %1)").arg(formatCount(window)), colors, scene.numbers);
}

void CompareChart::paintGap(QPainter& painter, const Scene& scene, const QRectF& area) const
{
    const ComparedSteps& steps = m_comparison->steps;
    std::vector<double> gaps;
    std::vector<double> sizes;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        gaps.push_back(steps.gap(i));
        sizes.push_back(std::abs(gaps.back()));
    }
    const double most = std::max({margin * usualMost(sizes), margin * usualMost(m_comparison->noise), 1e-12});
    const auto y = [&](double value) { return area.center().y() - value / most * area.height() / 2; };
    const auto place = [&](std::size_t window, double value) {
        return QPointF(scene.x(static_cast<double>(steps.first[window]) + static_cast<double>(steps.window) / 2),
            std::clamp(y(value), area.top() - 2, area.bottom() + 2));
    };
    if (!m_comparison->noise.empty()) {
        QPolygonF band;
        const std::vector<double>& noise = m_comparison->noise;
        const auto size = static_cast<std::ptrdiff_t>(noise.size());
        for (std::ptrdiff_t i = 0; i < 2 * size; ++i) {
            const auto at = static_cast<std::size_t>(i < size ? i : 2 * size - 1 - i);
            if (std::isfinite(noise[at])) {
                band << place(at, i < size ? noise[at] : -noise[at]);
            }
        }
        painter.save();
        painter.setClipRect(area);
        painter.setPen(Qt::NoPen);
        painter.setBrush(blend(scene.colors.text, scene.colors.background, 0.13));
        painter.drawPolygon(band);
        painter.restore();
    }
    std::vector<std::pair<double, QString>> marks;
    const double step = roundStep(most / 2.2);
    for (int i = -4; i <= 4; ++i) {
        if (std::abs(i * step) <= most) {
            marks.emplace_back(y(i * step), formatValue(i * step, 3));
        }
    }
    scene.frame(painter, area, tr("loss: %1 minus %2").arg(runName(m_comparison->b), runName(m_comparison->a)), marks);
    painter.setPen(QPen(scene.a, 1));
    painter.drawLine(QPointF(area.left(), y(0)), QPointF(area.right(), y(0)));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    if (!m_comparison->pairGap.empty()) {
        painter.setPen(QPen(scene.colors.text, 1, Qt::DashLine));
        drawLine(painter, m_comparison->pairGap, area, place);
    }
    painter.setPen(QPen(scene.b, 1));
    drawLine(painter, gaps, area, place);
    painter.setRenderHint(QPainter::Antialiasing, false);
    // A loss that is not finite is said at the edge that it left by.
    painter.setPen(scene.b);
    painter.setFont(font());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!std::isfinite(gaps[i]) && (i == 0 || std::isfinite(gaps[i - 1]))) {
            const QFontMetrics metrics(font());
            const double x = place(i, 0).x();
            const QString word = tr("not finite");
            const double wide = metrics.horizontalAdvance(word) + 4;
            painter.drawText(
                QRectF(std::min(x, area.right() - wide), area.top(), wide, metrics.height()), Qt::AlignLeft, word);
        }
    }
}

void CompareChart::paintDistance(QPainter& painter, const Scene& scene, const QRectF& area) const
{
    const ComparedSteps& steps = m_comparison->steps;
    double least = 0;
    double most = 0;
    for (const double value : steps.distance) {
        if (std::isfinite(value) && value > 0) {
            least = least == 0 ? value : std::min(least, value);
            most = std::max(most, value);
        }
    }
    const double low = std::floor(std::log10(least));
    const double high = std::max(std::ceil(std::log10(most)), low + 1);
    const auto y = [&](double value) {
        return area.bottom() - (std::log10(std::max(value, least)) - low) / (high - low) * area.height();
    };
    std::vector<std::pair<double, QString>> marks;
    const int every
        = std::max(1, static_cast<int>((high - low) / (area.height() / (2.0 * QFontMetrics(font()).height()))));
    for (int power = static_cast<int>(low); power <= static_cast<int>(high); power += every) {
        marks.emplace_back(y(std::pow(10, power)), QStringLiteral("1e%1").arg(power));
    }
    painter.setFont(font());
    scene.frame(painter, area, tr("distance of the weights, relative"), marks);
    // Measured every few steps only: what lies between is not known, and joined.
    QPolygonF line;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (std::isfinite(steps.distance[i])) {
            line << QPointF(scene.x(static_cast<double>(steps.first[i])), y(steps.distance[i]));
        }
    }
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(scene.b, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(line);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void CompareChart::paintScales(QPainter& painter, const Scene& scene, const QRectF& area) const
{
    const ComparedSteps& steps = m_comparison->steps;
    double low = 0;
    double high = 0;
    for (const auto* scales : {&steps.scaleA, &steps.scaleB}) {
        for (const double scale : *scales) {
            if (scale > 0 && std::isfinite(scale)) {
                low = std::min(low, std::log2(scale));
                high = std::max(high, std::log2(scale));
            }
        }
    }
    high = std::max(high, low + 1);
    const auto y
        = [&](double scale) { return area.bottom() - (std::log2(scale) - low) / (high - low) * (area.height() - 8); };
    std::vector<std::pair<double, QString>> marks;
    for (const double power : {std::round(low), std::round((low + high) / 2), std::round(high)}) {
        marks.emplace_back(y(std::exp2(power)), QStringLiteral("2^%1").arg(power));
    }
    painter.setFont(font());
    scene.frame(painter, area, tr("scale; ticks: skipped steps"), marks);
    const auto draw = [&](const std::vector<double>& scales, const std::vector<std::int64_t>& skipped,
                          const QColor& color, double tickTop) {
        painter.setPen(QPen(color, 1));
        drawLine(painter, scales, area, [&](std::size_t window, double scale) {
            return QPointF(scene.x(static_cast<double>(steps.first[window])), y(scale));
        });
        for (std::size_t i = 0; i < skipped.size(); ++i) {
            if (skipped[i] > (i == 0 ? 0 : skipped[i - 1])) {
                const double x = scene.x(static_cast<double>(steps.first[i]));
                painter.drawLine(QPointF(x, tickTop), QPointF(x, tickTop + 4));
            }
        }
    };
    draw(steps.scaleA, steps.skippedA, scene.a, area.top());
    draw(steps.scaleB, steps.skippedB, scene.b, area.top() + 5);
}

QString CompareChart::textAt(const QPoint& position) const
{
    if (!m_comparison || m_comparison->steps.size() == 0) {
        return {};
    }
    const Scene scene = sceneFor(size());
    const ComparedSteps& steps = m_comparison->steps;
    if (position.x() < scene.gap.left() || position.x() >= scene.gap.right()) {
        return {};
    }
    const double step = static_cast<double>(scene.first)
        + (position.x() - scene.gap.left()) / scene.gap.width() * static_cast<double>(scene.end - scene.first);
    const auto at = std::min(steps.size() - 1,
        static_cast<std::size_t>((step - static_cast<double>(scene.first)) / static_cast<double>(steps.window)));
    QString text = steps.window == 1
        ? tr("Step %1").arg(formatCount(steps.first[at]))
        : tr("Steps %1 to %2").arg(formatCount(steps.first[at]), formatCount(steps.first[at] + steps.window - 1));
    const auto line = [&](const RunInfo& run, double loss, double scale, std::int64_t skipped) {
        const QString unknown = tr("not known");
        const QString scaleText = std::isnan(scale) && run.imported ? unknown : formatPowerOfTwo(scale);
        return QLatin1Char('\n')
            + (run.skippedSteps < 0 ? tr("%1: loss %2, scale %3").arg(runName(run), formatValue(loss), scaleText)
                                    : tr("%1: loss %2, scale %3, %4 skipped so far")
                                          .arg(runName(run), formatValue(loss), scaleText, formatCount(skipped)));
    };
    text += line(m_comparison->a, steps.lossA[at], steps.scaleA[at], steps.skippedA[at])
        + line(m_comparison->b, steps.lossB[at], steps.scaleB[at], steps.skippedB[at]);
    if (!m_comparison->noise.empty()) {
        text += QLatin1Char('\n')
            + tr("difference %1, noise of seeds %2")
                  .arg(formatValue(steps.gap(at)), formatValue(m_comparison->noise[at]));
    }
    return text;
}

void CompareChart::mousePressEvent(QMouseEvent* event)
{
    if (m_comparison && m_comparison->steps.size() > 0 && event->button() == Qt::LeftButton) {
        const Scene scene = sceneFor(size());
        const double share = (event->position().x() - scene.gap.left()) / scene.gap.width();
        if (share >= 0 && share < 1) {
            emit stepChosen(scene.first + static_cast<qint64>(share * static_cast<double>(scene.end - scene.first)));
        }
    }
}

bool CompareChart::event(QEvent* event)
{
    return showTipAtPlace(this, event, [this](const QPoint& place) { return textAt(place); }) || QWidget::event(event);
}

} // namespace mantissa
