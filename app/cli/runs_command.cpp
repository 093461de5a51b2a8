// mantissa-cli runs: the database of runs.
#include "app/cli/runs_common.h"
#include "app/cli/shell_word.h"
#include "engine/core/error.h"
#include "engine/train/experiment.h"
#include "engine/train/setting_table.h"

#include <fmt/format.h>

namespace mantissa::cli {

namespace {

using Options = std::shared_ptr<RunsOptions>;

CLI::App* addCommand(CLI::App& runs, const char* name, const char* text, const Options& options,
    int (*action)(const RunsOptions&), Action& chosen)
{
    CLI::App* command = runs.add_subcommand(name, text);
    addDatabaseOption(*command, options->database);
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &chosen] { chosen = [=] { return action(*options); }; });
    return command;
}

} // namespace

CLI::Option* addDatabaseOption(CLI::App& command, std::string& file)
{
    return command.add_option("--db", file, "Database of runs")->check([](const std::string& given) {
        return std::string(given.empty() ? "the name is empty; leave the option out for the usual file" : "");
    });
}

std::filesystem::path databaseOf(const RunsOptions& options)
{
    return options.database.empty() ? RunStore::defaultPath() : std::filesystem::path(options.database);
}

RunStore openRuns(const RunsOptions& options, StoreAccess access)
{
    const std::filesystem::path file = databaseOf(options);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        throw Error(ErrorCode::Io, fmt::format("there is no database {}; it is made by the first run", file.string()));
    }
    return RunStore(file, access);
}

RunInfo runNumber(const RunStore& store, RunId id)
{
    if (auto run = store.run(id)) {
        return *std::move(run);
    }
    throw BadInput(fmt::format("there is no run {}; \"mantissa-cli runs list\" shows those there are", id));
}

std::string statusText(const RunInfo& run)
{
    return run.imported && run.status == RunStatus::Finished ? "imported" : std::string(nameOf(run.status));
}

std::string skipsText(const RunInfo& run)
{
    return run.skippedSteps < 0 ? "-" : fmt::format("{}", run.skippedSteps);
}

std::string replayCommand(const RunsOptions& options, const RunInfo& run)
{
    const std::string database = options.database.empty() ? "" : " --db " + shellWord(options.database);
    const std::string file = fmt::format("run-{}.json", run.id);
    return fmt::format(
        "mantissa-cli runs export {} --format experiment{} --out {} && mantissa-cli run {} --threads {}{}", run.id,
        database, file, file, run.threadsPerLane, database);
}

void addRunsCommand(CLI::App& app, Action& chosen)
{
    CLI::App* runs = app.add_subcommand("runs", "The database of runs");
    runs->require_subcommand(1);
    const auto options = std::make_shared<RunsOptions>();

    CLI::App* list = addCommand(*runs, "list", "All runs, newest first", options, listRuns, chosen);
    list->add_option("--limit", options->limit, "Only the newest N");

    CLI::App* show = addCommand(*runs, "show", "A run's settings, results and events", options, showRun, chosen);
    show->add_option("run", options->runs, "Number of the run")->required()->expected(1);

    CLI::App* compare = addCommand(*runs, "compare",
        "What differs between two runs, and whether other seeds differ as much", options, compareRuns, chosen);
    compare->add_option("runs", options->runs, "Numbers of the two runs")->required()->expected(2);

    CLI::App* exporting = addCommand(
        *runs, "export", "All numbers of runs, or the experiment that repeats one", options, exportRuns, chosen);
    exporting->add_option("runs", options->runs, "Numbers of the runs")->required();
    exporting
        ->add_option("--format", options->format,
            "csv, json, ranks-csv (a row per step and rank), or experiment: a file that repeats the run")
        ->check(CLI::IsMember({"csv", "json", "ranks-csv", "experiment"}))
        ->capture_default_str();
    exporting->add_option("--out", options->out, "File to write; without it stdout");

    CLI::App* merging = runs->add_subcommand("merge", "Copy all runs of other databases into one");
    merging->add_option("into", options->into, "Database that gets the runs; made if it is not there")->required();
    merging->add_option("files", options->files, "Databases whose runs are copied; they stay as they are")->required();
    merging->add_flag("--json", options->json, "Print JSON");
    merging->footer(
        "A run that is there already is not copied again, but completed if it has gone on since. All files are "
        "merged, or none.");
    merging->callback([=, &chosen] { chosen = [=] { return mergeIntoRuns(*options); }; });

    CLI::App* deleting = addCommand(*runs, "delete", "Remove runs from the database", options, deleteRuns, chosen);
    deleting->add_option("runs", options->runs, "Numbers of the runs")->required();
    deleting->add_flag("--yes", options->yes, "Do it; without this only shows what would go");
    deleting->add_flag(
        "--purge", options->purge, "Also free the space of all deleted runs: they cannot come back then");
}

} // namespace mantissa::cli
