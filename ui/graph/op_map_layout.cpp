#include "ui/graph/op_map_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace mantissa {

namespace {

constexpr double margin = 12;
constexpr double indent = 8; ///< between a block's frame and what is in it
constexpr double lead = 5; ///< of an edge before it turns
constexpr double railSpacing = 8;
constexpr double chainSpacing = 16;
constexpr double linkSpacing = 10;

using Kind = MapBox::Kind;

/// One row of the drawing: an op, a folded block, or the title of an unfolded one.
struct Slot
{
    std::size_t row = 0;
    std::optional<std::size_t> foldedBlock {};
    std::optional<std::size_t> title {};
    double gapTop = 0; ///< where the row before ends
    double top = 0;
    double bottom = 0;
};

/// An edge that skips rows, from slot to slot.
struct Rail
{
    std::size_t edge = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t number = 0;
};

/// Gives each rail the innermost place where it meets no other; returns how many places there are.
std::size_t assignRails(std::vector<Rail>& rails)
{
    std::ranges::stable_sort(rails, {}, [](const Rail& rail) { return rail.last - rail.first; });
    std::size_t count = 0;
    for (std::size_t i = 0; i < rails.size(); ++i) {
        const auto meets = [&](const Rail& other) {
            return other.number == rails[i].number && other.first < rails[i].last && rails[i].first < other.last;
        };
        while (std::any_of(rails.begin(), rails.begin() + static_cast<std::ptrdiff_t>(i), meets)) {
            ++rails[i].number;
        }
        count = std::max(count, rails[i].number + 1);
    }
    return count;
}

class Arranger
{
public:
    Arranger(const OpMap& map, const std::set<std::string>& folded, const MapMetrics& metrics)
        : m_map(map)
        , m_folded(folded)
        , m_metrics(metrics)
    {
        m_layout.boxOfNode.resize(map.graph().nodes().size());
    }

    OpMapLayout run()
    {
        if (m_map.rows().empty()) {
            return {};
        }
        makeSlots();
        makeForwardBoxes();
        makeBackwardBoxes();
        joinForward();
        joinBackward();
        assignColumns();
        placeRows();
        placeHeadings();
        drawForwardEdges();
        drawBackwardEdges();
        measure();
        return std::move(m_layout);
    }

private:
    /// A way into a forward op: from a box, if the graph computes it, through a cast, if there is one.
    struct Entry
    {
        std::optional<std::size_t> source {};
        std::optional<std::size_t> cast {};
        double x = 0;
        std::optional<std::size_t> edge {}; ///< from the source
    };

    [[nodiscard]] bool isFolded(const MapRow& row) const
    {
        return row.block && m_folded.contains(m_map.blocks()[*row.block].name);
    }

    void makeSlots()
    {
        m_slotOfRow.resize(m_map.rows().size());
        for (std::size_t row = 0; row < m_map.rows().size(); ++row) {
            const MapRow& present = m_map.rows()[row];
            const bool beginsBlock = present.block && m_map.blocks()[*present.block].firstRow == row;
            if (isFolded(present) && !beginsBlock) {
                m_slotOfRow[row] = m_slots.size() - 1;
                continue;
            }
            if (beginsBlock && !isFolded(present)) {
                m_slots.push_back({.row = row, .title = present.block});
            }
            m_slotOfRow[row] = m_slots.size();
            m_slots.push_back({.row = row, .foldedBlock = isFolded(present) ? present.block : std::nullopt});
        }
    }

    std::size_t addBox(Kind kind, std::size_t index, std::size_t row, double width, double height)
    {
        m_layout.boxes.push_back({kind, index, row, QRectF(0, 0, width, height)});
        return m_layout.boxes.size() - 1;
    }

    std::size_t addNode(Kind kind, NodeIndex node, std::size_t row, double width, double height)
    {
        const std::size_t box = addBox(kind, node, row, width, height);
        m_layout.boxOfNode[node] = box;
        return box;
    }

    std::size_t addCast(NodeIndex node, std::size_t row)
    {
        return addNode(Kind::Cast, node, row, m_metrics.castWidth, m_metrics.castHeight());
    }

