#include "engine/store/sweep_point.h"

namespace mantissa {

namespace {

void addSingle(
    const std::string& path, const nlohmann::json& value, std::vector<std::pair<std::string, nlohmann::json>>& into)
{
    if (!value.is_object() || value.empty()) {
        into.emplace_back(path, value);
        return;
    }
    for (const auto& [key, inner] : value.items()) {
        addSingle(path + "." + key, inner, into);
    }
}

std::vector<std::string> wordsOf(const SweepPoint& point)
{
    std::vector<std::string> words;
    if (!point.variant.empty()) {
        words.push_back(point.variant);
    }
    for (const auto& [path, value] : singleSettings(point)) {
        words.push_back(path + "=" + settingText(value));
    }
    return words;
}

} // namespace

nlohmann::json sweepPointAsJson(const SweepPoint& point)
{
    nlohmann::json json {{"name", point.sweep}, {"id", point.id}, {"point", point.number}, {"points", point.count},
        {"set", point.settings}};
    if (!point.variant.empty()) {
        json["variant"] = point.variant;
    }
    return json;
}

std::optional<SweepPoint> sweepPointFromJson(const nlohmann::json& json)
{
    try {
        SweepPoint point {json.at("name"), json.at("id"), json.at("point"), json.at("points"),
            json.value("variant", std::string()), json.at("set")};
        return point.settings.is_object() ? std::optional(std::move(point)) : std::nullopt;
    } catch (const nlohmann::json::exception&) {
        return std::nullopt;
    }
}

std::vector<std::pair<std::string, nlohmann::json>> singleSettings(const SweepPoint& point)
{
    std::vector<std::pair<std::string, nlohmann::json>> settings;
    for (const auto& [path, value] : point.settings.items()) {
        addSingle(path, value, settings);
    }
    return settings;
}

std::string settingText(const nlohmann::json& value)
{
    return value.is_null()  ? "none"
        : value.is_string() ? value.get<std::string>()
                            : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string describe(const SweepPoint& point)
{
    std::string text;
    for (const std::string& word : wordsOf(point)) {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

std::vector<std::string> tagsOf(const SweepPoint& point)
{
    std::vector<std::string> tags = wordsOf(point);
    tags.insert(tags.begin(), "sweep " + point.sweep);
    return tags;
}

} // namespace mantissa
