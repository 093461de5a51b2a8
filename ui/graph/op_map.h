/// A lane's graph ordered for drawing: one row per op of the forward pass, what belongs to it beside it. No geometry.
#pragma once

#include "engine/graph/graph.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mantissa {

/// Nodes are named by their place in Graph::nodes().
using NodeIndex = std::size_t;

/// A forward op with its casts and its backward ops, or an op of the update.
struct MapRow
{
    NodeIndex op = 0;
    std::vector<NodeIndex> weightCasts {}; ///< a cast that several ops share is the first one's
    std::vector<NodeIndex> inputCasts {};
    std::vector<NodeIndex> backward {}; ///< each right behind what it reads, where that is in this row
    std::optional<std::size_t> block {};
    bool isUpdate = false; ///< runs once per step: unscale, clip, optimizer
};

/// How many ops run in which format; casts are counted apart.
struct FormatCount
{
    std::map<DType, int> ops;
    int casts = 0;

    [[nodiscard]] int total() const;
};

/// Neighbouring rows whose names begin alike: "blocks.0", "layer1.0".
struct MapBlock
{
    std::string name;
    std::size_t firstRow = 0;
    std::size_t rowCount = 0;
    FormatCount forward;
    FormatCount backward;
};

class OpMap
{
public:
    /// `overrides` as in PrecisionConfig.
    OpMap(std::shared_ptr<const Graph> graph, std::map<std::string, std::string> overrides);

    [[nodiscard]] const Graph& graph() const { return *m_graph; }

    [[nodiscard]] const Node& node(NodeIndex index) const { return m_graph->nodes().at(index); }

    [[nodiscard]] const std::map<std::string, std::string>& overrides() const { return m_overrides; }

    [[nodiscard]] const std::vector<MapRow>& rows() const { return m_rows; }

    [[nodiscard]] const std::vector<MapBlock>& blocks() const { return m_blocks; }

    [[nodiscard]] const MapRow& rowOf(NodeIndex index) const { return m_rows[m_rowOf.at(index)]; }

    [[nodiscard]] std::size_t rowNumberOf(NodeIndex index) const { return m_rowOf.at(index); }

    /// The nodes that wrote what the node reads, each once.
    [[nodiscard]] const std::vector<NodeIndex>& producersOf(NodeIndex index) const { return m_producers.at(index); }

    /// Forward ops that are no casts, as --print-graph counts them; casts of the whole graph.
    [[nodiscard]] const FormatCount& count() const { return m_count; }

    /// That of the first output.
    [[nodiscard]] DType formatOf(NodeIndex index) const;
    /// The format that the op's attributes let one choose for its sums, if they do.
    [[nodiscard]] std::optional<DType> chosenSumFormat(NodeIndex index) const;
    /// The format that a 16-bit op sums in, or any op that does not sum in FP32: what is worth showing.
    [[nodiscard]] std::optional<DType> notableSumFormat(NodeIndex index) const;

    /// Whether autocast chose the op's format, so that an override can.
    [[nodiscard]] bool isChoosable(NodeIndex index) const;
    /// The override of this very op, with the suffix ".accumulate" of its sums.
    [[nodiscard]] std::optional<std::string> overrideOf(NodeIndex index, std::string_view suffix = {}) const;
    /// The override of all ops of its kind.
    [[nodiscard]] std::optional<std::string> kindOverrideOf(NodeIndex index, std::string_view suffix = {}) const;
    /// Whether any of these decides something about the op.
    [[nodiscard]] bool isOverridden(NodeIndex index) const;
    /// Choosable ops of that kind.
    [[nodiscard]] std::vector<NodeIndex> opsOfKind(Op op) const;

private:
    void findProducers();
    void makeRows();
    void placeCasts();
    void placeBackward();
    void orderBackward(MapRow& row) const;
    void makeBlocks();

    std::shared_ptr<const Graph> m_graph;
    std::map<std::string, std::string> m_overrides;
    std::vector<MapRow> m_rows;
    std::vector<MapBlock> m_blocks;
    std::vector<std::size_t> m_rowOf; ///< by node
    std::vector<std::vector<NodeIndex>> m_producers; ///< by node
    FormatCount m_count;
};

} // namespace mantissa
