// mantissa-cli runs compare: the settings and results in which two runs differ.
#include "app/cli/output.h"
#include "app/cli/runs_common.h"
#include "engine/store/run_export.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa::cli {

namespace {

struct Difference
{
    std::string name;
    Json a;
    Json b;
};

std::vector<Difference> settingDifferences(const RunStore& store, RunId a, RunId b)
{
    const auto first = settingsOf(store, a);
    const auto second = settingsOf(store, b);
    std::vector<Difference> differences;
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (first[i].second != second[i].second) {
            differences.push_back({first[i].first, first[i].second, second[i].second});
        }
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
        const bool identity
            = name == "id" || name == "started" || name == "ended" || name == "note" || name.compare(0, 4, "tags") == 0;
        if (!identity && second.contains(pointer) && second.at(pointer) != value) {
            differences.push_back({name, value, second.at(pointer)});
        }
    }
    return differences;
}

std::string textOf(const Json& value)
{
    if (value.is_null()) {
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

} // namespace

int compareRuns(const RunsOptions& options)
{
    const RunStore store = openRuns(options);
    const RunInfo a = runNumber(store, options.runs.at(0));
    const RunInfo b = runNumber(store, options.runs.at(1));
    const auto settings = settingDifferences(store, a.id, b.id);
    const auto results = resultDifferences(a, b);
    if (options.json) {
        printJson({{"a", a.id}, {"b", b.id}, {"same_weights", a.weightsHash == b.weightsHash},
            {"settings", jsonOf(settings)}, {"results", jsonOf(results)}});
    } else {
        print(tableOf("setting", settings, a, b) + '\n' + tableOf("result", results, a, b));
    }
    return exitDone;
}

} // namespace mantissa::cli
