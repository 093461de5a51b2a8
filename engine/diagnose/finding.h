/// What is wrong with a run, in plain words, with the numbers that say so. design.md, section 8 ("diagnose").
#pragma once

#include "engine/train/layer_measure.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {

enum class Severity : std::uint8_t {
    Info, ///< worth knowing
    Warning, ///< costs accuracy or time
    Problem, ///< the run does not do what it is meant to
};

/// How sure a finding is.
enum class Confidence : std::uint8_t {
    Certain, ///< follows from a setting, or from arithmetic
    Likely, ///< the numbers fit this cause and few others
    Possible, ///< worth a look
};

std::string_view nameOf(Severity severity); ///< "info", "warning", "problem"
std::string_view nameOf(Confidence confidence); ///< "certain", "likely", "possible"

struct Finding
{
    std::string rule; ///< "clip_before_unscale": stable, for programs
    Severity severity = Severity::Info;
    Confidence confidence = Confidence::Certain;
    std::string title {}; ///< one sentence
    std::string op {}; ///< where it was seen: the place of a Numerics event, if there is one
    std::string layer {}; ///< the one concerned, or the worst of several; empty: none in particular
    std::optional<LayerMeasure> measure {}; ///< of the layer, that shows it
    std::int64_t firstStep = -1; ///< -1: it belongs to no steps
    std::int64_t lastStep = -1;
    nlohmann::json evidence = nlohmann::json::object(); ///< numbers by name
    std::string advice {};
    nlohmann::json fix = nlohmann::json::object(); ///< settings that mend it, by path; empty: none that surely does
};

} // namespace mantissa
