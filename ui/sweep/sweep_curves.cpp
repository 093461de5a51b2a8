#include "ui/sweep/sweep_curves.h"

#include "ui/plots/smoothing.h"
#include "ui/plots/step_axis.h"
#include "ui/style/number_format.h"
#include "ui/style/place_tip.h"
#include "ui/style/theme.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr double nearCurve = 8; // pixels, for the mouse

} // namespace

/// Where everything lies for one size.
struct SweepCurves::Scene
{
    QRectF area;
    std::int64_t first = 0;
    std::int64_t end = 1;
    double low = 0; ///< of the loss, or of its decimal logarithm
    double high = 1;
    bool isLog = false;
    PlotColors colors;
    QFont numbers;

    [[nodiscard]] QPointF place(double step, double loss) const
    {
        const double value = isLog ? std::log10(loss) : loss;
        return {area.left()
                + (step - static_cast<double>(first)) / static_cast<double>(std::max<std::int64_t>(end - first, 1))
                    * area.width(),
            area.bottom() - (value - low) / (high - low) * area.height()};
    }

    [[nodiscard]] bool shows(double loss) const { return std::isfinite(loss) && (!isLog || loss > 0); }
};

SweepCurves::SweepCurves(QWidget* parent)
    : QWidget(parent)
{
    setMinimumSize(minimumSizeHint());
    setAccessibleName(tr("Losses of the sweep"));
}

void SweepCurves::show(std::vector<Curve> curves)
{
    m_curves = std::move(curves);
    smooth();
    setAccessibleDescription(tr("%1 curves of the loss.").arg(m_curves.size()));
    update();
}

void SweepCurves::select(std::optional<int> row)
{
    if (m_selected != row) {
        m_selected = row;
        update();
    }
}

void SweepCurves::setLog(bool isLog)
{
    m_isLog = isLog;
    update();
}

void SweepCurves::setSmoothing(double weight)
{
    m_smoothing = weight;
    smooth();
    update();
}

void SweepCurves::smooth()
{
    m_losses.clear();
    for (const Curve& curve : m_curves) {
        DebiasedAverage average(m_smoothing);
        std::vector<double> losses;
        for (const double loss : curve.points.loss) {
            losses.push_back(average.add(loss));
        }
        m_losses.push_back(std::move(losses));
    }
}

SweepCurves::Scene SweepCurves::sceneFor(const QSize& size) const
{
    Scene scene;
    scene.colors = plotColors(palette());
    scene.numbers = tabularFont(font());
    scene.isLog = m_isLog;
    const QFontMetricsF metrics(scene.numbers);
    const double left = metrics.horizontalAdvance(QStringLiteral("0.00000")) + 10;
    const double top = metrics.height() + 10;
    scene.area = QRectF(left, top, size.width() - left - 12, size.height() - top - 2 * metrics.height() - 12);
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    double last = 0;
    for (std::size_t i = 0; i < m_curves.size(); ++i) {
        for (std::size_t at = 0; at < m_losses[i].size(); ++at) {
            if (const double loss = m_losses[i][at]; scene.shows(loss)) {
                low = std::min(low, loss);
                high = std::max(high, loss);
            }
            last = std::max(last, m_curves[i].points.step[at]);
        }
    }
    scene.end = std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(last)) + 1, 1);
    if (low > high) {
        low = scene.isLog ? 0.1 : 0;
        high = 1;
    }
    scene.low = scene.isLog ? std::log10(low) : std::min(low, 0.0);
    scene.high = scene.isLog ? std::log10(high) : high;
    const double least = scene.isLog ? 0.02 : 1e-12;
    const double margin = std::max(0.04 * (scene.high - scene.low), least);
    scene.low -= scene.isLog ? margin : 0;
    scene.high += margin;
    return scene;
}

void SweepCurves::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paint(painter, size());
}

