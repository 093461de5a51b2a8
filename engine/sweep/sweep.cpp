#include "engine/sweep/sweep.h"

#include "engine/core/error.h"
#include "engine/core/hash.h"
#include "engine/core/json_file.h"
#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/core/text.h"
#include "engine/train/lane_changes.h"
#include "engine/train/lane_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace mantissa {

namespace fs = std::filesystem;

namespace {

constexpr int fileVersion = 1;
constexpr std::size_t longestName = 200;

const std::vector<std::string>& sweepKeys()
{
    static const std::vector<std::string> keys {
        "experiment", "grid", "lanes", "list", "mantissa_sweep", "name", "text"};
    return keys;
}

/// Some of the settings of a point, and what the file calls them.
struct Part
{
    std::string name;
    nlohmann::json settings = nlohmann::json::object();
};

void checkKeys(const nlohmann::json& document, const DocumentPlace& place)
{
    if (!document.is_object()) {
        failAt(place, "",
            fmt::format(
                "the file holds {}; a sweep is an object that begins with \"mantissa_sweep\": 1", shortText(document)));
    }
    const auto version = document.find("mantissa_sweep");
    if (version == document.end()) {
        failAt(place, "mantissa_sweep",
            document.contains("mantissa")
                ? "is missing; the file is an experiment: \"mantissa-cli run\" trains it, and a sweep names it as its "
                  "\"experiment\""
                : "is missing; a sweep begins with \"mantissa_sweep\": 1");
    }
    if (integerOf<int>(*version) != fileVersion) {
        failAt(place, "mantissa_sweep", fmt::format("is {}; it must be {}", shortText(*version), fileVersion));
    }
    for (const auto& [key, value] : document.items()) {
        if (std::ranges::find(sweepKeys(), key) == sweepKeys().end()) {
            failAt(place, key,
                fmt::format(
                    "is not a key of a sweep (its value: {}); {}", shortText(value), suggestion(key, sweepKeys())));
        }
    }
}

std::string nameAt(const nlohmann::json& document, const DocumentPlace& place)
{
    std::string name = optionalTextAt(document, "name", place);
    if (document.contains("name") && !isOneLine(name, longestName)) {
        failAt(place, "name",
            fmt::format("is {}; it must be a text of 1 to {} bytes in one line", shortText(name), longestName));
    }
    return name;
}

Experiment experimentOf(const nlohmann::json& document, const DocumentPlace& place, const fs::path& directory)
{
    const auto found = document.find("experiment");
    if (found == document.end() || (!found->is_string() && !found->is_object())) {
        failAt(place, "experiment",
            found == document.end()
                ? "is missing; it must be the file of an experiment, or an experiment"
                : fmt::format("is {}; it must be the file of an experiment, or an experiment", shortText(*found)));
    }
    Experiment experiment;
    if (found->is_string()) {
        experiment = loadExperiment(directory / found->get<std::string>());
    } else {
        experiment = parseExperiment(found->dump(), place.source + ": experiment");
        experiment.directory = directory;
    }
    // What the file expects is of its own settings.
    experiment.expect = nlohmann::json::array();
    experiment.claim.reset();
    return experiment;
}

void chooseLanes(Experiment& experiment, const nlohmann::json& document, const DocumentPlace& place)
{
    const auto lanes = document.find("lanes");
    if (lanes == document.end()) {
        return;
    }
    if (!lanes->is_array() || lanes->empty()) {
        failAt(place, "lanes", fmt::format("is {}; it must be a list of names of lanes", shortText(*lanes)));
    }
    std::vector<std::string> names;
    for (const LaneConfig& lane : experiment.lanes) {
        names.push_back(lane.name);
    }
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < lanes->size(); ++i) {
        const nlohmann::json& lane = lanes->at(i);
        if (!lane.is_string() || std::ranges::find(names, lane.get<std::string>()) == names.end()) {
            failAt(place, fmt::format("lanes[{}]", i),
                fmt::format("is {}, but no lane has that name; {}", shortText(lane),
                    suggestion(lane.is_string() ? lane.get<std::string>() : "", names)));
        }
        kept.push_back(lane.get<std::string>());
    }
    keepLanes(experiment, kept);
}

/// Whether the setting exists and may have the value, by itself.
void checkSetting(const std::string& path, const nlohmann::json& value, const DocumentPlace& place)
{
    checkSettings(nestedAt(path, value), DocumentUse::Patch, place);
}

