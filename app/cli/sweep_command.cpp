// mantissa-cli sweep: trains an experiment with many settings, here or as a job array of a cluster.
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/shell_word.h"
#include "app/cli/slurm_script.h"
#include "app/cli/sweep_report.h"
#include "app/cli/training.h"
#include "engine/core/error.h"
#include "engine/sweep/sweep_run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>

namespace mantissa::cli {

namespace fs = std::filesystem;

namespace {

struct SweepOptions
{
    std::string file;
    std::string database; ///< empty: the default one
    std::string device = "auto";
    int threads = 0;
    int jobs = 1;
    std::vector<int> only;
    std::string task; ///< "I/N"
    std::string slurm;
    bool lists = false;
    bool json = false;
};

fs::path databaseOf(const SweepOptions& options)
{
    return options.database.empty() ? RunStore::defaultPath() : fs::path(options.database);
}

Sweep sweepFrom(const SweepOptions& options)
{
    try {
        return loadSweep(options.file);
    } catch (const Error& error) {
        throw BadInput(error.what());
    }
}

/// The numbers of every N-th point, from the I-th on.
std::vector<int> shareOf(const std::string& task, int points)
{
    const auto numberIn = [](std::string_view text) {
        int number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc() && end == text.data() + text.size() ? number : 0;
    };
    const std::size_t slash = std::min(task.find('/'), task.size());
    const int part = numberIn(std::string_view(task).substr(0, slash));
    const int parts = slash == task.size() ? 0 : numberIn(std::string_view(task).substr(slash + 1));
    if (part < 1 || parts < part) {
        throw BadInput(fmt::format("--task {}: write I/N, as in 3/8: the third of eight shares of the points", task));
    }
    std::vector<int> numbers;
    for (std::int64_t number = part; number <= points; number += parts) {
        numbers.push_back(static_cast<int>(number));
    }
    return numbers;
}

std::vector<int> chosenPoints(const SweepOptions& options, const Sweep& sweep)
{
    const auto count = static_cast<int>(sweep.points.size());
    if (!options.task.empty()) {
        return shareOf(options.task, count);
    }
    std::vector<int> numbers = options.only;
    for (const int number : numbers) {
        if (number < 1 || number > count) {
            throw BadInput(fmt::format("--only {}: the sweep has points 1 to {}", number, count));
        }
    }
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    if (numbers.empty()) {
        for (int number = 1; number <= count; ++number) {
            numbers.push_back(number);
        }
    }
    return numbers;
}

SweepTable tableFor(const SweepOptions& options, const Sweep& sweep, const std::vector<int>& points)
{
    std::vector<RunInfo> runs;
    std::error_code ignored;
    if (const fs::path file = databaseOf(options); fs::exists(file, ignored)) {
        runs = RunStore(file, StoreAccess::ReadOnly).runs();
    }
    SweepTable table = tableOf(sweep, runs);
    std::erase_if(
        table.rows, [&points](const SweepRow& row) { return !std::ranges::binary_search(points, row.point.number); });
    return table;
}

std::string sizeText(const Sweep& sweep)
{
    const std::size_t lanes = sweep.experiment.lanes.size();
    return lanes == 1 ? fmt::format("{} points", sweep.points.size())
                      : fmt::format("{} points, {} runs", sweep.points.size(), sweep.runCount());
}

int list(const SweepOptions& options)
{
    const Sweep sweep = sweepFrom(options);
    const SweepTable table = tableFor(options, sweep, chosenPoints(options, sweep));
    if (options.json) {
        printJson(sweepJson(table, {}));
    } else {
        print(sweepText(table, {}) + sizeText(sweep) + "\n");
    }
    return exitDone;
}

int writeSlurm(const SweepOptions& options)
{
    const Sweep sweep = sweepFrom(options);
    const fs::path script = fs::absolute(options.slurm);
    const fs::path stem = script.parent_path() / script.stem();
    std::string more;
    if (options.device != "auto") {
        more += " --device " + shellWord(options.device);
    }
    if (options.threads > 0) {
        more += fmt::format(" --threads {}", options.threads);
    }
    const SlurmJob job {.program = fs::read_symlink("/proc/self/exe"),
        .sweep = fs::absolute(options.file),
        .databases = stem.string() + "-runs",
        .merged = options.database.empty() ? fs::path(stem.string() + ".db") : fs::absolute(options.database),
        .name = sweep.name,
        .options = more,
        .points = sweep.points.size(),
        .cores = options.threads > 0 ? options.threads : static_cast<int>(sweep.experiment.lanes.size())};
    std::ofstream out(script, std::ios::binary);
    out << slurmScript(job);
    out.close();
    if (!out) {
        throw Error(ErrorCode::Io,
            fmt::format("{} could not be written: check that the folder is there and has space.", script.string()));
    }
    ::chmod(script.c_str(), 0755);
    if (options.json) {
        printJson({{"script", script.string()}, {"points", sweep.points.size()}, {"tasks", slurmTasks(job)},
            {"databases", job.databases.string()}, {"merged", job.merged.string()}});
    } else {
        print(fmt::format("{} in {} tasks. Submit them, and merge what they stored:\n  sbatch {}\n  bash {} merge\n",
            sizeText(sweep), slurmTasks(job), shellWord(options.slurm), shellWord(options.slurm)));
    }
    return exitDone;
}

/// The bar over all points that are trained.
class SweepProgress
{
public:
    SweepProgress(const Sweep& sweep, const std::vector<int>& points)
        : m_sweep(sweep)
    {
        m_status.state = SessionState::Running;
        for (const int number : points) {
            m_status.totalSteps += stepsOf(number);
        }
    }

