/// Reading JSON that people write: errors say where, and nothing that is read can exhaust the program.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace mantissa {

/// Largest text and deepest nesting that parseJson() takes.
inline constexpr std::size_t maxJsonBytes = 16U << 20U;
inline constexpr int maxJsonDepth = 64;

/// Parses strict JSON. Throws Error (InvalidArgument) as "source:line:column: ..." for a syntax error, and for a text
/// that is too large, nested too deep, or gives a key twice in one object.
nlohmann::json parseJson(std::string_view text, const std::string& source);

/// The value as JSON, cut to about 60 characters: for messages.
std::string shortText(const nlohmann::json& value);

} // namespace mantissa
