#include "app/cli/sweep_report.h"

#include "engine/store/run_export.h"

#include <fmt/format.h>

namespace mantissa::cli {

namespace {

std::string messageOf(const SweepRow& row, const std::map<int, std::string>& messages)
{
    if (row.run && !row.run->message.empty()) {
        return row.run->message;
    }
    const auto found = messages.find(row.point.number);
    return found == messages.end() ? "" : found->second;
}

std::string stateOf(const SweepRow& row, const std::map<int, std::string>& messages)
{
    if (row.run) {
        return std::string(nameOf(row.run->status));
    }
    return messages.contains(row.point.number) ? "failed" : "-";
}

} // namespace

Json sweepJson(const SweepTable& table, const std::map<int, std::string>& messages)
{
    Json rows = Json::array();
    for (const SweepRow& row : table.rows) {
        Json json {{"point", row.point.number}, {"settings", row.point.settings}, {"lane", row.lane}};
        if (!row.point.variant.empty()) {
            json["variant"] = row.point.variant;
        }
        json["status"] = row.run || messages.contains(row.point.number) ? Json(stateOf(row, messages)) : Json();
        json["message"] = messageOf(row, messages);
        json["run"] = row.run ? runAsJson(*row.run) : Json();
        rows.push_back(std::move(json));
    }
    return {{"sweep", table.name}, {"id", table.id}, {"columns", table.columns}, {"runs", rows}};
}

std::string sweepText(const SweepTable& table, const std::map<int, std::string>& messages)
{
    Table text;
    text.addColumn("point");
    for (const std::string& column : table.columns) {
        text.addColumn(column, Table::Align::Left);
    }
    text.addColumn("status", Table::Align::Left);
    for (const char* title :
        {"run", "steps", "final loss", "val. loss", "val. accuracy", "skipped", "final scale", "steps/s"}) {
        text.addColumn(title);
    }
    std::string notes;
    for (const SweepRow& row : table.rows) {
        std::vector<std::string> cells {fmt::format("{}", row.point.number)};
        for (const std::string& column : table.columns) {
            const auto value = SweepTable::value(row, column);
            cells.push_back(value ? settingText(*value) : "-");
        }
        cells.push_back(stateOf(row, messages));
        if (row.run) {
            const RunInfo& run = *row.run;
            const std::vector<std::string> results {fmt::format("{}", run.id), fmt::format("{}", run.steps),
                shortNumber(run.finalLoss), shortNumber(run.validationLoss), percent(run.validationAccuracy),
                fmt::format("{}", run.skippedSteps), shortNumber(run.finalScale), rateText(run.stepsPerSecond)};
            cells.insert(cells.end(), results.begin(), results.end());
        }
        text.addRow(std::move(cells));
        if (const std::string message = messageOf(row, messages); !message.empty()) {
            notes += fmt::format("point {}: {}\n", row.point.number, message);
        }
    }
    return text.text() + notes;
}

} // namespace mantissa::cli
