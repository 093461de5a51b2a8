/// Where everything on the op map stands. A row per forward op, top to bottom in execution order; its weight casts at
/// its left edge, its input casts on the edges above it, its backward ops to its right, so that the gradient runs from
/// bottom to top beside the activations. Edges that skip rows run on rails: residual branches left of the forward ops,
/// their gradients left of the backward ops. Lengths in pixels at zoom 1, y downwards.
#pragma once

#include "ui/graph/op_map.h"

#include <QPointF>
#include <QPolygonF>
#include <QRectF>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mantissa {

/// Sizes that follow from the font.
struct MapMetrics
{
    double line = 16; ///< height of a line of text
    double opWidth = 240;
    double backwardWidth = 110;
    double castWidth = 80;

    [[nodiscard]] double opHeight() const { return 2 * line + 8; }

    [[nodiscard]] double castHeight() const { return line + 2; }
};

struct MapBox
{
    enum class Kind {
        Op, ///< of the forward pass or the update
        Backward,
        Cast,
        Block, ///< the forward ops of a folded block
        BlockBackward,
        BlockTitle ///< of an unfolded block
    };

    Kind kind = Kind::Op;
    std::size_t index = 0; ///< of the node; of the block where the kind says so
    std::size_t row = 0; ///< OpMap's; the first one of a block
    QRectF rect {};

    [[nodiscard]] bool isBlock() const
    {
        return kind == Kind::Block || kind == Kind::BlockBackward || kind == Kind::BlockTitle;
    }
};

struct MapEdge
{
    std::size_t from = 0; ///< boxes
    std::size_t to = 0;
    QPolygonF line {};
    bool isBackward = false;
};

struct OpMapLayout
{
    std::vector<MapBox> boxes;
    std::vector<std::optional<std::size_t>> boxOfNode; ///< its block's where that is folded
    std::vector<MapEdge> edges;
    std::vector<QRectF> frames; ///< of unfolded blocks
    QRectF forwardHeading;
    QRectF backwardHeading;
    QRectF updateHeading; ///< empty if there is no update
    QRectF bounds;

    [[nodiscard]] std::optional<std::size_t> boxAt(const QPointF& point) const;

    enum class Direction { Up, Down, Left, Right };
    /// The next box along an edge, or, where none goes that way, the nearest one there; never a title.
    [[nodiscard]] std::optional<std::size_t> neighbour(std::size_t box, Direction direction) const;
};

OpMapLayout layOut(const OpMap& map, const std::set<std::string>& foldedBlocks, const MapMetrics& metrics);

} // namespace mantissa
