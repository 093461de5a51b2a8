#include "engine/scaling/scaler_state.h"

#include "engine/core/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr auto scaleKey = "scale";
constexpr auto growthFactorKey = "growth_factor";
constexpr auto backoffFactorKey = "backoff_factor";
constexpr auto growthIntervalKey = "growth_interval";
constexpr auto growthTrackerKey = "_growth_tracker";
constexpr std::array keys {scaleKey, growthFactorKey, backoffFactorKey, growthIntervalKey, growthTrackerKey};

[[noreturn]] void refuse(const std::string& message)
{
    throw Error(ErrorCode::InvalidArgument, message);
}

void checkFactors(double growthFactor, double backoffFactor, std::string_view prefix)
{
    if (!std::isfinite(growthFactor) || growthFactor <= 1) {
        refuse(fmt::format("{}growth_factor is {}; it must be a finite number above 1", prefix, growthFactor));
    }
    if (!std::isfinite(backoffFactor) || backoffFactor >= 1) {
        refuse(fmt::format("{}backoff_factor is {}; it must be a finite number below 1", prefix, backoffFactor));
    }
}

double numberAt(const nlohmann::json& json, const char* key)
{
    const nlohmann::json& value = json.at(key);
    if (!value.is_number()) {
        refuse(fmt::format("scaler state: {} is {}; it must be a number", key, value.dump()));
    }
    return value.get<double>();
}

std::int64_t integerAt(const nlohmann::json& json, const char* key, std::int64_t lowest, std::int64_t highest)
{
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

float scaleAt(const nlohmann::json& json)
{
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const nlohmann::json& value = json.at(scaleKey);
    if (value == "inf") {
        return infinity;
    }
    if (value == "-inf") {
        return -infinity;
    }
    if (value == "nan") {
        return std::numeric_limits<float>::quiet_NaN();
    }
    const double number = numberAt(json, scaleKey);
    const auto scale = static_cast<float>(number);
    if (!std::isfinite(scale)) {
        refuse(fmt::format("scaler state: {} is {}; that is beyond float32", scaleKey, number));
    }
    return scale;
}

nlohmann::json scaleJson(float scale)
{
    if (std::isfinite(scale)) {
        return static_cast<double>(scale);
    }
    return std::isnan(scale) ? "nan" : scale > 0 ? "inf" : "-inf";
}

} // namespace

float usableScale(double scale, std::string_view what)
{
    const auto rounded = static_cast<float>(scale);
    if (!std::isfinite(rounded) || rounded <= 0) {
        refuse(fmt::format("{} is {}; it must be above 0 and within float32 (1.4e-45 to 3.4e38)", what, scale));
    }
    return rounded;
}

ScalerState initialScalerState(const ScalerConfig& config)
{
    ScalerState state;
    state.scale = usableScale(config.initScale, "scaler.init_scale");
    return withSettings(state, config);
}

ScalerState withSettings(ScalerState state, const ScalerConfig& config)
{
    usableScale(config.initScale, "scaler.init_scale");
    checkFactors(config.growthFactor, config.backoffFactor, "scaler.");
    state.growthFactor = config.growthFactor;
    state.backoffFactor = config.backoffFactor;
    state.growthInterval = config.growthInterval;
    return state;
}

nlohmann::json toJson(const ScalerState& state)
{
    return {{scaleKey, scaleJson(state.scale)}, {growthFactorKey, state.growthFactor},
        {backoffFactorKey, state.backoffFactor}, {growthIntervalKey, state.growthInterval},
        {growthTrackerKey, state.growthTracker}};
}

ScalerState scalerStateFromJson(const nlohmann::json& json)
{
    if (!json.is_object() || json.empty()) {
        refuse(fmt::format("scaler state: {} holds no state; it was saved without a scaler, or disabled, so there is "
                           "nothing to load",
            json.dump()));
    }
    for (const char* key : keys) {
        if (!json.contains(key)) {
            refuse(fmt::format("scaler state: the key {} is missing", key));
        }
    }
    for (const auto& item : json.items()) {
        if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
            refuse(fmt::format("scaler state: the key {} is unknown; is it another family's state?", item.key()));
        }
    }
    ScalerState state;
    state.scale = scaleAt(json);
    state.growthFactor = numberAt(json, growthFactorKey);
    state.backoffFactor = numberAt(json, backoffFactorKey);
    checkFactors(state.growthFactor, state.backoffFactor, "scaler state: ");
    constexpr auto limits = std::numeric_limits<std::int64_t> {};
    state.growthInterval = integerAt(json, growthIntervalKey, limits.min(), limits.max());
    state.growthTracker = integerAt(json, growthTrackerKey, 0, std::numeric_limits<std::int32_t>::max());
    return state;
}

} // namespace mantissa
