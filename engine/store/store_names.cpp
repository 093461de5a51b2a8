#include "engine/store/store_names.h"

#include "engine/core/error.h"

#include <array>
#include <string>
#include <utility>

namespace mantissa {

namespace {

constexpr std::array<std::pair<EventKind, std::string_view>, 17> kindNames {{
    {EventKind::Set, "set"},
    {EventKind::LaneAdded, "lane_added"},
    {EventKind::LaneRemoved, "lane_removed"},
    {EventKind::Started, "started"},
    {EventKind::Paused, "paused"},
    {EventKind::Reset, "reset"},
    {EventKind::Finished, "finished"},
    {EventKind::Stopped, "stopped"},
    {EventKind::Diverged, "diverged"},
    {EventKind::Failed, "failed"},
    {EventKind::Refused, "refused"},
    {EventKind::Numerics, "numerics"},
    {EventKind::Checkpoint, "checkpoint"},
    {EventKind::Resumed, "resumed"},
    {EventKind::Weights, "weights"},
    {EventKind::Exchange, "exchange"},
    {EventKind::Watch, "watch"},
}};

} // namespace

std::string_view nameOf(EventKind kind)
{
    for (const auto& [value, name] : kindNames) {
        if (value == kind) {
            return name;
        }
    }
    return "unknown";
}

EventKind eventKindFromName(std::string_view name)
{
    for (const auto& [value, known] : kindNames) {
        if (known == name) {
            return value;
        }
    }
    throw Error(ErrorCode::Io,
        "The database of runs holds an event of unknown kind '" + std::string(name) + "': the file may be damaged.");
}

} // namespace mantissa
