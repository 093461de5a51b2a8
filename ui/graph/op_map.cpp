#include "ui/graph/op_map.h"

#include "engine/graph/op_def.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace mantissa {

namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

bool isForwardOp(const Node& node)
{
    return node.phase == Phase::Forward && node.op != Op::Cast;
}

bool isUpdate(const Node& node)
{
    return node.phase >= Phase::Unscale;
}

/// "blocks.0" of "blocks.0.mlp.fc1": up to the first part that is a number. Empty if there is none or nothing follows.
std::string_view blockName(std::string_view name)
{
    for (std::size_t start = 0; start < name.size();) {
        const std::size_t dot = name.find('.', start);
        if (dot == std::string_view::npos) {
            return {};
        }
        const std::string_view part = name.substr(start, dot - start);
        if (!part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos) {
            return name.substr(0, dot);
        }
        start = dot + 1;
    }
    return {};
}

constexpr std::string_view backwardMark = ".backward.";
constexpr std::string_view againMark = ".again";

/// The forward node whose row a node of the backward pass belongs to.
std::string_view forwardName(std::string_view name)
{
    name = name.substr(0, name.find(backwardMark));
    return name.ends_with(againMark) ? name.substr(0, name.size() - againMark.size()) : name;
}

bool sumsProducts(Op op)
{
    return op == Op::Linear || op == Op::MatMul || op == Op::Conv2d || op == Op::Attention;
}

