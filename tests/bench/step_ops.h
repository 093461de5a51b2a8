/// The ops of a training step of some nets, with how often each runs, for measuring what a format costs.
#pragma once

#include "engine/backends/backend.h"

#include <functional>
#include <string>
#include <vector>

namespace mantissa {

struct StepOp
{
    const char* name;
    int perStep; ///< times in the step
    bool onlyMixed; ///< casts, which an FP32 step lacks
    std::function<KernelRequest(DType)> request;
};

struct StepSet
{
    std::string name;
    std::vector<StepOp> ops;
};

/// Two hidden layers.
StepSet mlpOps(std::int64_t batch, std::int64_t width);
/// A block of two 3x3 convolutions with batch norm and a residual sum: 32 images of 16 x 16 with 64 channels.
StepSet resnetOps();
/// A block of a GPT: 16 sequences of 128 tokens with 128 channels and four heads. Norms and sums run in FP32, as
/// PyTorch's autocast has them.
StepSet transformerOps();

} // namespace mantissa
