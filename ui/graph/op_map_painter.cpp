#include "ui/graph/op_map_painter.h"

#include "ui/graph/op_map_words.h"
#include "ui/style/theme.h"

#include <QCoreApplication>
#include <QFontInfo>
#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>

namespace mantissa {

namespace {

constexpr double corner = 3;
constexpr double padding = 5;

QString tr(const char* text)
{
    return QCoreApplication::translate("mantissa::OpMapPainter", text);
}

/// Whether text and hatching can be told at the painter's scale.
bool isLegible(const QPainter& painter)
{
    constexpr double smallest = 0.35;
    return painter.transform().m11() >= smallest;
}

/// Lines from bottom left to top right, as vectors, so that they look alike at every zoom and in files.
void hatch(QPainter& painter, const QRectF& rect, const QColor& color)
{
    constexpr double spacing = 6;
    painter.setPen(QPen(color, 1));
    for (double at = spacing / 2; at < rect.width() + rect.height(); at += spacing) {
        const QPointF lower(std::min(at, rect.width()), std::max(0.0, at - rect.width()));
        const QPointF upper(std::max(0.0, at - rect.height()), std::min(at, rect.height()));
        painter.drawLine(rect.topLeft() + lower, rect.topLeft() + upper);
    }
}

/// Grows towards the end of the line it stands on.
void drawArrow(QPainter& painter, const QPolygonF& line, const QColor& color)
{
    constexpr double length = 5;
    constexpr double halfWidth = 3;
    const QPointF tip = line.last();
    const QPointF before = line[line.size() - 2];
    const bool isVertical = std::abs(tip.x() - before.x()) < std::abs(tip.y() - before.y());
    const QPointF back = isVertical ? QPointF(0, tip.y() > before.y() ? -length : length)
                                    : QPointF(tip.x() > before.x() ? -length : length, 0);
    const QPointF side = isVertical ? QPointF(halfWidth, 0) : QPointF(0, halfWidth);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawPolygon(QPolygonF {tip, tip + back + side, tip + back - side});
}

} // namespace

QFont inPixels(QFont font)
{
    font.setPixelSize(QFontInfo(font).pixelSize());
    return font;
}

OpMapPainter::OpMapPainter(const QFont& font, const QPalette& palette)
    : m_font(inPixels(font))
    , m_bold(m_font)
    , m_palette(palette)
    , m_text(palette.color(QPalette::Active, QPalette::Text))
    , m_base(palette.color(QPalette::Active, QPalette::Base))
{
    m_bold.setBold(true);
    m_faint = blend(m_text, m_base, 0.68);
    m_line = blend(m_text, m_base, 0.5);
}

MapMetrics OpMapPainter::metrics() const
{
    const QFontMetricsF plain(m_font);
    const QFontMetricsF bold(m_bold);
    MapMetrics metrics;
    metrics.line = plain.height();
    metrics.opWidth = tagWidth() + plain.averageCharWidth() * 24;
    metrics.backwardWidth
        = bold.horizontalAdvance(QStringLiteral("FP16")) + plain.averageCharWidth() * 10 + 4 * padding;
    metrics.castWidth = plain.horizontalAdvance(QStringLiteral("FP32\u2192FP16")) + 4 * padding;
    return metrics;
}

double OpMapPainter::tagWidth() const
{
    return QFontMetricsF(m_font).horizontalAdvance(tr("sums %1").arg(QStringLiteral("FP32"))) + 2 * padding;
}

QColor OpMapPainter::ground(DType format) const
{
    switch (format) {
    case DType::Float16:
        return blend(m_text, m_base, 0.78);
    case DType::BFloat16:
        return blend(m_text, m_base, 0.32);
    default:
        return m_base;
    }
}

QColor OpMapPainter::inkOn(const QColor& ground) const
{
    return contrastRatio(m_text, ground) >= contrastRatio(m_base, ground) ? m_text : m_base;
}

void OpMapPainter::paintTag(QPainter& painter, const QRectF& rect, DType format, const QString& text) const
{
    paintFormat(painter, rect, format, text, m_bold);
}

void OpMapPainter::paintFormat(
    QPainter& painter, const QRectF& rect, DType format, const QString& text, const QFont& font) const
{
    painter.fillRect(rect, ground(format));
    if (!isLegible(painter)) {
        return;
    }
    if (format == DType::BFloat16) {
        hatch(painter, rect, blend(m_text, m_base, 0.2));
    }
    painter.setPen(inkOn(ground(format)));
    painter.setFont(font);
    painter.drawText(rect, Qt::AlignCenter, text);
}

void OpMapPainter::paintText(
    QPainter& painter, const QRectF& rect, const QString& text, const QColor& color, Qt::TextElideMode elision) const
{
    if (!isLegible(painter)) {
        return;
    }
    painter.setPen(color);
    painter.drawText(
        rect, Qt::AlignLeft | Qt::AlignVCenter, QFontMetricsF(painter.font()).elidedText(text, elision, rect.width()));
}

void OpMapPainter::paint(
    QPainter& painter, const OpMap& map, const OpMapLayout& layout, const MapMarks& marks, const QRectF& visible) const
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(m_font);
    for (const QRectF& frame : layout.frames) {
        if (frame.intersects(visible)) {
            painter.setPen(Qt::NoPen);
            painter.setBrush(blend(m_text, m_base, 0.05));
            painter.drawRoundedRect(frame, corner, corner);
        }
    }
    paintHeadings(painter, layout);
    for (const MapEdge& edge : layout.edges) {
        if (edge.line.boundingRect().adjusted(-1, -1, 1, 1).intersects(visible)) {
            paintEdge(painter, edge);
        }
    }
    for (std::size_t index = 0; index < layout.boxes.size(); ++index) {
        const MapBox& box = layout.boxes[index];
        if (!box.rect.adjusted(-4, -4, 4, 4).intersects(visible)) {
            continue;
        }
        painter.setOpacity(isAside(map, box, marks) ? 0.35 : 1);
        switch (box.kind) {
        case MapBox::Kind::Op:
        case MapBox::Kind::Backward:
            paintOp(painter, map, box, marks);
            break;
        case MapBox::Kind::Cast:
            paintCast(painter, map, box);
            break;
        case MapBox::Kind::Block:
        case MapBox::Kind::BlockBackward:
            paintBlock(painter, map.blocks()[box.index], box);
            break;
        case MapBox::Kind::BlockTitle:
            paintTitle(painter, map.blocks()[box.index], box.rect);
            break;
        }
        painter.setOpacity(1);
        if (marks.selected == index) {
            const QColor highlight = m_palette.color(QPalette::Active, QPalette::Highlight);
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(readableOn(highlight, m_base), marks.hasFocus ? 3 : 2));
            painter.drawRoundedRect(box.rect.adjusted(-2, -2, 2, 2), corner + 1, corner + 1);
        }
    }
}

