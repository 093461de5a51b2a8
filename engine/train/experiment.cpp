#include "engine/train/experiment.h"

#include "engine/autocast/policy.h"
#include "engine/core/error.h"
#include "engine/core/json_file.h"
#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/core/text.h"
#include "engine/train/expectation.h"
#include "engine/train/fault.h"
#include "engine/train/lane_document.h"
#include "engine/train/setting_checks.h"
#include "engine/train/setting_rows.h"
#include "engine/train/setting_table.h"
#include "engine/train/watchpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace mantissa {

namespace {

constexpr int fileVersion = 1;
constexpr std::size_t mostLanes = 64;
constexpr std::size_t mostEvents = 10000;
constexpr std::size_t mostWatchpoints = 100;
constexpr std::size_t longestName = 200;

const std::vector<std::string>& experimentKeys()
{
    static const std::vector<std::string> keys {
        "mantissa", "name", "text", "claim", "lanes", "events", "watch", "expect"};
    return keys;
}

std::vector<std::string> namesOf(const std::vector<LaneConfig>& lanes)
{
    std::vector<std::string> names;
    for (const LaneConfig& lane : lanes) {
        names.push_back(lane.name);
    }
    return names;
}

bool isExperimentKey(const std::string& key)
{
    return std::find(experimentKeys().begin(), experimentKeys().end(), key) != experimentKeys().end();
}

void checkVersion(const nlohmann::json& document, const DocumentPlace& place)
{
    if (!document.is_object()) {
        failAt(place, "",
            fmt::format(
                "the file holds {}; an experiment is an object that begins with \"mantissa\": 1", shortText(document)));
    }
    const auto version = document.find("mantissa");
    if (version == document.end() && document.contains("mantissa_lesson")) {
        failAt(place, "", "the file is a lesson, not an experiment; verify takes both, and the window opens both");
    }
    if (version == document.end() && document.contains("mantissa_sweep")) {
        failAt(place, "",
            "the file is a sweep, not an experiment; \"mantissa-cli sweep\" trains it, and so does the window's Sweep "
            "tab");
    }
    if (version == document.end()) {
        failAt(place, "mantissa", "is missing; an experiment begins with \"mantissa\": 1");
    }
    const auto number = integerOf<std::int64_t>(*version);
    if (number && *number > fileVersion) {
        failAt(place, "mantissa",
            fmt::format(
                "is {}: the file was written for a newer Mantissa; this one reads version {}", *number, fileVersion));
    }
    if (number != fileVersion) {
        failAt(place, "mantissa", fmt::format("is {}; it must be {}", shortText(*version), fileVersion));
    }
}

void checkLaneName(const nlohmann::json& document, const DocumentPlace& place)
{
    const auto name = document.find("name");
    if (name == document.end()) {
        failAt(place, "name", "is missing; each lane needs a name of its own");
    }
    if (!name->is_string() || !isOneLine(name->get_ref<const std::string&>(), longestName)) {
        failAt(place, "name",
            fmt::format("is {}; it must be a text of 1 to {} bytes in one line", shortText(*name), longestName));
    }
}

/// Reads a checked document and checks its settings against each other. A fault is reported at `patch`'s place if the
/// patch names the setting, else at `place`.
LaneConfig readChecked(const nlohmann::json& merged, const DocumentPlace& place, const nlohmann::json& patch = {},
    const DocumentPlace& patchPlace = {})
{
    LaneConfig lane = readLane(merged);
    if (const auto fault = findFault(lane)) {
        const DocumentPlace& where = valueAt(patch, fault->path) != nullptr ? patchPlace : place;
        failAt(where, fault->path, fmt::format("{} (lane \"{}\")", fault->text, lane.name));
    }
    return lane;
}

std::vector<LaneConfig> readLanes(
    const nlohmann::json& document, const nlohmann::json& base, const DocumentPlace& place)
{
    const auto lanes = document.find("lanes");
    if (lanes == document.end() || (lanes->is_array() && lanes->empty())) {
        return {readChecked(base, place)};
    }
    if (!lanes->is_array() || lanes->size() > mostLanes) {
        failAt(
            place, "lanes", fmt::format("is {}; it must be a list of at most {} lanes", shortText(*lanes), mostLanes));
    }
    std::vector<LaneConfig> result;
    std::set<std::string> names;
    for (std::size_t i = 0; i < lanes->size(); ++i) {
        const nlohmann::json& patch = lanes->at(i);
        if (!patch.is_object()) {
            failAt(place, fmt::format("lanes[{}]", i),
                fmt::format("is {}; it must be an object with a name", shortText(patch)));
        }
        const DocumentPlace patchPlace {place.source, fmt::format("lanes[{}].", i)};
        checkLaneName(patch, patchPlace);
        checkSettings(patch, DocumentUse::Patch, patchPlace);
        if (!names.insert(patch.at("name").get<std::string>()).second) {
            failAt(patchPlace, "name",
                fmt::format("is {}, which another lane has already; each needs its own", shortText(patch.at("name"))));
        }
        nlohmann::json merged = base;
        mergeSettings(merged, patch);
        result.push_back(readChecked(merged, place, patch, patchPlace));
    }
    return result;
}

ScriptedEvent readEvent(const nlohmann::json& document, const DocumentPlace& place)
{
    static const std::vector<std::string> keys {"step", "lane", "set"};
    for (const auto& [key, value] : document.items()) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
            failAt(place, key,
                fmt::format("is not a key of an event (its value: {}); {}", shortText(value), suggestion(key, keys)));
        }
    }
    ScriptedEvent event;
    const auto step = document.contains("step") ? integerOf<std::int64_t>(document.at("step")) : std::nullopt;
    if (!step || *step < 0) {
        failAt(place, "step",
            document.contains("step")
                ? fmt::format("is {}; it must be an integer from 0", shortText(document.at("step")))
                : "is missing; an event happens before the step that it names");
    }
    event.step = *step;
    event.lane = optionalTextAt(document, "lane", place);
    if (!document.contains("set") || !document.at("set").is_object() || document.at("set").empty()) {
        failAt(place, "set", "is missing or empty; it must be an object like {\"optimizer.lr\": 0.01}");
    }
    for (const auto& [path, value] : document.at("set").items()) {
        event.set.emplace_back(path, value);
    }
    return event;
}

