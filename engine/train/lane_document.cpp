#include "engine/train/lane_document.h"

#include "engine/core/error.h"
#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/core/text.h"
#include "engine/train/setting_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa {

namespace {

/// Advice for a key that does not exist: a near one beside it, or the same key in another section.
std::string adviceFor(const std::string& key, const std::vector<std::string>& siblings)
{
    if (nearestName(key, siblings).empty()) {
        for (const Setting& row : settingTable()) {
            const std::size_t dot = row.path.find('.');
            if (dot != std::string::npos && row.path.substr(dot + 1) == key) {
                return "did you mean \"" + row.path + "\"?";
            }
        }
    }
    return suggestion(key, siblings);
}

nlohmann::json withoutNulls(nlohmann::json object)
{
    for (auto entry = object.begin(); entry != object.end();) {
        entry = entry.value().is_null() ? object.erase(entry) : std::next(entry);
    }
    return object;
}

/// Walks one section of a document; `scratch` takes the values, which are only checked here.
struct SettingWalk
{
    DocumentUse use;
    const DocumentPlace& place;
    const std::vector<std::string>& otherKeys;
    LaneConfig scratch;

    void check(const nlohmann::json& object, const std::string& section)
    {
        for (const auto& [key, value] : object.items()) {
            const bool elsewhere
                = section.empty() && std::find(otherKeys.begin(), otherKeys.end(), key) != otherKeys.end();
            if (!elsewhere) {
                checkValue(section.empty() ? key : section + "." + key, key, section, value);
            }
        }
    }

    void checkValue(
        const std::string& path, const std::string& key, const std::string& section, const nlohmann::json& value)
    {
        const Setting* row = key.find('.') == std::string::npos ? findSetting(path) : nullptr;
        const bool known = row != nullptr || (key.find('.') == std::string::npos && isSection(path));
        if (!known) {
            std::vector<std::string> siblings = keysOf(section);
            if (section.empty()) {
                siblings.insert(siblings.end(), otherKeys.begin(), otherKeys.end());
                std::sort(siblings.begin(), siblings.end());
                siblings.erase(std::unique(siblings.begin(), siblings.end()), siblings.end());
            }
            failAt(place, path,
                fmt::format("is not a setting (its value: {}); {}", shortText(value), adviceFor(key, siblings)));
        }
        if (value.is_null() && use == DocumentUse::Patch) {
            return;
        }
        if (row != nullptr) {
            const std::string wrong
                = row->read(scratch, use == DocumentUse::Patch && value.is_object() ? withoutNulls(value) : value);
            if (!wrong.empty()) {
                failAt(place, path, wrong);
            }
        } else if (!value.is_object()) {
            failAt(place, path,
                fmt::format(
                    "is {}; it must be an object with some of the keys {}", shortText(value), joined(keysOf(path))));
        } else {
            check(value, path);
        }
    }
};

/// All defaults, those included that depend on a lane's kinds.
LaneConfig defaultsFor(const LaneConfig& lane)
{
    LaneConfig defaults;
    defaults.scaler.emplace();
    if (lane.scaler) {
        defaults.scaler->family = lane.scaler->family;
    }
    defaults.optimizer.weightDecay = lane.optimizer.kind == "adamw" ? OptimizerConfig {}.weightDecay : 0.0;
    defaults.model = defaultModel(lane.model.kind);
    defaults.model.kind = ModelConfig {}.kind;
    defaults.precision.weights = defaultPrecision(lane.precision.policy).weights;
    defaults.order = withClip(rightOrder, lane.clip.order);
    return defaults;
}

} // namespace

void failAt(const DocumentPlace& place, const std::string& path, const std::string& text)
{
    const std::string source = place.source.empty() ? "" : place.source + ": ";
    // A key may hold anything; a message stays one readable line.
    constexpr std::size_t longestPath = 200;
    std::string where = place.prefix + path;
    if (where.size() > longestPath) {
        where = where.substr(0, longestPath) + "...";
    }
    const bool isInside = text.starts_with('['); // the text goes on with the path
    throw Error(ErrorCode::InvalidArgument, source + where + (where.empty() || isInside ? "" : " ") + text);
}

std::string optionalTextAt(const nlohmann::json& document, const std::string& key, const DocumentPlace& place)
{
    const auto found = document.find(key);
    if (found == document.end()) {
        return {};
    }
    if (!found->is_string()) {
        failAt(place, key, fmt::format("is {}; it must be a text", shortText(*found)));
    }
    return found->get<std::string>();
}

