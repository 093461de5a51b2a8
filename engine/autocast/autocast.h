/// Rewrites a graph of FP32 ops for a precision policy by inserting explicit casts, as torch.autocast does at run time.
#pragma once

#include "engine/graph/graph.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace mantissa {

/// Which op runs in which format.
struct Policy
{
    std::string name = "fp32";
    DType lower = DType::Float32; ///< the format of PrecisionClass::Lower ops; Float32: no autocast
    /// By node name ("fc1") or, where none is given, by op name ("linear"): overrules the classes.
    std::map<std::string, DType, std::less<>> overrides;
};

struct AutocastResult
{
    Graph graph;
    std::vector<ValueId> values; ///< the rewritten graph's value for each value of the original
};

/// Rewrites a forward graph. A parameter is cast once per format (Phase::WeightCast, ValueKind::WeightCopy) and shared
/// by all its users; other values are cast per use, so that each use's gradient returns through its own cast, as in
/// PyTorch. Every node that a choice was made for says why in Node::reason.
/// Throws Error (InvalidArgument) for an override that names neither a node nor an op of the graph.
AutocastResult applyAutocast(const Graph& forward, const Policy& policy);

} // namespace mantissa
