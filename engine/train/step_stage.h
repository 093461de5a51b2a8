/// The moments of a step at which something can look at it.
#pragma once

#include "engine/train/step_order.h"

#include <cstdint>
#include <functional>

namespace mantissa {

/// In the right order. What follows Backward comes in the lane's own.
enum class StepStage : std::uint8_t {
    Data, ///< a micro-batch is there
    Forward, ///< its loss is
    Backward, ///< its gradients are, scaled
    Unscale,
    Check,
    Clip,
    Step,
    Update,
    Schedule,
};

constexpr StepStage stageOf(StepBlock block)
{
    return static_cast<StepStage>(static_cast<int>(StepStage::Unscale) + static_cast<int>(block));
}

/// Called when a stage is over, with the lane as it then is; it must change nothing.
using StepWatcher = std::function<void(StepStage)>;

} // namespace mantissa
