/// What the points of a sweep came to, from the runs that are stored.
#pragma once

#include "engine/store/run_store.h"
#include "engine/sweep/sweep.h"

#include <optional>
#include <string>
#include <vector>

namespace mantissa {

/// One lane at one point.
struct SweepRow
{
    SweepPoint point;
    std::string lane;
    std::optional<RunInfo> run; ///< that counts: a finished one before one that trains, that before others; the newest
};

struct SweepTable
{
    std::string name;
    std::string id;
    /// Those that differ: "variant", "lane", or a setting's path, but for what follows from the variant.
    std::vector<std::string> columns;
    std::vector<SweepRow> rows;

    /// What the row has in a column; nothing where the experiment's own setting holds.
    [[nodiscard]] static std::optional<nlohmann::json> value(const SweepRow& row, const std::string& column);
};

/// A run that needs no other: it came to an end by itself, even a bad one.
bool hasEnded(const RunInfo& run);

/// A row for each point and lane of the sweep, run or not.
SweepTable tableOf(const Sweep& sweep, const std::vector<RunInfo>& runs);

/// The sweeps that stored runs belong to, the one with the newest run first; rows for what has a run alone.
std::vector<SweepTable> storedSweeps(const std::vector<RunInfo>& runs);

} // namespace mantissa
