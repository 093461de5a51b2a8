// mantissa-cli verify: trains experiments and holds their expectations against what came out.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/core/nearest_name.h"
#include "engine/store/run_export.h"
#include "engine/train/session.h"
#include "engine/verify/judge.h"
#include "engine/verify/shipped_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace mantissa::cli {

namespace {

struct VerifyOptions
{
    std::vector<std::string> experiments; ///< files, names or ids of claims; empty: all that ship with expectations
    std::optional<std::uint64_t> seed; ///< nothing: each lane's own
    int seeds = 1;
    std::string device = "auto";
    int threads = 0;
    bool json = false;
};

struct Candidate
{
    std::string id; ///< the file's name without its extension
    Experiment experiment;
};

struct Verification
{
    const Candidate* candidate = nullptr; ///< never null
    std::uint64_t seed = 0; ///< the first lane's
    double seconds = 0;
    std::vector<Judgement> judgements {};

    [[nodiscard]] bool isPassed() const { return std::ranges::all_of(judgements, &Judgement::isMet); }
};

Candidate load(const std::filesystem::path& file)
{
    try {
        return {file.stem().string(), loadExperiment(file)};
    } catch (const Error& error) {
        throw BadInput(error.what());
    }
}

std::string claimIdOf(const Experiment& experiment)
{
    return experiment.claim ? experiment.claim->id : "";
}

/// A file, or the shipped experiment with that name or claim.
Candidate find(const std::string& wanted, const std::vector<std::filesystem::path>& shipped)
{
    std::error_code ignored;
    if (std::filesystem::exists(wanted, ignored) || wanted.ends_with(".json")) {
        return load(wanted);
    }
    std::vector<std::string> names;
    for (const std::filesystem::path& file : shipped) {
        if (editDistance(file.stem().string(), wanted) == 0) {
            return load(file);
        }
        names.push_back(file.stem().string());
    }
    for (const std::filesystem::path& file : shipped) {
        Candidate candidate = load(file);
        if (const std::string id = claimIdOf(candidate.experiment); !id.empty()) {
            if (editDistance(id, wanted) == 0) {
                return candidate;
            }
            names.push_back(id);
        }
    }
    throw BadInput(fmt::format(
        "there is no file \"{}\" and no experiment of that name ships; {}", wanted, suggestion(wanted, names)));
}

std::vector<Candidate> candidatesFor(const VerifyOptions& options)
{
    const std::vector<std::filesystem::path> shipped = shippedExperiments();
    std::vector<Candidate> candidates;
    for (const std::string& wanted : options.experiments) {
        candidates.push_back(find(wanted, shipped));
        if (candidates.back().experiment.expect.empty()) {
            throw BadInput(fmt::format(
                "{} has no expectations; write some into its list \"expect\" (experiments/README.md)", wanted));
        }
    }
    if (options.experiments.empty()) {
        for (const std::filesystem::path& file : shipped) {
            candidates.push_back(load(file));
        }
        std::erase_if(candidates, [](const Candidate& candidate) { return candidate.experiment.expect.empty(); });
    }
    if (candidates.empty()) {
        throw BadInput(
            "the shipped experiments were not found; set MANTISSA_EXPERIMENTS to their folder, or name a file");
    }
    return candidates;
}

/// The experiment with another seed in every lane: its own plus `further`, or the one asked for plus `further`.
Experiment seeded(const Experiment& experiment, const std::optional<std::uint64_t>& seed, int further)
{
    Experiment result = experiment;
    for (LaneConfig& lane : result.lanes) {
        const std::uint64_t first = seed.value_or(lane.seed);
        lane = withOverrides(lane, {{"seed", first + static_cast<std::uint64_t>(further)}});
    }
    return result;
}

std::vector<LaneOutcome> train(const Experiment& experiment, const VerifyOptions& options, Progress& progress)
{
    OutcomeCollector collector;
    SessionOptions sessionOptions;
    sessionOptions.device = options.device;
    sessionOptions.threads = options.threads;
    sessionOptions.observers = {&collector};
    {
        Session session(experiment, sessionOptions);
        session.run();
        while (true) {
            const std::shared_ptr<const SessionStatus> status = session.status();
            if (status->state == SessionState::Failed) {
                throw Error(status->error, status->message);
            }
            if (status->state == SessionState::Finished) {
                break;
            }
            progress.show(*status);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    progress.clear();
    return collector.outcomes();
}

Verification verify(const Candidate& candidate, int further, const VerifyOptions& options, Progress& progress)
{
    const Experiment experiment = seeded(candidate.experiment, options.seed, further);
    Verification result {.candidate = &candidate, .seed = experiment.lanes.front().seed};
    const double start = steadySeconds();
    try {
        result.judgements = judgeAll(experiment, train(experiment, options, progress));
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("{}: {}", candidate.id, error.what()));
    }
    result.seconds = steadySeconds() - start;
    return result;
}

// --- the result ---

Json valueAsJson(const MetricValue& value)
{
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? exactNumber(*number) : Json(std::get<std::string>(value));
}

std::string valueText(const MetricValue& value)
{
    const auto* number = std::get_if<double>(&value);
    return number != nullptr ? shortNumber(*number) : std::get<std::string>(value);
}

Json asJson(const Verification& result)
{
    const Experiment& experiment = result.candidate->experiment;
    Json json = {{"id", result.candidate->id}, {"name", experiment.name}, {"claim", nullptr}, {"verdict", nullptr},
        {"pass", result.isPassed()}, {"seed", result.seed}, {"seconds", result.seconds},
        {"expectations", Json::array()}};
    if (experiment.claim) {
        json["claim"] = {{"id", experiment.claim->id}, {"says", experiment.claim->says}};
        json["verdict"] = experiment.claim->verdict;
    }
    for (const Judgement& judgement : result.judgements) {
        json["expectations"].push_back(
            {{"that", judgement.that}, {"pass", judgement.isMet}, {"left", valueAsJson(judgement.left)},
                {"op", nameOf(judgement.op)}, {"right", valueAsJson(judgement.right)}});
    }
    return json;
}

std::string asText(const Verification& result)
{
    const Experiment& experiment = result.candidate->experiment;
    const std::string verdict = experiment.claim
        ? fmt::format("{}, \"{}\": {}", experiment.claim->id, experiment.claim->says, experiment.claim->verdict)
        : experiment.name;
    std::string text = fmt::format("{}\n  {}{}, seed {}, {:.1f} s\n", verdict, result.candidate->id,
        result.isPassed() ? "" : ": NOT AS EXPECTED", result.seed, result.seconds);
    Table table;
    for (const auto align : {Table::Align::Left, Table::Align::Right, Table::Align::Left, Table::Align::Left}) {
        table.addColumn("", align);
    }
    for (const Judgement& judgement : result.judgements) {
        table.addRow({(judgement.isMet ? "  yes  " : "  NO   ") + judgement.that, valueText(judgement.left),
            std::string(nameOf(judgement.op)), valueText(judgement.right)});
    }
    // Without its empty line of titles.
    return text + table.text().substr(1);
}

int run(const VerifyOptions& options)
{
    const std::vector<Candidate> candidates = candidatesFor(options);
    Progress progress;
    Json json = {{"experiments", Json::array()}};
    int failed = 0;
    int done = 0;
    const double start = steadySeconds();
    for (const Candidate& candidate : candidates) {
        for (int further = 0; further < options.seeds; ++further) {
            if (options.json) {
                progress.message(fmt::format(
                    "{} ({} of {})", candidate.id, done + 1, static_cast<int>(candidates.size()) * options.seeds));
            }
            const Verification result = verify(candidate, further, options, progress);
            ++done;
            failed += result.isPassed() ? 0 : 1;
            if (options.json) {
                json["experiments"].push_back(asJson(result));
            } else {
                print(asText(result) + '\n');
                std::fflush(stdout);
            }
        }
    }
    if (options.json) {
        printJson(json);
    } else {
        print(fmt::format("{} of {} as expected, {:.1f} s\n", done - failed, done, steadySeconds() - start));
    }
    return failed == 0 ? exitDone : exitNotAsExpected;
}

} // namespace

void addVerifyCommand(CLI::App& app, Action& chosen)
{
    const auto options = std::make_shared<VerifyOptions>();
    CLI::App* command = app.add_subcommand(
        "verify", "Train experiments and check what they say they show; all that ship, without arguments");
    command->add_option("experiments", options->experiments,
        "Files, or shipped experiments by name or claim (c18_clip_before_unscale, C18)");
    command->add_option("--seed", options->seed, "Seed of every lane; otherwise as the file says");
    command->add_option("--seeds", options->seeds, "Repeat with so many seeds, counting up from the first")
        ->check(CLI::Range(1, 1000));
    command->add_option("--device", options->device, "auto, cpu, cuda or reference")->capture_default_str();
    command->add_option("--threads", options->threads, "Compute threads; results depend on their number")
        ->check(CLI::Range(1, 1024));
    command->add_flag("--json", options->json, "Print the result as JSON");
    command->footer("The exit code is 3 if an expectation is not met.");
    command->callback([=, &chosen] { chosen = [=] { return run(*options); }; });
}

} // namespace mantissa::cli