bool OpMapPainter::isAside(const OpMap& map, const MapBox& box, const MapMarks& marks)
{
    if (!marks.matches) {
        return false;
    }
    if (!box.isBlock()) {
        return !marks.matches->contains(box.index);
    }
    const MapBlock& block = map.blocks()[box.index];
    return std::ranges::none_of(*marks.matches, [&](NodeIndex node) {
        const std::size_t row = map.rowNumberOf(node);
        return row >= block.firstRow && row < block.firstRow + block.rowCount;
    });
}

void OpMapPainter::paintHeadings(QPainter& painter, const OpMapLayout& layout) const
{
    painter.setFont(m_font);
    paintText(painter, layout.forwardHeading, tr("Forward, per micro-batch"), m_faint);
    paintText(painter, layout.backwardHeading, tr("Backward, from bottom to top"), m_faint);
    if (!layout.updateHeading.isEmpty()) {
        painter.setPen(QPen(m_line, 1));
        painter.drawLine(
            QPointF(0, layout.updateHeading.top()), QPointF(layout.bounds.right(), layout.updateHeading.top()));
        paintText(painter, layout.updateHeading, tr("Update of all parameters, once per step"), m_faint);
    }
}

void OpMapPainter::paintEdge(QPainter& painter, const MapEdge& edge) const
{
    QPen pen(m_line, 1.4);
    pen.setJoinStyle(Qt::RoundJoin);
    if (edge.isBackward) {
        pen.setDashPattern({4, 2});
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(edge.line);
    drawArrow(painter, edge.line, m_line);
}

void OpMapPainter::paintOp(QPainter& painter, const OpMap& map, const MapBox& box, const MapMarks& marks) const
{
    const bool isForward = box.kind == MapBox::Kind::Op;
    const DType format = map.formatOf(box.index);
    const double width
        = isForward ? tagWidth() : QFontMetricsF(m_bold).horizontalAdvance(QStringLiteral("FP16")) + 2 * padding;
    painter.fillRect(box.rect, m_base);
    QRectF tag = box.rect;
    tag.setWidth(width);
    const auto sums = isForward ? map.notableSumFormat(box.index) : std::nullopt;
    paintTag(painter, tag, format, sums ? QString() : formatLabel(format));
    if (sums && isLegible(painter)) {
        const double half = tag.height() / 2;
        painter.setPen(inkOn(ground(format)));
        painter.setFont(m_bold);
        painter.drawText(tag.adjusted(0, 2, 0, -half), Qt::AlignCenter, formatLabel(format));
        painter.setFont(m_font);
        painter.drawText(tag.adjusted(0, half, 0, -2), Qt::AlignCenter, tr("sums %1").arg(formatLabel(*sums)));
    }
    const auto pending = marks.pending.find(box.index);
    const bool isPending = pending != marks.pending.end();
    const bool isOverridden = isForward && map.isOverridden(box.index);
    QPen frame(m_line, isOverridden || isPending ? 2 : 1);
    if (isPending) {
        frame.setStyle(Qt::DashLine);
    }
    painter.setPen(frame);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box.rect);
    painter.drawLine(tag.topRight(), tag.bottomRight());

    QRectF upper = box.rect.adjusted(width + padding, 2, -padding, -box.rect.height() / 2);
    const QRectF lower = box.rect.adjusted(width + padding, box.rect.height() / 2, -padding, -2);
    if (isOverridden) {
        const QString mark = tr("changed");
        painter.setFont(m_font);
        const double markWidth = QFontMetricsF(m_font).horizontalAdvance(mark) + 2 * padding;
        QRectF place = upper;
        place.setLeft(upper.right() - markWidth + padding);
        painter.fillRect(place, blend(m_text, m_base, 0.15));
        painter.setPen(m_text);
        painter.drawText(place, Qt::AlignCenter, mark);
        upper.setRight(place.left() - padding);
    }
    painter.setFont(isForward ? m_bold : m_font);
    paintText(painter, upper, shortName(map, box.index), m_text, Qt::ElideMiddle); // names differ at their ends
    painter.setFont(m_font);
    QString below = opName(map, box.index);
    if (isPending) {
        QFont italic = m_font;
        italic.setItalic(true);
        painter.setFont(italic);
        below = tr("%1 from the next step on").arg(pending->second);
    } else if (isForward && !map.rowOf(box.index).isUpdate) {
        below += QLatin1Char(' ') + shapeText(map, box.index); // an update has as many as there are parameters
    }
    paintText(painter, lower, below, isPending ? m_text : m_faint);
    painter.setFont(m_font);
}

