/// Reverse-mode differentiation: appends the backward nodes of a loss to its graph.
#pragma once

#include "engine/graph/graph.h"

#include <span>
#include <vector>

namespace mantissa {

/// Appends backward nodes (Phase::Backward) for `loss`, whose own gradient is the scalar `lossGradient`. An op's
/// backward runs in the format its forward ran in; a value used several times sums its gradients in its own format, in
/// the reverse order of use. Returns the gradient of each parameter, in order, with the parameter's type; each is a
/// value of its own. Throws Error (InvalidArgument) if the loss does not depend on a parameter.
std::vector<ValueId> differentiate(
    Graph& graph, ValueId loss, ValueId lossGradient, std::span<const ValueId> parameters);

} // namespace mantissa
