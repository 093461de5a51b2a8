// Checks of a list of layers as JSON, before anything is built from it.
#include "engine/core/json_text.h"
#include "engine/core/nearest_name.h"
#include "engine/core/text.h"
#include "engine/nn/layer.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa {

namespace {

using json = nlohmann::json;

constexpr std::size_t mostEntries = 10'000; // of one list
constexpr std::int64_t mostRepeats = 1000;
constexpr std::size_t longestName = 64;

std::string problemIn(const json& layers, const std::string& at);

const std::vector<std::string>& kindNames()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const LayerKind& kind : layerKinds()) {
            list.push_back(kind.name);
        }
        return list;
    }();
    return names;
}

std::string wrong(const std::string& at, const json& value, const std::string& wanted)
{
    return fmt::format("{} is {}; it must be {}", at, shortText(value), wanted);
}

/// Letters, digits, "_", "-", and dots between them: a name stands in paths and in files of weights.
bool isName(const json& value)
{
    if (!value.is_string()) {
        return false;
    }
    const auto& name = value.get_ref<const std::string&>();
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return !name.empty() && name.size() <= longestName && name.find_first_not_of(allowed) == std::string::npos
        && name.front() != '.' && name.back() != '.' && name.find("..") == std::string::npos;
}

bool isIntegerIn(const json& value, const LayerKey& key)
{
    const auto number = integerOf<std::int64_t>(value);
    return number && static_cast<double>(*number) >= key.low && static_cast<double>(*number) <= key.high;
}

std::string valueProblem(const LayerKey& key, const json& value, const std::string& at)
{
    switch (key.type) {
    case KeyType::Integer:
        return isIntegerIn(value, key) ? ""
                                       : wrong(at, value, fmt::format("an integer from {} to {}", key.low, key.high));
    case KeyType::Pair: {
        const bool fits = value.is_array()
            ? value.size() == 2 && isIntegerIn(value[0], key) && isIntegerIn(value[1], key)
            : isIntegerIn(value, key);
        return fits ? ""
                    : wrong(at, value,
                        fmt::format("an integer from {} to {}, or two of them: [height, width]", key.low, key.high));
    }
    case KeyType::Number: {
        const double number = value.is_number() ? value.get<double>() : key.low - 1;
        const bool fits = number >= key.low && (key.highIncluded ? number <= key.high : number < key.high);
        return fits ? ""
                    : wrong(at, value,
                        fmt::format("a number from {} to {}{}", key.low, key.highIncluded ? "" : "below ", key.high));
    }
    case KeyType::Flag:
        return value.is_boolean() ? "" : wrong(at, value, "true or false");
    case KeyType::Choice:
        if (!value.is_string() || std::ranges::find(key.choices, value.get<std::string>()) == key.choices.end()) {
            return fmt::format("{}{}", wrong(at, value, "one of " + joined(key.choices)),
                value.is_string() ? "; " + suggestion(value.get<std::string>(), key.choices) : "");
        }
        return {};
    case KeyType::Name:
        return isName(value) ? "" : wrong(at, value, "the name of an earlier layer");
    }
    return {};
}

std::string nameProblem(const json& entry, const std::string& at)
{
    const auto name = entry.find("name");
    return name == entry.end() || isName(*name)
        ? ""
        : wrong(at + ".name", *name,
            fmt::format("a text of 1 to {} letters, digits, \"_\", \"-\", or dots between them", longestName));
}

/// The first key of `entry` that is none of `keys`.
std::string unknownKey(
    const json& entry, const std::vector<std::string>& keys, const std::string& what, const std::string& at)
{
    for (const auto& [key, value] : entry.items()) {
        if (std::ranges::find(keys, key) == keys.end()) {
            return fmt::format(
                "{}.{} is not a key of {} (its value: {}); {}", at, key, what, shortText(value), suggestion(key, keys));
        }
    }
    return {};
}

std::string kindProblem(const json& value, const std::string& at)
{
    if (!value.is_string()) {
        return wrong(at, value, "the name of a kind of layer: " + joined(kindNames()));
    }
    const auto name = value.get<std::string>();
    return findLayerKind(name) != nullptr ? ""
                                          : fmt::format("{} is {}, but there is no such kind of layer; {}", at,
                                              shortText(value), suggestion(name, kindNames()));
}

