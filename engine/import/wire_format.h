/// As much of protobuf's wire format as event files need. Source: protobuf.dev, "Encoding".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mantissa {

enum class WireKind : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

struct WireField
{
    std::uint64_t number = 0;
    WireKind kind = WireKind::Varint;
    std::uint64_t bits = 0; ///< unless Bytes
    std::span<const std::byte> bytes {};

    [[nodiscard]] float asFloat() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

    [[nodiscard]] double asDouble() const { return std::bit_cast<double>(bits); }
};

/// The fields of a message, one after the other.
class WireReader
{
public:
    explicit WireReader(std::span<const std::byte> message)
        : m_rest(message)
    {
    }

    /// Nothing at the end, and where the bytes are no message.
    std::optional<WireField> next();
    /// The next number of a packed field.
    std::optional<std::uint64_t> nextVarint();

    [[nodiscard]] bool isBroken() const { return m_isBroken; }

private:
    std::nullopt_t broken();
    std::optional<std::uint64_t> fixed(std::size_t size);

    std::span<const std::byte> m_rest;
    bool m_isBroken = false;
};

std::string_view textOf(std::span<const std::byte> bytes);

/// The value of a TensorProto that has exactly one element, of a type of numbers. Nothing for others.
std::optional<double> scalarOfTensor(std::span<const std::byte> message);

} // namespace mantissa
