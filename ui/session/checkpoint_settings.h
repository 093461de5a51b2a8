/// How the window writes checkpoints by itself: what a person chose, where the files go, and how they are kept from
/// filling the disk.
#pragma once

#include "engine/train/checkpoint.h"

#include <filesystem>
#include <string>

namespace mantissa {

struct CheckpointSettings
{
    bool isOn = true;
    std::int64_t everySteps = 0; ///< 0: not by steps
    double everySeconds = 60; ///< 0: not by time
    std::int64_t kept = 2; ///< of each lane
    double mostGib = 4; ///< of all sessions together, on the disk
    bool operator==(const CheckpointSettings&) const = default;
};

CheckpointSettings readCheckpointSettings(); ///< from openSettings()
void writeCheckpointSettings(const CheckpointSettings& settings);

/// For a session that begins now: a folder of its own. None if there is no database, or if they are switched off.
CheckpointPlan checkpointPlan(
    const CheckpointSettings& settings, const std::filesystem::path& database, const std::string& experiment);

/// Removes the checkpoints of the oldest sessions until all others take at most `mostBytes`; the newest session's stay
/// whatever they take. Only what checkpointPlan() names is looked at; what cannot be removed stays.
void removeOldCheckpoints(const std::filesystem::path& folder, std::uintmax_t mostBytes);

} // namespace mantissa
