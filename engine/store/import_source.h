/// Where a run came from that was not trained here: the log, and what it tells.
#pragma once

#include "engine/train/step_record.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mantissa {

/// Of such a run nothing is known but what stands here: its settings are not, and of its records only the fields named.
struct ImportSource
{
    std::string file; ///< absolute; a folder of event files, if that was given
    std::string format; ///< "tfevents", "csv", "jsonl", "json"
    std::string run; ///< its name in the file; empty if the file has no names
    /// Fields of the records, as step_chunks names them, with the column each came from, or in words how it was
    /// derived.
    std::vector<std::pair<std::string, std::string>> fields;

    [[nodiscard]] bool knows(std::string_view field) const;
};

nlohmann::json importSourceAsJson(const ImportSource& source);
/// Nothing if the JSON is no such thing.
std::optional<ImportSource> importSourceFromJson(const nlohmann::json& json);

/// A record of which nothing was measured: numbers are NaN, counters and flags as they are in a fresh one.
StepRecord unmeasuredRecord();

} // namespace mantissa
