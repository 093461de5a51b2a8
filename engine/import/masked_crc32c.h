/// The checksum of TFRecord files: CRC-32C (Castagnoli), rotated and offset.
/// Source: tensorflow/core/lib/hash/crc32c.h; RFC 3720, appendix B.4 for the polynomial and test values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mantissa {

/// Continues `crc` over `bytes`; begin with 0.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc = 0);

constexpr std::uint32_t masked(std::uint32_t crc)
{
    return ((crc >> 15U) | (crc << 17U)) + 0xa282ead8U;
}

} // namespace mantissa
