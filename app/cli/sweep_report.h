/// What the points of a sweep came to: as JSON, or as a table with a row per run.
#pragma once

#include "app/cli/output.h"
#include "engine/sweep/sweep_table.h"

#include <map>
#include <string>

namespace mantissa::cli {

/// `messages`: why points failed, by their number.
Json sweepJson(const SweepTable& table, const std::map<int, std::string>& messages);
std::string sweepText(const SweepTable& table, const std::map<int, std::string>& messages);

} // namespace mantissa::cli
