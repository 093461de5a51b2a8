#include "engine/formats/extent.h"

#include "engine/formats/kernels.h"

#include <numeric>

namespace mantissa {

Extent extentOf(std::span<const float> elements, float minNormal)
{
    kernels::Extent lanes {.squares = {}, .largest = 0, .smallest = Extent().smallest, .belowNormal = 0};
    kernels::active().measureExtent(elements.data(), elements.size(), minNormal, &lanes);
    return {.squares = std::accumulate(std::begin(lanes.squares), std::end(lanes.squares), 0.0),
        .largest = lanes.largest,
        .smallest = lanes.smallest,
        .belowNormal = lanes.belowNormal};
}

} // namespace mantissa
