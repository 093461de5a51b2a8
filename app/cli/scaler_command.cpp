// mantissa-cli scaler: gradient scalers alone, fed with a trace of finite and non-finite steps, or with the gradients
// of a stored run.
#include "app/cli/command.h"
#include "app/cli/runs_common.h"
#include "app/cli/scaler_report.h"
#include "engine/core/nearest_name.h"
#include "engine/core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace mantissa::cli {

namespace {

/// A value for a parameter: what asked for it, the parameter's name, the value.
struct Assignment
{
    std::string option;
    std::string family; ///< only this one; empty: all
    std::string name;
    std::string value;
};

struct ScalerOptions
{
    std::vector<std::string> families;
    std::vector<Assignment> assignments;
    bool frozen = false;
    std::string trace;
    std::vector<std::string> losses;
    std::optional<RunId> gradients;
    std::string database;
    bool list = false;
    bool json = false;
};

const ScalerFamily& familyNamed(const std::string& name)
{
    if (const ScalerFamily* family = findScalerFamily(name)) {
        return *family;
    }
    throw BadInput(fmt::format("--family: there is no scaler \"{}\"; {}", name, suggestion(name, scalerFamilies())));
}

/// True for each step whose gradients were not finite.
std::vector<bool> parseTrace(const std::string& text)
{
    std::vector<bool> steps;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (std::isspace(c) != 0 || c == ',') {
            continue;
        }
        const int letter = std::tolower(c);
        if (letter != 'f' && letter != 'n') {
            throw BadInput(
                fmt::format("--trace: \"{}\" at position {} is neither f (a finite step) nor n (a non-finite one)",
                    c < 0x80 && std::isprint(c) != 0 ? std::string(1, text[i]) : fmt::format("\\x{:02x}", c), i + 1));
        }
        steps.push_back(letter == 'n');
    }
    if (steps.empty()) {
        throw BadInput("--trace is empty; write f for a finite step and n for a non-finite one, as in \"ffnf\"");
    }
    return steps;
}

std::optional<double> numberFrom(const std::string& text)
{
    double number = 0;
    return CLI::detail::lexical_cast(text, number) ? std::optional(number) : std::nullopt;
}

std::vector<PlayStep> stepsOfTrace(const ScalerOptions& options)
{
    std::vector<PlayStep> steps;
    for (const bool overflows : parseTrace(options.trace)) {
        steps.push_back({.gradMax = overflows ? INFINITY : 0.0, .loss = {}});
    }
    if (!options.losses.empty() && options.losses.size() != steps.size()) {
        throw BadInput(fmt::format("--losses has {} numbers for {} steps", options.losses.size(), steps.size()));
    }
    for (std::size_t i = 0; i < options.losses.size(); ++i) {
        steps[i].loss = numberFrom(options.losses[i]);
        if (!steps[i].loss) {
            throw BadInput(fmt::format("--losses: \"{}\" is not a number", options.losses[i]));
        }
    }
    return steps;
}

std::vector<PlayStep> stepsOfRun(const ScalerOptions& options)
{
    RunsOptions database;
    database.database = options.database;
    const RunStore store = openRuns(database);
    std::vector<PlayStep> steps;
    for (const StepRecord& record : store.records(runNumber(store, *options.gradients).id)) {
        steps.push_back({.gradMax = record.gradMax, .loss = record.loss});
    }
    if (steps.empty()) {
        throw BadInput(fmt::format("--gradients: run {} has no steps", *options.gradients));
    }
    return steps;
}

/// The parameter's value as JSON; what is no number stays a text, which readParameter() refuses.
nlohmann::json valueFrom(const std::string& text, ScalerParameterKind kind)
{
    if (kind == ScalerParameterKind::Flag) {
        const auto flag = nlohmann::json::parse(text, nullptr, false);
        return flag.is_discarded() ? nlohmann::json(text) : flag;
    }
    const auto number = numberFrom(text);
    return number && std::isfinite(*number) ? nlohmann::json(*number) : nlohmann::json(text);
}

void assign(ScalerConfig& config, const ScalerFamily& family, const Assignment& assignment, bool isAlone)
{
    const auto found = std::ranges::find_if(family.parameters, [&](const ScalerParameter& parameter) {
        return parameter.key == assignment.name || parameter.ownName == assignment.name;
    });
    if (found == family.parameters.end()) {
        std::vector<std::string> names;
        for (const ScalerParameter& parameter : family.parameters) {
            names.emplace_back(parameter.key);
        }
        throw BadInput(fmt::format("{}: the family \"{}\" has no parameter {}; it has {}{}", assignment.option,
            family.name, assignment.name, names.empty() ? "none" : joined(names),
            isAlone ? "" : "; for one family alone write --set FAMILY.NAME=VALUE"));
    }
    const std::string wrong
        = readParameter(*found, valueFrom(assignment.value, found->kind), config.parameters[std::string(found->key)]);
    if (!wrong.empty()) {
        throw BadInput(fmt::format("{}: {} {}", assignment.option, found->key, wrong));
    }
}

std::vector<ScalerConfig> configsFrom(const ScalerOptions& options)
{
    if (options.families.empty()) {
        throw BadInput("--family is missing; one of " + joined(scalerFamilies()));
    }
    for (const Assignment& assignment : options.assignments) {
        if (!assignment.family.empty() && std::ranges::count(options.families, assignment.family) == 0) {
            throw BadInput(fmt::format("{}: {} is none of the families given", assignment.option, assignment.family));
        }
    }
    std::vector<ScalerConfig> configs;
    for (const std::string& name : options.families) {
        const ScalerFamily& family = familyNamed(name);
        ScalerConfig config {.family = name, .frozen = options.frozen};
        for (const Assignment& assignment : options.assignments) {
            if (assignment.family.empty() || assignment.family == name) {
                assign(config, family, assignment, options.families.size() == 1);
            }
        }
        if (const auto fault = findScalerFault(config)) {
            throw BadInput(fmt::format("{}: {} {}", name, fault->key, fault->text));
        }
        configs.push_back(std::move(config));
    }
    return configs;
}

