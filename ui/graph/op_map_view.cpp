#include "ui/graph/op_map_view.h"

#include "ui/graph/op_map_words.h"
#include "ui/language/language.h"

#include <QFocusEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

constexpr double smallestZoom = 0.2;
constexpr double largestZoom = 4;
constexpr double zoomStep = 1.2;
/// Type that is made smaller than this to fit can't be read.
constexpr double smallestFit = 0.9;
constexpr int laneStripe = 3; ///< in the colour of the lane, above the map
/// Maps of more forward ops than this begin with their blocks folded.
constexpr std::size_t fewRows = 32;

bool haveSameBlocks(const OpMap& a, const OpMap& b)
{
    return std::ranges::equal(a.blocks(), b.blocks(), {}, &MapBlock::name, &MapBlock::name);
}

} // namespace

OpMapView::OpMapView(QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_painter(font(), palette())
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setAutoFillBackground(false);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Op map"));
}

void OpMapView::setMap(std::shared_ptr<const OpMap> map)
{
    const bool isFresh = !m_map || !map || !haveSameBlocks(*m_map, *map);
    const std::optional<NodeIndex> selected = selectedNode();
    const std::string name = selected ? m_map->node(*selected).name : std::string();
    m_map = std::move(map);
    m_marks.selected.reset();
    m_marks.pending.clear();
    if (isFresh) {
        m_folded.clear();
        m_wantsFit = true;
        if (m_map && m_map->rows().size() > fewRows) {
            for (const MapBlock& block : m_map->blocks()) {
                m_folded.insert(block.name);
            }
        }
    }
    search(m_searched);
    arrange();
    if (isFresh) {
        horizontalScrollBar()->setValue(0);
        verticalScrollBar()->setValue(0);
    } else if (selected) {
        const auto same = std::ranges::find(m_map->graph().nodes(), name, &Node::name);
        if (same != m_map->graph().nodes().end()) {
            m_marks.selected = m_layout.boxOfNode[static_cast<std::size_t>(same - m_map->graph().nodes().begin())];
        }
    }
    viewport()->update();
}

void OpMapView::setLaneColor(const QColor& color)
{
    m_laneColor = color;
    viewport()->update();
}

void OpMapView::setEmptyText(const QString& text)
{
    m_emptyText = text;
    viewport()->update();
}

void OpMapView::setPending(std::map<NodeIndex, QString> pending)
{
    m_marks.pending = std::move(pending);
    viewport()->update();
}

// --- search ---

void OpMapView::search(const QString& text)
{
    m_searched = text;
    m_matches.clear();
    m_marks.matches.reset();
    if (m_map && !text.isEmpty()) {
        for (const MapRow& row : m_map->rows()) {
            if (QString::fromStdString(m_map->node(row.op).name).contains(text, Qt::CaseInsensitive)
                || opName(*m_map, row.op).contains(text, Qt::CaseInsensitive)) {
                m_matches.push_back(row.op);
            }
        }
        m_marks.matches.emplace(m_matches.begin(), m_matches.end());
    }
    viewport()->update();
}

void OpMapView::selectMatch(int step)
{
    if (m_matches.empty()) {
        return;
    }
    const auto count = static_cast<std::ptrdiff_t>(m_matches.size());
    const std::optional<NodeIndex> selected = selectedNode();
    const auto present = selected ? std::ranges::find(m_matches, *selected) - m_matches.begin() : count;
    const std::ptrdiff_t next = present == count ? (step > 0 ? 0 : count - 1) : (present + step + count) % count;
    select(m_matches[static_cast<std::size_t>(next)]);
}

// --- folding and place ---

void OpMapView::setFolded(const std::string& block, bool isFolded)
{
    if (isFolded) {
        m_folded.insert(block);
    } else {
        m_folded.erase(block);
    }
    arrange();
    for (std::size_t box = 0; box < m_layout.boxes.size(); ++box) {
        const MapBox& candidate = m_layout.boxes[box];
        const bool isHead = candidate.kind == MapBox::Kind::Block || candidate.kind == MapBox::Kind::BlockTitle;
        if (isHead && m_map->blocks()[candidate.index].name == block) {
            selectBox(box);
        }
    }
}

void OpMapView::setAllFolded(bool areFolded)
{
    m_folded.clear();
    if (areFolded && m_map) {
        for (const MapBlock& block : m_map->blocks()) {
            m_folded.insert(block.name);
        }
    }
    arrange();
    selectBox(std::nullopt);
}

void OpMapView::arrange()
{
    m_painter = OpMapPainter(font(), palette());
    m_layout = m_map ? layOut(*m_map, m_folded, m_painter.metrics()) : OpMapLayout();
    if (m_wantsFit) {
        m_zoom = zoomThatFits();
    }
    updateScrollBars();
    viewport()->update();
}

