#include "engine/sweep/sweep_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace mantissa {

namespace {

using RowKey = std::pair<std::string, std::string>; // lane, settings

RowKey keyOf(const std::string& lane, const SweepPoint& point)
{
    return {lane, point.settings.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

/// The larger, the more a run says about its point.
std::pair<int, RunId> weightOf(const RunInfo& run)
{
    return {hasEnded(run) ? 2 : run.status == RunStatus::Running ? 1 : 0, run.id};
}

void offer(SweepRow& row, const RunInfo& run)
{
    if (!row.run || weightOf(*row.run) < weightOf(run)) {
        row.run = run;
    }
}

/// In the order of the variant, the settings' names, the lane: those that do not have one value alone.
std::vector<std::string> columnsOf(const std::vector<SweepRow>& rows)
{
    std::set<std::string> paths;
    for (const SweepRow& row : rows) {
        for (const auto& [path, value] : singleSettings(row.point)) {
            paths.insert(path);
        }
    }
    std::vector<std::string> names {std::string("variant")};
    names.insert(names.end(), paths.begin(), paths.end());
    names.emplace_back("lane");
    std::erase_if(names, [&rows](const std::string& column) {
        std::map<std::string, std::optional<nlohmann::json>> byVariant;
        bool followsFromVariant = column != "variant" && column != "lane";
        bool isSame = true;
        for (const SweepRow& row : rows) {
            const auto value = SweepTable::value(row, column);
            const auto [known, isNew] = byVariant.try_emplace(row.point.variant, value);
            followsFromVariant = followsFromVariant && !row.point.variant.empty() && known->second == value;
            isSame = isSame && value == SweepTable::value(rows.front(), column);
        }
        return isSame || followsFromVariant;
    });
    return names;
}

} // namespace

std::optional<nlohmann::json> SweepTable::value(const SweepRow& row, const std::string& column)
{
    if (column == "variant") {
        return row.point.variant.empty() ? std::nullopt : std::optional<nlohmann::json>(row.point.variant);
    }
    if (column == "lane") {
        return row.lane;
    }
    for (const auto& [path, value] : singleSettings(row.point)) {
        if (path == column) {
            return value;
        }
    }
    return std::nullopt;
}

bool hasEnded(const RunInfo& run)
{
    return run.status == RunStatus::Finished || run.status == RunStatus::Diverged;
}

SweepTable tableOf(const Sweep& sweep, const std::vector<RunInfo>& runs)
{
    SweepTable table {sweep.name, sweep.points.front().id, {}, {}};
    std::map<RowKey, std::size_t> places;
    for (const SweepPoint& point : sweep.points) {
        for (const LaneConfig& lane : sweep.experiment.lanes) {
            places.emplace(keyOf(lane.name, point), table.rows.size());
            table.rows.push_back({point, lane.name, std::nullopt});
        }
    }
    for (const RunInfo& run : runs) {
        if (run.sweep && run.sweep->id == table.id) {
            if (const auto place = places.find(keyOf(run.lane, *run.sweep)); place != places.end()) {
                offer(table.rows[place->second], run);
            }
        }
    }
    table.columns = columnsOf(table.rows);
    return table;
}

std::vector<SweepTable> storedSweeps(const std::vector<RunInfo>& runs)
{
    std::vector<SweepTable> tables;
    std::map<std::string, std::size_t> byId;
    std::vector<std::map<RowKey, std::size_t>> places;
    for (const RunInfo& run : runs) { // newest first
        if (!run.sweep) {
            continue;
        }
        const auto [at, isNew] = byId.try_emplace(run.sweep->id, tables.size());
        if (isNew) {
            tables.push_back({run.sweep->sweep, run.sweep->id, {}, {}});
            places.emplace_back();
        }
        SweepTable& table = tables[at->second];
        const auto [place, isNewRow] = places[at->second].try_emplace(keyOf(run.lane, *run.sweep), table.rows.size());
        if (isNewRow) {
            table.rows.push_back({*run.sweep, run.lane, std::nullopt});
        }
        offer(table.rows[place->second], run);
    }
    for (SweepTable& table : tables) {
        std::ranges::stable_sort(table.rows, {}, [](const SweepRow& row) { return row.point.number; });
        table.columns = columnsOf(table.rows);
    }
    return tables;
}

} // namespace mantissa