    void makeForwardBoxes()
    {
        for (Slot& slot : m_slots) {
            m_boxesOfSlot.emplace_back();
            SlotBoxes& boxes = m_boxesOfSlot.back();
            if (slot.title) {
                boxes.op = addBox(Kind::BlockTitle, *slot.title, slot.row, m_metrics.opWidth, m_metrics.castHeight());
            } else if (slot.foldedBlock) {
                boxes.op = addBox(Kind::Block, *slot.foldedBlock, slot.row, m_metrics.opWidth, m_metrics.opHeight());
                const MapBlock& block = m_map.blocks()[*slot.foldedBlock];
                for (std::size_t row = block.firstRow; row < block.firstRow + block.rowCount; ++row) {
                    const MapRow& hidden = m_map.rows()[row];
                    m_layout.boxOfNode[hidden.op] = boxes.op;
                    for (const std::vector<NodeIndex>* casts : {&hidden.weightCasts, &hidden.inputCasts}) {
                        for (const NodeIndex cast : *casts) {
                            m_layout.boxOfNode[cast] = boxes.op;
                        }
                    }
                }
            } else {
                const MapRow& row = m_map.rows()[slot.row];
                boxes.op = addNode(Kind::Op, row.op, slot.row, m_metrics.opWidth, m_metrics.opHeight());
                for (const NodeIndex cast : row.weightCasts) {
                    boxes.weightCasts.push_back(addCast(cast, slot.row));
                }
                for (const NodeIndex cast : row.inputCasts) {
                    addCast(cast, slot.row);
                }
            }
        }
    }

    void makeBackwardBoxes()
    {
        for (std::size_t s = 0; s < m_slots.size(); ++s) {
            const Slot& slot = m_slots[s];
            if (slot.foldedBlock) {
                const MapBlock& block = m_map.blocks()[*slot.foldedBlock];
                if (block.backward.total() + block.backward.casts == 0) {
                    continue;
                }
                const std::size_t box = addBox(Kind::BlockBackward, *slot.foldedBlock, slot.row,
                    2 * m_metrics.backwardWidth + linkSpacing, m_metrics.opHeight());
                m_boxesOfSlot[s].backward.push_back(box);
                for (std::size_t row = block.firstRow; row < block.firstRow + block.rowCount; ++row) {
                    for (const NodeIndex node : m_map.rows()[row].backward) {
                        m_layout.boxOfNode[node] = box;
                    }
                }
            } else if (!slot.title) {
                for (const NodeIndex node : m_map.rows()[slot.row].backward) {
                    m_boxesOfSlot[s].backward.push_back(m_map.node(node).op == Op::Cast
                            ? addCast(node, slot.row)
                            : addNode(Kind::Backward, node, slot.row, m_metrics.backwardWidth, m_metrics.opHeight()));
                }
            }
        }
    }

    std::size_t slotOf(std::size_t box) const { return m_slotOfRow[m_layout.boxes[box].row]; }

    /// Whether no op stands between two slots.
    [[nodiscard]] bool areNeighbours(std::size_t above, std::size_t below) const
    {
        for (std::size_t s = above + 1; s < below; ++s) {
            if (!m_slots[s].title) {
                return false;
            }
        }
        return true;
    }

    std::size_t addEdge(std::size_t from, std::size_t to, bool isBackward)
    {
        m_layout.edges.push_back({from, to, {}, isBackward});
        return m_layout.edges.size() - 1;
    }

    [[nodiscard]] bool isForwardOp(NodeIndex node) const
    {
        return m_map.node(node).phase == Phase::Forward && m_map.node(node).op != Op::Cast;
    }

    /// Of the folded block's rows or the one op: from where data comes in.
    void addEntries(std::size_t s, NodeIndex op)
    {
        std::vector<Entry>& entries = m_boxesOfSlot[s].entries;
        const bool isUpdate = m_map.rowOf(op).isUpdate;
        for (const NodeIndex producer : m_map.producersOf(op)) {
            const Node& node = m_map.node(producer);
            Entry entry;
            std::optional<NodeIndex> origin = producer;
            if (node.phase == Phase::Forward && node.op == Op::Cast) {
                const std::vector<NodeIndex>& sources = m_map.producersOf(producer);
                origin = sources.empty() ? std::nullopt : std::optional(sources.front());
                if (!m_slots[s].foldedBlock) {
                    entry.cast = m_layout.boxOfNode[producer];
                }
            }
            if (origin && (isUpdate ? m_map.rowOf(*origin).isUpdate : isForwardOp(*origin))) {
                entry.source = m_layout.boxOfNode[*origin];
            }
            const bool isKnown = std::ranges::any_of(
                entries, [&](const Entry& other) { return other.source == entry.source && other.cast == entry.cast; });
            const bool isWithinBlock = entry.source == m_boxesOfSlot[s].op;
            if ((entry.source || entry.cast) && !isWithinBlock && !isKnown) {
                entries.push_back(entry);
            }
        }
    }

