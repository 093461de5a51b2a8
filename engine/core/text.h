/// Small pieces of text for messages.
#pragma once

#include <span>
#include <string>

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

} // namespace mantissa
