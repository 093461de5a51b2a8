/// The order of what a step does once its gradients are there. Only one order is right (design.md, section 4); the
/// others run as they are told, so that their effect can be seen.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class StepBlock : std::uint8_t {
    Unscale, ///< divide the gradients by the scale
    Check, ///< look for infinity and NaN. After Step it comes too late to stop the optimizer
    Clip, ///< where clip.order asks for it
    Step, ///< the optimizer
    Update, ///< the scaler. Before Check it judges by the check of the step before
    Schedule, ///< advance to the next learning rate; before Step that rate is used one step early
};
inline constexpr std::size_t stepBlockCount = 6;

/// Each block once.
using StepOrder = std::array<StepBlock, stepBlockCount>;

inline constexpr StepOrder rightOrder {
    StepBlock::Unscale, StepBlock::Check, StepBlock::Clip, StepBlock::Step, StepBlock::Update, StepBlock::Schedule};

enum class ClipOrder : std::uint8_t { Off, UnscaleThenClip, ClipThenUnscale };

/// "unscale", "check", "clip", "step", "update", "schedule".
std::string_view nameOf(StepBlock block);
std::vector<std::string> namesOf(const StepOrder& order);
/// Nothing unless every block is named exactly once.
std::optional<StepOrder> orderFromNames(const std::vector<std::string>& names);

bool comesBefore(const StepOrder& order, StepBlock first, StepBlock second);

/// How many blocks at its end are the host's: they need a step's results, and nothing on the device waits for them. 0
/// to 2.
std::size_t blocksBehindResults(const StepOrder& order);

/// The order with the clipping moved to the side of the unscaling that `clip` asks for, if it is not there already.
StepOrder withClip(StepOrder order, ClipOrder clip);

/// What the place of the clipping in the order is called.
ClipOrder clipOrderOf(const StepOrder& order);

} // namespace mantissa