    void joinForward()
    {
        for (std::size_t s = 0; s < m_slots.size(); ++s) {
            if (m_slots[s].title) {
                continue;
            }
            const std::size_t first = m_slots[s].row;
            const std::size_t count
                = m_slots[s].foldedBlock ? m_map.blocks()[*m_slots[s].foldedBlock].rowCount : std::size_t {1};
            for (std::size_t row = first; row < first + count; ++row) {
                addEntries(s, m_map.rows()[row].op);
            }
            const auto comesByRail
                = [&](const Entry& entry) { return entry.source && !areNeighbours(slotOf(*entry.source), s); };
            // Rails come from the left.
            std::stable_partition(m_boxesOfSlot[s].entries.begin(), m_boxesOfSlot[s].entries.end(), comesByRail);
            for (Entry& entry : m_boxesOfSlot[s].entries) {
                const std::size_t op = m_boxesOfSlot[s].op;
                if (entry.source) {
                    entry.edge = addEdge(*entry.source, entry.cast.value_or(op), false);
                    if (comesByRail(entry)) {
                        m_forwardRails.push_back({*entry.edge, slotOf(*entry.source), s});
                    }
                }
                if (entry.cast) {
                    addEdge(*entry.cast, op, false);
                }
            }
        }
    }

    void joinBackward()
    {
        std::set<std::pair<std::size_t, std::size_t>> known;
        for (std::size_t row = 0; row < m_map.rows().size(); ++row) {
            for (const NodeIndex node : m_map.rows()[row].backward) {
                if (m_map.isRecomputed(node)) {
                    continue; // its edges are those of the forward op
                }
                const std::size_t to = m_layout.boxOfNode[node].value();
                bool readsGradient = false;
                for (const NodeIndex producer : m_map.producersOf(node)) {
                    if (m_map.node(producer).phase != Phase::Backward || m_map.isRecomputed(producer)) {
                        continue;
                    }
                    readsGradient = true;
                    const std::size_t from = m_layout.boxOfNode[producer].value();
                    if (from == to || !known.emplace(from, to).second) {
                        continue;
                    }
                    const std::size_t edge = addEdge(from, to, true);
                    if (slotOf(from) != slotOf(to) && !areNeighbours(slotOf(to), slotOf(from))) {
                        m_backwardRails.push_back({edge, slotOf(to), slotOf(from)});
                    }
                }
                if (!readsGradient && known.emplace(m_boxesOfSlot[m_slotOfRow[row]].op, to).second) {
                    addEdge(m_boxesOfSlot[m_slotOfRow[row]].op, to, true); // where the gradient begins: the loss
                }
            }
        }
    }

    void assignColumns()
    {
        const std::size_t forwardRails = assignRails(m_forwardRails);
        const std::size_t backwardRails = assignRails(m_backwardRails);
        const bool hasWeightCasts
            = std::ranges::any_of(m_boxesOfSlot, [](const SlotBoxes& boxes) { return !boxes.weightCasts.empty(); });
        const double rails = railSpacing * static_cast<double>(forwardRails);
        m_forwardX = margin + indent + rails + railSpacing + (hasWeightCasts ? m_metrics.castWidth : 0);
        // Casts above an op may stand out at its sides.
        for (const SlotBoxes& boxes : m_boxesOfSlot) {
            m_castOverhang = std::max(m_castOverhang, (castsWidth(boxes) - m_metrics.opWidth) / 2);
        }
        m_forwardX = std::max(m_forwardX, margin + indent + rails + railSpacing + m_castOverhang);
        m_railX = m_forwardX - railSpacing - std::max(hasWeightCasts ? m_metrics.castWidth : 0.0, m_castOverhang);
        m_backwardX
            = m_forwardX + m_metrics.opWidth + m_castOverhang + railSpacing * static_cast<double>(backwardRails + 3);
    }

