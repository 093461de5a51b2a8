// mantissa-cli import: training logs of other programs as runs of the database.
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/runs_common.h"
#include "engine/core/error.h"
#include "engine/core/nearest_name.h"
#include "engine/import/log_import.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace mantissa::cli {

namespace {

struct ImportOptions
{
    std::vector<std::string> files;
    std::vector<std::string> maps; ///< "loss=train/loss"
    std::string name;
    RunsOptions runs;
    bool dryRun = false;
    bool follows = false;
};

ColumnMap::Choices choicesFrom(const std::vector<std::string>& maps)
{
    std::vector<std::string> fields;
    for (const LogField field : allLogFields()) {
        fields.emplace_back(nameOf(field));
    }
    ColumnMap::Choices choices;
    for (const std::string& text : maps) {
        const auto equals = text.find('=');
        if (equals == std::string::npos) {
            throw BadInput(fmt::format("--map {}: write FIELD=COLUMN, as in --map loss=train/loss", text));
        }
        const std::string field = text.substr(0, equals);
        const auto known = logFieldNamed(field);
        if (!known) {
            throw BadInput(
                fmt::format("--map {}: there is no field \"{}\"; {}", text, field, suggestion(field, fields)));
        }
        if (!choices.emplace(*known, text.substr(equals + 1)).second) {
            throw BadInput(fmt::format("--map names the field {} twice", field));
        }
    }
    return choices;
}

/// One file on its way.
struct Source
{
    std::string file;
    std::unique_ptr<LogImport> log;
    std::vector<RunId> ids {}; ///< of log->runs()
    std::vector<std::pair<RunId, std::string>> earlier {}; ///< runs of the log before it was begun anew
};

/// A line that is overwritten, where stderr is a terminal.
void showProgress(const Source& source)
{
    if (::isatty(STDERR_FILENO) != 0) {
        std::fprintf(stderr, "\rreading %s: %3.0f %%", source.file.c_str(), 100 * source.log->progress());
    }
}

void clearProgress()
{
    if (::isatty(STDERR_FILENO) != 0) {
        std::fputs("\r\x1b[K", stderr);
    }
}

std::unique_ptr<LogImport> openImport(const std::string& file, const ImportOptions& options)
{
    return std::make_unique<LogImport>(
        file, LogImportOptions {choicesFrom(options.maps), options.name, options.follows && !options.dryRun});
}

/// False if it was interrupted.
bool readAll(Source& source)
{
    while (source.log->readOn()) {
        showProgress(source);
        if (wasInterrupted()) {
            clearProgress();
            return false;
        }
    }
    clearProgress();
    source.log->settle();
    return true;
}

/// Lanes of one writer are numbered through, over all files and their beginnings anew.
void writeAll(Source& source, RunWriter& writer, std::uint32_t& nextLane)
{
    source.log->write(writer, nextLane, [] { return !wasInterrupted(); });
    nextLane += static_cast<std::uint32_t>(source.log->runs().size());
    source.ids.clear();
    for (const ImportedRun& run : source.log->runs()) {
        if (writer.hasRun(run.lane)) {
            source.ids.push_back(writer.runOf(run.lane));
        }
    }
}

void follow(std::vector<Source>& sources, const ImportOptions& options, RunWriter& writer, std::uint32_t& nextLane)
{
    using namespace std::chrono_literals;
    std::fprintf(stderr, "following; Ctrl+C ends\n");
    while (!wasInterrupted()) {
        for (Source& source : sources) {
            const std::int64_t fresh = source.log->poll(writer);
            if (fresh > 0) {
                const ImportedRun& run = source.log->runs().back();
                std::fprintf(stderr, "%s: %lld more, up to step %lld\n", source.file.c_str(),
                    static_cast<long long>(fresh), static_cast<long long>(run.lastStep));
            }
            if (source.log->isStale()) {
                const char* why = "The log was begun anew, or went back to an earlier step: it goes on as another run.";
                source.log->end(writer, why);
                for (const RunId id : source.ids) {
                    source.earlier.emplace_back(id, why);
                }
                std::fprintf(stderr, "%s: begun anew, read again as another run\n", source.file.c_str());
                source.log = openImport(source.file, options);
                if (readAll(source)) {
                    writeAll(source, writer, nextLane);
                }
            }
            if (const std::string problem = writer.problem(); !problem.empty()) {
                throw Error(ErrorCode::Io, problem);
            }
        }
        std::this_thread::sleep_for(500ms);
    }
    for (Source& source : sources) {
        source.log->end(writer);
    }
}

Json jsonOf(const Source& source)
{
    const LogSurvey& survey = source.log->survey();
    Json columns = Json::object();
    Json unused = Json::array();
    for (std::size_t i = 0; i < survey.columns.size(); ++i) {
        if (const auto field = survey.map.fieldOf(static_cast<std::uint32_t>(i))) {
            columns[std::string(nameOf(*field))] = survey.columns[i].name;
        } else {
            unused.push_back(survey.columns[i].name);
        }
    }
    Json runs = Json::array();
    for (std::size_t i = 0; i < source.log->runs().size(); ++i) {
        const ImportedRun& run = source.log->runs()[i];
        Json fields = Json::object();
        for (const auto& [field, from] : run.source.fields) {
            fields[field] = from;
        }
        runs.push_back(
            {{"id", i < source.ids.size() ? Json(source.ids[i]) : Json()}, {"name", run.name}, {"steps", run.steps},
                {"first_step", run.firstStep}, {"last_step", run.lastStep}, {"fields", fields}, {"notes", run.notes}});
    }
    Json json {{"file", source.file}, {"format", survey.format}, {"columns", columns}, {"unused", unused},
        {"notes", source.log->notes()}, {"runs", runs}};
    for (const auto& [id, why] : source.earlier) {
        json["earlier_runs"].push_back({{"id", id}, {"why", why}});
    }
    return json;
}

std::string columnsText(const LogSurvey& survey)
{
    std::string text;
    std::string unused;
    std::size_t left = 0;
    constexpr std::size_t most = 12;
    for (const LogField field : allLogFields()) {
        if (const auto column = survey.map.columnOf(field)) {
            text += fmt::format("  {:<20} <- {}\n", nameOf(field), survey.columns[*column].name);
        }
    }
    for (std::size_t i = 0; i < survey.columns.size(); ++i) {
        if (!survey.map.fieldOf(static_cast<std::uint32_t>(i))) {
            unused += ++left <= most ? (left == 1 ? "" : ", ") + survey.columns[i].name : "";
        }
    }
    if (left > 0) {
        text += fmt::format("  not used: {}{}\n", unused, left > most ? fmt::format(", and {} more", left - most) : "");
    }
    return text;
}

std::string textOf(const Source& source, bool dryRun)
{
    const LogSurvey& survey = source.log->survey();
    std::string text = fmt::format("{} ({})\n", source.file, survey.format) + columnsText(survey);
    for (const std::string& note : source.log->notes()) {
        text += fmt::format("  note: {}\n", note);
    }
    for (std::size_t i = 0; i < source.log->runs().size(); ++i) {
        const ImportedRun& run = source.log->runs()[i];
        const std::string number = dryRun ? "would be a run"
            : i < source.ids.size()       ? fmt::format("run {}", source.ids[i])
                                          : "not written";
        text += fmt::format(
            "{}: {}, {} steps from {} to {}\n", number, run.name, run.steps, run.firstStep, run.lastStep);
        for (const std::string& note : run.notes) {
            text += fmt::format("  note: {}\n", note);
        }
    }
    for (const auto& [id, why] : source.earlier) {
        text += fmt::format("run {}: {}\n", id, why);
    }
    return text;
}

int importLogs(const ImportOptions& options)
{
    std::vector<Source> sources;
    for (const std::string& file : options.files) { // all of them before anything is written
        sources.push_back({file, openImport(file, options)});
    }
    catchInterrupts();
    bool isWhole = true;
    std::optional<RunWriter> writer;
    std::uint32_t nextLane = 0;
    for (Source& source : sources) {
        if (!readAll(source)) {
            throw Error(ErrorCode::Cancelled, "stopped before the log was read; nothing of it was stored");
        }
        if (!options.dryRun) {
            if (!writer) {
                writer.emplace(databaseOf(options.runs));
            }
            writeAll(source, *writer, nextLane);
            isWhole = isWhole && !wasInterrupted();
        }
    }
    if (options.follows && writer && isWhole) {
        follow(sources, options, *writer, nextLane);
    }
    if (writer) {
        writer->flush();
        if (const std::string problem = writer->problem(); !problem.empty()) {
            throw Error(ErrorCode::Io, problem);
        }
    }
    if (options.runs.json) {
        Json list = Json::array();
        for (const Source& source : sources) {
            list.push_back(jsonOf(source));
        }
        printJson({{"dry_run", options.dryRun}, {"files", list}});
    } else {
        std::string text;
        for (const Source& source : sources) {
            text += textOf(source, options.dryRun);
        }
        print(text);
    }
    return isWhole ? exitDone : exitFailed;
}

} // namespace

