#include "engine/graph/memory_plan.h"

#include <algorithm>

namespace mantissa {

namespace {

constexpr std::size_t alignment = 64;

std::size_t alignedUp(std::size_t bytes)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

struct Lifetime
{
    ValueId id;
    std::size_t bytes;
    std::size_t first; ///< node that writes it
    std::size_t last; ///< last node that touches it
    std::size_t offset = 0;
};

/// Whether the node's result is its operand under another shape, in the same place.
bool isView(const Graph& graph, const Node& node)
{
    return node.op == Op::Reshape && graph.value(node.inputs[0]).kind == ValueKind::Activation
        && graph.value(node.outputs[0]).kind == ValueKind::Activation;
}

std::vector<Lifetime> activationLifetimes(const Graph& graph)
{
    constexpr std::size_t unseen = static_cast<std::size_t>(-1);
    std::vector<Lifetime> lifetimes;
    std::vector<std::size_t> slot(graph.values().size(), unseen);
    for (std::size_t position = 0; position < graph.nodes().size(); ++position) {
        const Node& node = graph.nodes()[position];
        if (isView(graph, node)) {
            slot[node.outputs[0]] = slot[node.inputs[0]];
        }
        for (const auto* operands : {&node.inputs, &node.outputs}) {
            for (const ValueId id : *operands) {
                if (graph.value(id).kind != ValueKind::Activation) {
                    continue;
                }
                if (slot[id] == unseen) {
                    slot[id] = lifetimes.size();
                    lifetimes.push_back({id, alignedUp(graph.value(id).type.bytes()), position, position});
                }
                lifetimes[slot[id]].last = position;
            }
        }
    }
    return lifetimes;
}

/// Places one value below, between or above those already placed that live at the same time.
void place(Lifetime& value, const std::vector<Lifetime>& placedByOffset)
{
    std::size_t offset = 0;
    for (const Lifetime& other : placedByOffset) {
        const bool livesTogether = value.first <= other.last && other.first <= value.last;
        if (!livesTogether) {
            continue;
        }
        if (offset + value.bytes <= other.offset) {
            break;
        }
        offset = std::max(offset, other.offset + other.bytes);
    }
    value.offset = offset;
}

} // namespace

MemoryPlan planMemory(const Graph& graph)
{
    MemoryPlan plan {std::vector<std::size_t>(graph.values().size(), 0), {}};
    const auto block
        = [&plan](ValueKind kind) -> std::size_t& { return plan.blockBytes[static_cast<std::size_t>(kind)]; };

    // Wider dtypes first, so that each value is aligned to its own size without padding between.
    for (const std::size_t width : {std::size_t {8}, std::size_t {4}, std::size_t {2}, std::size_t {1}}) {
        for (ValueId id = 0; id < graph.values().size(); ++id) {
            const Value& value = graph.value(id);
            if (value.kind != ValueKind::Activation && sizeOf(value.type.dtype) == width) {
                plan.offsets[id] = block(value.kind);
                block(value.kind) += value.type.bytes();
            }
        }
    }

    std::vector<Lifetime> lifetimes = activationLifetimes(graph);
    std::ranges::stable_sort(lifetimes, std::ranges::greater {}, &Lifetime::bytes);
    std::vector<Lifetime> placed;
    for (Lifetime& value : lifetimes) {
        place(value, placed);
        placed.insert(std::ranges::upper_bound(placed, value.offset, {}, &Lifetime::offset), value);
        plan.offsets[value.id] = value.offset;
        block(ValueKind::Activation) = std::max(block(ValueKind::Activation), value.offset + value.bytes);
    }
    for (const Node& node : graph.nodes()) {
        if (isView(graph, node)) {
            plan.offsets[node.outputs[0]] = plan.offsets[node.inputs[0]];
        }
    }
    return plan;
}

} // namespace mantissa