void SweepCurves::paint(QPainter& painter, const QSize& size) const
{
    const Scene scene = sceneFor(size);
    painter.setFont(font());
    painter.fillRect(QRect(QPoint(0, 0), size), scene.colors.background);
    const QFontMetricsF metrics(scene.numbers);
    painter.setPen(scene.colors.text);
    painter.drawText(QRectF(scene.area.left(), 2, scene.area.width(), metrics.height() + 4),
        Qt::AlignLeft | Qt::AlignVCenter, m_isLog ? tr("Loss (log)") : tr("Loss"));
    if (m_curves.empty()) {
        painter.setPen(scene.colors.faintText);
        painter.drawText(scene.area, Qt::AlignCenter | Qt::TextWordWrap, tr("No run is kept."));
        return;
    }
    std::vector<std::pair<double, QString>> marks;
    if (scene.isLog) {
        // One, two and five of every power of ten, as far as there is room.
        for (int power = static_cast<int>(std::floor(scene.low)); power <= static_cast<int>(scene.high) + 1; ++power) {
            for (const int digit : {1, 2, 5}) {
                const double value = digit * std::pow(10.0, power);
                if (std::log10(value) >= scene.low && std::log10(value) <= scene.high
                    && (digit == 1 || scene.high - scene.low < 2)) {
                    marks.emplace_back(value, formatValue(value, 3));
                }
            }
        }
    } else {
        const double step = roundStep((scene.high - scene.low) / 5);
        for (double value = std::ceil(scene.low / step) * step; value <= scene.high; value += step) {
            marks.emplace_back(value, formatValue(std::abs(value) < step * 1e-6 ? 0 : value, 3));
        }
    }
    painter.setFont(scene.numbers);
    for (const auto& [value, text] : marks) {
        const double y = scene.place(0, value).y();
        painter.setPen(scene.colors.grid);
        painter.drawLine(QPointF(scene.area.left(), y), QPointF(scene.area.right(), y));
        painter.setPen(scene.colors.faintText);
        painter.drawText(QRectF(0, y - metrics.height() / 2, scene.area.left() - 5, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, text);
    }
    painter.setPen(scene.colors.axis);
    painter.drawLine(scene.area.topLeft(), scene.area.bottomLeft());
    painter.drawLine(scene.area.bottomLeft(), scene.area.bottomRight());

    painter.setRenderHint(QPainter::Antialiasing);
    const auto draw = [&](std::size_t i) {
        QPolygonF line;
        for (std::size_t at = 0; at <= m_losses[i].size(); ++at) {
            if (at < m_losses[i].size() && scene.shows(m_losses[i][at])) {
                line << scene.place(m_curves[i].points.step[at], m_losses[i][at]);
                continue;
            }
            painter.drawPolyline(line);
            if (at < m_losses[i].size() && !line.isEmpty()) {
                painter.drawEllipse(line.back(), 2.5, 2.5); // where it left the numbers
            }
            line.clear();
        }
    };
    std::optional<std::size_t> selected;
    for (std::size_t i = 0; i < m_curves.size(); ++i) {
        if (m_curves[i].row == m_selected) {
            selected = i;
            continue;
        }
        painter.setPen(QPen(m_curves[i].color, 1.2));
        draw(i);
    }
    if (selected) {
        painter.setPen(QPen(scene.colors.text, 4.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        draw(*selected);
        painter.setPen(QPen(m_curves[*selected].color, 2.2));
        draw(*selected);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setFont(font());
    paintStepAxis(painter, scene.area, scene.first, scene.end, tr("step"), scene.colors, scene.numbers);
}

std::optional<std::size_t> SweepCurves::curveAt(const QPointF& position) const
{
    const Scene scene = sceneFor(size());
    std::optional<std::size_t> nearest;
    double least = nearCurve;
    for (std::size_t i = 0; i < m_curves.size(); ++i) {
        for (std::size_t at = 0; at < m_losses[i].size(); ++at) {
            if (scene.shows(m_losses[i][at])) {
                const QPointF off = scene.place(m_curves[i].points.step[at], m_losses[i][at]) - position;
                if (const double distance = std::hypot(off.x(), off.y()); distance < least) {
                    least = distance;
                    nearest = i;
                }
            }
        }
    }
    return nearest;
}

QString SweepCurves::textAt(const QPoint& position) const
{
    const auto curve = curveAt(position);
    return curve ? m_curves[*curve].name : QString();
}

void SweepCurves::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) {
        const auto curve = curveAt(event->position());
        emit rowSelected(curve ? m_curves[*curve].row : -1);
    }
}

bool SweepCurves::event(QEvent* event)
{
    return showTipAtPlace(this, event, [this](const QPoint& place) { return textAt(place); }) || QWidget::event(event);
}

void SweepCurves::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        update();
    }
    QWidget::changeEvent(event);
}

} // namespace mantissa
