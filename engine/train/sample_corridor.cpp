#include "engine/train/sample_corridor.h"

#include <algorithm>
#include <cmath>

namespace mantissa {

std::optional<Corridor> corridorOf(const StepSample& sample, double flushedShare)
{
    TensorSample gradient;
    double between = 0; // largest element on the way, unscaled
    for (const TensorSample& tensor : sample.tensors) {
        if (tensor.role == TensorRole::Reference) {
            merge(gradient, tensor);
        } else if (tensor.role == TensorRole::ActivationGradient && isHalf(tensor.format)) {
            between = std::max(between, tensor.largest / sample.scale);
        }
    }
    if (gradient.elements == 0 || !isHalf(sample.lower)) {
        return std::nullopt;
    }
    Corridor corridor = corridorOf(gradient, sample.lower, flushedShare);
    if (between > 0) {
        corridor.ceiling = std::min(corridor.ceiling, limitsOf(sample.lower).overflowsFrom / between);
    }
    return corridor;
}

} // namespace mantissa
