/// Activation checkpointing: less memory for more arithmetic.
/// Source: Chen, Xu, Zhang, Guestrin, "Training deep nets with sublinear memory cost", 2016.
#pragma once

#include "engine/graph/graph.h"

namespace mantissa {

/// The graph of a forward and backward pass, in which the backward pass of each block of the model (Node::block)
/// computes the block's forward activations again instead of finding them kept; what leaves a block is kept. The ops
/// are the same on the same operands, so the results are the same to the last bit. Ids of values stay valid.
/// Throws Error (InvalidArgument) if no block has anything to compute again.
Graph recomputeBlocks(const Graph& graph);

} // namespace mantissa
