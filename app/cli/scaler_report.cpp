#include "app/cli/scaler_report.h"

#include "engine/store/run_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa::cli {

namespace {

constexpr std::size_t mostRows = 200; ///< of a table; beyond it, steps at which nothing happened are left out
constexpr std::size_t drawingWidth = 64;

Json stepJson(std::size_t number, const PlayedStep& step)
{
    Json json
        = {{"step", number}, {"finite", !step.foundInf}, {"skipped", step.skipped}, {"scale", exactNumber(step.scale)},
            {"growth_tracker", step.growthTracker}, {"hysteresis", nullptr}, {"raised", nullptr}};
    if (step.hysteresis) {
        json["hysteresis"] = *step.hysteresis;
    }
    return json;
}

std::string numberText(double value)
{
    return fmt::format("{}", value);
}

/// A family's line under the tables where it ended the training; else empty.
std::string raisedText(const FamilyPlay& played)
{
    const Play& play = played.play;
    return play.raised.empty() ? std::string()
                               : fmt::format("raised at step {}: {}\n", play.steps.size() - 1, play.raised);
}

std::size_t longest(const std::vector<FamilyPlay>& plays)
{
    std::size_t steps = 0;
    for (const FamilyPlay& played : plays) {
        steps = std::max(steps, played.play.steps.size());
    }
    return steps;
}

/// Whether some family skipped a step or moved its scale at it.
bool happensAt(const std::vector<FamilyPlay>& plays, std::size_t step)
{
    return std::ranges::any_of(plays, [step](const FamilyPlay& played) {
        const auto& steps = played.play.steps;
        if (step >= steps.size()) {
            return false;
        }
        const double before = step == 0 ? played.play.firstScale : steps[step - 1].scale;
        return steps[step].foundInf || steps[step].scale != before;
    });
}

std::string comparisonTable(const std::vector<FamilyPlay>& plays)
{
    Table table;
    table.addColumn("step");
    for (const FamilyPlay& played : plays) {
        table.addColumn(played.config.family + "  ");
    }
    const auto rowOf = [&](std::string name, auto cell) {
        std::vector<std::string> cells {std::move(name)};
        for (const FamilyPlay& played : plays) {
            cells.push_back(cell(played.play));
        }
        table.addRow(std::move(cells));
    };
    rowOf("start", [](const Play& play) { return numberText(play.firstScale) + "  "; });
    const std::size_t steps = longest(plays);
    for (std::size_t i = 0; i < steps; ++i) {
        if (steps <= mostRows || happensAt(plays, i)) {
            rowOf(fmt::format("{}", i), [i](const Play& play) {
                return i < play.steps.size() ? numberText(play.steps[i].scale) + (play.steps[i].skipped ? " x" : "  ")
                                             : std::string("-  ");
            });
        }
    }
    rowOf("skips", [](const Play& play) { return fmt::format("{}  ", play.skipped); });
    rowOf("growths", [](const Play& play) { return fmt::format("{}  ", play.growths); });
    return table.text() + (steps > mostRows ? "Steps at which nothing happened are left out.\n" : "")
        + "x: the step was skipped\n";
}

/// The lowest and the highest exponent of all scales that have one.
std::pair<double, double> exponentRange(const std::vector<FamilyPlay>& plays)
{
    double low = INFINITY;
    double high = -INFINITY;
    const auto include = [&](double scale) {
        if (std::isfinite(scale) && scale > 0) {
            low = std::min(low, std::log2(scale));
            high = std::max(high, std::log2(scale));
        }
    };
    for (const FamilyPlay& played : plays) {
        include(played.play.firstScale);
        for (const PlayedStep& step : played.play.steps) {
            include(step.scale);
        }
    }
    return {low, high};
}

/// The scales as bars whose height is the exponent: one line per family, the last step of each group of steps.
std::string drawing(const std::vector<FamilyPlay>& plays)
{
    static constexpr std::array<const char*, 8> bars {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const auto [low, high] = exponentRange(plays);
    const std::size_t group = (longest(plays) + drawingWidth - 1) / drawingWidth;
    const auto barOf = [&, low = low, high = high](double scale) -> std::string {
        if (!std::isfinite(scale) || scale <= 0) {
            return scale == 0 ? "0" : "∞";
        }
        const double share = high > low ? (std::log2(scale) - low) / (high - low) : 0.5;
        return bars.at(static_cast<std::size_t>(std::lround(share * (bars.size() - 1))));
    };
    Table table;
    table.addColumn("", Table::Align::Left);
    table.addColumn(fmt::format("scale, 2^{:.4g} to 2^{:.4g}", low, high), Table::Align::Left);
    for (const FamilyPlay& played : plays) {
        const auto& steps = played.play.steps;
        std::string line;
        for (std::size_t from = 0; from < steps.size(); from += group) {
            line += barOf(steps[std::min(from + group, steps.size()) - 1].scale);
        }
        table.addRow({played.config.family, line});
    }
    return table.text();
}

Json parameterJson(const ScalerParameter& parameter)
{
    static constexpr std::array<const char*, 3> kinds {"number", "integer", "flag"};
    return {{"key", parameter.key}, {"own_name", parameter.ownName},
        {"kind", kinds.at(static_cast<std::size_t>(parameter.kind))},
        {"default", mantissa::parameterJson(parameter.kind, parameter.byDefault)}, {"range", parameter.range.text()},
        {"help", parameter.help}};
}

} // namespace

Json playJson(const FamilyPlay& played)
{
    Json steps = Json::array();
    for (std::size_t i = 0; i < played.play.steps.size(); ++i) {
        steps.push_back(stepJson(i, played.play.steps[i]));
    }
    if (!played.play.raised.empty()) {
        steps.back()["raised"] = played.play.raised;
    }
    return {{"family", played.config.family}, {"first_scale", exactNumber(played.play.firstScale)},
        {"final_scale", exactNumber(played.play.finalScale())}, {"skipped_steps", played.play.skipped},
        {"growths", played.play.growths}, {"steps", steps}};
}

std::string stepsText(const FamilyPlay& played)
{
    Table table;
    for (const char* title : {"step", "gradients", "skipped", "scale", "growth tracker", "hysteresis"}) {
        table.addColumn(title);
    }
    for (std::size_t i = 0; i < played.play.steps.size(); ++i) {
        const PlayedStep& step = played.play.steps[i];
        table.addRow({fmt::format("{}", i), step.foundInf ? "not finite" : "finite", step.skipped ? "yes" : "no",
            numberText(step.scale), fmt::format("{}", step.growthTracker),
            step.hysteresis ? fmt::format("{}", *step.hysteresis) : "-"});
    }
    return table.text() + raisedText(played);
}

std::string comparisonText(const std::vector<FamilyPlay>& plays)
{
    std::string text = comparisonTable(plays);
    text += '\n';
    text += drawing(plays);
    for (const FamilyPlay& played : plays) {
        const std::string raised = raisedText(played);
        text += raised.empty() ? raised : played.config.family + ' ' + raised;
    }
    return text;
}

Json parametersJson(std::span<const ScalerFamily* const> families)
{
    Json list = Json::array();
    for (const ScalerFamily* family : families) {
        Json parameters = Json::array();
        for (const ScalerParameter& parameter : family->parameters) {
            parameters.push_back(parameterJson(parameter));
        }
        list.push_back({{"family", family->name}, {"title", family->title}, {"summary", family->summary},
            {"parameters", parameters}});
    }
    return {{"families", list}};
}

std::string parametersText(std::span<const ScalerFamily* const> families)
{
    std::string text;
    for (const ScalerFamily* family : families) {
        text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", family->name, family->summary);
        Table table;
        for (const char* title : {"  parameter", "own name", "default", "allowed", "what"}) {
            table.addColumn(title, Table::Align::Left);
        }
        for (const ScalerParameter& parameter : family->parameters) {
            const bool isFlag = parameter.kind == ScalerParameterKind::Flag;
            const std::string usual = isFlag ? (*parameter.byDefault != 0 ? "true" : "false")
                : parameter.byDefault        ? numberText(*parameter.byDefault)
                                             : "none";
            std::string name = "  ";
            name += parameter.key;
            table.addRow({name, std::string(parameter.ownName), usual,
                isFlag ? std::string(typeText(parameter.kind)) : parameter.range.text(), std::string(parameter.help)});
        }
        text += family->parameters.empty() ? "" : table.text();
    }
    return text;
}

} // namespace mantissa::cli
