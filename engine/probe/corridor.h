/// Between which loss scales a gradient fits into a 16-bit format.
#pragma once

#include "engine/probe/tensor_sample.h"

namespace mantissa {

/// Of flushed elements: as many as a gradient can spare.
inline constexpr double harmlessFlushedShare = 0.01;

struct Corridor
{
    double floor = 0; ///< the least power of two at which no more than a chosen share is flushed to zero; 0: any scale
    double ceiling = 0; ///< the largest element overflows from here on; infinite: it never does

    [[nodiscard]] bool exists() const { return floor < ceiling; }
};

/// `reference`: the gradient as FP32 has it, not scaled. It tells of the last rounding alone: a gradient that the
/// layers above have flushed on its way is not there to be rounded, and what overflows may be another tensor.
Corridor corridorOf(const TensorSample& reference, DType format, double flushedShare);

} // namespace mantissa