void OpMapView::updateScrollBars()
{
    const QSizeF size = m_layout.bounds.size() * m_zoom;
    const int line = static_cast<int>(m_painter.metrics().opHeight() * m_zoom);
    const auto follow = [line](QScrollBar* bar, double content, int page) {
        bar->setRange(0, std::max(0, static_cast<int>(std::ceil(content)) - page));
        bar->setPageStep(page);
        bar->setSingleStep(line);
    };
    follow(horizontalScrollBar(), size.width(), viewport()->width());
    follow(verticalScrollBar(), size.height() + laneStripe, viewport()->height());
}

double OpMapView::zoomThatFits() const
{
    if (m_layout.bounds.isEmpty()) {
        return 1;
    }
    return std::clamp(viewport()->width() / m_layout.bounds.width(), smallestFit, 1.0);
}

void OpMapView::fit()
{
    m_wantsFit = true;
    m_zoom = zoomThatFits();
    updateScrollBars();
    horizontalScrollBar()->setValue(0);
    viewport()->update();
}

void OpMapView::zoomIn()
{
    setZoom(m_zoom * zoomStep, viewport()->rect().center());
}

void OpMapView::zoomOut()
{
    setZoom(m_zoom / zoomStep, viewport()->rect().center());
}

void OpMapView::setZoom(double zoom, const QPointF& fixedPoint)
{
    const QPointF place = toLayout(fixedPoint);
    m_wantsFit = false;
    m_zoom = std::clamp(zoom, smallestZoom, largestZoom);
    updateScrollBars();
    const QPointF moved = place * m_zoom - fixedPoint;
    horizontalScrollBar()->setValue(static_cast<int>(std::lround(moved.x())));
    verticalScrollBar()->setValue(static_cast<int>(std::lround(moved.y())) + laneStripe);
    viewport()->update();
}

QPointF OpMapView::origin() const
{
    const double spare = std::max(0.0, viewport()->width() - m_layout.bounds.width() * m_zoom);
    return {std::floor(spare / 2) - horizontalScrollBar()->value(),
        static_cast<double>(laneStripe - verticalScrollBar()->value())};
}

QPointF OpMapView::toLayout(const QPointF& viewportPoint) const
{
    return (viewportPoint - origin()) / m_zoom;
}

QRectF OpMapView::toViewport(const QRectF& rect) const
{
    return {origin() + rect.topLeft() * m_zoom, rect.size() * m_zoom};
}

QRect OpMapView::rectOf(NodeIndex node) const
{
    const auto box = m_layout.boxOfNode.at(node);
    return box ? toViewport(m_layout.boxes[*box].rect).toAlignedRect() : QRect();
}

// --- selection ---

void OpMapView::select(NodeIndex node)
{
    const MapRow& row = m_map->rowOf(node);
    if (row.block && isFolded(m_map->blocks()[*row.block].name)) {
        setFolded(m_map->blocks()[*row.block].name, false);
    }
    selectBox(m_layout.boxOfNode.at(node));
}

std::optional<NodeIndex> OpMapView::selectedNode() const
{
    if (!m_marks.selected || m_layout.boxes[*m_marks.selected].isBlock()) {
        return std::nullopt;
    }
    return m_layout.boxes[*m_marks.selected].index;
}

void OpMapView::selectBox(std::optional<std::size_t> box)
{
    m_marks.selected = box;
    if (box) {
        showBox(*box);
        setAccessibleDescription(textOf(*box));
    }
    viewport()->update();
    emit selectionChanged();
}

void OpMapView::showBox(std::size_t box)
{
    constexpr double room = 24;
    const QRectF rect = toViewport(m_layout.boxes[box].rect).adjusted(-room, -room, room, room);
    const auto bring = [](QScrollBar* bar, double from, double to, int page) {
        if (from < 0) {
            bar->setValue(bar->value() + static_cast<int>(std::floor(from)));
        } else if (to > page) {
            bar->setValue(bar->value() + static_cast<int>(std::ceil(std::min(to - page, from))));
        }
    };
    bring(horizontalScrollBar(), rect.left(), rect.right(), viewport()->width());
    bring(verticalScrollBar(), rect.top(), rect.bottom(), viewport()->height());
}

void OpMapView::activate(std::size_t box, const QPoint& globalPosition)
{
    const MapBox present = m_layout.boxes[box];
    if (present.isBlock()) {
        const std::string& block = m_map->blocks()[present.index].name;
        setFolded(block, !isFolded(block));
    } else {
        emit menuWanted(present.index, globalPosition);
    }
}

void OpMapView::move(OpMapLayout::Direction direction)
{
    if (m_layout.boxes.empty()) {
        return;
    }
    if (!m_marks.selected) {
        selectBox(0);
    } else if (const auto next = m_layout.neighbour(*m_marks.selected, direction)) {
        selectBox(next);
    } else if (direction == OpMapLayout::Direction::Left) {
        // Left of everything is the title of the block, where Enter folds it.
        const auto block = m_map->rows()[m_layout.boxes[*m_marks.selected].row].block;
        const auto title = std::ranges::find_if(m_layout.boxes,
            [block](const MapBox& box) { return box.kind == MapBox::Kind::BlockTitle && box.index == block; });
        if (title != m_layout.boxes.end()) {
            selectBox(static_cast<std::size_t>(title - m_layout.boxes.begin()));
        }
    }
}

