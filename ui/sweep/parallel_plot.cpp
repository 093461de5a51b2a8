#include "ui/sweep/parallel_plot.h"

#include "ui/style/number_format.h"
#include "ui/style/place_tip.h"
#include "ui/style/theme.h"
#include "ui/sweep/result_color.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr double nearAxis = 9; // pixels, for the mouse
constexpr double nearLine = 7;
constexpr double spacing = 4;
constexpr double keptHalfWidth = 5;
constexpr double slack = 0.012; // of an axis, around what is kept

double distanceTo(const QPointF& p, const QPointF& a, const QPointF& b)
{
    const QPointF along = b - a;
    const double length = QPointF::dotProduct(along, along);
    const double share = length > 0 ? std::clamp(QPointF::dotProduct(p - a, along) / length, 0.0, 1.0) : 0;
    const QPointF off = p - (a + share * along);
    return std::hypot(off.x(), off.y());
}

} // namespace

/// Where everything lies for one size.
struct ParallelPlot::Scene
{
    QRectF area; ///< of the axes' spans, from place 0 below to 1 above
    QRectF legend;
    double titlesTop = 0;
    double lineHeight = 0;
    double distance = 0; ///< between axes
    PlotColors colors;
    QFont numbers;

    [[nodiscard]] double x(std::size_t axis) const { return area.left() + static_cast<double>(axis) * distance; }

    [[nodiscard]] double y(double place) const { return area.bottom() - place * area.height(); }

    [[nodiscard]] double placeAt(double y) const { return (area.bottom() - y) / area.height(); }
};

ParallelPlot::ParallelPlot(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(minimumSizeHint());
    setAccessibleName(tr("Parallel coordinates"));
}

