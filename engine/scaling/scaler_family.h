/// The families of scalers: what each is called, which parameters it has, and the settings of one scaler.
#pragma once

#include "engine/core/range.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

class LossScaler;

enum class ScalerParameterKind : std::uint8_t { Number, WholeNumber, Flag };

struct ScalerParameter
{
    std::string_view key; ///< in experiment files; what families have in common has one key in all of them
    std::string_view ownName; ///< in the family's own library
    ScalerParameterKind kind = ScalerParameterKind::Number;
    std::optional<double> byDefault; ///< a flag's is 0 or 1; nothing: there is no such limit
    Range<double> range;
    std::string_view help; ///< one sentence
};

struct ScalerConfig
{
    std::string family = "pytorch"; ///< a name of scalerFamilies()
    bool frozen = false; ///< judge and skip as usual, but never move the scale
    /// What is given, by key. A parameter that is absent has its family's default.
    std::map<std::string, double, std::less<>> parameters = {};
    bool operator==(const ScalerConfig&) const = default;
};

/// What is wrong with a parameter: "hysteresis" + "is 0; it must be ...".
struct ScalerFault
{
    std::string key;
    std::string text;
};

struct ScalerFamily
{
    std::string_view name; ///< in experiment files
    std::string_view title; ///< for people
    std::string_view summary; ///< one sentence: what sets it apart
    std::span<const ScalerParameter> parameters; ///< in the order in which people want to see them
    std::unique_ptr<LossScaler> (*make)(const ScalerConfig&);
    /// What the family wants of parameters that are valid one by one; may be null.
    std::optional<ScalerFault> (*check)(const ScalerConfig&) = nullptr;
};

/// All families, "none" first.
std::span<const ScalerFamily* const> scalerFamilyTable();

/// Their names.
std::vector<std::string> scalerFamilies();

/// Null if there is none of that name.
const ScalerFamily* findScalerFamily(std::string_view name);

/// Null if the family has no parameter of that key.
const ScalerParameter* findParameter(const ScalerFamily& family, std::string_view key);

/// The value given, or else the family's default. Nothing: a limit that there is not, or no parameter of the family.
std::optional<double> valueOf(const ScalerConfig& config, std::string_view key);

/// The first fault of the settings, or nothing.
std::optional<ScalerFault> findScalerFault(const ScalerConfig& config);

/// "a number", "an integer", "true or false".
std::string_view typeText(ScalerParameterKind kind);

/// The value as a file or a state has it; null for a limit that there is not.
nlohmann::json parameterJson(ScalerParameterKind kind, const std::optional<double>& value);

/// Reads what parameterJson() wrote, null aside. Returns what is wrong with it ("is 0; it must be ..."), or an empty
/// text and has stored it in `into`.
std::string readParameter(const ScalerParameter& parameter, const nlohmann::json& json, double& into);

} // namespace mantissa
