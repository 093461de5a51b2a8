/// Small pieces of text for messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mantissa {

/// "a, b, c". (fmt::join does the same, but GCC 12 warns inside it when it optimises.)
inline std::string joined(std::span<const std::string> names)
{
    std::string out;
    for (const std::string& name : names) {
        out += (out.empty() ? "" : ", ") + name;
    }
    return out;
}

/// Whether a text has 1 to `most` bytes and no control characters: what a name is.
inline bool isOneLine(std::string_view text, std::size_t most)
{
    return !text.empty() && text.size() <= most
        && std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

} // namespace mantissa
