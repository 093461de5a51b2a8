#include "engine/probe/origin.h"

#include "engine/graph/op_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace mantissa {

namespace {

bool isHurt(const Node& node, const Census& census)
{
    const bool masks = node.op == Op::ScaleMask;
    return census.overflowed > 0 || census.nan > 0 || (census.infinite > 0 && !masks);
}

bool isVanished(const Node& node, const Census& census)
{
    return node.phase == Phase::Backward && census.flushed > 0 && census.flushed + census.zero == census.total();
}

template <typename Test> std::optional<Origin> firstWhere(const Executor& executor, Test test)
{
    std::optional<Origin> first;
    for (const Node& node : executor.graph().nodes()) {
        for (const ValueId id : node.outputs) {
            const Census* const census = executor.census(id, node.phase);
            if (census != nullptr && (!first || node.phase < first->phase) && test(node, *census)) {
                first = Origin {id, node.phase, *census};
            }
        }
    }
    return first;
}

} // namespace

std::optional<Origin> firstNonFinite(const Executor& executor)
{
    return firstWhere(executor, isHurt);
}

std::optional<Origin> firstVanished(const Executor& executor)
{
    return firstWhere(executor, isVanished);
}

std::string describe(const Origin& origin, const Graph& graph)
{
    std::string op;
    for (const Node& node : graph.nodes()) {
        if (node.phase == origin.phase && std::ranges::find(node.outputs, origin.value) != node.outputs.end()) {
            op = opDef(node.op).name;
        }
    }
    const Value& value = graph.value(origin.value);
    std::string text = fmt::format("{} ({}, {}, {}): ", value.name, op, nameOf(origin.phase), nameOf(value.type.dtype));
    std::string counts;
    const auto add = [&counts](std::uint64_t count, std::string_view what) {
        if (count > 0) {
            counts += counts.empty() ? "" : ", ";
            counts += fmt::format("{} {}", count, what);
        }
    };
    add(origin.census.flushed, "flushed to zero");
    add(origin.census.overflowed, "overflowed");
    add(origin.census.infinite, "infinite");
    add(origin.census.nan, "NaN");
    text += counts;
    text += fmt::format(" of {} elements", origin.census.total());
    return text;
}

} // namespace mantissa
