#include "ui/plots/plot_overlays.h"

#include "ui/plots/plot_canvas.h"
#include "ui/style/number_format.h"

#include <cmath>

namespace mantissa {

namespace {

constexpr double grabDistance = 4; // pixels
constexpr int sampleLine = 18;
constexpr int entryGap = 16;

} // namespace

DecorOverlay::DecorOverlay(PlotCanvas* canvas)
    : QCPLayerable(canvas, QStringLiteral("decor"))
    , m_canvas(canvas)
{
}

void DecorOverlay::applyDefaultAntialiasingHint(QCPPainter* painter) const
{
    painter->setAntialiasing(false);
}

QRect DecorOverlay::clipRect() const
{
    return m_canvas->viewport();
}

void DecorOverlay::draw(QCPPainter* painter)
{
    drawTitles(painter);
    drawMarks(painter);
    drawLabels(painter);
    drawFlags(painter);
    const std::vector<Metric> shown = m_canvas->shownMetrics();
    const QRect lowest = m_canvas->plotArea(shown.back());
    painter->setFont(m_canvas->font());
    painter->setPen(m_canvas->colors().faintText);
    painter->drawText(
        QRect(0, lowest.bottom() + 2, lowest.left() - 10, m_canvas->viewport().bottom() - lowest.bottom() - 2),
        Qt::AlignRight | Qt::AlignVCenter, tr("step"));
    if (m_canvas->showsFocus()) {
        painter->setPen(QPen(m_canvas->palette().color(QPalette::Highlight), 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(m_canvas->viewport().adjusted(0, 0, -1, -1));
    }
}

void DecorOverlay::drawTitles(QCPPainter* painter) const
{
    const PlotColors& colors = m_canvas->colors();
    QFont titleFont = m_canvas->font();
    titleFont.setWeight(QFont::DemiBold);
    const QFontMetrics titleMetrics(titleFont);
    for (const Metric metric : m_canvas->shownMetrics()) {
        const QRect title = m_canvas->titleRect(metric);
        painter->setFont(titleFont);
        painter->setPen(colors.text);
        const QString name = m_canvas->title(metric);
        painter->drawText(
            title, Qt::AlignLeft | Qt::AlignVCenter, titleMetrics.elidedText(name, Qt::ElideRight, title.width()));
        const QRect rest = title.adjusted(titleMetrics.horizontalAdvance(name) + 10, 0, 0, 0);
        if (rest.width() > 40) {
            painter->setFont(m_canvas->font());
            painter->setPen(colors.faintText);
            painter->drawText(rest, Qt::AlignLeft | Qt::AlignVCenter,
                QFontMetrics(m_canvas->font()).elidedText(m_canvas->note(metric), Qt::ElideRight, rest.width()));
        }
    }
}

void DecorOverlay::drawMarks(QCPPainter* painter) const
{
    double previous = -1e9;
    for (const MarkLine& mark : m_marks) {
        const double x = std::round(m_canvas->stepToPixel(mark.step));
        if (x - previous < 2) {
            continue;
        }
        for (const Metric metric : m_canvas->shownMetrics()) {
            const QRect area = m_canvas->plotArea(metric);
            if (x < area.left() || x > area.right()) {
                continue;
            }
            painter->setPen(QPen(mark.color, 1));
            // Dots by hand: dashed pens are slow, and a solid line would pass for a curve.
            for (int y = area.top() + 6; y < area.bottom(); y += 6) {
                painter->drawLine(QLineF(x, y, x, std::min(y + 2, area.bottom())));
            }
            const QPointF wedge[] = {{x - 4, area.top() + 0.0}, {x + 4, area.top() + 0.0}, {x, area.top() + 6.0}};
            painter->setBrush(mark.color);
            painter->drawPolygon(wedge, 3);
            previous = x;
        }
    }
}

void DecorOverlay::drawLabels(QCPPainter* painter) const
{
    constexpr int gap = 6;
    const QRect area = m_canvas->plotArea(m_canvas->shownMetrics().front());
    const QFontMetrics metrics(m_canvas->font());
    painter->setFont(m_canvas->font());
    int free = area.left(); // the first pixel that no label covers
    for (const MarkLine& mark : m_marks) {
        const int x = static_cast<int>(std::round(m_canvas->stepToPixel(mark.step)));
        if (mark.label.isEmpty() || x < area.left() || x > area.right()) {
            continue;
        }
        const int width = metrics.horizontalAdvance(mark.label) + gap;
        const bool fitsRight = x + gap + width <= area.right();
        const QRect box(fitsRight ? x + gap : x - gap - width, area.top() + 2, width, metrics.height());
        if (box.left() < free) {
            continue; // the line and its tooltip are still there
        }
        painter->fillRect(box, m_canvas->colors().background);
        painter->setPen(m_canvas->colors().text);
        painter->drawText(box, Qt::AlignCenter, mark.label);
        free = box.right() + gap;
    }
}

void DecorOverlay::drawFlags(QCPPainter* painter) const
{
    if (!m_canvas->isShown(Metric::Difference)) {
        return;
    }
    const QRect area = m_canvas->plotArea(Metric::Difference);
    constexpr int flagHeight = 8;
    for (std::size_t i = 0; i < m_flags.size(); ++i) {
        const double x = std::round(m_canvas->stepToPixel(m_flags[i].step));
        if (x < area.left() || x > area.right()) {
            continue;
        }
        const double top = area.top() + 3 + static_cast<double>(i) * (flagHeight + 2);
        painter->setPen(QPen(m_flags[i].color, 1));
        painter->setBrush(m_flags[i].color);
        painter->drawLine(QLineF(x, top, x, area.bottom()));
        const QPointF pennant[] = {{x, top}, {x + 9, top + flagHeight / 2.0}, {x, top + flagHeight}};
        painter->drawPolygon(pennant, 3);
    }
}

QString DecorOverlay::textAt(const QPointF& position) const
{
    QStringList texts;
    for (const MarkLine& mark : m_marks) {
        if (std::abs(m_canvas->stepToPixel(mark.step) - position.x()) <= grabDistance) {
            texts.append(tr("step %1: %2").arg(formatCount(mark.step), mark.text));
        }
    }
    if (m_canvas->isShown(Metric::Difference) && m_canvas->plotArea(Metric::Difference).contains(position.toPoint())) {
        for (const PartingFlag& flag : m_flags) {
            if (std::abs(m_canvas->stepToPixel(flag.step) - position.x()) <= grabDistance) {
                texts.append(flag.text);
            }
        }
    }
    constexpr qsizetype most = 8;
    if (texts.size() > most) {
        const auto more = texts.size() - most;
        texts.resize(most);
        texts.append(tr("and %n more", nullptr, static_cast<int>(more)));
    }
    return texts.join(QLatin1Char('\n'));
}

CursorOverlay::CursorOverlay(PlotCanvas* canvas)
    : QCPLayerable(canvas, QStringLiteral("cursor"))
    , m_canvas(canvas)
{
}

void CursorOverlay::applyDefaultAntialiasingHint(QCPPainter* painter) const
{
    painter->setAntialiasing(false);
}

QRect CursorOverlay::clipRect() const
{
    return m_canvas->viewport();
}

void CursorOverlay::setCursor(std::optional<std::int64_t> step, std::vector<CursorDot> dots)
{
    m_step = step;
    m_dots = std::move(dots);
}

void CursorOverlay::draw(QCPPainter* painter)
{
    const PlotColors& colors = m_canvas->colors();
    if (!m_box.isNull()) {
        painter->setPen(QPen(colors.cursor, 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(m_box);
    }
    if (!m_step) {
        return;
    }
    const double x = std::round(m_canvas->stepToPixel(*m_step));
    QRect lowest;
    for (const Metric metric : m_canvas->shownMetrics()) {
        const QRect area = m_canvas->plotArea(metric);
        lowest = area;
        if (x >= area.left() && x <= area.right() + 1) {
            painter->setPen(QPen(colors.cursor, 1));
            painter->drawLine(QLineF(x, area.top(), x, area.bottom()));
        }
    }
    if (lowest.isNull() || x < lowest.left() || x > lowest.right() + 1) {
        return;
    }
    painter->setAntialiasing(true);
    for (const CursorDot& dot : m_dots) {
        const auto metric = allMetrics[static_cast<std::size_t>(dot.panel)];
        const QRectF area = m_canvas->plotArea(metric);
        const double y = m_canvas->valueToPixel(metric, dot.value);
        if (!m_canvas->isShown(metric) || y < area.top() - 1 || y > area.bottom() + 1) {
            continue;
        }
        const double radius = dot.isNearest ? 4.5 : 3;
        painter->setPen(QPen(colors.background, 1));
        painter->setBrush(dot.color);
        painter->drawEllipse(QPointF(x, y), radius, radius);
    }
    painter->setAntialiasing(false);
    const QString text = tr("step %1").arg(formatCount(*m_step));
    painter->setFont(m_canvas->font());
    const QFontMetrics metrics(m_canvas->font());
    const int width = metrics.horizontalAdvance(text) + 10;
    const int left
        = std::clamp(static_cast<int>(x) - width / 2, lowest.left(), std::max(lowest.left(), lowest.right() - width));
    const QRect label(left, lowest.bottom() + 2, width, metrics.height() + 2);
    painter->fillRect(label, colors.text);
    painter->setPen(colors.background);
    painter->drawText(label, Qt::AlignCenter, text);
}

LegendRow::LegendRow(QCustomPlot* plot, std::vector<Entry> entries, const QFont& font, const QColor& text)
    : QCPLayoutElement(plot)
    , m_entries(std::move(entries))
    , m_font(font)
    , m_text(text)
{
    setLayer(QStringLiteral("decor"));
    setAutoMargins(QCP::msNone);
    setMargins(QMargins(12, 6, 12, 0));
}

QSize LegendRow::minimumOuterSizeHint() const
{
    return {0, QFontMetrics(m_font).height() + mMargins.top() + mMargins.bottom() + 4};
}

QSize LegendRow::maximumOuterSizeHint() const
{
    return {QWIDGETSIZE_MAX, minimumOuterSizeHint().height()};
}

void LegendRow::applyDefaultAntialiasingHint(QCPPainter* painter) const
{
    painter->setAntialiasing(false);
}

void LegendRow::draw(QCPPainter* painter)
{
    const QFontMetrics metrics(m_font);
    painter->setFont(m_font);
    int x = rect().left();
    for (const Entry& entry : m_entries) {
        QPen pen(entry.color, 2, entry.style);
        painter->setPen(pen);
        const int y = rect().center().y();
        painter->drawLine(QLineF(x, y, x + sampleLine, y));
        painter->setPen(m_text);
        x += sampleLine + 6;
        const int width = metrics.horizontalAdvance(entry.name);
        painter->drawText(
            QRect(x, rect().top(), width + 2, rect().height()), Qt::AlignLeft | Qt::AlignVCenter, entry.name);
        x += width + entryGap;
    }
}

} // namespace mantissa
