/// What becomes of a step's gradient on its way to the weights: how much of it is still there after each stage.
#pragma once

#include "engine/train/step_sample.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

enum class SurvivalKind : std::uint8_t {
    Raw, ///< FP32's gradient, if it were held in the lane's 16-bit format without a scale
    Scaled, ///< the same times the step's scale
    Cast, ///< what backward left
    Unscaled,
    Clipped,
    Applied, ///< what moved a weight
};

/// Shares of all elements; they sum to 1. Of Applied only normal (the weight moved), flushed (it kept its bits, though
/// the gradient is not zero) and zero.
struct SurvivalStage
{
    SurvivalKind kind = SurvivalKind::Raw;
    double normal = 0;
    double subnormal = 0;
    double flushed = 0; ///< zero by now, though the gradient is not
    double zero = 0; ///< of the gradient itself
    double overflowed = 0; ///< infinite or not a number
    /// At most three layers that have lost the largest shares of their elements so far (flushed, overflowed), worst
    /// first; those that lost none are left out.
    std::vector<std::pair<std::string, double>> worst {};

    [[nodiscard]] double lost() const { return flushed + overflowed; }
};

/// In the order of the step. Without a 16-bit format there are no Raw and Scaled; Clipped is there if the lane clips.
std::vector<SurvivalStage> survivalOf(const StepSample& sample);

} // namespace mantissa
