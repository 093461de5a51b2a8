#include "engine/core/utf8.h"

namespace mantissa {

std::optional<CodePoint> decodeUtf8(std::string_view text)
{
    if (text.empty()) {
        return std::nullopt;
    }
    const auto first = static_cast<unsigned char>(text[0]);
    if (first < 0x80) {
        return CodePoint {first, 1};
    }
    const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < bytes) {
        return std::nullopt;
    }
    auto value = static_cast<char32_t>(first & (0xFFU >> (bytes + 1)));
    for (std::size_t i = 1; i < bytes; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0U) != 0x80U) {
            return std::nullopt;
        }
        value = value << 6U | (next & 0x3FU);
    }
    const bool isOverlong = (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
    const bool isSurrogate = value >= 0xD800 && value <= 0xDFFF;
    if (isOverlong || isSurrogate || value > 0x10FFFF) {
        return std::nullopt;
    }
    return CodePoint {value, bytes};
}

std::optional<std::size_t> findInvalidUtf8(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        const auto point = decodeUtf8(text.substr(at));
        if (!point) {
            return at;
        }
        at += point->bytes;
    }
    return std::nullopt;
}

std::string encodeUtf8(char32_t value)
{
    const auto tail = [value](unsigned shift) { return static_cast<char>(0x80U | (value >> shift & 0x3FU)); };
    if (value < 0x80) {
        return {static_cast<char>(value)};
    }
    if (value < 0x800) {
        return {static_cast<char>(0xC0U | value >> 6U), tail(0)};
    }
    if (value < 0x10000) {
        return {static_cast<char>(0xE0U | value >> 12U), tail(6), tail(0)};
    }
    return {static_cast<char>(0xF0U | value >> 18U), tail(12), tail(6), tail(0)};
}

} // namespace mantissa
