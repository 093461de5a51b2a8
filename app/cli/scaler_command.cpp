// mantissa-cli scaler: a gradient scaler alone, fed with a trace of finite and non-finite steps.
#include "app/cli/command.h"
#include "app/cli/output.h"
#include "engine/core/nearest_name.h"
#include "engine/scaling/loss_scaler.h"
#include "engine/store/run_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace mantissa::cli {

namespace {

struct ScalerOptions
{
    ScalerConfig config;
    std::string trace;
    bool json = false;
};

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

Json stepJson(std::size_t step, bool foundInf, const ScalerVerdict& verdict, const LossScaler& scaler)
{
    Json json
        = {{"step", step}, {"finite", !foundInf}, {"skipped", verdict.skip}, {"scale", exactNumber(scaler.scale())},
            {"growth_tracker", scaler.growthTracker()}, {"hysteresis", nullptr}, {"raised", nullptr}};
    if (const auto left = scaler.hysteresisLeft()) {
        json["hysteresis"] = *left;
    }
    if (!verdict.raised.empty()) {
        json["raised"] = verdict.raised;
    }
    return json;
}

std::string stepsTable(const Json& steps)
{
    Table table;
    for (const char* title : {"step", "gradients", "skipped", "scale", "growth tracker", "hysteresis"}) {
        table.addColumn(title);
    }
    for (const Json& step : steps) {
        const Json& scale = step.at("scale");
        table.addRow({step.at("step").dump(), step.at("finite").get<bool>() ? "finite" : "not finite",
            step.at("skipped").get<bool>() ? "yes" : "no",
            scale.is_string() ? scale.get<std::string>() : fmt::format("{}", scale.get<double>()),
            step.at("growth_tracker").dump(), step.at("hysteresis").is_null() ? "-" : step.at("hysteresis").dump()});
    }
    return table.text();
}

int play(const ScalerOptions& options)
{
    const std::vector<std::string> families = scalerFamilies();
    if (std::find(families.begin(), families.end(), options.config.family) == families.end()) {
        throw BadInput(fmt::format("--family: there is no scaler \"{}\"; {}", options.config.family,
            suggestion(options.config.family, families)));
    }
    const std::vector<bool> trace = parseTrace(options.trace);
    const std::unique_ptr<LossScaler> scaler = makeScaler(options.config);
    Json steps = Json::array();
    std::string raised;
    for (std::size_t i = 0; i < trace.size() && raised.empty(); ++i) {
        const ScalerVerdict verdict = scaler->update(trace[i]);
        steps.push_back(stepJson(i, trace[i], verdict, *scaler));
        raised = verdict.raised;
    }
    if (options.json) {
        printJson({{"family", options.config.family}, {"steps", steps}});
    } else {
        print(stepsTable(steps) + (raised.empty() ? "" : "raised: " + raised + '\n'));
    }
    return exitDone;
}

} // namespace

void addScalerCommand(CLI::App& app, Action& chosen)
{
    CLI::App* command
        = app.add_subcommand("scaler", "A gradient scaler alone: its scale and counters after every step");
    const auto options = std::make_shared<ScalerOptions>();
    ScalerConfig& config = options->config;
    std::string families;
    for (const std::string& family : scalerFamilies()) {
        families += (families.empty() ? "" : ", ") + family;
    }
    command->add_option("--family", config.family, "One of " + families)->required();
    command->add_option("--trace", options->trace, "f for a finite step, n for a non-finite one: \"ffnf\"")->required();
    command->add_option("--init", config.initScale, "First scale")->capture_default_str();
    command->add_option("--growth", config.growthFactor, "Growth factor")->capture_default_str();
    command->add_option("--backoff", config.backoffFactor, "Backoff factor")->capture_default_str();
    command->add_option("--interval", config.growthInterval, "Finite steps to the next growth")->capture_default_str();
    command->add_flag("--frozen", config.frozen, "Judge and skip, but never move the scale");
    command->add_flag("--json", options->json, "Print JSON");
    command->callback([=, &chosen] { chosen = [=] { return play(*options); }; });
}

} // namespace mantissa::cli
