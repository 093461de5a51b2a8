/// The settings of a lane, one row per key: parsing, composing, changing and the key reference all read this table.
#pragma once

#include "engine/train/experiment.h"

#include <functional>
#include <string>
#include <vector>

namespace mantissa {

struct Setting
{
    std::string path; ///< dotted, as in a change of settings: "optimizer.weight_decay"
    std::string type; ///< with its article: "a number", "an integer", "a text", ...
    std::string allowed; ///< "from 0 to 1", "one of relu, gelu"; empty: anything of the type
    bool live = true; ///< may change while the lane trains
    /// Stores a JSON value. Returns what is wrong with it ("is 0; it must be ..."), or an empty text and has stored it.
    /// A fault inside a list begins with its place: "[3].kernel is 0; ...".
    std::function<std::string(LaneConfig&, const nlohmann::json&)> read;
    /// The value as JSON, defaults included; null if the lane has none (no scaler, no threshold, no such parameter).
    std::function<nlohmann::json(const LaneConfig&)> write;
};

/// Every setting but the lane's "name", in the order of documentation. A kind comes before what depends on it.
const std::vector<Setting>& settingTable();

/// The row of a path, or null. "precision.overrides.relu" has none; its map "precision.overrides" has.
const Setting* findSetting(const std::string& path);

/// True if the path is an object that holds settings: "optimizer".
bool isSection(const std::string& path);

/// The keys that may stand in a section ("" for a lane's top level).
std::vector<std::string> keysOf(const std::string& section);

/// What can be set like a setting while a lane trains, but is none: state of the scaler ("scaler.scale",
/// "scaler.growth_tracker") and faults ("fault.nan_sample").
bool isStatePath(const std::string& path);

} // namespace mantissa
