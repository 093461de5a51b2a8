/// A training log on its way into the database of runs: read in pieces, written through the usual writer, followed if
/// it grows.
#pragma once

#include "engine/import/column_map.h"
#include "engine/import/log_reader.h"
#include "engine/import/log_survey.h"
#include "engine/store/run_store.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace mantissa {

struct LogImportOptions
{
    ColumnMap::Choices columns {};
    std::string name {}; ///< of the run, or in front of those of several; empty: after the file
    bool follows = false; ///< more may come: runs stay open, and skips are not derived
};

/// What became of one run of the log.
struct ImportedRun
{
    std::string name;
    ImportSource source;
    std::int64_t steps = 0; ///< records
    std::int64_t firstStep = 0;
    std::int64_t lastStep = -1;
    std::vector<std::string> notes; ///< what a person should know: restarts, repeated steps, what could not be told
    std::uint32_t lane = 0; ///< of the writer
};

/// In this order: readOn() until it is false, settle(), write(); then, where it follows, poll() now and then and end().
class LogImport
{
public:
    /// Throws as surveyLog().
    LogImport(const std::filesystem::path& path, LogImportOptions options);
    ~LogImport();
    LogImport(const LogImport&) = delete;
    LogImport& operator=(const LogImport&) = delete;

    [[nodiscard]] const LogSurvey& survey() const;
    /// Reads about `mostBytes` on; false when all that is there has been read. Throws as LogReader::read().
    bool readOn(std::uint64_t mostBytes = std::uint64_t {4} << 20U);
    [[nodiscard]] double progress() const; ///< 0 to 1, of the reading

    /// Puts what was read in order. Throws Error (InvalidArgument) if no run has a record.
    void settle();
    [[nodiscard]] const std::vector<ImportedRun>& runs() const;
    [[nodiscard]] std::vector<std::string> notes() const; ///< on the log as a whole

    /// Writes all runs, as lanes `firstLane` and on of the writer, and blocks now and then until they are in the file.
    /// `isWanted` is asked between pieces; false stops, and the run that is being written then is marked as stopped.
    void write(RunWriter& writer, std::uint32_t firstLane = 0, const std::function<bool()>& isWanted = {});

    /// Takes over what has come since, and returns how many records. Throws as readOn().
    std::int64_t poll(RunWriter& writer);
    /// Whether the log was begun anew or goes back to earlier steps: it is to be imported again, as other runs.
    [[nodiscard]] bool isStale() const;
    /// Whether nothing more can come, since the log is damaged.
    [[nodiscard]] bool isOver() const;
    /// Ends the runs. `message` says why, if that is worth knowing.
    void end(RunWriter& writer, const std::string& message = {});

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace mantissa
