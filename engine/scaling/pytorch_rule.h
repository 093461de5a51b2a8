/// How torch.amp.GradScaler moves its scale, for the host and for kernels.
/// Source: pytorch/pytorch, aten/src/ATen/native/cuda/AmpKernels.cu and cpu/AmpGradScalerKernels.cpp.
#pragma once

#include <cfloat>

#ifdef __CUDACC__
#define MANTISSA_HOST_DEVICE __host__ __device__
#else
#define MANTISSA_HOST_DEVICE
#endif

namespace mantissa {

struct PytorchRule
{
    double growthFactor = 1;
    double backoffFactor = 1;
    double growthInterval = 0; ///< a whole number; 0: it never grows
    bool isFrozen = false; ///< nothing moves
};

struct PytorchScale
{
    float scale = 1;
    double tracker = 0; ///< a whole number: finite steps since the last growth or overflow
};

/// After a step.
MANTISSA_HOST_DEVICE inline PytorchScale moved(PytorchScale now, const PytorchRule& rule, bool foundInf)
{
    if (rule.isFrozen) {
        return now;
    }
    const auto scale = static_cast<double>(now.scale); // products in double, rounded once
    if (foundInf) {
        // No floor: the scale can reach 0 and then stays there.
        return {static_cast<float>(scale * rule.backoffFactor), 0};
    }
    // Equality: a tracker already past a lowered interval waits for an overflow to reset it.
    if (now.tracker + 1 != rule.growthInterval) {
        return {now.scale, now.tracker + 1};
    }
    const auto grown = static_cast<float>(scale * rule.growthFactor);
    const bool isFinite = grown >= -FLT_MAX && grown <= FLT_MAX;
    return {isFinite ? grown : now.scale, 0};
}

/// What a device keeps of a scale that it moves by itself.
struct DeviceScale
{
    PytorchScale machine;
    float lossScale = 1; ///< by which backward begins
    float inverseScale = 1; ///< by which gradients are multiplied
};

/// After a step. A frozen one stays as it is, also where the host wrote another factor for the loss.
MANTISSA_HOST_DEVICE inline DeviceScale moved(const DeviceScale& now, const PytorchRule& rule, bool foundInf)
{
    if (rule.isFrozen) {
        return now;
    }
    const PytorchScale next = moved(now.machine, rule, foundInf);
    return {next, next.scale, static_cast<float>(1 / static_cast<double>(next.scale))};
}

} // namespace mantissa
