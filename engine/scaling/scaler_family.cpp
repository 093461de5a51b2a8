#include "engine/scaling/scaler_family.h"

#include "engine/core/json_text.h"
#include "engine/core/text.h"
#include "engine/scaling/loss_scaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

bool holds(const ScalerParameter& parameter, double value)
{
    return parameter.range.holds(value)
        && (parameter.kind == ScalerParameterKind::Number || std::trunc(value) == value);
}

std::string problem(const ScalerParameter& parameter, const std::string& value)
{
    std::string text = fmt::format("is {}; it must be {}", value, typeText(parameter.kind));
    if (parameter.kind != ScalerParameterKind::Flag) {
        text += ' ';
        text += parameter.range.text();
    }
    return text;
}

std::string noSuchParameter(const ScalerFamily& family, const std::string& value)
{
    std::vector<std::string> keys;
    for (const ScalerParameter& parameter : family.parameters) {
        keys.emplace_back(parameter.key);
    }
    return fmt::format("is {}, but the family \"{}\" has no such parameter; it has {}", value, family.name,
        keys.empty() ? "none" : joined(keys));
}

} // namespace

std::vector<std::string> scalerFamilies()
{
    std::vector<std::string> names;
    for (const ScalerFamily* family : scalerFamilyTable()) {
        names.emplace_back(family->name);
    }
    return names;
}

const ScalerFamily* findScalerFamily(std::string_view name)
{
    const auto table = scalerFamilyTable();
    const auto found = std::ranges::find(table, name, [](const ScalerFamily* family) { return family->name; });
    return found == table.end() ? nullptr : *found;
}

const ScalerParameter* findParameter(const ScalerFamily& family, std::string_view key)
{
    const auto found = std::ranges::find(family.parameters, key, &ScalerParameter::key);
    return found == family.parameters.end() ? nullptr : &*found;
}

std::optional<double> valueOf(const ScalerConfig& config, std::string_view key)
{
    const ScalerFamily* family = findScalerFamily(config.family);
    const ScalerParameter* parameter = family == nullptr ? nullptr : findParameter(*family, key);
    if (parameter == nullptr) {
        return {};
    }
    const auto given = config.parameters.find(key);
    return given == config.parameters.end() ? parameter->byDefault : given->second;
}

std::optional<ScalerFault> findScalerFault(const ScalerConfig& config)
{
    const ScalerFamily* family = findScalerFamily(config.family);
    if (family == nullptr) {
        return ScalerFault {
            "family", fmt::format("is \"{}\"; it must be one of {}", config.family, joined(scalerFamilies()))};
    }
    for (const auto& [key, value] : config.parameters) {
        const ScalerParameter* parameter = findParameter(*family, key);
        if (parameter == nullptr) {
            return ScalerFault {key, noSuchParameter(*family, fmt::format("{}", value))};
        }
        if (!holds(*parameter, value)) {
            return ScalerFault {key, problem(*parameter, fmt::format("{}", value))};
        }
        if (key == "init_scale" && !isUsableScale(value)) {
            return ScalerFault {key, fmt::format("is {}, which float32 rounds to 0", value)};
        }
    }
    return family->check == nullptr ? std::nullopt : family->check(config);
}

std::string_view typeText(ScalerParameterKind kind)
{
    switch (kind) {
    case ScalerParameterKind::Number:
        return "a number";
    case ScalerParameterKind::WholeNumber:
        return "an integer";
    case ScalerParameterKind::Flag:
        return "true or false";
    }
    return {};
}

nlohmann::json parameterJson(ScalerParameterKind kind, const std::optional<double>& value)
{
    if (!value) {
        return {};
    }
    switch (kind) {
    case ScalerParameterKind::Number:
        return *value;
    case ScalerParameterKind::WholeNumber:
        return static_cast<std::int64_t>(*value);
    case ScalerParameterKind::Flag:
        return *value != 0;
    }
    return {};
}

std::string readParameter(const ScalerParameter& parameter, const nlohmann::json& json, double& into)
{
    std::optional<double> value;
    if (parameter.kind == ScalerParameterKind::Flag) {
        value = json.is_boolean() ? std::optional(json.get<bool>() ? 1.0 : 0.0) : std::nullopt;
    } else if (json.is_number()) {
        value = json.get<double>();
    }
    if (!value || !holds(parameter, *value)) {
        return problem(parameter, shortText(json));
    }
    into = *value;
    return {};
}

} // namespace mantissa
