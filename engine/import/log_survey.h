/// A first look into a log: its columns, what they seem to be, and its first rows.
#pragma once

#include "engine/import/column_map.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

struct LogColumn
{
    std::string name;
    std::uint64_t numbers = 0; ///< in the rows looked at
    std::uint64_t texts = 0;
};

struct LogSurvey
{
    std::string format;
    bool isFolder = false;
    std::uint64_t bytes = 0; ///< of the log, as of now
    bool isWhole = false; ///< else only its beginning was looked at
    std::uint64_t rows = 0; ///< looked at
    std::vector<LogColumn> columns;
    std::vector<std::string> runs; ///< names of the file's own; "" if it has none
    bool hasSteps = false; ///< of its own, so that no column needs to be the step
    ColumnMap map;
    /// The first rows, as texts by column, "" where there is nothing. Where the format has steps of its own they stand
    /// in `previewSteps`.
    std::vector<std::vector<std::string>> preview;
    std::vector<std::int64_t> previewSteps;
    std::vector<std::string> notes;
};

/// Looks at up to 16 MiB. Throws Error as openLog() does, and (InvalidArgument) for a chosen column that is not there
/// or a log without one row of numbers.
LogSurvey surveyLog(const std::filesystem::path& path, const ColumnMap::Choices& choices = {});

} // namespace mantissa
