/// Rewrites a graph of FP32 ops for a precision policy by inserting explicit casts, as frameworks do at run time.
#pragma once

#include "engine/autocast/policy.h"
#include "engine/graph/graph.h"

#include <vector>

namespace mantissa {

struct AutocastResult
{
    Graph graph;
    std::vector<ValueId> values; ///< the rewritten graph's value for each value of the original
};

/// Rewrites a forward graph. Parameters and buffers take the policy's weight format. A parameter is cast once per other
/// format (Phase::WeightCast, ValueKind::WeightCopy) and shared by all its users; other values are cast per use, so
/// that each use's gradient returns through its own cast, as in PyTorch. Every node that a choice was made for says why
/// in Node::reason. Throws Error (InvalidArgument) for an override that names neither a node nor an op of the graph.
AutocastResult applyAutocast(const Graph& forward, const Policy& policy);

} // namespace mantissa