/// The settings of the grid, each with its values.
std::vector<std::pair<std::string, std::vector<Part>>> readGrid(
    const nlohmann::json& document, const DocumentPlace& place)
{
    std::vector<std::pair<std::string, std::vector<Part>>> grid;
    const auto found = document.find("grid");
    if (found == document.end()) {
        return grid;
    }
    if (!found->is_object() || found->empty()) {
        failAt(place, "grid",
            fmt::format("is {}; it must be an object like {{\"optimizer.lr\": [0.001, 0.01]}}", shortText(*found)));
    }
    for (const auto& [path, values] : found->items()) {
        if (!values.is_array() || values.empty()) {
            failAt(place, "grid." + path, fmt::format("is {}; it must be a list of values", shortText(values)));
        }
        std::vector<Part> parts;
        for (std::size_t i = 0; i < values.size(); ++i) {
            try {
                checkSetting(path, values[i], {place.source, "grid."});
            } catch (const Error& error) {
                throw Error(
                    ErrorCode::InvalidArgument, fmt::format("{} (value {} of {})", error.what(), i + 1, values.size()));
            }
            if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i])
                != values.begin() + static_cast<std::ptrdiff_t>(i)) {
                failAt(place, "grid." + path, fmt::format("has {} twice", shortText(values[i])));
            }
            parts.push_back({{}, {{path, values[i]}}});
        }
        grid.emplace_back(path, std::move(parts));
    }
    return grid;
}

