#include "app/cli/checkpoint_argument.h"

#include "app/cli/runs_common.h"
#include "engine/core/error.h"
#include "engine/store/run_checkpoints.h"
#include "engine/train/checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>

namespace mantissa::cli {

namespace {

std::optional<RunId> runNumberFrom(const std::string& text)
{
    RunId id = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, id);
    return error == std::errc() && stopped == end && !text.empty() ? std::optional(id) : std::nullopt;
}

ResumedLane readFile(const std::filesystem::path& file)
{
    return {std::make_shared<const Checkpoint>(readCheckpoint(file)), file};
}

/// The newest checkpoint of the run that can be read.
ResumedLane newestOf(const RunStore& store, RunId run)
{
    for (const WrittenCheckpoint& written : checkpointsOf(store, run)) {
        try {
            return readFile(written.file);
        } catch (const Error& error) {
            std::fprintf(stderr, "mantissa-cli: %s; trying an older checkpoint\n", error.what());
        }
    }
    throw BadInput(
        fmt::format("run {} has no checkpoint that can be read; train with --checkpoints FOLDER to have some", run));
}

} // namespace

ResumedLane checkpointFrom(const std::string& runOrFile, const std::string& database)
{
    const std::optional<RunId> run = runNumberFrom(runOrFile);
    if (!run) {
        return readFile(runOrFile);
    }
    RunsOptions runs;
    runs.database = database;
    const RunStore store = openRuns(runs);
    return newestOf(store, runNumber(store, *run).id);
}

} // namespace mantissa::cli
