/// What the `runs` commands share.
#pragma once

#include "app/cli/command.h"
#include "engine/store/run_store.h"

#include <memory>
#include <string>
#include <vector>

namespace mantissa::cli {

struct RunsOptions
{
    std::string database; ///< empty: the default one
    bool json = false;
    std::vector<RunId> runs;
    std::size_t limit = 0; ///< list: 0 shows all
    std::string format = "csv"; ///< export
    std::string out; ///< export: file; empty for stdout
    std::string into; ///< merge
    std::vector<std::string> files; ///< merge
    bool yes = false; ///< delete
    bool purge = false; ///< delete
};

/// The file that the options name.
std::filesystem::path databaseOf(const RunsOptions& options);
/// Opens it. Throws Error (Io) if it is not there or cannot be read.
RunStore openRuns(const RunsOptions& options, StoreAccess access = StoreAccess::ReadOnly);
/// Throws BadInput if there is none of this number.
RunInfo runNumber(const RunStore& store, RunId id);

/// "imported" for a run that is no longer followed.
std::string statusText(const RunInfo& run);
/// "-" where they are not known.
std::string skipsText(const RunInfo& run);

/// How to repeat a run, as a shell command.
std::string replayCommand(const RunsOptions& options, const RunInfo& run);

int listRuns(const RunsOptions& options);
int showRun(const RunsOptions& options);
int compareRuns(const RunsOptions& options);
int exportRuns(const RunsOptions& options);
int deleteRuns(const RunsOptions& options);
int mergeIntoRuns(const RunsOptions& options);

} // namespace mantissa::cli
