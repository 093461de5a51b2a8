#include "engine/train/lane_changes.h"

#include "engine/scaling/scaler_family.h"

#include <algorithm>

namespace mantissa {

namespace {

/// Lanes differ in whether they have a scaler, and scalers in their parameters.
bool hasSetting(const LaneConfig& lane, const std::string& path)
{
    static const std::string scaler = "scaler.";
    if (!path.starts_with(scaler)) {
        return true;
    }
    const std::string key = path.substr(scaler.size());
    const bool isParameter = std::ranges::any_of(
        scalerFamilyTable(), [&](const ScalerFamily* family) { return findParameter(*family, key) != nullptr; });
    return lane.scaler && (!isParameter || findParameter(*findScalerFamily(lane.scaler->family), key) != nullptr);
}

} // namespace

void changeLanes(Experiment& experiment, const SettingChanges& changes)
{
    std::vector<LaneConfig> lanes;
    const bool addsScaler = std::ranges::any_of(
        changes, [](const auto& change) { return change.first == "scaler.family" || change.first == "scaler"; });
    for (const LaneConfig& lane : experiment.lanes) {
        SettingChanges fitting = changes;
        std::erase_if(fitting, [&](const auto& change) {
            const auto has = [&](const LaneConfig& other) { return hasSetting(other, change.first); };
            return !addsScaler && !has(lane) && std::ranges::any_of(experiment.lanes, has);
        });
        lanes.push_back(withOverrides(lane, fitting));
    }
    experiment.lanes = std::move(lanes);
}

void keepLanes(Experiment& experiment, const std::vector<std::string>& kept)
{
    const auto isDropped
        = [&](const std::string& name) { return std::find(kept.begin(), kept.end(), name) == kept.end(); };
    std::erase_if(experiment.lanes, [&](const LaneConfig& lane) { return isDropped(lane.name); });
    std::erase_if(
        experiment.events, [&](const ScriptedEvent& event) { return !event.lane.empty() && isDropped(event.lane); });
    std::erase_if(experiment.watchpoints,
        [&](const Watchpoint& watchpoint) { return !watchpoint.lane.empty() && isDropped(watchpoint.lane); });
}

} // namespace mantissa
