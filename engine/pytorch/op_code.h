/// Single ops in PyTorch: the module that holds an op's weights, and the expression that computes it.
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace mantissa {

/// For each value whether it holds images, which PyTorch has as [batch, channels, height, width].
std::vector<bool> imageValues(const Graph& graph);

/// ".flatten(1)" for a value that flattened images become: in PyTorch's order where linear layers follow, whose columns
/// are brought into it, else in ours. Throws Error (InvalidArgument) where both follow.
std::string flattenCode(const Graph& graph, ValueId flat, const Shape& image);

/// "nn.Linear(64, 10)"; empty for an op without weights that needs no module.
std::string moduleCode(const Graph& graph, const Node& node);

/// What a node's expression is made of.
struct NodeCode
{
    const Graph& graph;
    const Node& node;
    bool isImage = false; ///< the first operand that is no weight
    std::string module {}; ///< how its module is called: "self.fc1"; empty: it has none
    std::vector<std::string> operands {}; ///< in the node's order; those of a module's own weights are not read
};

/// "F.relu(x)", "self.fc1(x)". Throws Error (InvalidArgument) for an op that no model has.
std::string expressionCode(const NodeCode& code);

/// A function that the expressions of attention call; see expressionCode().
std::string attentionFunction();

} // namespace mantissa
