// mantissa-cli verify: trains experiments and holds their expectations against what came out.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/progress.h"
#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/core/nearest_name.h"
#include "engine/core/replaced_file.h"
#include "engine/lesson/lesson.h"
#include "engine/store/run_export.h"
#include "engine/train/session.h"
#include "engine/train/train_to_end.h"
#include "engine/verify/judge.h"
#include "engine/verify/reference_run.h"
#include "engine/verify/shipped_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace mantissa::cli {

namespace {

struct VerifyOptions
{
    std::vector<std::string> experiments; ///< files, names or ids of claims; empty: all that ship with expectations
    std::optional<std::uint64_t> seed; ///< nothing: each lane's own
    int seeds = 1;
    std::string device = "auto";
    int threads = 0;
    std::string references; ///< a folder to write reference runs into; empty: none are
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

/// The experiments of a lesson that have expectations, each once.
std::vector<Candidate> candidatesIn(const std::string& file)
{
    std::vector<Candidate> candidates;
    try {
        const Lesson lesson = loadLesson(file);
        for (std::size_t i = 0; i < lesson.steps.size(); ++i) {
            const LessonStep& step = lesson.steps[i];
            const std::string id = step.own
                ? fmt::format("{}, step {}", std::filesystem::path(file).stem().string(), i + 1)
                : step.shipped;
            if (step.hasExperiment() && std::ranges::find(candidates, id, &Candidate::id) == candidates.end()) {
                candidates.push_back({id, experimentOf(step)});
            }
        }
    } catch (const Error& error) {
        throw BadInput(error.what());
    }
    std::erase_if(candidates, [](const Candidate& candidate) { return candidate.experiment.expect.empty(); });
    if (candidates.empty()) {
        throw BadInput(fmt::format("{} is a valid lesson, but none of its experiments has expectations", file));
    }
    return candidates;
}

std::vector<Candidate> candidatesFor(const VerifyOptions& options)
{
    const std::vector<std::filesystem::path> shipped = shippedExperiments();
    std::vector<Candidate> candidates;
    for (const std::string& wanted : options.experiments) {
        if (isLessonFile(wanted)) {
            std::ranges::move(candidatesIn(wanted), std::back_inserter(candidates));
            continue;
        }
        candidates.push_back(find(wanted, shipped));
        if (candidates.back().experiment.expect.empty() && options.references.empty()) {
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

void writeReference(const VerifyOptions& options, const std::string& id, const ReferenceRun& reference)
{
    const std::filesystem::path folder = options.references;
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    const std::filesystem::path file = replacedFile(folder / (id + ".json"));
    std::ofstream stream(file, std::ios::binary);
    stream << referenceText(reference);
    stream.close();
    if (!stream) {
        throw Error(ErrorCode::Io, fmt::format("{} cannot be written", file.string()));
    }
}

/// What was trained, and on what.
struct Trained
{
    std::vector<LaneOutcome> outcomes;
    std::string device;
};

Trained train(const Experiment& experiment, const VerifyOptions& options, Progress& progress)
{
    OutcomeCollector collector;
    SessionOptions sessionOptions;
    sessionOptions.device = options.device;
    sessionOptions.threads = options.threads;
    sessionOptions.observers = {&collector};
    sessionOptions.sampling = samplingFor(experiment);
    std::string device;
    {
        Session session(experiment, sessionOptions);
        device = trainToEnd(session, [&progress](const SessionStatus& status) {
            progress.show(status);
            return true;
        })->device.name;
    }
    progress.clear();
    return {collector.outcomes(), device};
}

Verification verify(const Candidate& candidate, int further, const VerifyOptions& options, Progress& progress)
{
    const Experiment experiment = seeded(candidate.experiment, options.seed, further);
    Verification result {.candidate = &candidate, .seed = experiment.lanes.front().seed};
    const double start = steadySeconds();
    try {
        const Trained trained = train(experiment, options, progress);
        result.judgements = judgeAll(experiment, trained.outcomes);
        if (!options.references.empty() && further == 0) {
            writeReference(options, candidate.id, makeReference(experiment, trained.outcomes, trained.device));
        }
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

std::string comparisonText(const Judgement& judgement)
{
    return fmt::format("{} {} {}", valueText(judgement.left), nameOf(judgement.op), valueText(judgement.right));
}

/// The first comparisons, those that are not met before the others.
std::string numbersText(std::vector<Judgement> judgements)
{
    constexpr std::size_t most = 2;
    std::ranges::stable_sort(judgements, {}, &Judgement::isMet);
    std::string text;
    for (std::size_t i = 0; i < std::min(most, judgements.size()); ++i) {
        text += (i == 0 ? "" : ", ") + comparisonText(judgements[i]);
    }
    return judgements.size() > most ? text + ", ..." : text;
}

/// At most so many characters of a UTF-8 text.
std::string shortened(const std::string& text, std::size_t most)
{
    const auto isContinued = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!isContinued(text[i]) && ++characters > most) {
            return text.substr(0, i) + "...";
        }
    }
    return text;
}

std::string tableOf(const std::vector<Verification>& results)
{
    Table table;
    table.addColumn("claim", Table::Align::Left);
    table.addColumn("what is said", Table::Align::Left);
    table.addColumn("verdict", Table::Align::Left);
    table.addColumn("as expected", Table::Align::Left);
    table.addColumn("seed");
    table.addColumn("numbers", Table::Align::Left);
    table.addColumn("time");
    constexpr std::size_t longestClaim = 48;
    for (const Verification& result : results) {
        const Experiment& experiment = result.candidate->experiment;
        const auto met = std::ranges::count_if(result.judgements, &Judgement::isMet);
        table.addRow({experiment.claim ? experiment.claim->id : result.candidate->id,
            shortened(experiment.claim ? experiment.claim->says : experiment.name, longestClaim),
            experiment.claim ? experiment.claim->verdict : "-",
            fmt::format("{} {} of {}", result.isPassed() ? "yes" : "NO ", met, result.judgements.size()),
            std::to_string(result.seed), numbersText(result.judgements), fmt::format("{:.1f} s", result.seconds)});
    }
    return table.text();
}

/// What was expected of the experiments that are not as expected, line by line.
std::string detailsOf(const std::vector<Verification>& results)
{
    std::string text;
    for (const Verification& result : results) {
        if (result.isPassed()) {
            continue;
        }
        text += fmt::format("\n{}, seed {}: not as expected\n", result.candidate->id, result.seed);
        for (const Judgement& judgement : result.judgements) {
            text += fmt::format(
                "  {}  {}: {}\n", judgement.isMet ? "yes" : "NO ", judgement.that, comparisonText(judgement));
        }
    }
    return text;
}

int run(const VerifyOptions& options)
{
    const std::vector<Candidate> candidates = candidatesFor(options);
    Progress progress;
    std::vector<Verification> results;
    const std::size_t count = candidates.size() * static_cast<std::size_t>(options.seeds);
    const double start = steadySeconds();
    for (const Candidate& candidate : candidates) {
        for (int further = 0; further < options.seeds; ++further) {
            progress.message(fmt::format("{} ({} of {})", candidate.id, results.size() + 1, count));
            results.push_back(verify(candidate, further, options, progress));
        }
    }
    const auto failed = std::ranges::count_if(results, [](const Verification& result) { return !result.isPassed(); });
    if (options.json) {
        Json json = {{"experiments", Json::array()}};
        for (const Verification& result : results) {
            json["experiments"].push_back(asJson(result));
        }
        printJson(json);
    } else {
        print(fmt::format("{}{}\n{} of {} as expected, {:.1f} s\n", tableOf(results), detailsOf(results),
            count - static_cast<std::size_t>(failed), count, steadySeconds() - start));
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
        "Files (a lesson stands for its experiments), or shipped experiments by name or claim "
        "(c18_clip_before_unscale, C18)");
    command->add_option("--references", options->references,
        "Write what the lanes of each did into this folder, thinned: the pictures of cards, lessons and hand-outs");
    command->add_option("--seed", options->seed, "Seed of every lane; otherwise as the file says")
        ->check(CLI::NonNegativeNumber);
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