    struct SlotBoxes
    {
        std::size_t op = 0;
        std::vector<std::size_t> weightCasts {};
        std::vector<std::size_t> backward {};
        std::vector<Entry> entries {};
    };

    [[nodiscard]] static bool hasCasts(const SlotBoxes& boxes)
    {
        return std::ranges::any_of(boxes.entries, [](const Entry& entry) { return entry.cast.has_value(); });
    }

    /// Of the row of entries, if there are casts among them.
    [[nodiscard]] double castsWidth(const SlotBoxes& boxes) const
    {
        return hasCasts(boxes)
            ? static_cast<double>(boxes.entries.size()) * (m_metrics.castWidth + linkSpacing) - linkSpacing
            : 0;
    }

    void placeRows()
    {
        double y = margin + m_metrics.castHeight();
        std::optional<std::size_t> blockBefore;
        for (std::size_t s = 0; s < m_slots.size(); ++s) {
            Slot& slot = m_slots[s];
            SlotBoxes& boxes = m_boxesOfSlot[s];
            const MapRow& row = m_map.rows()[slot.row];
            const auto block = slot.foldedBlock ? std::nullopt : row.block;
            if (block != blockBefore) {
                y += indent;
                blockBefore = block;
            }
            if (row.isUpdate && (s == 0 || !m_map.rows()[m_slots[s - 1].row].isUpdate)) {
                y += m_metrics.line;
                m_layout.updateHeading = QRectF(0, y, 0, m_metrics.castHeight());
                y += m_metrics.castHeight();
            }
            slot.gapTop = y;
            const double gap = slot.title ? indent : std::max(m_metrics.line, 4 * lead);
            slot.top = y + gap + (hasCasts(boxes) ? m_metrics.castHeight() : 0);
            slot.bottom = slot.top + rowHeight(boxes);
            placeForward(slot, boxes);
            placeBackward(slot, boxes);
            y = slot.bottom;
        }
    }

    [[nodiscard]] double rowHeight(const SlotBoxes& boxes) const
    {
        return std::max(m_layout.boxes[boxes.op].rect.height(),
            static_cast<double>(boxes.weightCasts.size()) * m_metrics.castHeight());
    }

    QRectF& rectOf(std::size_t box) { return m_layout.boxes[box].rect; }

    void placeForward(const Slot& slot, SlotBoxes& boxes)
    {
        QRectF& op = rectOf(boxes.op);
        op.moveTopLeft({m_forwardX, slot.top});
        double y = slot.top;
        for (const std::size_t cast : boxes.weightCasts) {
            rectOf(cast).moveTopLeft({m_forwardX - m_metrics.castWidth, y});
            y += m_metrics.castHeight();
        }
        const bool areWide = hasCasts(boxes);
        const auto count = static_cast<double>(boxes.entries.size());
        const double step = areWide ? m_metrics.castWidth + linkSpacing : m_metrics.opWidth / (count + 1);
        double x = op.center().x() - step * (count - 1) / 2;
        for (Entry& entry : boxes.entries) {
            entry.x = x;
            if (entry.cast) {
                rectOf(*entry.cast).moveCenter({x, slot.top - lead - 1 - m_metrics.castHeight() / 2});
            }
            x += step;
        }
    }

    void placeBackward(const Slot& slot, const SlotBoxes& boxes)
    {
        double x = m_backwardX;
        const double middle = slot.top + m_metrics.opHeight() / 2;
        for (std::size_t i = 0; i < boxes.backward.size(); ++i) {
            if (i > 0) {
                x += isLinked(boxes.backward[i - 1], boxes.backward[i]) ? linkSpacing : chainSpacing;
            }
            QRectF& rect = rectOf(boxes.backward[i]);
            rect.moveTopLeft({x, middle - rect.height() / 2});
            x += rect.width();
        }
    }

    [[nodiscard]] bool isLinked(std::size_t from, std::size_t to) const
    {
        return std::ranges::any_of(
            m_layout.edges, [&](const MapEdge& edge) { return edge.from == from && edge.to == to; });
    }