std::vector<ScriptedEvent> readEvents(const nlohmann::json& document, const DocumentPlace& place)
{
    const auto events = document.find("events");
    if (events == document.end()) {
        return {};
    }
    if (!events->is_array() || events->size() > mostEvents) {
        failAt(place, "events",
            fmt::format("is {}; it must be a list of at most {} events", shortText(*events), mostEvents));
    }
    std::vector<ScriptedEvent> result;
    for (std::size_t i = 0; i < events->size(); ++i) {
        if (!events->at(i).is_object()) {
            failAt(place, fmt::format("events[{}]", i),
                fmt::format("is {}; it must be an object with step, lane and set", shortText(events->at(i))));
        }
        result.push_back(readEvent(events->at(i), {place.source, fmt::format("events[{}].", i)}));
    }
    return result;
}

std::vector<Watchpoint> readWatchpoints(
    const nlohmann::json& document, const std::vector<LaneConfig>& lanes, const DocumentPlace& place)
{
    const auto list = document.find("watch");
    if (list == document.end()) {
        return {};
    }
    if (!list->is_array() || list->size() > mostWatchpoints) {
        failAt(place, "watch",
            fmt::format("is {}; it must be a list of at most {} watchpoints", shortText(*list), mostWatchpoints));
    }
    std::vector<Watchpoint> result;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const std::string prefix = fmt::format("watch[{}].", i);
        result.push_back(readWatchpoint(list->at(i), place.source, prefix));
        checkWatchpoint(result.back(), lanes, place.source, prefix);
    }
    return result;
}

