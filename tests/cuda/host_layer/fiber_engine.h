/// Runs the threads of a grid as fibers on the calling thread, one block after the other, in an order of our choice.
#pragma once

#include <driver_types.h>
#include <vector_types.h>

#include <cstddef>
#include <functional>
#include <string>

namespace mantissa::host_layer {

/// Of warps in a block, lanes in a warp and blocks in a grid. A warp runs ahead as far as it can before the next is
/// touched: taking turns would hide missing barriers.
enum class Order { Forward, Reverse, Shuffled };

void setOrder(Order order);

/// Runs every thread of every block to its end. False if the kernel does what a device cannot (a barrier that a part
/// of the block never reaches, a shuffle of lanes that are not there, a write past a shared array): the message is in
/// `fault`. Shared memory starts as 0xFF, so that what is read before it is written shows as NaN.
bool runGrid(dim3 grid, dim3 block, std::size_t dynamicBytes, const std::function<void()>& body, std::string& fault);

} // namespace mantissa::host_layer
