/// Makers of the rows of a family's parameters: what the families have in common, each under its own name.
#pragma once

#include "engine/scaling/scaler_family.h"

#include <cfloat>

namespace mantissa::scaler_parameters {

inline constexpr double manySteps = 1e9;
inline constexpr Range<double> anyScale {0, FLT_MAX, false};
inline constexpr Range<double> zeroOrScale {0, FLT_MAX};

constexpr ScalerParameter initScale(std::string_view ownName, double byDefault, std::string_view help)
{
    return {"init_scale", ownName, ScalerParameterKind::Number, byDefault, anyScale, help};
}

constexpr ScalerParameter growthFactor(std::string_view ownName, std::string_view help)
{
    return {"growth_factor", ownName, ScalerParameterKind::Number, 2, {1, 1e6, false}, help};
}

constexpr ScalerParameter backoffFactor(
    std::string_view ownName, std::string_view help, Range<double> range = {0, 1, true, false})
{
    return {"backoff_factor", ownName, ScalerParameterKind::Number, 0.5, range, help};
}

constexpr ScalerParameter growthInterval(
    std::string_view ownName, double byDefault, std::string_view help, double lowest = 1)
{
    return {"growth_interval", ownName, ScalerParameterKind::WholeNumber, byDefault, {lowest, manySteps}, help};
}

constexpr ScalerParameter minScale(
    std::string_view ownName, std::optional<double> byDefault, Range<double> range, std::string_view help)
{
    return {"min_scale", ownName, ScalerParameterKind::Number, byDefault, range, help};
}

constexpr ScalerParameter maxScale(std::string_view ownName, double byDefault, std::string_view help)
{
    return {"max_scale", ownName, ScalerParameterKind::Number, byDefault, anyScale, help};
}

constexpr ScalerParameter hysteresis(
    std::string_view ownName, double byDefault, std::string_view help, double lowest = 1)
{
    return {"hysteresis", ownName, ScalerParameterKind::WholeNumber, byDefault, {lowest, 1e6}, help};
}

constexpr ScalerParameter flag(std::string_view key, std::string_view ownName, bool byDefault, std::string_view help)
{
    return {key, ownName, ScalerParameterKind::Flag, byDefault ? 1.0 : 0.0, {0, 1}, help};
}

} // namespace mantissa::scaler_parameters
