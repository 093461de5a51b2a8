#include "engine/scaling/scaler_machine.h"

#include "engine/core/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr auto scaleKey = "scale";
constexpr std::string_view initScaleKey = "init_scale"; // a new scaler's; a saved one has its scale

[[noreturn]] void refuse(const std::string& message)
{
    throw Error(ErrorCode::InvalidArgument, message);
}

std::int64_t integerAt(const nlohmann::json& json, const std::string& key, std::int64_t lowest)
{
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max(); // as in PyTorch
    const nlohmann::json& value = json.at(key);
    // An unsigned number beyond int64 would come back negative.
    const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(highest)
                                                 : value.is_number_integer() && value.get<std::int64_t>() <= highest;
    if (!fits || value.get<std::int64_t>() < lowest) {
        refuse(fmt::format(
            "scaler state: {} is {}; it must be a whole number from {} to {}", key, value.dump(), lowest, highest));
    }
    return value.get<std::int64_t>();
}

/// A number, or one of the texts that stand for those that JSON lacks.
double numberAt(const nlohmann::json& json, const std::string& key)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const nlohmann::json& value = json.at(key);
    if (value == "inf") {
        return infinity;
    }
    if (value == "-inf") {
        return -infinity;
    }
    if (value == "nan") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (!value.is_number()) {
        refuse(fmt::format("scaler state: {} is {}; it must be a number", key, value.dump()));
    }
    return value.get<double>();
}

nlohmann::json numberJson(double number)
{
    if (std::isfinite(number)) {
        return number;
    }
    return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

} // namespace

ScalerMachine::ScalerMachine(
    const ScalerConfig& config, const ScalerFamily& family, std::vector<Counter> counters, Storage storage)
    : m_family(family)
    , m_counters(std::move(counters))
    , m_storage(storage)
{
    setConfig(config);
    moveTo(number(initScaleKey));
}

void ScalerMachine::setConfig(ScalerConfig config)
{
    m_values.clear();
    for (const ScalerParameter& parameter : m_family.parameters) {
        m_values.push_back(valueOf(config, parameter.key));
    }
    m_config = std::move(config);
}

std::optional<double> ScalerMachine::limit(std::string_view key) const
{
    const ScalerParameter* parameter = findParameter(m_family, key);
    return m_values[static_cast<std::size_t>(parameter - m_family.parameters.data())];
}

ScalerVerdict ScalerMachine::update(const ScalerInput& step)
{
    return {.skip = step.foundInf && skipsOnNonFinite(), .raised = isFrozen() ? std::string() : move(step)};
}

void ScalerMachine::moveTo(double scale)
{
    m_scale = m_storage == Storage::Float32 ? static_cast<double>(static_cast<float>(scale)) : scale;
}

void ScalerMachine::setScale(double scale)
{
    if (!isUsableScale(scale)) {
        refuse(fmt::format("scaler.scale is {}; it must be above 0 and within float32 (1.4e-45 to 3.4e38)", scale));
    }
    moveTo(scale);
}

void ScalerMachine::configure(const ScalerConfig& config)
{
    requireValid(config, m_family);
    setConfig(config);
}

nlohmann::json ScalerMachine::state() const
{
    nlohmann::json state = {{scaleKey, numberJson(m_scale)}};
    for (const ScalerParameter& parameter : m_family.parameters) {
        if (parameter.key != initScaleKey) {
            state[std::string(parameter.key)] = parameterJson(parameter.kind, limit(parameter.key));
        }
    }
    for (const Counter& counter : m_counters) {
        nlohmann::json& entry = state[std::string(counter.key)];
        if (const auto* number = std::get_if<double*>(&counter.value)) {
            entry = numberJson(**number);
        } else {
            entry = *std::get<std::int64_t*>(counter.value);
        }
    }
    return state;
}

void ScalerMachine::checkKeys(const nlohmann::json& state) const
{
    if (!state.is_object() || state.empty()) {
        refuse(fmt::format("scaler state: {} holds no state; it was saved without a scaler, or disabled, so there is "
                           "nothing to load",
            state.dump()));
    }
    // A state has its keys whatever the numbers are.
    const nlohmann::json known = this->state();
    for (const auto& item : known.items()) {
        if (!state.contains(item.key())) {
            refuse(fmt::format(
                "scaler state: the key {} is missing; is it a state of the family \"{}\"?", item.key(), m_family.name));
        }
    }
    for (const auto& item : state.items()) {
        if (!known.contains(item.key())) {
            refuse(fmt::format("scaler state: the key {} is unknown; is it another family's state? This scaler is "
                               "a \"{}\"",
                item.key(), m_family.name));
        }
    }
}

double ScalerMachine::scaleFrom(const nlohmann::json& state) const
{
    const double scale = numberAt(state, scaleKey);
    if (m_storage == Storage::Float32 && std::isfinite(scale) && !std::isfinite(static_cast<float>(scale))) {
        refuse(fmt::format("scaler state: {} is {}; that is beyond float32", scaleKey, scale));
    }
    return scale;
}

void ScalerMachine::loadState(const nlohmann::json& state)
{
    checkKeys(state);
    const double scale = scaleFrom(state);
    ScalerConfig config = m_config;
    for (const ScalerParameter& parameter : m_family.parameters) {
        const std::string key(parameter.key);
        if (parameter.key == initScaleKey) {
            continue;
        }
        if (state.at(key).is_null() && !parameter.byDefault) {
            config.parameters.erase(key);
            continue;
        }
        const std::string wrong = readParameter(parameter, state.at(key), config.parameters[key]);
        if (!wrong.empty()) {
            refuse(fmt::format("scaler state: {} {}", key, wrong));
        }
    }
    std::vector<double> numbers;
    for (const Counter& counter : m_counters) {
        const std::string key(counter.key);
        numbers.push_back(std::holds_alternative<double*>(counter.value)
                ? numberAt(state, key)
                : static_cast<double>(integerAt(state, key, counter.lowest)));
    }
    // All is well: only now it is taken over.
    setConfig(std::move(config));
    moveTo(scale);
    for (std::size_t i = 0; i < m_counters.size(); ++i) {
        std::visit([&](auto* value) { *value = static_cast<std::remove_reference_t<decltype(*value)>>(numbers[i]); },
            m_counters[i].value);
    }
}

} // namespace mantissa