std::optional<std::string> entry(
    const std::map<std::string, std::string>& overrides, std::string_view name, std::string_view suffix)
{
    const auto found = overrides.find(std::string(name).append(suffix));
    return found == overrides.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

int FormatCount::total() const
{
    return std::accumulate(ops.begin(), ops.end(), 0, [](int sum, const auto& part) { return sum + part.second; });
}

OpMap::OpMap(std::shared_ptr<const Graph> graph, std::map<std::string, std::string> overrides)
    : m_graph(std::move(graph))
    , m_overrides(std::move(overrides))
    , m_rowOf(m_graph->nodes().size(), nowhere)
    , m_producers(m_graph->nodes().size())
{
    findProducers();
    makeRows();
    if (m_rows.empty()) {
        return;
    }
    placeCasts();
    placeBackward();
    makeBlocks();
    for (NodeIndex index = 0; index < m_graph->nodes().size(); ++index) {
        if (node(index).op == Op::Cast) {
            ++m_count.casts;
        } else if (isForwardOp(node(index))) {
            ++m_count.ops[formatOf(index)];
        }
    }
}

void OpMap::findProducers()
{
    std::vector<NodeIndex> writer(m_graph->values().size(), nowhere);
    for (NodeIndex index = 0; index < m_graph->nodes().size(); ++index) {
        std::vector<NodeIndex>& producers = m_producers[index];
        for (const ValueId input : node(index).inputs) {
            const NodeIndex producer = writer[input];
            if (producer != nowhere && std::ranges::find(producers, producer) == producers.end()) {
                producers.push_back(producer);
            }
        }
        for (const ValueId output : node(index).outputs) {
            writer[output] = index;
        }
    }
}

void OpMap::makeRows()
{
    for (NodeIndex index = 0; index < m_graph->nodes().size(); ++index) {
        if (isForwardOp(node(index)) || isUpdate(node(index))) {
            m_rowOf[index] = m_rows.size();
            m_rows.push_back({.op = index, .isUpdate = isUpdate(node(index))});
        }
    }
}

void OpMap::placeCasts()
{
    for (NodeIndex user = 0; user < m_graph->nodes().size(); ++user) {
        if (!isForwardOp(node(user))) {
            continue;
        }
        MapRow& row = m_rows[m_rowOf[user]];
        for (const NodeIndex producer : m_producers[user]) {
            if (node(producer).op == Op::Cast && m_rowOf[producer] == nowhere) {
                m_rowOf[producer] = m_rowOf[user];
                (node(producer).phase == Phase::WeightCast ? row.weightCasts : row.inputCasts).push_back(producer);
            }
        }
    }
}

void OpMap::placeBackward()
{
    std::map<std::string_view, std::size_t> rowNamed;
    for (NodeIndex index = 0; index < m_graph->nodes().size(); ++index) {
        if (m_rowOf[index] != nowhere) {
            rowNamed.emplace(node(index).name, m_rowOf[index]);
        }
    }
    for (NodeIndex index = 0; index < m_graph->nodes().size(); ++index) {
        if (m_rowOf[index] != nowhere) {
            continue;
        }
        const auto named = rowNamed.find(forwardName(node(index).name));
        if (named != rowNamed.end()) {
            m_rowOf[index] = named->second;
        } else {
            // Sums over micro-batches and copies bear a parameter's name; they stand where their operand is computed.
            m_rowOf[index] = m_producers[index].empty() ? 0 : m_rowOf[m_producers[index].front()];
        }
        m_rows[m_rowOf[index]].backward.push_back(index);
    }
    for (MapRow& row : m_rows) {
        orderBackward(row);
    }
}

void OpMap::orderBackward(MapRow& row) const
{
    std::vector<NodeIndex> ordered;
    const auto isPlaced = [&](NodeIndex index) { return std::ranges::find(ordered, index) != ordered.end(); };
    const auto isReady = [&](NodeIndex index) {
        return std::ranges::all_of(m_producers[index], [&](NodeIndex producer) {
            return std::ranges::find(row.backward, producer) == row.backward.end() || isPlaced(producer);
        });
    };
    const auto reads = [&](NodeIndex index, NodeIndex producer) {
        return std::ranges::find(m_producers[index], producer) != m_producers[index].end();
    };
    while (ordered.size() < row.backward.size()) {
        // Nodes are in execution order, so the first one that is left is always ready.
        auto next = std::ranges::find_if(row.backward, [&](NodeIndex index) {
            return !ordered.empty() && !isPlaced(index) && isReady(index) && reads(index, ordered.back());
        });
        if (next == row.backward.end()) {
            next = std::ranges::find_if(row.backward, [&](NodeIndex index) { return !isPlaced(index); });
        }
        ordered.push_back(*next);
    }
    std::stable_partition(ordered.begin(), ordered.end(), [this](NodeIndex index) { return !isRecomputed(index); });
    row.backward = std::move(ordered);
}

void OpMap::makeBlocks()
{
    constexpr std::size_t fewest = 2; // a block of one op would only hide it
    const auto nameAt = [this](std::size_t row) {
        return m_rows[row].isUpdate ? std::string_view() : blockName(node(m_rows[row].op).name);
    };
    for (std::size_t first = 0; first < m_rows.size();) {
        const std::string_view name = nameAt(first);
        std::size_t end = first + 1;
        while (end < m_rows.size() && nameAt(end) == name) {
            ++end;
        }
        if (!name.empty() && end - first >= fewest) {
            MapBlock block {std::string(name), first, end - first, {}, {}};
            for (std::size_t row = first; row < end; ++row) {
                m_rows[row].block = m_blocks.size();
                ++block.forward.ops[formatOf(m_rows[row].op)];
                block.forward.casts += static_cast<int>(m_rows[row].weightCasts.size() + m_rows[row].inputCasts.size());
                for (const NodeIndex index : m_rows[row].backward) {
                    if (node(index).op == Op::Cast) {
                        ++block.backward.casts;
                    } else {
                        ++block.backward.ops[formatOf(index)];
                    }
                }
            }
            m_blocks.push_back(std::move(block));
        }
        first = end;
    }
}

DType OpMap::formatOf(NodeIndex index) const
{
    const std::vector<ValueId>& outputs = node(index).outputs;
    return outputs.empty() ? DType::Float32 : m_graph->value(outputs.front()).type.dtype;
}

std::optional<DType> OpMap::chosenSumFormat(NodeIndex index) const
{
    return std::visit(
        [](const auto& attributes) -> std::optional<DType> {
            if constexpr (requires { attributes.accumulate; }) {
                return attributes.accumulate;
            } else {
                return std::nullopt;
            }
        },
        node(index).attributes);
}

std::optional<DType> OpMap::notableSumFormat(NodeIndex index) const
{
    const std::optional<DType> chosen = chosenSumFormat(index);
    if (chosen && (*chosen != DType::Float32 || isHalf(formatOf(index)))) {
        return chosen;
    }
    return sumsProducts(node(index).op) && isHalf(formatOf(index)) ? std::optional(DType::Float32) : std::nullopt;
}

bool OpMap::isRecomputed(NodeIndex index) const
{
    return node(index).phase == Phase::Backward && node(index).name.ends_with(againMark);
}

bool OpMap::isChoosable(NodeIndex index) const
{
    return isForwardOp(node(index)) && !node(index).reason.empty();
}

std::optional<std::string> OpMap::overrideOf(NodeIndex index, std::string_view suffix) const
{
    return entry(m_overrides, node(index).name, suffix);
}

std::optional<std::string> OpMap::kindOverrideOf(NodeIndex index, std::string_view suffix) const
{
    return entry(m_overrides, opDef(node(index).op).name, suffix);
}

bool OpMap::isOverridden(NodeIndex index) const
{
    constexpr std::string_view sums = ".accumulate";
    return isChoosable(index)
        && (overrideOf(index) || kindOverrideOf(index) || overrideOf(index, sums) || kindOverrideOf(index, sums));
}

std::vector<NodeIndex> OpMap::opsOfKind(Op op) const
{
    std::vector<NodeIndex> found;
    for (NodeIndex index = 0; index < m_graph->nodes().size(); ++index) {
        if (node(index).op == op && isChoosable(index)) {
            found.push_back(index);
        }
    }
    return found;
}

} // namespace mantissa
