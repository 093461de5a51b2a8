/// Names of enum values as they stand in the database.
#pragma once

#include "engine/train/event.h"

#include <string_view>

namespace mantissa {

/// "set", "lane_added", ...
std::string_view nameOf(EventKind kind);
/// Throws Error (Io) for a name that no version has written.
EventKind eventKindFromName(std::string_view name);

} // namespace mantissa
