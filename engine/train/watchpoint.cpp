#include "engine/train/watchpoint.h"

#include "engine/core/nearest_name.h"
#include "engine/graph/graph.h"
#include "engine/train/lane_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace mantissa {

namespace {

constexpr std::array<std::string_view, 4> actionNames {"pause", "snapshot", "fork", "set"};

std::string textIn(const nlohmann::json& document, const std::string& key, const DocumentPlace& place)
{
    const auto found = document.find(key);
    if (found == document.end()) {
        return {};
    }
    if (!found->is_string()) {
        failAt(place, key, fmt::format("is {}; it must be a text", found->dump()));
    }
    return found->get<std::string>();
}

void readAction(const nlohmann::json& action, const DocumentPlace& place, Watchpoint& into)
{
    const std::string choices = R"("pause", "snapshot", "fork" or {"set": {"optimizer.lr": 0.01}})";
    if (action.is_object()) {
        const auto set = action.find("set");
        if (action.size() != 1 || set == action.end() || !set->is_object() || set->empty()) {
            failAt(place, "do", fmt::format("is {}; it must be {}", action.dump(), choices));
        }
        into.action = WatchAction::Set;
        for (const auto& [path, value] : set->items()) {
            into.set.emplace_back(path, value);
        }
        return;
    }
    const auto found
        = action.is_string() ? std::ranges::find(actionNames, action.get_ref<const std::string&>()) : actionNames.end();
    if (found == actionNames.end() || *found == nameOf(WatchAction::Set)) {
        failAt(place, "do", fmt::format("is {}; it must be {}", action.dump(), choices));
    }
    into.action = static_cast<WatchAction>(found - actionNames.begin());
}

} // namespace

std::string_view nameOf(WatchAction action)
{
    return actionNames.at(static_cast<std::size_t>(action));
}

Watchpoint readWatchpoint(const nlohmann::json& document, const std::string& source, const std::string& prefix)
{
    const DocumentPlace place {source, prefix};
    static const std::vector<std::string> keys {"when", "do", "lane", "on"};
    if (!document.is_object()) {
        failAt(place, "", fmt::format("is {}; it must be an object with when and do", document.dump()));
    }
    for (const auto& [key, value] : document.items()) {
        if (std::ranges::find(keys, key) == keys.end()) {
            failAt(place, key,
                fmt::format("is not a key of a watchpoint (its value: {}); {}", value.dump(), suggestion(key, keys)));
        }
    }
    Watchpoint watchpoint {.when = textIn(document, "when", place)};
    if (watchpoint.when.empty()) {
        failAt(place, "when", "is missing; it must be a condition like \"scale < 1\"");
    }
    try {
        static_cast<void>(WatchExpression(watchpoint.when));
    } catch (const WatchSyntaxError& error) {
        failAt(place, "when", fmt::format("is {}: {}", nlohmann::json(watchpoint.when).dump(), error.what()));
    }
    if (const auto action = document.find("do"); action != document.end()) {
        readAction(*action, place, watchpoint);
    }
    watchpoint.lane = textIn(document, "lane", place);
    if (const auto on = document.find("on"); on != document.end()) {
        if (!on->is_boolean()) {
            failAt(place, "on", fmt::format("is {}; it must be true or false", on->dump()));
        }
        watchpoint.isOn = on->get<bool>();
    }
    return watchpoint;
}

nlohmann::json writeWatchpoint(const Watchpoint& watchpoint)
{
    nlohmann::json document {{"when", watchpoint.when}, {"do", nameOf(watchpoint.action)}};
    if (watchpoint.action == WatchAction::Set) {
        nlohmann::json set = nlohmann::json::object();
        for (const auto& [path, value] : watchpoint.set) {
            set[path] = value;
        }
        document["do"] = {{"set", std::move(set)}};
    }
    if (!watchpoint.lane.empty()) {
        document["lane"] = watchpoint.lane;
    }
    if (!watchpoint.isOn) {
        document["on"] = false;
    }
    return document;
}