    void take(const PointNews& news)
    {
        switch (news.state) {
        case PointState::WasDone:
            m_status.totalSteps -= stepsOf(news.number);
            break;
        case PointState::IsElsewhere:
            m_status.totalSteps -= stepsOf(news.number);
            say(news, "another program trains it now");
            break;
        case PointState::Trains:
            m_steps[news.number] = static_cast<std::int64_t>(news.share * static_cast<double>(stepsOf(news.number)));
            break;
        case PointState::Done:
            m_steps[news.number] = stepsOf(news.number);
            say(news, news.message.empty() ? "done" : news.message);
            break;
        case PointState::Failed:
            m_steps[news.number] = stepsOf(news.number);
            messages[news.number] = news.message;
            say(news, "failed: " + news.message);
            break;
        case PointState::Stopped:
            say(news, "stopped");
            break;
        }
        m_status.step = 0;
        for (const auto& [number, steps] : m_steps) {
            m_status.step += steps;
        }
        m_progress.show(m_status);
    }

    void clear() { m_progress.clear(); }

    void message(const std::string& text) { m_progress.message(text); }

    std::map<int, std::string> messages; ///< of points that failed

private:
    [[nodiscard]] const SweepPoint& pointOf(int number) const
    {
        return m_sweep.points[static_cast<std::size_t>(number) - 1];
    }

    std::int64_t stepsOf(int number)
    {
        const auto [place, isNew] = m_length.try_emplace(number, 0);
        if (isNew) {
            for (const LaneConfig& lane : experimentAt(m_sweep, pointOf(number)).lanes) {
                place->second = std::max(place->second, lane.steps);
            }
        }
        return place->second;
    }

    void say(const PointNews& news, const std::string& what)
    {
        m_progress.message(fmt::format(
            "point {} of {} ({}): {}", news.number, m_sweep.points.size(), describe(pointOf(news.number)), what));
    }

    const Sweep& m_sweep;
    SessionStatus m_status;
    Progress m_progress;
    std::map<int, std::int64_t> m_steps;
    std::map<int, std::int64_t> m_length;
};

int trainSweep(const SweepOptions& options)
{
    checkDevice(options.device);
    const Sweep sweep = sweepFrom(options);
    const std::vector<int> points = chosenPoints(options, sweep);
    const SweepPlan plan {databaseOf(options), options.device, options.threads, options.jobs, points};
    SweepProgress progress(sweep, points);
    progress.message(points.size() == sweep.points.size()
            ? fmt::format("{}: {}", sweep.name, sizeText(sweep))
            : fmt::format("{}: {} of {}", sweep.name, points.size(), sizeText(sweep)));
    catchInterrupts();
    SweepOutcome outcome;
    if (!points.empty()) {
        outcome = runSweep(
            sweep, plan, [&progress](const PointNews& news) { progress.take(news); }, [] { return !wasInterrupted(); });
    }
    progress.clear();
    if (outcome.wereDone > 0) {
        progress.message(fmt::format("{} points were done already", outcome.wereDone));
    }
    const SweepTable table = tableFor(options, sweep, points);
    if (options.json) {
        Json json = sweepJson(table, progress.messages);
        json["trained"] = outcome.trained;
        json["were_done"] = outcome.wereDone;
        json["elsewhere"] = outcome.elsewhere;
        json["failed"] = outcome.failed;
        json["stopped"] = outcome.isStopped;
        printJson(json);
    } else {
        print(sweepText(table, progress.messages));
    }
    if (outcome.isStopped) {
        progress.message("stopped: the same command goes on from here");
    }
    return outcome.isStopped || outcome.failed > 0 ? exitFailed : exitDone;
}

} // namespace

void addSweepCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand("sweep", "Train an experiment with many settings, one after another");
    const auto options = std::make_shared<SweepOptions>();
    command->add_option("file", options->file, "Sweep file (experiments/README.md)")->required();
    addDatabaseOption(*command, options->database);
    command->add_option("--device", options->device, "auto, cpu, cuda or reference")->capture_default_str();
    command->add_option("--threads", options->threads, "Compute threads of a point; results depend on their number")
        ->check(CLI::Range(1, 1024));
    command->add_option("--jobs", options->jobs, "Points that are trained at a time")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    CLI::Option* only = command->add_option("--only", options->only, "The point of this number; may be repeated")
                            ->allow_extra_args(false);
    command->add_option("--task", options->task, "I/N: the I-th of N shares of the points, as in 3/8")->excludes(only);
    CLI::Option* lists = command->add_flag("--list", options->lists, "Show the points and what is stored of them");
    command
        ->add_option("--slurm", options->slurm,
            "Write a script for sbatch into this file: a job array that trains the points on a cluster")
        ->excludes(lists);
    command->add_flag("--json", options->json, "Print the result as JSON");
    command->footer("Ctrl+C stops within one step; the same command goes on where it stopped: points that are done are "
                    "not trained again.");
    command->callback([=, &chosen] {
        chosen = [=] {
            return options->lists         ? list(*options)
                : !options->slurm.empty() ? writeSlurm(*options)
                                          : trainSweep(*options);
        };
    });
}

} // namespace mantissa::cli
