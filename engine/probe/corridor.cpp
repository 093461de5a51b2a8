#include "engine/probe/corridor.h"

#include <cmath>
#include <limits>

namespace mantissa {

Corridor corridorOf(const TensorSample& reference, DType format, double flushedShare)
{
    Corridor corridor;
    corridor.ceiling = reference.largest > 0 ? limitsOf(format).overflowsFrom / reference.largest
                                             : std::numeric_limits<double>::infinity();
    if (reference.smallest == 0) {
        return corridor;
    }
    // At the top of this range even the smallest element is past flushing, at its bottom the largest is not.
    const double flushesUpTo = std::log2(limitsOf(format).flushesUpTo);
    int above = static_cast<int>(std::ceil(flushesUpTo - std::log2(reference.smallest))) + 1;
    const int bottom = static_cast<int>(std::floor(flushesUpTo - std::log2(reference.largest))) - 1;
    while (above > bottom && forecast(reference, above - 1, format).flushed <= flushedShare) {
        --above;
    }
    corridor.floor = above > bottom ? std::exp2(above) : 0;
    return corridor;
}

} // namespace mantissa