std::string layerProblem(const json& entry, const std::string& at)
{
    if (std::string text = kindProblem(entry.at("kind"), at + ".kind"); !text.empty()) {
        return text;
    }
    const LayerKind& kind = *findLayerKind(entry.at("kind").get<std::string>());
    std::vector<std::string> keys {"kind", "name"};
    for (const LayerKey& key : kind.keys) {
        keys.push_back(key.name);
    }
    if (std::string text = unknownKey(entry, keys, kind.name, at); !text.empty()) {
        return text;
    }
    for (const LayerKey& key : kind.keys) {
        const auto given = entry.find(key.name);
        if (given == entry.end() && key.fallback.is_discarded()) {
            return fmt::format("{}.{} is missing; {} needs it", at, key.name, kind.name);
        }
        if (given != entry.end()) {
            if (std::string text = valueProblem(key, *given, at + "." + key.name); !text.empty()) {
                return text;
            }
        }
    }
    return {};
}

std::string blockProblem(const json& entry, const std::string& block, const std::string& at)
{
    std::vector<std::string> keys {block, "name"};
    std::vector<std::string> lists {block};
    if (block == "residual") {
        keys.emplace_back("shortcut");
        lists.emplace_back("shortcut");
    } else if (block == "repeat") {
        keys.emplace_back("layers");
        lists = {"layers"};
        const auto times = integerOf<std::int64_t>(entry.at(block));
        if (!times || *times < 1 || *times > mostRepeats) {
            return wrong(at + ".repeat", entry.at(block), fmt::format("an integer from 1 to {}", mostRepeats));
        }
        if (!entry.contains("layers")) {
            return at + ".layers is missing; it lists what is repeated";
        }
    }
    if (std::string text = unknownKey(entry, keys, fmt::format("a {} block", block), at); !text.empty()) {
        return text;
    }
    for (const std::string& list : lists) {
        if (entry.contains(list)) {
            if (std::string text = problemIn(entry.at(list), at + "." + list); !text.empty()) {
                return text;
            }
        }
    }
    return {};
}

std::string entryProblem(const json& entry, const std::string& at)
{
    if (entry.is_string()) {
        // A kind alone stands for a layer of it with nothing but defaults.
        std::string text = kindProblem(entry, at);
        return text.empty() ? layerProblem(json::object({{"kind", entry}}), at) : text;
    }
    if (!entry.is_object()) {
        return wrong(at, entry, "a layer like {\"kind\": \"linear\", \"features\": 64}, or the name of a kind");
    }
    if (std::string text = nameProblem(entry, at); !text.empty()) {
        return text;
    }
    if (entry.contains("kind")) {
        return layerProblem(entry, at);
    }
    for (const char* block : {"residual", "sequence", "repeat"}) {
        if (entry.contains(block)) {
            return blockProblem(entry, block, at);
        }
    }
    static const std::vector<std::string> first {"kind", "residual", "sequence", "repeat"};
    for (const auto& [key, value] : entry.items()) {
        if (const std::string nearest = nearestName(key, first); !nearest.empty()) {
            return fmt::format("{}.{} is not a key of a layer (its value: {}); did you mean \"{}\"?", at, key,
                shortText(value), nearest);
        }
    }
    return wrong(at, entry, "a layer with a \"kind\", or a block with one of residual, sequence, repeat");
}

std::string problemIn(const json& layers, const std::string& at)
{
    if (!layers.is_array() || layers.empty() || layers.size() > mostEntries) {
        return wrong(at, layers, fmt::format("a list of 1 to {} layers", mostEntries));
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
        if (std::string text = entryProblem(layers[i], fmt::format("{}[{}]", at, i)); !text.empty()) {
            return text;
        }
    }
    return {};
}

} // namespace

std::string layersProblem(const json& layers)
{
    std::string text = problemIn(layers, "");
    return text.starts_with(' ') ? text.substr(1) : text;
}

} // namespace mantissa
