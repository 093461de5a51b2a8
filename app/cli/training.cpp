#include "app/cli/training.h"

#include "app/cli/census_file.h"
#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/metrics_file.h"
#include "app/cli/outcome.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "app/cli/ranks.h"
#include "app/cli/run_experiment.h"
#include "app/cli/run_result.h"
#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/store/run_store.h"
#include "engine/train/checkpoint_folder.h"
#include "engine/train/session.h"
#include "engine/train/watchpoint.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace mantissa::cli {

namespace {

std::string eventText(const Event& event, const SessionStatus& status)
{
    std::string lane;
    for (const LaneStatus& candidate : status.lanes) {
        if (candidate.id == event.lane) {
            lane = candidate.config->name + ": ";
        }
    }
    switch (event.kind) {
    case EventKind::Set:
        return fmt::format("step {}: {}{} {} -> {}", event.step, lane, event.path, event.before, event.after);
    case EventKind::Refused:
        return fmt::format("step {}: {}refused: {}", event.step, lane, event.text);
    case EventKind::Checkpoint:
        return event.text.empty() ? "" : fmt::format("step {}: {}{}", event.step, lane, event.text);
    case EventKind::Weights:
        return fmt::format("{}starts from {}{}", lane, event.path, event.text.empty() ? "" : " (" + event.text + ")");
    case EventKind::Watch:
        return fmt::format("step {}: {}{} ({})", event.step, lane, event.path, event.text);
    case EventKind::Exchange:
        return lane + event.text;
    case EventKind::Numerics:
    case EventKind::Diverged:
    case EventKind::Failed:
        return fmt::format("step {}: {}{}", event.step, lane, event.text);
    default:
        return {};
    }
}

void showEvents(Session& session, const SessionStatus& status, Progress& progress)
{
    std::vector<Event> events;
    session.takeEvents(events);
    for (const Event& event : events) {
        const std::string text = eventText(event, status);
        if (!text.empty()) {
            progress.message(text);
        }
    }
}

using JsonFiles = std::vector<std::unique_ptr<JsonLines>>;

struct TrainingEnd
{
    std::shared_ptr<const SessionStatus> status {}; ///< the last one
    bool isByWatchpoint = false;
};

/// Whether the program that started this one has closed its end of our standard input. What it writes is not read.
bool hasInputEnded()
{
    pollfd input {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&input, 1, 0) <= 0) {
        return false;
    }
    char byte = 0;
    return (input.revents & POLLIN) == 0 || ::read(STDIN_FILENO, &byte, 1) <= 0;
}

/// For the program that started this one: {"run": 12, "lane": "FP32"} for each run as soon as it can be read.
class RunAnnouncer
{
public:
    explicit RunAnnouncer(RunWriter* writer)
        : m_writer(writer)
    {
    }

    void look(const SessionStatus& status)
    {
        for (const LaneStatus& lane : status.lanes) {
            if (m_writer == nullptr || !m_writer->hasRun(lane.id) || m_announced.contains(lane.id)) {
                continue;
            }
            try {
                printJson({{"run", m_writer->runOf(lane.id)}, {"lane", lane.config->name}}, false);
                std::fflush(stdout);
                m_announced.insert(lane.id);
            } catch (const Error&) { // the file cannot be written at present, of which the end tells
                return;
            }
        }
    }

private:
    RunWriter* m_writer;
    std::set<std::uint32_t> m_announced;
};

