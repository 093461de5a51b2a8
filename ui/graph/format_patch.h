/// What a change of formats on the op map sends to the session.
#pragma once

#include "ui/graph/op_map.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace mantissa {

/// The setting that every change goes through; its values are merge patches.
inline constexpr const char* overridesPath = "precision.overrides";
/// What follows an op in the key of its sums' format.
inline constexpr std::string_view sumsSuffix = ".accumulate";

/// For one op; `format` as in experiment files, none: no exception for it. `suffix`: sumsSuffix or nothing.
nlohmann::json patchOfOp(
    const OpMap& map, NodeIndex op, const std::optional<std::string>& format, std::string_view suffix = {});

/// For all ops of the kind, those included that have an exception of their own.
nlohmann::json patchOfKind(
    const OpMap& map, Op kind, const std::optional<std::string>& format, std::string_view suffix = {});

} // namespace mantissa
