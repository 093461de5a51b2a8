/// A sweep as a job array of a cluster that runs Slurm.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace mantissa::cli {

struct SlurmJob
{
    std::filesystem::path program; ///< mantissa-cli; all paths are absolute
    std::filesystem::path sweep;
    std::filesystem::path databases; ///< folder, made by the tasks
    std::filesystem::path merged; ///< database that gets the runs of all of them
    std::string name;
    std::string options; ///< of `sweep`, as words of a shell command
    std::size_t points = 1;
    int cores = 1; ///< of a task
};

/// How many tasks the points are spread over: clusters usually limit an array to 1,000.
std::size_t slurmTasks(const SlurmJob& job);

/// A bash script for sbatch, whatever the names of files hold: every task trains its points into a database of its own.
/// Called with the word merge it puts them together.
std::string slurmScript(const SlurmJob& job);

} // namespace mantissa::cli
