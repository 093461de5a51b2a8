/// Makers of the rows of settingTable(): one per type of value. Private to setting_table.cpp.
#pragma once

#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/core/range.h"
#include "engine/core/text.h"
#include "engine/train/setting_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace mantissa::rows {

enum class Live : bool { No, Yes };

inline std::string problem(const nlohmann::json& value, const std::string& type, const std::string& allowed)
{
    return fmt::format("is {}; it must be {}{}{}", shortText(value), type, allowed.empty() ? "" : " ", allowed);
}

template <typename Field> Setting number(std::string path, Range<double> range, Live live, Field field)
{
    const std::string allowed = range.text();
    return {std::move(path), "a number", allowed, live == Live::Yes,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            if (!value.is_number() || !range.holds(value.get<double>())) {
                return problem(value, "a number", allowed);
            }
            field(lane) = value.get<double>();
            return std::string();
        },
        [=](const LaneConfig& lane) { return nlohmann::json(field(lane)); }};
}

/// A number that need not be there; Field gives a std::optional.
template <typename Field> Setting optionalNumber(std::string path, Range<double> range, Live live, Field field)
{
    const std::string allowed = range.text();
    return {std::move(path), "a number", allowed, live == Live::Yes,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            if (!value.is_number() || !range.holds(value.get<double>())) {
                return problem(value, "a number", allowed);
            }
            field(lane) = value.get<double>();
            return std::string();
        },
        [=](const LaneConfig& lane) { return field(lane) ? nlohmann::json(*field(lane)) : nlohmann::json(); }};
}

template <typename T, typename Field> Setting integer(std::string path, Range<T> range, Live live, Field field)
{
    const std::string allowed = range.text();
    return {std::move(path), "an integer", allowed, live == Live::Yes,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            const std::optional<T> number = integerOf<T>(value);
            if (!number || !range.holds(*number)) {
                return problem(value, "an integer", allowed);
            }
            field(lane) = *number;
            return std::string();
        },
        [=](const LaneConfig& lane) { return nlohmann::json(field(lane)); }};
}

/// At most `most` of them.
template <typename Field>
Setting integers(std::string path, std::size_t most, Range<std::int64_t> range, Live live, Field field)
{
    const std::string type = "a list of integers";
    const std::string allowed = fmt::format("each {}, at most {} of them", range.text(), most);
    return {std::move(path), type, allowed, live == Live::Yes,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            if (!value.is_array() || value.size() > most) {
                return problem(value, type, allowed);
            }
            std::vector<std::int64_t> list;
            for (const nlohmann::json& entry : value) {
                const auto number = integerOf<std::int64_t>(entry);
                if (!number || !range.holds(*number)) {
                    return problem(value, type, allowed);
                }
                list.push_back(*number);
            }
            field(lane) = list;
            return std::string();
        },
        [=](const LaneConfig& lane) { return nlohmann::json(field(lane)); }};
}

template <typename Field> Setting boolean(std::string path, Live live, Field field)
{
    return {std::move(path), "true or false", "", live == Live::Yes,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            if (!value.is_boolean()) {
                return problem(value, "true or false", "");
            }
            field(lane) = value.get<bool>();
            return std::string();
        },
        [=](const LaneConfig& lane) { return nlohmann::json(field(lane)); }};
}

/// What is wrong with a value that must be one of `choices`; empty if nothing is.
inline std::string choiceProblem(const nlohmann::json& value, const std::vector<std::string>& choices)
{
    if (!value.is_string()) {
        return problem(value, "a text, one of", joined(choices));
    }
    const auto text = value.get<std::string>();
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) {
        return {};
    }
    const std::string nearest = nearestName(text, choices);
    return fmt::format("is {}, which does not exist; {}it must be one of {}", shortText(value),
        nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ", joined(choices));
}

template <typename Field> Setting choice(std::string path, std::vector<std::string> choices, Live live, Field field)
{
    return {std::move(path), "a text", "one of " + joined(choices), live == Live::Yes,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            std::string wrong = choiceProblem(value, choices);
            if (wrong.empty()) {
                field(lane) = value.get<std::string>();
            }
            return wrong;
        },
        [=](const LaneConfig& lane) { return nlohmann::json(field(lane)); }};
}

/// A choice stored as an enum: `names` in the order of its values.
template <typename Enum, typename Field>
Setting enumeration(std::string path, std::vector<std::string> names, Live live, Field field)
{
    return {std::move(path), "a text", "one of " + joined(names), live == Live::Yes,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            std::string wrong = choiceProblem(value, names);
            if (wrong.empty()) {
                const auto at = std::find(names.begin(), names.end(), value.get<std::string>());
                field(lane) = static_cast<Enum>(at - names.begin());
            }
            return wrong;
        },
        [=](const LaneConfig& lane) { return nlohmann::json(names.at(static_cast<std::size_t>(field(lane)))); }};
}

/// Free text that `valid` accepts; `allowed` says in words what that is.
template <typename Field, typename Valid>
Setting text(std::string path, std::string allowed, Live live, Field field, Valid valid)
{
    return {std::move(path), "a text", allowed, live == Live::Yes,
        [=](LaneConfig& lane, const nlohmann::json& value) {
            if (!value.is_string() || !valid(value.get_ref<const std::string&>())) {
                return problem(value, "a text", allowed);
            }
            field(lane) = value.get<std::string>();
            return std::string();
        },
        [=](const LaneConfig& lane) { return nlohmann::json(field(lane)); }};
}

} // namespace mantissa::rows