QString OpMapView::textOf(std::size_t box) const
{
    const MapBox& present = m_layout.boxes[box];
    return present.isBlock() ? blockText(m_map->blocks()[present.index]) : nodeSentence(*m_map, present.index);
}

// --- events ---

void OpMapView::paintEvent(QPaintEvent* event)
{
    QPainter painter(viewport());
    painter.fillRect(event->rect(), palette().color(QPalette::Base));
    if (!m_map) {
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(
            viewport()->rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, m_emptyText);
        return;
    }
    m_marks.hasFocus = hasFocus();
    painter.save();
    painter.translate(origin());
    painter.scale(m_zoom, m_zoom);
    const QRectF visible(toLayout(event->rect().topLeft()), QSizeF(event->rect().size()) / m_zoom);
    m_painter.paint(painter, *m_map, m_layout, m_marks, visible);
    painter.restore();
    if (m_laneColor.isValid()) {
        painter.fillRect(0, 0, viewport()->width(), laneStripe, m_laneColor);
    }
}

void OpMapView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    if (m_wantsFit) {
        m_zoom = zoomThatFits();
    }
    updateScrollBars();
}

void OpMapView::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        m_emptyText = inPresentLanguage(m_emptyText);
    }
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange
        || event->type() == QEvent::LanguageChange) {
        arrange();
    }
}

void OpMapView::keyPressEvent(QKeyEvent* event)
{
    if (event->matches(QKeySequence::Copy)) {
        emit copyWanted();
        return;
    }
    switch (event->key()) {
    case Qt::Key_Up:
        move(OpMapLayout::Direction::Up);
        return;
    case Qt::Key_Down:
        move(OpMapLayout::Direction::Down);
        return;
    case Qt::Key_Left:
        move(OpMapLayout::Direction::Left);
        return;
    case Qt::Key_Right:
        move(OpMapLayout::Direction::Right);
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_marks.selected) {
            const QRectF rect = toViewport(m_layout.boxes[*m_marks.selected].rect);
            activate(*m_marks.selected, viewport()->mapToGlobal(rect.bottomLeft().toPoint()));
        }
        return;
    case Qt::Key_Plus:
        zoomIn();
        return;
    case Qt::Key_Minus:
        zoomOut();
        return;
    case Qt::Key_Escape:
        selectBox(std::nullopt);
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void OpMapView::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void OpMapView::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void OpMapView::mousePressEvent(QMouseEvent* event)
{
    const auto box = m_layout.boxAt(toLayout(event->position()));
    if (box) {
        selectBox(box);
    } else if (event->button() == Qt::LeftButton || event->button() == Qt::MiddleButton) {
        selectBox(std::nullopt);
        m_panFrom = event->position().toPoint();
        viewport()->setCursor(Qt::ClosedHandCursor);
    }
}

void OpMapView::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_panFrom) {
        return;
    }
    const QPoint moved = event->position().toPoint() - *m_panFrom;
    m_panFrom = event->position().toPoint();
    horizontalScrollBar()->setValue(horizontalScrollBar()->value() - moved.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() - moved.y());
}

void OpMapView::mouseReleaseEvent(QMouseEvent*)
{
    m_panFrom.reset();
    viewport()->unsetCursor();
}

void OpMapView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const auto box = m_layout.boxAt(toLayout(event->position()))) {
        activate(*box, event->globalPosition().toPoint());
    }
}

void OpMapView::contextMenuEvent(QContextMenuEvent* event)
{
    const auto box = m_layout.boxAt(toLayout(event->pos()));
    if (box && !m_layout.boxes[*box].isBlock()) {
        selectBox(box);
        emit menuWanted(m_layout.boxes[*box].index, event->globalPos());
    } else {
        emit mapMenuWanted(event->globalPos());
    }
}

void OpMapView::wheelEvent(QWheelEvent* event)
{
    if ((event->modifiers() & Qt::ControlModifier) == 0) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    constexpr double notch = 120;
    setZoom(m_zoom * std::pow(zoomStep, event->angleDelta().y() / notch), event->position());
    event->accept();
}

bool OpMapView::viewportEvent(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) {
        return QAbstractScrollArea::viewportEvent(event);
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto box = m_layout.boxAt(toLayout(help->pos()));
    if (!box) {
        QToolTip::hideText();
        return true;
    }
    const MapBox& present = m_layout.boxes[*box];
    QToolTip::showText(help->globalPos(),
        present.isBlock() ? blockText(m_map->blocks()[present.index]) : nodeText(*m_map, present.index), viewport(),
        toViewport(present.rect).toAlignedRect());
    return true;
}

} // namespace mantissa