    void placeHeadings()
    {
        const double y = margin / 2;
        m_layout.forwardHeading = QRectF(m_forwardX, y, m_metrics.opWidth, m_metrics.castHeight());
        m_layout.backwardHeading = QRectF(m_backwardX, y, 2 * m_metrics.opWidth, m_metrics.castHeight());
        if (!m_layout.updateHeading.isEmpty() || m_layout.updateHeading.height() > 0) {
            m_layout.updateHeading.setLeft(m_forwardX);
            m_layout.updateHeading.setWidth(2 * m_metrics.opWidth);
        }
    }

    void drawForwardEdges()
    {
        for (std::size_t s = 0; s < m_slots.size(); ++s) {
            for (const Entry& entry : m_boxesOfSlot[s].entries) {
                const double end = entry.cast ? rectOf(*entry.cast).top() : rectOf(m_boxesOfSlot[s].op).top();
                if (entry.edge) {
                    drawInto(*entry.edge, {entry.x, end}, s);
                }
            }
        }
        for (MapEdge& edge : m_layout.edges) {
            if (edge.isBackward || !edge.line.isEmpty()) {
                continue;
            }
            const QRectF& cast = rectOf(edge.from);
            const QRectF& op = rectOf(edge.to);
            // A cast beside the op joins it at the top edge's end.
            const double x = std::clamp(cast.center().x(), op.left() + lead, op.right() - lead);
            edge.line = QPolygonF {{x, cast.bottom()}, {x, op.top()}};
        }
    }

    void drawInto(std::size_t index, QPointF end, std::size_t slot)
    {
        MapEdge& edge = m_layout.edges[index];
        const QRectF& source = rectOf(edge.from);
        const auto rail = std::ranges::find(m_forwardRails, index, &Rail::edge);
        if (rail == m_forwardRails.end()) {
            const QPointF start(source.center().x(), source.bottom());
            const double turn = end.y() - lead;
            edge.line = start.x() == end.x() ? QPolygonF {start, end}
                                             : QPolygonF {start, {start.x(), turn}, {end.x(), turn}, end};
            return;
        }
        const double x = m_railX - railSpacing * static_cast<double>(rail->number);
        const Slot& from = m_slots[slotOf(edge.from)];
        const QPointF start(source.left() + lead * 2, source.bottom());
        const double leave = from.bottom + lead;
        const double arrive = std::min(end.y() - lead, m_slots[slot].top - lead);
        edge.line = QPolygonF {start, {start.x(), leave}, {x, leave}, {x, arrive}, {end.x(), arrive}, end};
    }

    void drawBackwardEdges()
    {
        for (std::size_t index = 0; index < m_layout.edges.size(); ++index) {
            MapEdge& edge = m_layout.edges[index];
            if (!edge.isBackward) {
                continue;
            }
            const QRectF& from = rectOf(edge.from);
            const QRectF& to = rectOf(edge.to);
            const std::size_t fromSlot = slotOf(edge.from);
            const std::size_t toSlot = slotOf(edge.to);
            if (fromSlot == toSlot) {
                edge.line = sideways(edge.from, edge.to, fromSlot);
                continue;
            }
            const double leave = m_slots[fromSlot].top - lead;
            const QPointF start(from.center().x(), from.top());
            const QPointF end(to.center().x(), to.bottom());
            const auto rail = std::ranges::find(m_backwardRails, index, &Rail::edge);
            if (rail == m_backwardRails.end()) {
                edge.line = start.x() == end.x() ? QPolygonF {start, end}
                                                 : QPolygonF {start, {start.x(), leave}, {end.x(), leave}, end};
            } else {
                const double x = m_backwardX - railSpacing * static_cast<double>(rail->number + 1);
                const double arrive = m_slots[toSlot].bottom + lead;
                edge.line = QPolygonF {start, {start.x(), leave}, {x, leave}, {x, arrive}, {end.x(), arrive}, end};
            }
        }
    }