void checkWatchpoint(const Watchpoint& watchpoint, const std::vector<LaneConfig>& lanes, const std::string& source,
    const std::string& prefix)
{
    const DocumentPlace place {source, prefix};
    std::vector<std::string> names;
    for (const LaneConfig& lane : lanes) {
        names.push_back(lane.name);
    }
    if (!watchpoint.lane.empty() && std::ranges::find(names, watchpoint.lane) == names.end()) {
        failAt(place, "lane",
            fmt::format(
                "is \"{}\", but no lane has that name; {}", watchpoint.lane, suggestion(watchpoint.lane, names)));
    }
    for (const LaneConfig& lane : lanes) {
        if (!watchpoint.lane.empty() && watchpoint.lane != lane.name) {
            continue;
        }
        LaneConfig changed = lane;
        for (const auto& [path, value] : watchpoint.set) {
            try {
                changed = withSetting(changed, path, value);
            } catch (const Error& error) {
                throw Error(ErrorCode::InvalidArgument,
                    fmt::format("{}{}{}do.set.{}", source, source.empty() ? "" : ": ", prefix, error.what()));
            }
        }
    }
}

bool belongsTo(std::string_view parameter, std::string_view layer)
{
    return parameter.starts_with(layer) && (parameter.size() == layer.size() || parameter[layer.size()] == '.');
}

std::vector<std::string> layersOf(const Graph& graph)
{
    std::set<std::string> known;
    std::vector<std::string> layers;
    for (const Value& value : graph.values()) {
        if (value.kind != ValueKind::Parameter) {
            continue;
        }
        for (std::size_t dot = value.name.find('.'); dot != std::string::npos; dot = value.name.find('.', dot + 1)) {
            std::string layer = value.name.substr(0, dot);
            if (known.insert(layer).second) {
                layers.push_back(std::move(layer));
            }
        }
    }
    return layers;
}

void checkLayers(const WatchExpression& expression, const Graph& graph)
{
    for (const auto& [layer, column] : expression.layers()) {
        const bool isKnown = std::ranges::any_of(graph.values(), [&layer = layer](const Value& value) {
            return value.kind == ValueKind::Parameter && belongsTo(value.name, layer);
        });
        if (!isKnown) {
            throw WatchSyntaxError(column,
                fmt::format(
                    "column {}: the model has no layer \"{}\"; {}", column, layer, suggestion(layer, layersOf(graph))));
        }
    }
}

LaneWatch::LaneWatch(const std::vector<Watchpoint>& watchpoints, const std::string& lane, const Graph& graph,
    bool isCopy, const LaneWatch* before)
    : m_isCopy(isCopy)
{
    for (std::size_t i = 0; i < watchpoints.size(); ++i) {
        const Watchpoint& watchpoint = watchpoints[i];
        const bool isWatched = watchpoint.isOn && (watchpoint.lane.empty() || watchpoint.lane == lane)
            && (!isCopy || watchpoint.action != WatchAction::Fork);
        if (!isWatched) {
            continue;
        }
        m_watched.push_back({i, watchpoint.when, WatchExpression(watchpoint.when)});
        Watched& watched = m_watched.back();
        checkLayers(watched.expression, graph);
        if (before != nullptr) {
            const auto same = std::ranges::find(before->m_watched, watchpoint.when, &Watched::when);
            if (same != before->m_watched.end()) {
                watched.expression = same->expression;
                watched.wasTrue = same->wasTrue;
            }
        }
    }
}

std::vector<WatchFiring> LaneWatch::next(const StepRecord& record, const LayerSharesOf& sharesOf)
{
    std::vector<WatchFiring> firings;
    for (Watched& watched : m_watched) {
        const bool isTrue = watched.expression.next(record, sharesOf);
        if (isTrue && !watched.wasTrue) {
            firings.push_back({watched.watchpoint, watched.expression.values()});
        }
        watched.wasTrue = isTrue;
    }
    return firings;
}

std::vector<std::string> LaneWatch::trueConditions() const
{
    std::vector<std::string> conditions;
    for (const Watched& watched : m_watched) {
        if (watched.wasTrue) {
            conditions.push_back(watched.when);
        }
    }
    return conditions;
}

void LaneWatch::noteTrue(const std::vector<std::string>& conditions)
{
    for (Watched& watched : m_watched) {
        watched.wasTrue = watched.wasTrue || std::ranges::find(conditions, watched.when) != conditions.end();
    }
}

std::string textOf(const std::vector<WatchedValue>& values)
{
    std::string text;
    for (const WatchedValue& value : values) {
        text += fmt::format("{}{} = {:.4g}", text.empty() ? "" : ", ", value.text, value.value);
    }
    return text;
}

} // namespace mantissa
