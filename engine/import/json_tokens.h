/// JSON as logs have it: Python writes NaN and Infinity, which are none.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace mantissa {

/// The text with NaN, Infinity and -Infinity, where they stand for values, in quotation marks.
std::string withQuotedNumbers(std::string_view text);

/// Parses after that; discarded where the text is no JSON.
nlohmann::json parseLogJson(std::string_view text);

/// Whether the text is one JSON object, with or without such numbers.
bool isJsonObject(std::string_view text);

} // namespace mantissa