/// Trains to the end, until an interrupt or a watchpoint that pauses, or until a file cannot be written. `announcer` is
/// null unless attached.
TrainingEnd trainToEnd(Session& session, const JsonFiles& files, Progress& progress, RunAnnouncer* announcer)
{
    TrainingEnd end;
    bool started = false;
    std::uint64_t stop = 0;
    while (true) {
        const std::shared_ptr<const SessionStatus> status = session.status();
        if (status->state != SessionState::Preparing) { // the events of a lane whose name is not known yet wait
            showEvents(session, *status, progress);
        }
        progress.show(*status);
        if (announcer != nullptr) {
            announcer->look(*status);
        }
        const bool over = status->state == SessionState::Finished || status->state == SessionState::Failed;
        if (over || (stop != 0 && status->appliedCommands >= stop)) {
            end.status = status;
            return end;
        }
        if (status->state == SessionState::Ready && !started) {
            session.run();
            started = true;
        }
        const bool isWantedNoMore = wasInterrupted() || (announcer != nullptr && hasInputEnded());
        if (stop == 0 && (isWantedNoMore || std::ranges::any_of(files, &JsonLines::failed))) {
            progress.message("stopping");
            stop = session.stop();
        }
        if (stop == 0 && status->state == SessionState::Paused) {
            end.isByWatchpoint = true; // nothing else pauses here
            stop = session.stop();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

/// Ids of the lanes' runs, or why there are none.
std::string collectRuns(RunWriter& writer, const SessionStatus& status, std::vector<LaneResult>& results)
{
    // Another program may hold the file for a moment.
    for (int attempt = 0; attempt < 10; ++attempt) {
        writer.flush();
        if (writer.problem().empty()) {
            break;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    if (const std::string problem = writer.problem(); !problem.empty()) {
        return "the run could not be stored: " + problem;
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        results[i].run = writer.runOf(status.lanes[i].id);
    }
    return {};
}

std::vector<LaneResult> resultsOf(const SessionStatus& status, const LaneTally& tally)
{
    std::vector<LaneResult> results;
    for (const LaneStatus& lane : status.lanes) {
        results.push_back(
            {std::nullopt, lane.config->name, lane.summary.value_or(RunSummary {}), tally.meanFlushed(lane.id)});
        if (!lane.summary) {
            results.back().summary.status = lane.status;
            results.back().summary.message = lane.message;
        }
    }
    return results;
}

bool isAsWanted(const LaneResult& result, bool isByWatchpoint)
{
    const RunStatus status = result.summary.status;
    return status == RunStatus::Finished || status == RunStatus::Diverged
        || (status == RunStatus::Stopped && isByWatchpoint);
}

void report(const TrainingOptions& options, const std::string& name, const std::vector<LaneResult>& results)
{
    const bool stdoutHasLines = options.metrics == "-" || options.census == "-";
    if (options.json) {
        printJson(resultJson(name, results), !stdoutHasLines && !options.isAttached);
    } else if (stdoutHasLines) {
        std::fputs(resultTable(results).c_str(), stderr);
    } else {
        print(resultTable(results));
    }
}

/// "CONDITION", or "CONDITION -> pause|snapshot|fork|set PATH=VALUE".
Watchpoint watchpointFrom(const std::string& text)
{
    Watchpoint watchpoint {.when = text};
    const std::size_t arrow = text.rfind("->");
    if (arrow != std::string::npos) {
        static const std::string set = "set ";
        std::string action = text.substr(arrow + 2);
        action.erase(0, action.find_first_not_of(' '));
        watchpoint.when = text.substr(0, arrow);
        if (action.starts_with(set)) {
            watchpoint.action = WatchAction::Set;
            watchpoint.set = {changeFrom(action.substr(set.size()))};
        } else if (action == nameOf(WatchAction::Snapshot)) {
            watchpoint.action = WatchAction::Snapshot;
        } else if (action == nameOf(WatchAction::Fork)) {
            watchpoint.action = WatchAction::Fork;
        } else if (action != nameOf(WatchAction::Pause)) {
            throw BadInput(fmt::format(
                "--watch {}: \"{}\" is no action; write pause, snapshot, fork or set PATH=VALUE", text, action));
        }
    }
    watchpoint.when.erase(watchpoint.when.find_last_not_of(' ') + 1);
    try {
        static_cast<void>(WatchExpression(watchpoint.when));
    } catch (const WatchSyntaxError& error) {
        throw BadInput(fmt::format("--watch \"{}\": {}", text, error.what()));
    }
    return watchpoint;
}

/// A census is of every step unless told otherwise; what is only stored, for diagnose, is to cost little.
SamplingPlan samplingFor(const TrainingOptions& options)
{
    const bool hasCensus = !options.census.empty();
    SamplingPlan plan {.every = options.censusEvery.value_or(hasCensus ? 1 : SamplingPlan::usually),
        .thins = !hasCensus && !options.censusEvery,
        .keepsElementsOf = options.dumpFolder.empty() ? -1 : options.dumpStep,
        .countsEveryStep = !options.noCounts};
    if (hasCensus && plan.every == 0) {
        throw BadInput("--census-every 0 leaves nothing to write for --census");
    }
    if (!hasCensus && options.noDatabase) {
        if (options.censusEvery) {
            throw BadInput("--census-every: with --no-db and without --census nothing keeps what is sampled");
        }
        plan.every = 0;
    }
    return plan;
}

/// Processes are lost more easily than one: where runs are stored, checkpoints are too unless they are told where.
CheckpointPlan planOverRanks(
    CheckpointPlan plan, const std::filesystem::path& database, const std::string& experiment, Progress& progress)
{
    if (plan.folder.empty() && !database.empty()) {
        plan.folder = checkpointsFolder(database) / sessionFolderName(experiment);
    }
    if (!plan.folder.empty()) {
        if (plan.everySteps == 0 && plan.everySeconds == 0) {
            plan.everySeconds = 5;
        }
        progress.message("checkpoints go to " + plan.folder.string());
    }
    return plan;
}

/// What a rank other than 0 does: trains as rank 0 says, and is silent.
int follow(const TrainingOptions& options, const Experiment& experiment, std::vector<ResumedLane> resumed, World& world)
{
    SessionOptions sessionOptions;
    sessionOptions.device = options.device;
    sessionOptions.threads = options.threads;
    sessionOptions.baselineInterval = 0;
    sessionOptions.sampling = samplingFor(options);
    sessionOptions.resumed = std::move(resumed);
    sessionOptions.ranks = world.communicator();
    Session session(experiment, sessionOptions);
    session.waitUntilIdle();
    session.run();
    session.waitUntilIdle();
    const std::shared_ptr<const SessionStatus> status = session.status();
    if (status->state == SessionState::Failed) {
        const Error error(status->error, status->message);
        throw AgreedEnd(
            outcomeOf(std::make_exception_ptr(error)).code, error.what()); // mpirun ends with the first code
    }
    for (const LaneStatus& lane : status->lanes) {
        if (lane.status == RunStatus::Failed) {
            throw Error(ErrorCode::BackendFailure, fmt::format("{}: {}", lane.config->name, lane.message));
        }
    }
    return exitDone;
}

} // namespace

Experiment withWatchpoints(Experiment experiment, const std::vector<std::string>& texts)
{
    for (const std::string& text : texts) {
        experiment.watchpoints.push_back(watchpointFrom(text));
        try {
            checkWatchpoint(experiment.watchpoints.back(), experiment.lanes, "", fmt::format("--watch {}: ", text));
        } catch (const Error& error) {
            throw BadInput(error.what());
        }
    }
    return experiment;
}

void checkDevice(const std::string& name)
{
    try {
        static_cast<void>(backendByName(name));
    } catch (const Error& error) {
        const auto devices = listDevices();
        const bool known = std::any_of(
            devices.begin(), devices.end(), [&](const DeviceInfo& device) { return device.backend == name; });
        if (!known) {
            throw BadInput(fmt::format("--device: {}", error.what()));
        }
        throw;
    }
}

std::unique_ptr<RunWriter> openWriter(const std::filesystem::path& file)
{
    RunStore store(file, StoreAccess::ReadWrite);
    return std::make_unique<RunWriter>(file);
}

int train(const TrainingOptions& options, const Experiment& experiment, const std::string& source,
    std::vector<ResumedLane> resumed, World* world)
{
    checkDevice(options.device);
    if (world != nullptr && world->rank() != 0) {
        return follow(options, experiment, std::move(resumed), *world);
    }
    const std::filesystem::path database
        = options.database.empty() ? RunStore::defaultPath() : std::filesystem::path(options.database);
    const std::unique_ptr<RunWriter> writer = options.noDatabase ? nullptr : openWriter(database);
    if (options.metrics == "-" && options.census == "-") {
        throw BadInput("--metrics and --census cannot both go to stdout: name a file for one of them");
    }
    JsonFiles files;
    std::vector<std::unique_ptr<RunObserver>> reporters;
    if (!options.metrics.empty()) {
        files.push_back(std::make_unique<JsonLines>(options.metrics, "the metrics"));
        reporters.push_back(std::make_unique<MetricsFile>(*files.back()));
    }
    if (!options.census.empty()) {
        files.push_back(std::make_unique<JsonLines>(options.census, "the census"));
        reporters.push_back(std::make_unique<CensusFile>(*files.back()));
    }
    const std::unique_ptr<TensorDump> dump
        = options.dumpFolder.empty() ? nullptr : std::make_unique<TensorDump>(options.dumpFolder);
    Progress progress;
    LaneTally tally;
    SessionOptions sessionOptions;
    sessionOptions.device = options.device;
    sessionOptions.threads = options.threads;
    sessionOptions.observers = {&tally};
    sessionOptions.checkpoints = options.checkpoints;
    if (world != nullptr) {
        sessionOptions.ranks = world->communicator();
        sessionOptions.checkpoints = planOverRanks(
            options.checkpoints, options.noDatabase ? std::filesystem::path() : database, experiment.name, progress);
    }
    sessionOptions.resumed = std::move(resumed);
    if (writer) {
        sessionOptions.observers.push_back(writer.get());
    }
    for (const auto& reporter : reporters) {
        sessionOptions.observers.push_back(reporter.get());
    }
    if (dump) {
        sessionOptions.observers.push_back(dump.get());
    }
    sessionOptions.sampling = samplingFor(options);

    catchInterrupts();
    RunAnnouncer announcer(writer.get());
    TrainingEnd end;
    {
        Session session(experiment, sessionOptions);
        end = trainToEnd(session, files, progress, options.isAttached ? &announcer : nullptr);
        showEvents(session, *end.status, progress);
    }
    progress.clear();
    const std::shared_ptr<const SessionStatus> status = end.status;
    if (status->state == SessionState::Failed) {
        const Error error(status->error, fmt::format("{}: {}", source, status->message));
        if (world != nullptr) {
            throw AgreedEnd(outcomeOf(std::make_exception_ptr(error)).code, error.what());
        }
        throw error;
    }
    std::vector<LaneResult> results = resultsOf(*status, tally);
    std::vector<std::string> problems;
    if (writer) {
        problems.push_back(collectRuns(*writer, *status, results));
    }
    for (const auto& file : files) {
        file->finish();
        problems.push_back(file->problem());
    }
    if (dump) {
        problems.push_back(dump->problem());
    }
    report(options, experiment.name, results);
    const bool isDone = std::ranges::all_of(
        results, [&end](const LaneResult& result) { return isAsWanted(result, end.isByWatchpoint); });
    int code = isDone ? exitDone : exitFailed;
    for (const std::string& problem : problems) {
        if (!problem.empty()) {
            progress.message("mantissa-cli: " + problem);
            code = exitFailed;
        }
    }
    return code;
}

void addTrainingOptions(CLI::App& command, TrainingOptions& options)
{
    command.add_option("--device", options.device, "auto, cpu, cuda or reference")->capture_default_str();
    command.add_option("--threads", options.threads, "Compute threads; results depend on their number")
        ->check(CLI::Range(1, 1024));
    CLI::Option* database = addDatabaseOption(command, options.database);
    command.add_flag("--no-db", options.noDatabase, "Store nothing")->excludes(database);
    command.add_option(
        "--metrics", options.metrics, "Write one JSON object per step and lane to this file; - is stdout");
    command.add_option("--census", options.census,
        "Write one JSON object per sampled step, lane and tensor to this file: what rounding did to weights, "
        "activations, gradients and updates; - is stdout");
    command
        .add_option("--census-every", options.censusEvery,
            "Steps between those that are sampled; 1 for --census, else 50 and more as a run gets long, for the "
            "database and diagnose; 0: none")
        ->check(CLI::Range(0, 1'000'000'000));
    command.add_flag("--no-counts", options.noCounts,
        "Count what rounding did in sampled steps only: in all others the shares of flushed, subnormal and overflowed "
        "gradients are null, and the first tensor that was not finite stays unknown");
    CLI::Option* dump = command.add_option("--dump-tensors", options.dumpFolder,
        "Write the tensors of one step into this folder, a .safetensors file per lane");
    command.add_option("--dump-step", options.dumpStep, "That step, counted from 0")
        ->check(CLI::Range(0, 1'000'000'000))
        ->capture_default_str()
        ->needs(dump);
    CLI::Option* folder = command.add_option("--checkpoints", options.checkpoints.folder,
        "Write checkpoints into this folder: when a lane ends or is stopped, and as the next two options say");
    command.add_option("--checkpoint-every", options.checkpoints.everySteps, "Steps between checkpoints")
        ->check(CLI::Range(1, 1'000'000'000))
        ->needs(folder);
    command.add_option("--checkpoint-seconds", options.checkpoints.everySeconds, "Seconds between checkpoints")
        ->check(CLI::Range(0.1, 1e6))
        ->needs(folder);
    command.add_option("--checkpoints-kept", options.checkpoints.kept, "Checkpoints kept of each lane, the newest")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str()
        ->needs(folder);
    command
        .add_option("--watch", options.watch,
            "Act when a condition becomes true, as in 'scale < 1' or 'skips(50) > 5 -> set optimizer.lr=0.001'; may be "
            "repeated. Actions: pause (which ends the command, with exit code 0), snapshot, fork, set PATH=VALUE")
        ->allow_extra_args(false);
    command.add_flag("--json", options.json, "Print the result as JSON");
    addRanksOption(command, options.overMpi);
    command.add_flag("--attached", options.isAttached,
        "For a program that starts this one: stop as by Ctrl+C when standard input ends, and print a JSON line for "
        "each "
        "run as soon as it is in the database");
    command.footer("Ctrl+C stops within one step and keeps what was trained; the exit code is then 1.");
}

} // namespace mantissa::cli
