/// Changes to all lanes of an experiment that has not started.
#pragma once

#include "engine/train/experiment.h"

#include <string>
#include <utility>
#include <vector>

namespace mantissa {

/// Settings by dotted path, or sections with merge patches.
using SettingChanges = std::vector<std::pair<std::string, nlohmann::json>>;

/// Changes all lanes, each setting at once since they may need each other; those of the scaler only where there is or
/// will be one that has such a setting. What is wrong changes nothing. Throws Error (InvalidArgument).
void changeLanes(Experiment& experiment, const SettingChanges& changes);

/// Drops the lanes that are not among these names, and the events and watchpoints that name them.
void keepLanes(Experiment& experiment, const std::vector<std::string>& kept);

} // namespace mantissa
