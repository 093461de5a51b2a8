/// How mantissa-cli shows what scalers did with a trace, and what parameters they have.
#pragma once

#include "app/cli/output.h"
#include "engine/scaling/scaler_play.h"

#include <span>
#include <string>
#include <vector>

namespace mantissa::cli {

struct FamilyPlay
{
    ScalerConfig config;
    Play play;
};

/// {"family", "steps": [...], ...}: design.md, section 8.
Json playJson(const FamilyPlay& played);
/// One family's steps, with its counters.
std::string stepsText(const FamilyPlay& played);
/// A column of scales per family, and a drawing of them.
std::string comparisonText(const std::vector<FamilyPlay>& plays);

/// {"families": [{"family", "title", "summary", "parameters": [...]}]}
Json parametersJson(std::span<const ScalerFamily* const> families);
std::string parametersText(std::span<const ScalerFamily* const> families);

} // namespace mantissa::cli
