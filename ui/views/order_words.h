/// What the order of a lane's step and its switches do to the numbers, spelled out for people.
#pragma once

#include "engine/train/experiment.h"
#include "ui/views/lane_words.h"

#include <QString>

#include <optional>
#include <vector>

namespace mantissa {

struct OrderNote
{
    std::optional<StepBlock> block; ///< that stands in the wrong place; nothing for a switch
    Tone tone = Tone::Problem; ///< Plain: unusual, but harmless here
    QString text;
};

/// `scale` is the lane's present one. Empty: the order is right and every switch stands as it should.
std::vector<OrderNote> orderNotes(const LaneConfig& lane, double scale);

/// "unscale", "check", ... as the strip shows it, and what the block does.
QString blockLabel(StepBlock block);
QString blockHint(StepBlock block);

} // namespace mantissa