/// Throws unless the setting, or every setting in the section, may change while a lane trains.
void checkLive(const std::string& path, const nlohmann::json& value)
{
    const Setting* row = findSetting(path);
    if (row != nullptr && !row->live) {
        failAt({}, path, "needs a new lane: it cannot change while a lane trains");
    }
    if (row == nullptr && isSection(path) && value.is_object()) {
        for (const auto& [key, inner] : value.items()) {
            checkLive(path + "." + key, inner);
        }
    }
    if (row == nullptr && isSection(path) && value.is_null() && path != "scaler") {
        for (const std::string& key : keysOf(path)) {
            checkLive(path + "." + key, {});
        }
    }
}

std::vector<std::string> faultPaths()
{
    std::vector<std::string> paths;
    for (const FaultInfo& fault : faultTable()) {
        paths.emplace_back(fault.path);
    }
    return paths;
}

void checkState(const LaneConfig& lane, const std::string& path, const nlohmann::json& value)
{
    if (path.starts_with("fault.")) {
        const FaultInfo* fault = faultNamed(path);
        const std::string wrong
            = fault == nullptr ? "is no fault; " + suggestion(path, faultPaths()) : faultProblem(lane, *fault, value);
        if (!wrong.empty()) {
            failAt({}, path, wrong);
        }
        return;
    }
    if (!lane.scaler || lane.scaler->family == "none") {
        failAt({}, path, fmt::format("cannot be set: lane \"{}\" has no scaler", lane.name));
    }
    if (path == "scaler.scale") {
        constexpr Range<double> scales {0, std::numeric_limits<float>::max(), false};
        if (!value.is_number() || !scales.holds(value.get<double>())) {
            failAt({}, path, rows::problem(value, "a number", scales.text()));
        }
    } else {
        constexpr Range<std::int64_t> counts {0, 1'000'000'000};
        const auto count = integerOf<std::int64_t>(value);
        if (!count || !counts.holds(*count)) {
            failAt({}, path, rows::problem(value, "an integer", counts.text()));
        }
    }
}

/// Changes one setting of the lane's document; what settings need of each other is not checked yet.
void patchSetting(nlohmann::json& document, const std::string& path, const nlohmann::json& value)
{
    if (path == "name") {
        failAt({}, path, "cannot change: events and records know the lane by it");
    }
    const bool inScaler = path.compare(0, 7, "scaler.") == 0;
    if (inScaler && path != "scaler.family" && !document.contains("scaler") && findSetting(path) != nullptr) {
        failAt({}, path,
            fmt::format("cannot be set: lane \"{}\" has no scaler; set scaler.family first",
                document.value("name", std::string())));
    }
    const nlohmann::json patch = nestedAt(path, value);
    checkSettings(patch, DocumentUse::Patch, {});
    if (patch.contains("clip") && !document.value("clip", nlohmann::json::object()).contains("order")) {
        // Setting a threshold alone must not be mistaken for a forgotten order.
        document["clip"]["order"] = "off";
    }
    mergeSettings(document, patch);
}

nlohmann::json common(const nlohmann::json& a, const nlohmann::json& b)
{
    nlohmann::json result = nlohmann::json::object();
    for (const auto& [key, value] : a.items()) {
        const auto other = b.find(key);
        if (other == b.end()) {
            continue;
        }
        if (value.is_object() && other->is_object()) {
            nlohmann::json inner = common(value, *other);
            if (!inner.empty()) {
                result[key] = std::move(inner);
            }
        } else if (value == *other) {
            result[key] = value;
        }
    }
    return result;
}

/// What `document` has beyond `base`, which it contains.
nlohmann::json beyond(const nlohmann::json& document, const nlohmann::json& base)
{
    nlohmann::json result = nlohmann::json::object();
    for (const auto& [key, value] : document.items()) {
        const auto shared = base.find(key);
        if (shared == base.end()) {
            result[key] = value;
        } else if (value.is_object()) {
            nlohmann::json inner = beyond(value, *shared);
            if (!inner.empty()) {
                result[key] = std::move(inner);
            }
        }
    }
    return result;
}

nlohmann::json composeEvents(const std::vector<ScriptedEvent>& events)
{
    nlohmann::json list = nlohmann::json::array();
    const auto add = [&](const ScriptedEvent& event, nlohmann::json set) {
        nlohmann::json entry = {{"step", event.step}, {"set", std::move(set)}};
        if (!event.lane.empty()) {
            entry["lane"] = event.lane;
        }
        list.push_back(std::move(entry));
    };
    for (const ScriptedEvent& event : events) {
        const bool ordered = std::adjacent_find(event.set.begin(), event.set.end(), [](const auto& a, const auto& b) {
            return a.first >= b.first;
        }) == event.set.end();
        nlohmann::json all = nlohmann::json::object();
        for (const auto& [path, value] : event.set) {
            all[path] = value;
            if (!ordered) {
                // A JSON object would apply them in the order of their names.
                add(event, nlohmann::json::object({{path, value}}));
            }
        }
        if (ordered) {
            add(event, std::move(all));
        }
    }
    return list;
}

/// The expectations that name these lanes alone.
nlohmann::json expectationsOf(const nlohmann::json& expect, const std::vector<std::string>& lanes)
{
    nlohmann::json kept = nlohmann::json::array();
    for (const nlohmann::json& expectation : expect) {
        const auto namesLane = [&](const char* side) {
            const nlohmann::json& measure = expectation.at(side);
            return !measure.is_object()
                || std::find(lanes.begin(), lanes.end(), measure.at("lane").get<std::string>()) != lanes.end();
        };
        if (namesLane("left") && namesLane("right")) {
            kept.push_back(expectation);
        }
    }
    return kept;
}

} // namespace

