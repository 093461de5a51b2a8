/// One step taken apart: what each of its stages leaves behind, for a person who goes through it stage by stage.
#pragma once

#include "engine/formats/census.h"
#include "engine/formats/dtype.h"
#include "engine/train/experiment.h"
#include "engine/train/step_record.h"
#include "engine/train/step_stage.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

class Lane;

/// A tensor as a stage left it. Magnitudes are of its finite elements.
struct WalkedTensor
{
    std::string name;
    DType dtype = DType::Float32;
    std::int64_t elements = 0;
    double largest = 0;
    double smallest = 0; ///< of those that are not zero; 0: all are
    std::int64_t zeros = 0;
    std::int64_t subnormal = 0; ///< in its format
    std::int64_t nonFinite = 0;
};

/// What rounding to 16 bits did to a value in the forward or backward pass.
struct WalkedRounding
{
    std::string name;
    DType dtype = DType::Float16;
    Census census; ///< over all micro-batches so far
};

/// What the optimizer did to one parameter, as it is stored.
struct WalkedUpdate
{
    std::string name;
    DType dtype = DType::Float32;
    std::int64_t elements = 0;
    double ratio = 0; ///< |update| / |weights|, both Euclidean
    std::int64_t moved = 0; ///< elements that changed
    std::int64_t lost = 0; ///< elements with a gradient that did not
};

/// The most concerned first: not finite, then flushed or zero, then the largest.
struct WalkedStage
{
    StepStage stage = StepStage::Data;
    std::vector<WalkedTensor> tensors {}; ///< of Data the samples, of Backward, Unscale, Clip the gradients
    std::vector<WalkedRounding> roundings {}; ///< of Forward and Backward
    std::vector<WalkedUpdate> updates {}; ///< of Step
    double norm = 0; ///< of all gradients as they are, of Backward, Unscale, Clip
};

struct StepWalk
{
    std::shared_ptr<const LaneConfig> config; ///< never null
    StepRecord record; ///< of the whole step
    std::vector<WalkedStage> stages; ///< as they happened; of several micro-batches the last one
    int opsInHalf = 0; ///< of the forward pass
    int opsInFull = 0;
    int casts = 0;
    double unscaledBy = 1; ///< the scale that unscaling divided by
    std::int64_t trackerBefore = 0;
    double scaleAfter = 1;
    double lrAfter = 0; ///< of the next step
};

/// Trains the lane's next step and tells what happened. Meant for a copy of the lane that a person looks at.
StepWalk walkStep(Lane& lane);

} // namespace mantissa
