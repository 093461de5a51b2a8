#include "engine/store/replay.h"

#include "engine/train/experiment.h"

#include <algorithm>

namespace mantissa {

namespace {

using nlohmann::json;

json changeOf(const std::string& lane, std::int64_t step, const std::string& path, const json& value)
{
    return {{"step", step}, {"lane", lane}, {"set", {{path, value}}}};
}

bool alreadyHappened(const ReplaySource& source, std::int64_t step, const std::string& path)
{
    return std::any_of(source.events.begin(), source.events.end(), [&](const Event& event) {
        return event.kind == EventKind::Set && event.scripted && event.step == step && event.path == path;
    });
}

/// Scripted changes that the run did not reach.
void appendUnreached(json& events, const ReplaySource& source)
{
    for (const json& scripted : source.experiment.value("events", json::array())) {
        const auto step = scripted.value("step", std::int64_t {0});
        const std::string lane = scripted.value("lane", std::string());
        if (step < source.nextStep || (!lane.empty() && lane != source.lane)) {
            continue;
        }
        const json changes = scripted.value("set", json::object());
        for (const auto& [path, value] : changes.items()) {
            if (!alreadyHappened(source, step, path)) {
                events.push_back(changeOf(source.lane, step, path, value));
            }
        }
    }
}

/// A run that ended early is replayed to where it ended, not on to its planned end.
void appendEarlyEnd(json& events, const json& settings, const ReplaySource& source)
{
    json planned = settings.value("steps", LaneConfig().steps);
    for (const json& event : events) {
        planned = event["set"].value("steps", planned);
    }
    if (source.nextStep > 0 && source.nextStep < planned.get<std::int64_t>()) {
        events.push_back(changeOf(source.lane, source.nextStep, "steps", source.nextStep));
    }
}

} // namespace

nlohmann::json replayDocument(const ReplaySource& source)
{
    json document = source.settings.is_object() ? source.settings : json::object();
    for (const char* key : {"lanes", "events", "expect", "color"}) {
        document.erase(key);
    }
    json lane = {{"name", source.lane}};
    if (!source.color.empty()) {
        lane["color"] = source.color;
    }
    json events = json::array();
    for (const Event& event : source.events) {
        if (event.kind == EventKind::Set) {
            const json value = json::parse(event.after, nullptr, false);
            events.push_back(
                changeOf(source.lane, event.step, event.path, value.is_discarded() ? json(event.after) : value));
        }
    }
    appendEarlyEnd(events, document, source);
    appendUnreached(events, source);
    document["mantissa"] = 1;
    document["name"] = source.experimentName;
    document["text"] = source.experiment.value("text", std::string());
    document["lanes"] = json::array({std::move(lane)});
    document["events"] = std::move(events);
    return document;
}

} // namespace mantissa
