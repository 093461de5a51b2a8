/// How far the finite elements of a tensor reach.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

namespace mantissa {

/// Of the elements that are finite and not zero, by their magnitudes.
struct Extent
{
    double squares = 0; ///< their sum, in eight interleaved parts: equal whatever the CPU has
    float largest = 0; ///< 0: there is none
    float smallest = std::numeric_limits<float>::infinity(); ///< infinite: there is none
    std::uint64_t belowNormal = 0; ///< magnitudes below minNormal
};

Extent extentOf(std::span<const float> elements, float minNormal);

} // namespace mantissa
