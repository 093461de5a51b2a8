#include "app/cli/slurm_script.h"

#include "app/cli/shell_word.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa::cli {

namespace {

/// What a comment for sbatch can hold.
std::string jobName(const std::string& name)
{
    std::string plain;
    for (const char c : name.substr(0, 40)) {
        const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        plain += isPlain ? c : '_';
    }
    return "sweep-" + plain;
}

} // namespace

std::size_t slurmTasks(const SlurmJob& job)
{
    constexpr std::size_t most = 1000;
    return std::min(job.points, most);
}

std::string slurmScript(const SlurmJob& job)
{
    const std::size_t tasks = slurmTasks(job);
    std::string text = fmt::format(R"(#!/bin/bash
#SBATCH --job-name={}
#SBATCH --array=1-{}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={}
#
# Submit it: sbatch and the name of this file. What the cluster wants besides (--time, --partition, --mem) can be given
# there or in further #SBATCH lines above.
#
# Each of the {} tasks trains its share of the sweep's {} points into a database of its own, since several machines must
# not write the same file. A task that is started again goes on where it was.
#
# Merge the databases when the tasks are done, or at any time, and as often as you like: bash, the name of this file, and
# the word merge. That is: mantissa-cli runs merge INTO.db FROM.db...
set -euo pipefail

cli={}
cli=${{MANTISSA_CLI:-$cli}}
sweep={}
databases={}
merged={}

if [ "${{1:-}}" = merge ]; then
    exec "$cli" runs merge "$merged" "$databases"/task-*.db
fi
task=${{SLURM_ARRAY_TASK_ID:?is not set: submit this file as a job array, with sbatch}}
mkdir -p -- "$databases"
exec "$cli" sweep "$sweep" --task "$task/{}" --db "$databases/task-$task.db"{}
)",
        jobName(job.name), tasks, job.cores, tasks, job.points, shellWord(job.program.string()),
        shellWord(job.sweep.string()), shellWord(job.databases.string()), shellWord(job.merged.string()), tasks,
        job.options);
    return text;
}

} // namespace mantissa::cli
