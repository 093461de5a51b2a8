/// One point of a sweep: which settings its runs have that others of the sweep have not.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

struct SweepPoint
{
    std::string sweep; ///< its name
    /// A hash of what all points share, the sweep's name included: points added to a sweep belong to the same one,
    /// those of another experiment to another.
    std::string id;
    int number = 1; ///< from 1
    int count = 1; ///< of points in the sweep, when this one was trained
    std::string variant; ///< the name that the sweep gives to some of the settings; often empty
    nlohmann::json settings = nlohmann::json::object(); ///< by dotted path, or by section as a merge patch

    bool operator==(const SweepPoint&) const = default;
};

nlohmann::json sweepPointAsJson(const SweepPoint& point);
/// Nothing if it is none.
std::optional<SweepPoint> sweepPointFromJson(const nlohmann::json& json);

/// The settings, a section's keys one by one, as (dotted path, value), by name: {"scaler": {"family": "mxnet"}} is
/// ("scaler.family", "mxnet"). A section that is removed is ("scaler", null).
std::vector<std::pair<std::string, nlohmann::json>> singleSettings(const SweepPoint& point);

/// A value as people read it: fp16 rather than "fp16", none rather than null.
std::string settingText(const nlohmann::json& value);

/// "optimizer.lr=0.01, precision.policy=fp16", or the variant and what comes with it.
std::string describe(const SweepPoint& point);

/// What runs of the point are tagged with: "sweep NAME", "optimizer.lr=0.01", ...
std::vector<std::string> tagsOf(const SweepPoint& point);

} // namespace mantissa