    /// Within a row; over what stands between the two.
    QPolygonF sideways(std::size_t fromBox, std::size_t toBox, std::size_t slot)
    {
        const QRectF& from = rectOf(fromBox);
        const QRectF& to = rectOf(toBox);
        const std::vector<std::size_t>& row = m_boxesOfSlot[slot].backward;
        const auto at = std::ranges::find(row, toBox);
        const bool isNext = at == row.begin() || *(at - 1) == fromBox;
        if (isNext) {
            return {{from.right(), from.center().y()}, {to.left(), to.center().y()}};
        }
        const double over = m_slots[slot].top - lead;
        return {{from.right() - lead, from.top()}, {from.right() - lead, over}, {to.left() + lead, over},
            {to.left() + lead, to.top()}};
    }

    void measure()
    {
        for (const MapBox& box : m_layout.boxes) {
            m_layout.bounds |= box.rect;
        }
        const double right = std::max(m_layout.bounds.right(), m_layout.backwardHeading.left() + m_metrics.opWidth);
        m_layout.bounds = QRectF(0, 0, right + margin + indent, m_layout.bounds.bottom() + margin + indent);
        std::size_t slot = 0;
        for (const MapBlock& block : m_map.blocks()) {
            if (m_folded.contains(block.name)) {
                continue;
            }
            while (m_slots[slot].title != static_cast<std::size_t>(&block - m_map.blocks().data())) {
                ++slot;
            }
            QRectF& title = rectOf(m_boxesOfSlot[slot].op);
            title.setLeft(m_railX + lead);
            const std::size_t last = m_slotOfRow[block.firstRow + block.rowCount - 1];
            m_layout.frames.emplace_back(QPointF(margin, m_slots[slot].gapTop + indent / 2),
                QPointF(right + indent, m_slots[last].bottom + indent / 2));
        }
    }

    const OpMap& m_map;
    const std::set<std::string>& m_folded;
    const MapMetrics& m_metrics;
    OpMapLayout m_layout;
    std::vector<Slot> m_slots;
    std::vector<SlotBoxes> m_boxesOfSlot;
    std::vector<std::size_t> m_slotOfRow;
    std::vector<Rail> m_forwardRails;
    std::vector<Rail> m_backwardRails;
    double m_castOverhang = 0;
    double m_forwardX = 0;
    double m_backwardX = 0;
    double m_railX = 0;
};

} // namespace

std::optional<std::size_t> OpMapLayout::boxAt(const QPointF& point) const
{
    const auto found = std::ranges::find_if(boxes, [&point](const MapBox& box) { return box.rect.contains(point); });
    return found == boxes.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - boxes.begin()));
}

std::optional<std::size_t> OpMapLayout::neighbour(std::size_t box, Direction direction) const
{
    const QPointF here = boxes.at(box).rect.center();
    const bool isVertical = direction == Direction::Up || direction == Direction::Down;
    const double sign = direction == Direction::Down || direction == Direction::Right ? 1 : -1;
    const auto ahead = [&](std::size_t other) {
        const QPointF there = boxes[other].rect.center();
        return sign * (isVertical ? there.y() - here.y() : there.x() - here.x());
    };
    std::optional<std::size_t> best;
    double bestDistance = std::numeric_limits<double>::infinity();
    // Sideways steps count more than steps ahead, so that a column is followed and not left.
    const auto consider = [&](std::size_t other) {
        const QPointF offset = boxes[other].rect.center() - here;
        const double aside = std::abs(isVertical ? offset.x() : offset.y());
        const double distance = ahead(other) + 4 * aside;
        const bool isTitle = boxes[other].kind == MapBox::Kind::BlockTitle;
        if (ahead(other) > 1 && distance < bestDistance && !isTitle) {
            bestDistance = distance;
            best = other;
        }
    };
    for (const MapEdge& edge : edges) {
        if (edge.from == box || edge.to == box) {
            consider(edge.from == box ? edge.to : edge.from);
        }
    }
    if (best && (isVertical || boxes[*best].row == boxes[box].row)) {
        return best;
    }
    best.reset();
    bestDistance = std::numeric_limits<double>::infinity();
    for (std::size_t other = 0; other < boxes.size(); ++other) {
        if (isVertical || boxes[other].row == boxes[box].row) {
            consider(other);
        }
    }
    return best;
}

OpMapLayout layOut(const OpMap& map, const std::set<std::string>& foldedBlocks, const MapMetrics& metrics)
{
    return Arranger(map, foldedBlocks, metrics).run();
}

} // namespace mantissa