int playScalers(const ScalerOptions& options)
{
    const std::vector<ScalerConfig> configs = configsFrom(options);
    const std::vector<PlayStep> steps = options.gradients ? stepsOfRun(options) : stepsOfTrace(options);
    std::vector<FamilyPlay> plays;
    for (const ScalerConfig& config : configs) {
        plays.push_back({config, play(config, steps)});
    }
    if (!options.json) {
        print(plays.size() == 1 ? stepsText(plays.front()) : comparisonText(plays));
    } else if (plays.size() == 1) {
        printJson(playJson(plays.front()));
    } else {
        Json families = Json::array();
        for (const FamilyPlay& played : plays) {
            families.push_back(playJson(played));
        }
        printJson({{"families", families}});
    }
    return exitDone;
}

int listParameters(const ScalerOptions& options)
{
    std::vector<const ScalerFamily*> families;
    for (const std::string& name : options.families) {
        families.push_back(&familyNamed(name));
    }
    const auto all = scalerFamilyTable();
    if (families.empty()) {
        families.assign(all.begin(), all.end());
    }
    if (options.json) {
        printJson(parametersJson(families));
    } else {
        print(parametersText(families));
    }
    return exitDone;
}

int runScaler(const ScalerOptions& options)
{
    const bool hasSteps = !options.trace.empty() || options.gradients.has_value();
    if (options.list || (!hasSteps && options.families.empty())) {
        return listParameters(options);
    }
    if (!hasSteps) {
        throw BadInput("there is nothing to play: give --trace or --gradients, or ask for the parameters with --list");
    }
    return playScalers(options);
}

/// "NAME=VALUE", or "FAMILY.NAME=VALUE".
Assignment assignmentFrom(const std::string& text)
{
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw BadInput(fmt::format("--set {}: write NAME=VALUE, as in loss_scale_window=500", text));
    }
    const std::size_t dot = text.find('.');
    const std::size_t nameFrom = dot < equals ? dot + 1 : 0;
    return {"--set " + text, dot < equals ? text.substr(0, dot) : "", text.substr(nameFrom, equals - nameFrom),
        text.substr(equals + 1)};
}

void addParameterOptions(CLI::App& command, const std::shared_ptr<ScalerOptions>& options)
{
    struct Short
    {
        const char* option;
        const char* key;
        const char* type;
        const char* help;
    };

    static constexpr std::array table {
        Short {"--init", "init_scale", "NUMBER", "First scale"},
        Short {"--growth", "growth_factor", "NUMBER", "Growth factor"},
        Short {"--backoff", "backoff_factor", "NUMBER", "Backoff factor"},
        Short {"--interval", "growth_interval", "INTEGER", "Finite steps to the next growth"},
        Short {"--min", "min_scale", "NUMBER", "Lowest scale"},
        Short {"--max", "max_scale", "NUMBER", "Highest scale"},
        Short {"--threshold", "threshold", "NUMBER", "fairseq: lowest scale, --min being where it ends"},
        Short {"--hysteresis", "hysteresis", "INTEGER", "Overflows until the scale backs off"},
        Short {"--consecutive-hysteresis", "consecutive_hysteresis", "BOOL",
            "deepspeed: every finite step refills the hysteresis"},
        Short {"--raise-at-min", "raise_at_min", "BOOL", "deepspeed: end at the minimum"},
        Short {"--tolerance", "tolerance", "NUMBER", "fairseq: share of overflowing steps to put up with"},
        Short {"--loss-decay", "loss_decay", "NUMBER", "loss-driven: of the moving average"},
    };
    for (const Short& row : table) {
        CLI::Option* option = command.add_option_function<std::string>(
            row.option,
            [options, &row](const std::string& value) {
                options->assignments.push_back({row.option, "", row.key, value});
            },
            row.help);
        option->type_name(row.type);
        if (std::string_view(row.type) == "BOOL") {
            option->expected(0, 1)->default_str("true"); // what the option alone means
        }
    }
    command.add_option_function<std::vector<std::string>>(
        "--set",
        [options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
                options->assignments.push_back(assignmentFrom(text));
            }
        },
        "A parameter by the family's own name or its name in experiment files: [FAMILY.]NAME=VALUE");
}

} // namespace

void addScalerCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command = app.add_subcommand(
        "scaler", "Gradient scalers alone: their scales and counters after every step, or their parameters");
    const auto options = std::make_shared<ScalerOptions>();
    command->add_option(
        "--family", options->families, "Repeat it to compare several. One of " + joined(scalerFamilies()));
    CLI::Option* trace
        = command->add_option("--trace", options->trace, "f for a finite step, n for a non-finite one: \"ffnf\"");
    command->add_option("--losses", options->losses, "The losses of the trace's steps, for loss-driven: 2.3,2.1,nan")
        ->delimiter(',')
        ->needs(trace);
    CLI::Option* gradients = command
                                 ->add_option("--gradients", options->gradients,
                                     "Replay the largest gradients of this stored run: would they overflow in FP16?")
                                 ->type_name("RUN")
                                 ->excludes(trace);
    command->add_option("--db", options->database, "Database of runs")->needs(gradients);
    addParameterOptions(*command, options);
    command->add_flag("--frozen", options->frozen, "Judge and skip, but never move the scale");
    command->add_flag("--list", options->list, "Print the families' parameters, their defaults and what they do");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &chosen] { chosen = [=] { return runScaler(*options); }; });
}

} // namespace mantissa::cli
