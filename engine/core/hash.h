/// FNV-1a, 64 bit: a fingerprint for equality of weights and batches, not for security.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mantissa {

inline constexpr std::uint64_t fnvOffset = 0xcbf29ce484222325ULL;

/// Continues `state` over `bytes`.
constexpr std::uint64_t fnv1a(std::span<const std::byte> bytes, std::uint64_t state = fnvOffset)
{
    for (const std::byte byte : bytes) {
        state = (state ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ULL;
    }
    return state;
}

} // namespace mantissa
