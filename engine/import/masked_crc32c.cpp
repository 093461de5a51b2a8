#include "engine/import/masked_crc32c.h"

#include <array>

namespace mantissa {

namespace {

/// Tables for four bytes at once ("slicing by 4").
constexpr auto tables = [] {
    constexpr std::uint32_t reversedPolynomial = 0x82F63B78U;
    std::array<std::array<std::uint32_t, 256>, 4> made {};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? reversedPolynomial : 0U);
        }
        made[0][i] = crc;
    }
    for (std::uint32_t i = 0; i < 256; ++i) {
        for (std::size_t table = 1; table < 4; ++table) {
            const std::uint32_t before = made[table - 1][i];
            made[table][i] = (before >> 8U) ^ made[0][before & 0xFFU];
        }
    }
    return made;
}();

} // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc)
{
    crc = ~crc;
    while (bytes.size() >= 4) {
        crc ^= std::to_integer<std::uint32_t>(bytes[0]) | std::to_integer<std::uint32_t>(bytes[1]) << 8U
            | std::to_integer<std::uint32_t>(bytes[2]) << 16U | std::to_integer<std::uint32_t>(bytes[3]) << 24U;
        crc = tables[3][crc & 0xFFU] ^ tables[2][(crc >> 8U) & 0xFFU] ^ tables[1][(crc >> 16U) & 0xFFU]
            ^ tables[0][crc >> 24U];
        bytes = bytes.subspan(4);
    }
    for (const std::byte byte : bytes) {
        crc = (crc >> 8U) ^ tables[0][(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU];
    }
    return ~crc;
}

} // namespace mantissa
