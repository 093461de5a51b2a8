/// What a person wants to be different from where a lane is resumed, as scripted changes, so that the stored run
/// replays.
#pragma once

#include "engine/train/checkpoint.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

struct ResumeChanges
{
    std::optional<std::int64_t> steps; ///< the new last step; nothing: as it was
    /// Scale and tracker begin anew, as in a training script that does not save its scaler. Nothing without a scaler.
    bool withoutScaler = false;
    double lrFactor = 1; ///< multiplies optimizer.lr, and what scripted changes make of it, ...
    std::int64_t lrSteps = 0; ///< ... for so many steps; 0: to the end
    std::vector<std::pair<std::string, nlohmann::json>> set {}; ///< further settings, by their paths
};

/// The checkpoint with these changes due before its next step. Throws Error (InvalidArgument) naming the setting that
/// cannot be changed, and where no step is left to train.
Checkpoint withChanges(Checkpoint checkpoint, const ResumeChanges& changes);

} // namespace mantissa
