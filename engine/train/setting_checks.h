/// Checks of settings against each other, once each is valid by itself.
#pragma once

#include "engine/train/experiment.h"

#include <optional>
#include <string>

namespace mantissa {

/// What is wrong: "clip.order" + "is ..., but ...".
struct SettingFault
{
    std::string path;
    std::string text;
};

/// The first fault of a lane's settings, or nothing.
std::optional<SettingFault> findFault(const LaneConfig& lane);

} // namespace mantissa
