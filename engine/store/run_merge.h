/// Runs of several databases in one: what the jobs of a cluster stored, each in a file of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace mantissa {

/// What became of the runs of one file.
struct MergedRuns
{
    std::filesystem::path file;
    std::int64_t added = 0;
    std::int64_t completed = 0; ///< were there, and have gone on since
    std::int64_t unchanged = 0;
};

/// Copies every run of the files that `into` does not have, with all rows that belong to it: of every table with a
/// column `run_id`. A run is known by its uuid, so merging a file again adds nothing. Of a run that is there already,
/// rows are replaced if the file's copy has gone on since; tags are united, and a note is taken where there was none.
/// Runs that a person has deleted stay behind, and stay deleted.
///
/// A run that is being trained is copied as far as it is; until it is merged again it reads as interrupted. The files
/// stay as they are: older ones are upgraded in a copy.
///
/// All or nothing: one transaction, which other writers of `into` wait for, as this one waits for theirs.
/// Throws Error (Io) naming the file: missing, newer, damaged, no database, `into` itself, disk full.
std::vector<MergedRuns> mergeRuns(const std::filesystem::path& into, std::span<const std::filesystem::path> files);

} // namespace mantissa
