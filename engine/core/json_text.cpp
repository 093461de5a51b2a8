#include "engine/core/json_text.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace mantissa {

namespace {

[[noreturn]] void fail(const std::string& message)
{
    throw Error(ErrorCode::InvalidArgument, message);
}

/// "source:line:column", both counted from 1, columns in bytes.
std::string positionText(std::string_view text, std::size_t offset, const std::string& source)
{
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t lineStart = before.rfind('\n');
    const std::size_t column = before.size() - (lineStart == std::string_view::npos ? 0 : lineStart + 1) + 1;
    return fmt::format("{}:{}:{}", source, line, column);
}

/// The library's message without its own prefix, id and position.
std::string reasonOf(const nlohmann::json::exception& error)
{
    std::string text = error.what();
    for (const std::string_view marker : {"syntax error ", "number overflow "}) {
        const std::size_t at = text.find(marker);
        if (at != std::string::npos) {
            text.erase(0, at);
        }
    }
    return text;
}

/// Watches a parse: refuses deep nesting, and keys that occur twice (the library would silently keep the last).
class ParseGuard
{
public:
    explicit ParseGuard(std::string source)
        : m_source(std::move(source))
    {
    }

    bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& value)
    {
        using Event = nlohmann::json::parse_event_t;
        if (event == Event::object_start || event == Event::array_start) {
            if (depth >= maxJsonDepth) {
                fail(fmt::format(
                    "{}: nested deeper than {} levels; an experiment needs far fewer", m_source, maxJsonDepth));
            }
            m_keys.emplace_back();
        } else if (event == Event::object_end || event == Event::array_end) {
            m_keys.pop_back();
        } else if (event == Event::key && !m_keys.back().insert(value.get<std::string>()).second) {
            fail(fmt::format("{}: the key {} is given twice in one object; keep one", m_source, shortText(value)));
        }
        return true;
    }

private:
    std::string m_source;
    std::vector<std::set<std::string>> m_keys;
};

} // namespace

std::string shortText(const nlohmann::json& value)
{
    constexpr std::size_t longest = 60;
    // A long container is not written out in full only to be cut.
    if (value.is_structured() && value.size() > longest) {
        return fmt::format("{} with {} entries", value.is_array() ? "a list" : "an object", value.size());
    }
    std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() > longest) {
        std::size_t end = longest - 3;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
            --end; // not inside a UTF-8 character
        }
        text = text.substr(0, end) + "...";
    }
    return text;
}

nlohmann::json parseJson(std::string_view text, const std::string& source)
{
    if (text.size() > maxJsonBytes) {
        fail(fmt::format(
            "{}: {} bytes are too many for JSON settings; at most {} are read", source, text.size(), maxJsonBytes));
    }
    try {
        // By pointer: a std::function would copy the guard's growing state.
        ParseGuard guard(source);
        return nlohmann::json::parse(text.begin(), text.end(),
            [&guard](int depth, nlohmann::json::parse_event_t event, const nlohmann::json& value) {
                return guard(depth, event, value);
            });
    } catch (const nlohmann::json::parse_error& error) {
        const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;
        fail(fmt::format("{}: not valid JSON: {}", positionText(text, offset, source), reasonOf(error)));
    } catch (const nlohmann::json::exception& error) {
        // A number too large for a double; the library tells its text but not its place.
        const std::string reason = reasonOf(error);
        const std::size_t open = reason.find('\'');
        const std::size_t close = reason.rfind('\'');
        const std::size_t offset
            = open < close ? text.find(reason.substr(open + 1, close - open - 1)) : std::string::npos;
        const std::string place = offset == std::string::npos ? source : positionText(text, offset, source);
        fail(fmt::format("{}: not valid JSON: {}", place, reason));
    }
}

} // namespace mantissa
