/// How two tensors of the same shape differ: a gradient from its FP32 reference, weights after a step from before it.
/// Sums are taken in double, in eight interleaved parts, so that a compiler makes vectors of the loops: equal on every
/// machine.
#pragma once

#include "engine/formats/dtype.h"

#include <cstddef>
#include <span>
#include <vector>

namespace mantissa {

/// NaN where one of the two is all zero or not finite.
struct Likeness
{
    double cosine = 0;
    double relativeError = 0; ///< |a - b| / |b|
};

/// Of `values` / `divisor` to `reference`.
Likeness likenessOf(std::span<const float> values, double divisor, std::span<const float> reference);

struct WeightChange
{
    double squares = 0; ///< of the weights before
    std::size_t wanted = 0; ///< elements that have a gradient or moved
    std::size_t unmoved = 0; ///< of these, those that kept their bits
};

/// `update` becomes after - before, element by element.
WeightChange changeOf(std::span<const float> before, std::span<const float> after, std::span<const float> gradients,
    std::span<float> update);

/// Buffers that are kept between calls.
struct HalfWeights
{
    std::vector<std::byte> stored;
    std::vector<float> before;
    std::vector<float> after;
};

/// Of the updates that are not zero, the share that weights held in the 16-bit format would not show; NaN if there is
/// none.
double lostShare(DType format, std::span<const float> weights, std::span<const float> updates, HalfWeights& scratch);

} // namespace mantissa