void ParallelPlot::show(const SweepTable& table, const ResultRange& range)
{
    std::map<QString, std::pair<double, double>> keptBefore;
    for (const auto& [axis, kept] : m_kept) {
        keptBefore.emplace(m_axes[axis].title, kept);
    }
    m_axes = axesOf(table);
    m_kept.clear();
    for (std::size_t i = 0; i < m_axes.size(); ++i) {
        if (const auto before = keptBefore.find(m_axes[i].title); before != keptBefore.end()) {
            m_kept.emplace(i, before->second);
        }
    }
    m_shares.clear();
    for (const auto& share : range.shares) {
        m_shares.push_back(share.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    m_colorTitle = resultTitle(range.result);
    m_colorLow = resultText(range.low, range.result);
    m_colorHigh = resultText(range.high, range.result);
    m_text.clear();
    m_axis = std::min(m_axis, m_axes.empty() ? 0 : m_axes.size() - 1);
    if (m_selected && *m_selected >= m_shares.size()) {
        m_selected.reset();
    }
    describeSelf();
    update();
}

void ParallelPlot::showText(const QString& why)
{
    m_axes.clear();
    m_shares.clear();
    m_kept.clear();
    m_selected.reset();
    m_text = why;
    setAccessibleDescription(why);
    update();
}

/// What a screen reader says of it.
void ParallelPlot::describeSelf()
{
    const auto kept = static_cast<qlonglong>(std::ranges::count_if(
        std::vector<int>(m_shares.size()), [this, row = std::size_t {0}](int) mutable { return isKept(row++); }));
    QString text = tr("%1 runs, %2 of them kept, on %3 axes.")
                       .arg(formatCount(static_cast<qlonglong>(m_shares.size())), formatCount(kept))
                       .arg(m_axes.size());
    if (m_axis < m_axes.size()) {
        text += QLatin1Char(' ') + tr("Axis: %1.").arg(m_axes[m_axis].title);
    }
    if (m_selected) {
        for (const SweepAxis& axis : m_axes) {
            text += QStringLiteral(" %1 %2;").arg(axis.title, axis.texts[*m_selected]);
        }
    }
    setAccessibleDescription(text);
}

void ParallelPlot::select(std::optional<std::size_t> row)
{
    if (m_selected != row && (!row || *row < m_shares.size())) {
        m_selected = row;
        describeSelf();
        update();
    }
}

void ParallelPlot::keep(std::size_t axis, double from, double to)
{
    if (from == to) {
        m_kept.erase(axis);
    } else {
        m_kept[axis] = std::minmax(from, to);
    }
    describeSelf();
    update();
    emit keptChanged();
}

void ParallelPlot::keepAll()
{
    if (!m_kept.empty()) {
        m_kept.clear();
        describeSelf();
        update();
        emit keptChanged();
    }
}

bool ParallelPlot::isKept(std::size_t row) const
{
    return std::ranges::all_of(m_kept, [&](const auto& entry) {
        const auto& place = m_axes[entry.first].places[row];
        return place && *place >= entry.second.first - slack && *place <= entry.second.second + slack;
    });
}

ParallelPlot::Scene ParallelPlot::sceneFor(const QSize& size) const
{
    Scene scene;
    scene.colors = plotColors(palette());
    scene.numbers = tabularFont(font());
    const QFontMetricsF metrics(font());
    const QFontMetricsF numbers(scene.numbers);
    scene.lineHeight = metrics.height();
    double widest = 0;
    for (const SweepAxis::Mark& mark : m_axes.front().marks) {
        widest = std::max(widest, numbers.horizontalAdvance(mark.text));
    }
    const double most = size.width() / 5.0;
    const double left = std::min(std::max(widest, metrics.averageCharWidth() * 5), most) + 3 * spacing;
    // Titles stand in two rows in turn, so that each has room for twice the distance.
    scene.titlesTop = spacing;
    const bool hasNotFinite = std::ranges::any_of(m_axes, &SweepAxis::hasNotFinite);
    const double top = scene.titlesTop + 2 * scene.lineHeight + 2 * spacing + (hasNotFinite ? scene.lineHeight : 0);
    scene.legend
        = QRectF(spacing, size.height() - scene.lineHeight - spacing, size.width() - 2 * spacing, scene.lineHeight);
    scene.area = QRectF(QPointF(left, top),
        QPointF(size.width() - metrics.averageCharWidth() * 5, scene.legend.top() - scene.lineHeight));
    const auto gaps = static_cast<double>(std::max<std::size_t>(m_axes.size(), 2) - 1);
    scene.distance = scene.area.width() / gaps;
    return scene;
}

std::optional<QPointF> ParallelPlot::pointOf(std::size_t row, std::size_t axis) const
{
    const Scene scene = sceneFor(size());
    const auto& place = m_axes.at(axis).places.at(row);
    return place ? std::optional(QPointF(scene.x(axis), scene.y(*place))) : std::nullopt;
}

void ParallelPlot::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    paint(painter, size());
    if (hasFocus() && !m_axes.empty()) {
        const Scene scene = sceneFor(size());
        painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
        painter.drawLine(QPointF(scene.x(m_axis), scene.area.top()), QPointF(scene.x(m_axis), scene.area.bottom()));
    }
}

void ParallelPlot::paint(QPainter& painter, const QSize& size) const
{
    const PlotColors colors = plotColors(palette());
    painter.setFont(font());
    painter.fillRect(QRect(QPoint(0, 0), size), m_axes.empty() ? colors.surround : colors.background);
    if (m_axes.empty()) {
        painter.setPen(colors.text);
        painter.drawText(QRect(QPoint(16, 0), size - QSize(32, 0)), Qt::AlignCenter | Qt::TextWordWrap, m_text);
        return;
    }
    const Scene scene = sceneFor(size);
    paintLines(painter, scene);
    for (std::size_t axis = 0; axis < m_axes.size(); ++axis) {
        paintAxis(painter, scene, axis);
    }
    paintLegend(painter, scene);
}

void ParallelPlot::paintLines(QPainter& painter, const Scene& scene) const
{
    painter.setRenderHint(QPainter::Antialiasing);
    // The kept ones lie on the others, the selected one on all.
    for (const bool kept : {false, true}) {
        for (std::size_t row = 0; row < m_shares.size(); ++row) {
            if (isKept(row) == kept && m_selected != row) {
                const QColor color = !kept      ? blend(scene.colors.text, scene.colors.background, 0.12)
                    : std::isnan(m_shares[row]) ? noResultColor(palette())
                                                : resultColor(m_shares[row], palette());
                painter.setPen(QPen(color, kept ? 1.3 : 1));
                paintRow(painter, scene, row);
            }
        }
    }
    if (m_selected) {
        painter.setPen(QPen(scene.colors.text, 5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        paintRow(painter, scene, *m_selected);
        const double share = m_shares[*m_selected];
        painter.setPen(QPen(std::isnan(share) ? noResultColor(palette()) : resultColor(share, palette()), 2.5,
            Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        paintRow(painter, scene, *m_selected);
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
}

void ParallelPlot::paintRow(QPainter& painter, const Scene& scene, std::size_t row) const
{
    QPolygonF line;
    for (std::size_t axis = 0; axis <= m_axes.size(); ++axis) {
        if (axis < m_axes.size() && m_axes[axis].places[row]) {
            line << QPointF(scene.x(axis), scene.y(*m_axes[axis].places[row]));
            continue;
        }
        if (line.size() == 1) {
            painter.drawEllipse(line.front(), 2, 2);
        }
        painter.drawPolyline(line);
        line.clear();
    }
}

void ParallelPlot::paintAxis(QPainter& painter, const Scene& scene, std::size_t index) const
{
    const SweepAxis& axis = m_axes[index];
    const double x = scene.x(index);
    painter.setPen(QPen(scene.colors.axis, 1));
    painter.drawLine(QPointF(x, scene.area.top()), QPointF(x, scene.area.bottom()));
    if (const auto kept = m_kept.find(index); kept != m_kept.end()) {
        const QRectF box(QPointF(x - keptHalfWidth, scene.y(kept->second.second)),
            QPointF(x + keptHalfWidth, scene.y(kept->second.first)));
        painter.setPen(scene.colors.text);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box);
    }
    QFont titleFont = font();
    titleFont.setBold(axis.isResult);
    const QFontMetricsF metrics(titleFont);
    const double room = std::min(2 * scene.distance, scene.area.width()) - 2 * spacing;
    const QString whole = axis.isLog ? tr("%1 (log)").arg(axis.title) : axis.title;
    const QString title = metrics.horizontalAdvance(whole) <= room
        ? whole
        : metrics.elidedText(axis.title, Qt::ElideMiddle, room); // the marks tell a logarithm too
    const double wide = metrics.horizontalAdvance(title) + 2;
    painter.setFont(titleFont);
    painter.setPen(scene.colors.text);
    const QRectF titleBox(std::clamp(x - wide / 2, 0.0, std::max(scene.legend.right() - wide, 0.0)),
        scene.titlesTop + (index % 2 == 0 ? 0 : scene.lineHeight), wide, scene.lineHeight);
    painter.drawText(titleBox, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, title);

    painter.setFont(scene.numbers);
    const QFontMetricsF numbers(scene.numbers);
    const double before = index == 0 ? x - 2 * spacing : scene.distance - 3 * spacing;
    double lastY = std::numeric_limits<double>::infinity();
    const auto mark = [&](double place, const QString& text) {
        const double y = scene.y(place);
        painter.setPen(scene.colors.axis);
        painter.drawLine(QPointF(x - 3, y), QPointF(x, y));
        if (std::abs(lastY - y) < numbers.height() * 0.9) {
            return; // no room for its text
        }
        lastY = y;
        const QString shown = numbers.elidedText(text, Qt::ElideRight, before);
        const QRectF box(x - numbers.horizontalAdvance(shown) - 2 * spacing, y - numbers.height() / 2,
            numbers.horizontalAdvance(shown) + spacing, numbers.height());
        painter.fillRect(box, scene.colors.background);
        painter.setPen(scene.colors.text);
        painter.drawText(box, Qt::AlignCenter | Qt::TextDontClip, shown);
    };
    std::vector<SweepAxis::Mark> marks = axis.marks;
    std::ranges::sort(marks, {}, &SweepAxis::Mark::place);
    for (const SweepAxis::Mark& each : marks) {
        mark(each.place, each.text);
    }
    if (axis.hasNotFinite()) {
        mark(SweepAxis::notFinite, tr("not finite"));
    }
    painter.setFont(font());
}

void ParallelPlot::paintLegend(QPainter& painter, const Scene& scene) const
{
    const QFontMetricsF metrics(font());
    const QString before = m_colorTitle + QStringLiteral("  ") + m_colorLow + QLatin1Char(' ');
    painter.setPen(scene.colors.text);
    painter.drawText(scene.legend, Qt::AlignLeft | Qt::AlignVCenter, before);
    QRectF bar(scene.legend.left() + metrics.horizontalAdvance(before), scene.legend.center().y() - 4,
        std::min(120.0, scene.legend.width() / 4), 8);
    constexpr int pieces = 40;
    for (int i = 0; i < pieces; ++i) {
        painter.fillRect(
            QRectF(bar.left() + bar.width() * i / pieces, bar.top(), bar.width() / pieces + 1, bar.height()),
            resultColor((i + 0.5) / pieces, palette()));
    }
    painter.drawText(QRectF(bar.right() + spacing, scene.legend.top(), scene.legend.right() - bar.right() - spacing,
                         scene.legend.height()),
        Qt::AlignLeft | Qt::AlignVCenter, m_colorHigh);
}

std::optional<std::size_t> ParallelPlot::rowAt(const QPointF& position) const
{
    const Scene scene = sceneFor(size());
    std::optional<std::size_t> nearest;
    double least = nearLine;
    for (std::size_t row = 0; row < m_shares.size(); ++row) {
        for (std::size_t axis = 0; isKept(row) && axis + 1 < m_axes.size(); ++axis) {
            const auto& a = m_axes[axis].places[row];
            const auto& b = m_axes[axis + 1].places[row];
            if (a && b) {
                const double distance = distanceTo(
                    position, QPointF(scene.x(axis), scene.y(*a)), QPointF(scene.x(axis + 1), scene.y(*b)));
                if (distance < least) {
                    least = distance;
                    nearest = row;
                }
            }
        }
    }
    return nearest;
}

std::optional<std::size_t> ParallelPlot::axisAt(const QPointF& position) const
{
    if (m_axes.empty()) {
        return std::nullopt;
    }
    const Scene scene = sceneFor(size());
    const double at
        = std::clamp((position.x() - scene.area.left()) / scene.distance, 0.0, static_cast<double>(m_axes.size() - 1));
    const auto axis = static_cast<std::size_t>(std::lround(at));
    return std::abs(scene.x(axis) - position.x()) <= nearAxis ? std::optional(axis) : std::nullopt;
}

QString ParallelPlot::textAt(const QPoint& position) const
{
    const auto row = rowAt(position);
    if (!row) {
        return {};
    }
    QStringList lines;
    for (const SweepAxis& axis : m_axes) {
        lines << tr("%1: %2").arg(axis.title, axis.texts[*row]);
    }
    return lines.join(QLatin1Char('\n'));
}

void ParallelPlot::choose(std::optional<std::size_t> row)
{
    select(row);
    emit rowSelected(row ? static_cast<int>(*row) : -1);
}

void ParallelPlot::mousePressEvent(QMouseEvent* event)
{
    if (event->button() != Qt::LeftButton || m_axes.empty()) {
        return;
    }
    m_hasMoved = false;
    if (const auto axis = axisAt(event->position())) {
        m_axis = *axis;
        m_drag = {*axis, sceneFor(size()).placeAt(event->position().y())};
        update();
    } else {
        choose(rowAt(event->position()));
    }
}

void ParallelPlot::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_drag) {
        return;
    }
    const double place = sceneFor(size()).placeAt(event->position().y());
    const double least = 3 / std::max(sceneFor(size()).area.height(), 1.0);
    m_hasMoved = m_hasMoved || std::abs(place - m_drag->second) > least;
    if (m_hasMoved) {
        keep(m_drag->first, std::clamp(m_drag->second, -slack, SweepAxis::notFinite),
            std::clamp(place, -slack, SweepAxis::notFinite));
    }
}

void ParallelPlot::mouseReleaseEvent(QMouseEvent* event)
{
    if (m_drag && !m_hasMoved) {
        if (m_kept.contains(m_drag->first)) {
            keep(m_drag->first, 0, 0);
        } else {
            choose(rowAt(event->position()));
        }
    }
    m_drag.reset();
}

/// To the next kept row along the axis.
void ParallelPlot::goAlong(int direction)
{
    const auto& places = m_axes[m_axis].places;
    // Rows at the same place come in their own order.
    using Key = std::pair<double, std::size_t>;
    std::optional<Key> next;
    const auto here = m_selected && places[*m_selected] ? std::optional(Key {*places[*m_selected], *m_selected})
                                                        : std::optional<Key>();
    for (std::size_t row = 0; row < places.size(); ++row) {
        if (!places[row] || !isKept(row)) {
            continue;
        }
        const Key key {*places[row], row};
        const bool isBeyond = !here || (direction > 0 ? key > *here : key < *here);
        // From nowhere it starts at the end that the direction leaves.
        if (isBeyond && (!next || (direction > 0 ? key < *next : key > *next))) {
            next = key;
        }
    }
    if (next) {
        choose(next->second);
    }
}

/// What is kept on the axis, by the next value in the direction; from the selected row on if nothing is yet.
void ParallelPlot::widen(int direction)
{
    const auto& places = m_axes[m_axis].places;
    const auto found = m_kept.find(m_axis);
    std::pair<double, double> kept;
    if (found != m_kept.end()) {
        kept = found->second;
    } else if (m_selected && places[*m_selected]) {
        kept = {*places[*m_selected], *places[*m_selected]};
    } else {
        kept = direction > 0 ? std::pair(0.0, 0.0) : std::pair(1.0, 1.0);
    }
    const double edge = direction > 0 ? kept.second : kept.first;
    double next = direction > 0 ? SweepAxis::notFinite : 0;
    for (const auto& place : places) {
        if (place && direction > 0 && *place > edge + slack) {
            next = std::min(next, *place);
        } else if (place && direction < 0 && *place < edge - slack) {
            next = std::max(next, *place);
        }
    }
    (direction > 0 ? kept.second : kept.first) = next;
    keep(m_axis, kept.first, kept.second);
}

void ParallelPlot::keyPressEvent(QKeyEvent* event)
{
    if (m_axes.empty()) {
        QWidget::keyPressEvent(event);
        return;
    }
    const bool isShift = event->modifiers().testFlag(Qt::ShiftModifier);
    switch (event->key()) {
    case Qt::Key_Left:
        m_axis = m_axis > 0 ? m_axis - 1 : 0;
        break;
    case Qt::Key_Right:
        m_axis = std::min(m_axis + 1, m_axes.size() - 1);
        break;
    case Qt::Key_Up:
        isShift ? widen(1) : goAlong(1);
        break;
    case Qt::Key_Down:
        isShift ? widen(-1) : goAlong(-1);
        break;
    case Qt::Key_Escape:
        m_kept.contains(m_axis) ? keep(m_axis, 0, 0) : keepAll();
        break;
    default:
        QWidget::keyPressEvent(event);
        return;
    }
    describeSelf();
    update();
}

bool ParallelPlot::event(QEvent* event)
{
    if (showTipAtPlace(this, event, [this](const QPoint& place) { return textAt(place); })) {
        return true;
    }
    if (event->type() == QEvent::ShortcutOverride && keepsSome()
        && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    return QWidget::event(event);
}

void ParallelPlot::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        update();
    }
    QWidget::changeEvent(event);
}

} // namespace mantissa
