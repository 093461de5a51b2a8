/// UTF-8 as RFC 3629 has it: overlong forms, surrogates and numbers above U+10FFFF are invalid.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace mantissa {

struct CodePoint
{
    char32_t value;
    std::size_t bytes; ///< 1 to 4
};

/// The code point that `text` begins with; nothing if it is empty or does not begin with valid UTF-8.
std::optional<CodePoint> decodeUtf8(std::string_view text);

/// Where the first byte lies that belongs to no code point; nothing if the whole text is valid.
std::optional<std::size_t> findInvalidUtf8(std::string_view text);

/// The bytes of a code point. `value` is a valid one.
std::string encodeUtf8(char32_t value);

} // namespace mantissa
