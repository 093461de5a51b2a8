/// Where every value of a graph lives: known before the first step.
#pragma once

#include "engine/graph/graph.h"

#include <array>
#include <cstddef>
#include <vector>

namespace mantissa {

inline constexpr std::size_t valueKindCount = 9;

/// Each kind of value has one block of memory. Activations share theirs by lifetime; values of every other kind lie in
/// the order of their ids, and those of one dtype without gaps, so that a pass over all gradients is one pass.
/// The result of Reshape is where its operand is if both are activations.
struct MemoryPlan
{
    std::vector<std::size_t> offsets; ///< of each value, in its kind's block
    std::array<std::size_t, valueKindCount> blockBytes; ///< by ValueKind
};

/// Activations are placed largest first at the lowest offset that no value alive at the same time covers
/// ("greedy by size": Pisarchyk and Lee, "Efficient memory management for deep neural net inference", 2020).
MemoryPlan planMemory(const Graph& graph);

} // namespace mantissa