void checkSettings(const nlohmann::json& document, DocumentUse use, const DocumentPlace& place,
    const std::vector<std::string>& otherKeys)
{
    SettingWalk walk {use, place, otherKeys, {}};
    walk.scratch.scaler.emplace();
    walk.check(document, "");
}

LaneConfig readLane(const nlohmann::json& document)
{
    LaneConfig lane;
    if (document.contains("scaler")) {
        lane.scaler.emplace();
    }
    for (const Setting& row : settingTable()) {
        if (const nlohmann::json* value = valueAt(document, row.path)) {
            const std::string wrong = row.read(lane, *value);
            if (!wrong.empty()) {
                failAt({}, row.path, wrong);
            }
        }
    }
    const LaneConfig defaults = defaultsFor(lane);
    for (const char* path : {"optimizer.weight_decay", "model.activation", "model.width", "model.depth", "model.stages",
             "precision.weights"}) {
        if (valueAt(document, path) == nullptr) {
            const Setting& row = *findSetting(path);
            static_cast<void>(row.read(lane, row.write(defaults)));
        }
    }
    lane.name = document.contains("name") ? document.at("name").get<std::string>() : lane.precision.policy;
    lane.document = document;
    return lane;
}

nlohmann::json documentOf(const LaneConfig& lane)
{
    const LaneConfig defaults = defaultsFor(lane);
    nlohmann::json document = nlohmann::json::object();
    document["name"] = lane.name;
    for (const Setting& row : settingTable()) {
        const nlohmann::json value = row.write(lane);
        // The family stands for the scaler's being there, the order for what a threshold is meant for.
        const bool always
            = row.path == "scaler.family" || (row.path == "clip.order" && (lane.clip.maxNorm || lane.clip.maxValue));
        if (!value.is_null()
            && (always || value != row.write(defaults) || valueAt(lane.document, row.path) != nullptr)) {
            document.merge_patch(nestedAt(row.path, value));
        }
    }
    return document;
}

void mergeSettings(nlohmann::json& document, const nlohmann::json& patch)
{
    const nlohmann::json* family = valueAt(patch, "scaler.family");
    const auto scaler = document.find("scaler");
    if (family != nullptr && scaler != document.end()) {
        const std::string usual = ScalerConfig {}.family;
        const std::string before = scaler->value("family", usual);
        ScalerConfig after = *readLane(nestedAt("scaler", *scaler)).scaler;
        after.family = family->is_null() ? usual : family->get<std::string>();
        while (const auto fault = after.family == before ? std::nullopt : findScalerFault(after)) {
            if (after.parameters.erase(fault->key) == 0) {
                break; // not for want of a parameter of the document's
            }
            scaler->erase(fault->key);
        }
    }
    const nlohmann::json* clip = valueAt(patch, "clip.order");
    const nlohmann::json* order = valueAt(patch, "order");
    document.merge_patch(patch);
    // The later of two that speak of the clipping's place holds.
    if (clip != nullptr && order == nullptr && document.contains("order")) {
        LaneConfig lane = readLane({{"order", document.at("order")}});
        static_cast<void>(findSetting("clip.order")->read(lane, clip->is_null() ? "off" : *clip));
        document["order"] = namesOf(lane.order);
    } else if (order != nullptr && clip == nullptr && valueAt(document, "clip.order") != nullptr
        && *valueAt(document, "clip.order") != "off") {
        const LaneConfig lane = readLane({{"order", order->is_null() ? nlohmann::json(namesOf(rightOrder)) : *order}});
        document["clip"]["order"]
            = clipOrderOf(lane.order) == ClipOrder::UnscaleThenClip ? "unscale-then-clip" : "clip-then-unscale";
    }
}

const nlohmann::json* valueAt(const nlohmann::json& document, const std::string& path)
{
    const nlohmann::json* at = &document;
    for (std::size_t start = 0; start <= path.size();) {
        const std::size_t dot = std::min(path.find('.', start), path.size());
        if (!at->is_object()) {
            return nullptr;
        }
        const auto found = at->find(path.substr(start, dot - start));
        if (found == at->end()) {
            return nullptr;
        }
        at = &*found;
        start = dot + 1;
    }
    return at;
}

nlohmann::json nestedAt(const std::string& path, const nlohmann::json& value)
{
    static const std::string overrides = "precision.overrides.";
    if (path.compare(0, overrides.size(), overrides) == 0) {
        const nlohmann::json entry = {{path.substr(overrides.size()), value}};
        return {{"precision", {{"overrides", entry}}}};
    }
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) {
        return nlohmann::json::object({{path, value}});
    }
    return nestedAt(path.substr(0, dot), nlohmann::json::object({{path.substr(dot + 1), value}}));
}

} // namespace mantissa