void addImportCommand(CLI::App& app, Action& chosen)
{
    const auto options = std::make_shared<ImportOptions>();
    CLI::App* command = app.add_subcommand("import",
        "Training logs of other programs as runs: TensorBoard event files (or a folder of them), CSV (Lightning, "
        "Weights & "
        "Biases), JSON lines (--metrics, recorder.py), trainer_state.json. What a column is, is guessed from its name");
    command->add_option("files", options->files, "The logs")->required();
    std::string fields;
    for (const LogField field : allLogFields()) {
        fields += (fields.empty() ? "" : ", ") + std::string(nameOf(field));
    }
    command
        ->add_option("--map", options->maps,
            "FIELD=COLUMN, where the guess is wrong; FIELD= for none; can be given several times. Fields: " + fields)
        ->allow_extra_args(false);
    command->add_option("--name", options->name, "Name of the run; in front of the names of several");
    addDatabaseOption(*command, options->runs.database);
    command->add_flag("--json", options->runs.json, "Print JSON");
    command->add_flag("--dry-run", options->dryRun, "Say what would be made of the logs, and store nothing");
    command->add_flag("--follow", options->follows, "Go on with what is appended to the logs, until interrupted");
    command->callback([=, &chosen] { chosen = [=] { return importLogs(*options); }; });
}

} // namespace mantissa::cli
