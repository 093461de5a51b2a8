#include "engine/import/json_tokens.h"

#include <algorithm>
#include <array>

namespace mantissa {

std::string withQuotedNumbers(std::string_view text)
{
    constexpr std::array<std::string_view, 3> words {"-Infinity", "Infinity", "NaN"};
    std::string result;
    result.reserve(text.size() + 16);
    bool isQuoted = false;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i];
        if (isQuoted) {
            const std::size_t length = c == '\\' && i + 1 < text.size() ? 2 : 1;
            isQuoted = c != '"';
            result += text.substr(i, length);
            i += length;
            continue;
        }
        isQuoted = c == '"';
        const auto word = c == '-' || c == 'I' || c == 'N'
            ? std::ranges::find_if(words, [&](std::string_view each) { return text.substr(i).starts_with(each); })
            : words.end();
        if (word != words.end()) {
            result += '"';
            result += *word;
            result += '"';
            i += word->size();
        } else {
            result += c;
            ++i;
        }
    }
    return result;
}

nlohmann::json parseLogJson(std::string_view text)
{
    const bool mayHaveWords = text.find("NaN") != std::string_view::npos || text.find("Inf") != std::string_view::npos;
    return mayHaveWords ? nlohmann::json::parse(withQuotedNumbers(text), nullptr, false)
                        : nlohmann::json::parse(text, nullptr, false);
}

bool isJsonObject(std::string_view text)
{
    return parseLogJson(text).is_object();
}

} // namespace mantissa