void OpMapPainter::paintCast(QPainter& painter, const OpMap& map, const MapBox& box) const
{
    // Left half in the format that comes, right half in the one that goes.
    const DType from = map.graph().value(map.node(box.index).inputs.front()).type.dtype;
    const DType to = map.formatOf(box.index);
    const QRectF rect = box.rect.adjusted(0, 1, 0, -1);
    QRectF left = rect;
    left.setWidth(rect.width() / 2);
    QRectF right = rect;
    right.setLeft(left.right());
    for (const auto& [part, format] : {std::pair(left, from), std::pair(right, to)}) {
        paintFormat(painter, part, format, formatLabel(format), m_font);
    }
    painter.setPen(QPen(m_line, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect);
    const double middle = rect.center().y();
    painter.setPen(QPen(m_base, 1));
    painter.setBrush(m_line);
    painter.drawPolygon(
        QPolygonF {{left.right() - 3, middle - 5}, {left.right() - 3, middle + 5}, {left.right() + 4, middle}});
}

void OpMapPainter::paintBlock(QPainter& painter, const MapBlock& block, const MapBox& box) const
{
    const bool isForward = box.kind == MapBox::Kind::Block;
    const FormatCount& count = isForward ? block.forward : block.backward;
    // A second edge behind the first: there is more in here.
    painter.setPen(QPen(m_line, 1));
    painter.setBrush(m_base);
    painter.drawRect(box.rect.translated(3, 3));
    painter.drawRect(box.rect);
    const QRectF upper = box.rect.adjusted(padding, 2, -padding, -box.rect.height() / 2);
    QRectF lower = box.rect.adjusted(padding, box.rect.height() / 2, -padding, -3);
    painter.setFont(isForward ? m_bold : m_font);
    const QString name = isForward ? QStringLiteral("\u25b8 ") + QString::fromStdString(block.name) : tr("backward");
    paintText(painter, upper, tr("%1  %2 ops, %3 casts").arg(name).arg(count.total()).arg(count.casts), m_text);
    painter.setFont(m_font);
    for (const DType format : {DType::Float16, DType::BFloat16, DType::Float32}) {
        const auto found = count.ops.find(format);
        if (found == count.ops.end()) {
            continue;
        }
        const QString text = QStringLiteral("%1 %2").arg(found->second).arg(formatLabel(format));
        lower.setWidth(QFontMetricsF(m_bold).horizontalAdvance(text) + 2 * padding);
        paintTag(painter, lower, format, text);
        painter.setPen(QPen(m_line, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(lower);
        lower.moveLeft(lower.right() + padding);
    }
    painter.setFont(m_font);
}

void OpMapPainter::paintTitle(QPainter& painter, const MapBlock& block, const QRectF& rect) const
{
    painter.setFont(m_bold);
    paintText(painter, rect.adjusted(padding, 0, 0, 0), QStringLiteral("\u25be ") + QString::fromStdString(block.name),
        m_text);
    painter.setFont(m_font);
}

} // namespace mantissa
