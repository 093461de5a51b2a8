/// Reading JSON that people write: errors say where, and nothing that is read can exhaust the program.
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mantissa {

/// Largest text and deepest nesting that parseJson() takes.
inline constexpr std::size_t maxJsonBytes = 16U << 20U;
inline constexpr int maxJsonDepth = 64;

/// Parses strict JSON. Throws Error (InvalidArgument) as "source:line:column: ..." for a syntax error, and for a text
/// that is too large, nested too deep, or gives a key twice in one object.
nlohmann::json parseJson(std::string_view text, const std::string& source);

/// The value as JSON, cut to about 60 characters: for messages.
std::string shortText(const nlohmann::json& value);

/// A JSON integer, or a number written like 1e3 that is one. Nothing if it does not fit T.
template <typename T> std::optional<T> integerOf(const nlohmann::json& value)
{
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
    if (value.is_number_integer()) {
        const auto number = value.get<std::int64_t>();
        return std::in_range<T>(number) ? std::optional(static_cast<T>(number)) : std::nullopt;
    }
    if (value.is_number_float()) {
        const auto number = value.get<double>();
        constexpr double exactLimit = 0x1p53;
        if (std::abs(number) <= exactLimit && std::trunc(number) == number) {
            return integerOf<T>(nlohmann::json(static_cast<std::int64_t>(number)));
        }
    }
    return std::nullopt;
}

} // namespace mantissa
