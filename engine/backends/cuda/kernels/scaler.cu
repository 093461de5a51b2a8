// Moves a loss scale behind a step, so that the next one need not wait for the host.
#include "engine/backends/cuda/kernels/device.h"
#include "engine/backends/cuda/kernels/kernels.h"
#include "engine/scaling/pytorch_rule.h"

namespace mantissa::cuda {

namespace {

__global__ void __launch_bounds__(warpWidth) scalerKernel(ScalerRule rule, ScaleIn now, ScaleOut next)
{
    if (threadInBlock() != 0) {
        return;
    }
    const DeviceScale after = moved(DeviceScale {{*now.scale, *now.tracker}, *now.lossScale, *now.inverseScale},
        PytorchRule {*rule.growthFactor, *rule.backoffFactor, *rule.growthInterval, *rule.isFrozen != 0.0F},
        *rule.foundInf != 0.0F);
    *next.scale = after.machine.scale;
    *next.tracker = after.machine.tracker;
    *next.lossScale = after.lossScale;
    *next.inverseScale = after.inverseScale;
}

} // namespace

void runScaler(const ScalerRule& rule, const ScaleIn& now, const ScaleOut& next, cudaStream_t stream)
{
    launch(scalerKernel, 1, warpWidth, 0, stream, rule, now, next);
}

} // namespace mantissa::cuda