PrecisionConfig defaultPrecision(const std::string& policy)
{
    PrecisionConfig precision;
    precision.policy = policy;
    precision.weights = policyNamed(policy).weights == DType::Float32 ? "master" : "half";
    return precision;
}

Experiment parseExperiment(std::string_view text, const std::string& source)
{
    const DocumentPlace place {source, ""};
    Experiment experiment;
    experiment.document = parseJson(text, source);
    const nlohmann::json& document = experiment.document;
    checkVersion(document, place);

    nlohmann::json base = nlohmann::json::object();
    for (const auto& [key, value] : document.items()) {
        if (key == "color") {
            failAt(place, key, "belongs into a lane");
        }
        if (!isExperimentKey(key)) {
            base[key] = value;
        }
    }
    checkSettings(base, DocumentUse::Complete, place, experimentKeys());
    if (valueAt(base, "scaler.family") != nullptr) {
        // A lane of another family drops what does not fit it: a wrong key must not go unnoticed that way.
        if (const auto fault = findScalerFault(*readLane(base).scaler)) {
            failAt(place, "scaler." + fault->key, fault->text);
        }
    }
    experiment.name = optionalTextAt(document, "name", place);
    experiment.text = optionalTextAt(document, "text", place);
    experiment.lanes = readLanes(document, base, place);
    experiment.events = readEvents(document, place);
    checkEvents(experiment.events, experiment.lanes, source);
    experiment.watchpoints = readWatchpoints(document, experiment.lanes, place);
    if (const auto claim = document.find("claim"); claim != document.end()) {
        experiment.claim = readClaim(*claim, source);
    }
    if (const auto expect = document.find("expect"); expect != document.end()) {
        checkLayers(readExpectations(*expect, namesOf(experiment.lanes), source), experiment.lanes, source);
        experiment.expect = *expect;
    }
    return experiment;
}

Experiment loadExperiment(const std::filesystem::path& file)
{
    Experiment experiment = parseExperiment(readJsonText(file, "an experiment file (.json)"), file.string());
    experiment.directory = file.parent_path();
    return experiment;
}

