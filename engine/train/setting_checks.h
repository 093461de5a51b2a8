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

/// A kind of model that reads such data, tokens or numbers, where `modelKind` reads the other; empty if that fits.
std::string modelFor(const std::string& dataKindName, const std::string& modelKind);

} // namespace mantissa
