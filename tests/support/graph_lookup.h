/// Finds nodes of a graph by name.
#pragma once

#include "engine/core/error.h"
#include "engine/graph/graph.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace mantissa::test {

/// Throws Error (Internal) if there is none.
inline const Node& nodeNamed(const Graph& graph, std::string_view name)
{
    const auto found = std::ranges::find(graph.nodes(), name, &Node::name);
    if (found == graph.nodes().end()) {
        throw Error(ErrorCode::Internal, "no node " + std::string(name));
    }
    return *found;
}

/// Of the node's first output.
inline DType formatOf(const Graph& graph, std::string_view node)
{
    return graph.value(nodeNamed(graph, node).outputs[0]).type.dtype;
}

} // namespace mantissa::test