LaneConfig parseLane(const nlohmann::json& merged, const std::string& source)
{
    const DocumentPlace place {source, ""};
    if (!merged.is_object()) {
        failAt(place, "", fmt::format("the lane is {}; it must be an object", shortText(merged)));
    }
    if (merged.contains("name")) {
        checkLaneName(merged, place);
    }
    checkSettings(merged, DocumentUse::Complete, place);
    return readChecked(merged, place);
}

LaneConfig withSetting(const LaneConfig& lane, const std::string& path, const nlohmann::json& value)
{
    if (isStatePath(path)) {
        checkState(lane, path, value);
        return lane;
    }
    checkLive(path, value);
    nlohmann::json document = documentOf(lane);
    patchSetting(document, path, value);
    return readChecked(document, {});
}

LaneConfig withOverrides(const LaneConfig& lane, const std::vector<std::pair<std::string, nlohmann::json>>& values)
{
    nlohmann::json document = documentOf(lane);
    for (const auto& [path, value] : values) {
        if (isStatePath(path)) {
            failAt({}, path,
                path.starts_with("fault.")
                    ? "happens at a step; put it into the experiment's events: {\"step\": 10, \"set\": {...}}"
                    : "is state of a running scaler, not a setting; did you mean \"scaler.init_scale\"?");
        }
        patchSetting(document, path, value);
    }
    return readChecked(document, {});
}

void checkEvents(
    const std::vector<ScriptedEvent>& events, const std::vector<LaneConfig>& lanes, const std::string& source)
{
    std::vector<std::size_t> order(events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        order[i] = i;
    }
    std::stable_sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return events[a].step < events[b].step; });
    std::vector<LaneConfig> present = lanes;
    const std::vector<std::string> names = namesOf(lanes);
    for (const std::size_t i : order) {
        const ScriptedEvent& event = events[i];
        const DocumentPlace place {source, fmt::format("events[{}].", i)};
        if (!event.lane.empty() && std::find(names.begin(), names.end(), event.lane) == names.end()) {
            failAt(place, "lane",
                fmt::format(
                    "is {}, but no lane has that name; {}", shortText(event.lane), suggestion(event.lane, names)));
        }
        for (LaneConfig& lane : present) {
            if (!event.lane.empty() && lane.name != event.lane) {
                continue;
            }
            for (const auto& [path, value] : event.set) {
                try {
                    lane = withSetting(lane, path, value);
                } catch (const Error& error) {
                    throw Error(ErrorCode::InvalidArgument,
                        fmt::format("{}{}{}set.{}", source, source.empty() ? "" : ": ", place.prefix, error.what()));
                }
            }
        }
    }
}

nlohmann::json composeExperiment(const Experiment& experiment)
{
    nlohmann::json base = nlohmann::json::object();
    std::vector<nlohmann::json> documents;
    for (const LaneConfig& lane : experiment.lanes) {
        documents.push_back(documentOf(lane));
        nlohmann::json shareable = documents.back();
        shareable.erase("name");
        shareable.erase("color");
        base = documents.size() == 1 ? std::move(shareable) : common(base, shareable);
    }
    nlohmann::json result = base;
    result["mantissa"] = fileVersion;
    result["name"] = experiment.name;
    result["text"] = experiment.text;
    if (experiment.claim) {
        result["claim"] = claimAsJson(*experiment.claim);
    }
    result["lanes"] = nlohmann::json::array();
    for (const nlohmann::json& document : documents) {
        result["lanes"].push_back(beyond(document, base));
    }
    result["events"] = composeEvents(experiment.events);
    result["expect"] = expectationsOf(experiment.expect, namesOf(experiment.lanes));
    for (const Watchpoint& watchpoint : experiment.watchpoints) {
        result["watch"].push_back(writeWatchpoint(watchpoint));
    }
    return result;
}

} // namespace mantissa
