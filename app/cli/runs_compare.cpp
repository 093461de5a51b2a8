// mantissa-cli runs compare: the settings and results in which two runs differ.
#include "app/cli/output.h"
#include "app/cli/runs_common.h"
#include "engine/store/run_comparison.h"
#include "engine/store/run_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mantissa::cli {

namespace {

struct Difference
{
    std::string name;
    Json a;
    Json b;
};

std::vector<Difference> settingDifferences(const RunComparison& comparison)
{
    std::vector<Difference> differences;
    for (const SettingDifference& each : comparison.settings) {
        differences.push_back(
            {each.step == 0 ? each.path : fmt::format("{} (from step {})", each.path, each.step), each.a, each.b});
    }
    return differences;
}

/// Results as runAsJson() names them, "validation.loss" for nested ones; what identifies a run is left out.
std::vector<Difference> resultDifferences(const RunInfo& a, const RunInfo& b)
{
    const Json first = runAsJson(a).flatten();
    const Json second = runAsJson(b).flatten();
    std::vector<Difference> differences;
    for (const auto& [pointer, value] : first.items()) {
        std::string name = pointer.substr(1);
        std::replace(name.begin(), name.end(), '/', '.');
        const bool identity = name.starts_with("imported") || name == "id" || name == "started" || name == "ended"
            || name == "note" || name.compare(0, 4, "tags") == 0;
        const bool isKnown = !value.is_null() && second.contains(pointer) && !second.at(pointer).is_null();
        if (!identity && isKnown && second.at(pointer) != value) {
            differences.push_back({name, value, second.at(pointer)});
        }
    }
    return differences;
}

std::string textOf(const Json& value)
{
    if (value.is_null() || value == "nan") { // not there, or not measured
        return "-";
    }
    if (value.is_number_float()) {
        return shortNumber(value.get<double>());
    }
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string tableOf(const char* title, const std::vector<Difference>& differences, const RunInfo& a, const RunInfo& b)
{
    if (differences.empty()) {
        return fmt::format("{}: no difference\n", title);
    }
    Table table;
    table.addColumn(title, Table::Align::Left);
    table.addColumn(fmt::format("run {} ({})", a.id, a.lane), Table::Align::Left);
    table.addColumn(fmt::format("run {} ({})", b.id, b.lane), Table::Align::Left);
    for (const Difference& difference : differences) {
        table.addRow({difference.name, textOf(difference.a), textOf(difference.b)});
    }
    return table.text();
}

Json jsonOf(const std::vector<Difference>& differences)
{
    Json json = Json::object();
    for (const Difference& difference : differences) {
        json[difference.name] = {{"a", difference.a}, {"b", difference.b}};
    }
    return json;
}

Json lossJson(const RunComparison& comparison)
{
    const ComparedSteps& steps = comparison.steps;
    const GapAtEnd end = gapAtEnd(comparison);
    Json json {{"at_end",
                   {{"a", exactNumber(end.lossA)}, {"b", exactNumber(end.lossB)}, {"gap", exactNumber(end.gap())},
                       {"noise", exactNumber(end.noise)}}},
        {"seeds_of_a", comparison.otherSeeds.size() + 1}, {"pairs", comparison.pairs.size() + 1},
        {"steps_per_window", steps.window}, {"windows", Json::array()}};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Json window {{"first_step", steps.first[i]}, {"a", exactNumber(steps.lossA[i])},
            {"b", exactNumber(steps.lossB[i])}, {"weights_distance", exactNumber(steps.distance[i])}};
        if (!comparison.noise.empty()) {
            window["noise"] = exactNumber(comparison.noise[i]);
        }
        if (!comparison.pairGap.empty()) {
            window["mean_gap"] = exactNumber(comparison.pairGap[i]);
            window["mean_gap_error"] = exactNumber(comparison.pairError[i]);
        }
        json["windows"].push_back(std::move(window));
    }
    return json;
}

std::string lossText(const RunComparison& comparison)
{
    if (comparison.steps.size() == 0) {
        return "The runs have no step in common.\n";
    }
    const GapAtEnd end = gapAtEnd(comparison);
    if (std::isnan(end.gap())) {
        return fmt::format("at the end of their common steps a loss is not finite: {} and {}\n", shortNumber(end.lossA),
            shortNumber(end.lossB));
    }
    std::string text = fmt::format("loss over the last tenth of their common steps: {} and {}, a difference of {}\n",
        shortNumber(end.lossA), shortNumber(end.lossB), shortNumber(end.gap()));
    if (comparison.a.imported) {
        return text + fmt::format("how much other seeds of run {} differ is not known\n", comparison.a.id);
    }
    if (std::isnan(end.noise)) {
        const bool isOne = comparison.otherSeeds.size() == 1;
        return text
            + fmt::format("how much other seeds of run {} differ is not known: it takes {} more in the database "
                          "(--seed N)\n",
                comparison.a.id, isOne ? "one" : "two");
    }
    return text
        + fmt::format("{} runs of run {}'s settings with different seeds differ by up to {} there: {}\n",
            comparison.otherSeeds.size() + 1, comparison.a.id, shortNumber(end.noise),
            std::abs(end.gap()) <= end.noise ? "the difference is no more than noise"
                                             : "the difference is more than noise");
}

} // namespace

int compareRuns(const RunsOptions& options)
{
    const RunStore store = openRuns(options);
    const RunInfo a = runNumber(store, options.runs.at(0));
    const RunInfo b = runNumber(store, options.runs.at(1));
    const RunComparison comparison = mantissa::compareRuns(store, a.id, b.id);
    const auto settings = settingDifferences(comparison);
    const auto results = resultDifferences(a, b);
    if (options.json) {
        const bool isKnown = !a.imported && !b.imported;
        printJson({{"a", a.id}, {"b", b.id}, {"same_weights", isKnown ? Json(a.weightsHash == b.weightsHash) : Json()},
            {"settings", jsonOf(settings)}, {"results", jsonOf(results)}, {"loss", lossJson(comparison)}});
    } else {
        const bool isKnown = !a.imported && !b.imported;
        print((isKnown ? tableOf("setting", settings, a, b) : "setting: not known of an imported run\n") + '\n'
            + tableOf("result", results, a, b) + '\n' + lossText(comparison));
    }
    return exitDone;
}

} // namespace mantissa::cli