std::vector<Part> readList(const nlohmann::json& document, const DocumentPlace& place)
{
    const auto found = document.find("list");
    if (found == document.end()) {
        return {Part {}};
    }
    if (!found->is_array() || found->empty()) {
        failAt(place, "list",
            fmt::format("is {}; it must be a list of objects like {{\"optimizer.lr\": 0.01}}", shortText(*found)));
    }
    std::vector<Part> parts;
    for (std::size_t i = 0; i < found->size(); ++i) {
        const nlohmann::json& entry = found->at(i);
        const DocumentPlace here {place.source, fmt::format("list[{}].", i)};
        if (!entry.is_object()) {
            failAt(place, fmt::format("list[{}]", i),
                fmt::format("is {}; it must be an object like {{\"optimizer.lr\": 0.01}}", shortText(entry)));
        }
        Part part;
        part.name = nameAt(entry, here);
        part.settings = entry;
        part.settings.erase("name");
        for (const auto& [path, value] : part.settings.items()) {
            checkSetting(path, value, here);
        }
        const auto twin = std::ranges::find_if(parts, [&part](const Part& other) {
            return other.settings == part.settings || (!part.name.empty() && other.name == part.name);
        });
        if (twin != parts.end()) {
            failAt(place, fmt::format("list[{}]", i),
                fmt::format("has the {} of list[{}]", twin->settings == part.settings ? "settings" : "name",
                    twin - parts.begin()));
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

bool concernsTheSame(const std::string& a, const std::string& b)
{
    return a == b || a.starts_with(b + ".") || b.starts_with(a + ".");
}

void checkOverlap(const std::vector<std::pair<std::string, std::vector<Part>>>& grid, const std::vector<Part>& list,
    const DocumentPlace& place)
{
    for (std::size_t i = 0; i < grid.size(); ++i) {
        const std::string& path = grid[i].first;
        for (std::size_t j = 0; j < i; ++j) {
            if (concernsTheSame(path, grid[j].first)) {
                failAt(place, "grid." + path, fmt::format("sets what grid.{} sets too", grid[j].first));
            }
        }
        for (std::size_t j = 0; j < list.size(); ++j) {
            for (const auto& [other, value] : list[j].settings.items()) {
                if (concernsTheSame(path, other)) {
                    failAt(place, "grid." + path, fmt::format("sets what list[{}].{} sets too", j, other));
                }
            }
        }
    }
}

std::size_t countPoints(const std::vector<std::pair<std::string, std::vector<Part>>>& grid,
    const std::vector<Part>& list, std::size_t lanes, std::size_t most, const DocumentPlace& place)
{
    constexpr std::size_t uncounted = 1'000'000'000;
    std::size_t runs = lanes * list.size();
    for (const auto& [path, values] : grid) {
        // A file is no larger than some millions of values.
        runs = std::min(runs * values.size(), uncounted);
    }
    if (runs > most) {
        failAt(place, grid.empty() ? "list" : "grid",
            fmt::format("comes to {}{} runs; at most {} are possible: leave values out, or make several sweeps of it",
                runs == uncounted ? "more than " : "", runs, most));
    }
    return runs / lanes;
}

std::string identityOf(const std::string& name, const Experiment& experiment)
{
    nlohmann::json document = composeExperiment(experiment);
    for (const char* words : {"text", "name", "expect"}) {
        document.erase(words);
    }
    const std::string text = name + '\n' + document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return fmt::format("{:016x}", fnv1a(std::as_bytes(std::span(text))));
}

/// What others depend on comes first: sections as a whole, then kinds and families.
SettingChanges changesAt(const SweepPoint& point)
{
    SettingChanges changes;
    for (const auto& [path, value] : point.settings.items()) {
        changes.emplace_back(path, value);
    }
    const auto rank = [](const std::string& path) {
        return path.ends_with(".kind") || path.ends_with(".family") || path == "precision.policy" ? 1
            : path.find('.') == std::string::npos                                                 ? 0
                                                                                                  : 2;
    };
    std::ranges::stable_sort(changes, {}, [&rank](const auto& change) { return rank(change.first); });
    return changes;
}

} // namespace

Sweep parseSweep(std::string_view text, const std::string& source, const fs::path& directory, std::size_t mostRuns)
{
    const DocumentPlace place {source, ""};
    const nlohmann::json document = parseJson(text, source);
    checkKeys(document, place);
    Sweep sweep;
    sweep.name = nameAt(document, place);
    if (sweep.name.empty()) {
        sweep.name = fs::path(source).stem().string();
    }
    sweep.text = optionalTextAt(document, "text", place);
    sweep.experiment = experimentOf(document, place, directory);
    chooseLanes(sweep.experiment, document, place);
    const auto grid = readGrid(document, place);
    const std::vector<Part> list = readList(document, place);
    if (grid.empty() && !document.contains("list")) {
        failAt(place, "grid", "is missing, and so is \"list\"; a sweep has at least one of them");
    }
    checkOverlap(grid, list, place);
    const std::size_t count = countPoints(grid, list, sweep.experiment.lanes.size(), mostRuns, place);
    const std::string id = identityOf(sweep.name, sweep.experiment);
    for (std::size_t i = 0; i < count; ++i) {
        SweepPoint point {sweep.name, id, static_cast<int>(i) + 1, static_cast<int>(count), {}, {}};
        std::size_t rest = i;
        point.settings = nlohmann::json::object();
        for (auto axis = grid.rbegin(); axis != grid.rend(); ++axis) {
            point.settings.update(axis->second[rest % axis->second.size()].settings);
            rest /= axis->second.size();
        }
        point.variant = list[rest].name;
        point.settings.update(list[rest].settings);
        try {
            static_cast<void>(experimentAt(sweep, point));
        } catch (const Error& error) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("{}{}point {} ({}): {}", source, source.empty() ? "" : ": ", point.number, describe(point),
                    error.what()));
        }
        sweep.points.push_back(std::move(point));
    }
    return sweep;
}

Sweep loadSweep(const fs::path& file)
{
    return parseSweep(readJsonText(file, "a sweep (.json)"), file.string(), file.parent_path());
}

nlohmann::json composeSweep(const std::string& name, const Experiment& experiment,
    const std::vector<std::string>& lanes, const nlohmann::json& grid)
{
    Experiment base = experiment;
    base.expect = nlohmann::json::array();
    base.claim.reset();
    keepLanes(base, lanes);
    for (LaneConfig& lane : base.lanes) {
        if (!lane.data.path.empty()) {
            lane = withOverrides(
                lane, {{"data.path", fs::absolute(experiment.directory / lane.data.path).lexically_normal().string()}});
        }
    }
    return {{"mantissa_sweep", fileVersion}, {"name", name}, {"experiment", composeExperiment(base)}, {"grid", grid}};
}

Experiment experimentAt(const Sweep& sweep, const SweepPoint& point)
{
    Experiment experiment = sweep.experiment;
    changeLanes(experiment, changesAt(point));
    checkEvents(experiment.events, experiment.lanes, "");
    experiment.document = composeExperiment(experiment);
    return experiment;
}

} // namespace mantissa
