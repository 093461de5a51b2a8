#include "engine/import/wire_format.h"

#include "engine/formats/bfloat16.h"
#include "engine/formats/float16.h"

#include <cstring>

namespace mantissa {

namespace {

/// tensorflow/core/framework/types.proto
enum DataType : std::uint64_t {
    FloatType = 1,
    DoubleType = 2,
    Int32Type = 3,
    Int64Type = 9,
    BoolType = 10,
    BFloat16Type = 14,
    HalfType = 19,
};

/// A product of the dimensions; 0 for one that is negative or too large to be a scalar's.
std::uint64_t elementsIn(std::span<const std::byte> shape)
{
    std::uint64_t elements = 1;
    WireReader reader(shape);
    while (const auto dimension = reader.next()) {
        if (dimension->number != 2 || dimension->kind != WireKind::Bytes) {
            continue;
        }
        std::uint64_t size = 0;
        WireReader inner(dimension->bytes);
        while (const auto field = inner.next()) {
            size = field->number == 1 && field->kind == WireKind::Varint ? field->bits : size;
        }
        elements = size == 1 ? elements : 0;
    }
    return reader.isBroken() ? 0 : elements;
}

std::optional<double> numberOf(std::uint64_t type, std::uint64_t bits)
{
    switch (type) {
    case FloatType:
        return double {std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
    case DoubleType:
        return std::bit_cast<double>(bits);
    case Int32Type:
        return static_cast<double>(static_cast<std::int32_t>(bits));
    case Int64Type:
        return static_cast<double>(static_cast<std::int64_t>(bits));
    case BoolType:
        return bits != 0 ? 1 : 0;
    case BFloat16Type:
        return BFloat16::fromBits(static_cast<std::uint16_t>(bits)).toDouble();
    case HalfType:
        return double {Float16 {static_cast<std::uint16_t>(bits)}.toFloat()};
    default:
        return {};
    }
}

std::size_t bytesOf(std::uint64_t type)
{
    switch (type) {
    case FloatType:
    case Int32Type:
        return 4;
    case DoubleType:
    case Int64Type:
        return 8;
    case BoolType:
        return 1;
    case BFloat16Type:
    case HalfType:
        return 2;
    default:
        return 0;
    }
}

/// Whether the field of a TensorProto holds values of the type.
bool holds(std::uint64_t field, std::uint64_t type)
{
    return (field == 5 && type == FloatType) || (field == 6 && type == DoubleType) || (field == 7 && type == Int32Type)
        || (field == 10 && type == Int64Type) || (field == 11 && type == BoolType)
        || (field == 13 && (type == HalfType || type == BFloat16Type));
}

} // namespace

std::nullopt_t WireReader::broken()
{
    m_isBroken = true;
    m_rest = {};
    return std::nullopt;
}

std::optional<std::uint64_t> WireReader::nextVarint()
{
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (m_rest.empty()) {
            return broken();
        }
        const auto byte = std::to_integer<std::uint64_t>(m_rest.front());
        m_rest = m_rest.subspan(1);
        value |= (byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return value;
        }
    }
    return broken();
}

std::optional<std::uint64_t> WireReader::fixed(std::size_t size)
{
    if (m_rest.size() < size) {
        return broken();
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, m_rest.data(), size); // little-endian, as all machines this builds for
    m_rest = m_rest.subspan(size);
    return bits;
}

std::optional<WireField> WireReader::next()
{
    if (m_rest.empty()) {
        return {};
    }
    const auto key = nextVarint();
    if (!key) {
        return {};
    }
    WireField field {.number = *key >> 3U, .kind = static_cast<WireKind>(*key & 7U)};
    std::optional<std::uint64_t> bits;
    switch (field.kind) {
    case WireKind::Varint:
    case WireKind::Bytes:
        bits = nextVarint();
        break;
    case WireKind::Fixed64:
        bits = fixed(8);
        break;
    case WireKind::Fixed32:
        bits = fixed(4);
        break;
    default:
        return broken();
    }
    if (!bits) {
        return {};
    }
    if (field.kind == WireKind::Bytes) {
        if (*bits > m_rest.size()) {
            return broken();
        }
        field.bytes = m_rest.first(static_cast<std::size_t>(*bits));
        m_rest = m_rest.subspan(field.bytes.size());
    } else {
        field.bits = *bits;
    }
    return field;
}

std::string_view textOf(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<double> scalarOfTensor(std::span<const std::byte> message)
{
    std::uint64_t type = 0;
    std::uint64_t elements = 1;
    std::span<const std::byte> content;
    std::optional<WireField> values;
    WireReader reader(message);
    while (const auto field = reader.next()) {
        if (field->number == 1 && field->kind == WireKind::Varint) {
            type = field->bits;
        } else if (field->number == 2 && field->kind == WireKind::Bytes) {
            elements = elementsIn(field->bytes);
        } else if (field->number == 4 && field->kind == WireKind::Bytes) {
            content = field->bytes;
        } else if (field->number >= 5 && field->number <= 13) {
            values = field;
        }
    }
    if (reader.isBroken() || elements != 1 || bytesOf(type) == 0) {
        return {};
    }
    if (content.size() == bytesOf(type)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, content.data(), content.size());
        return numberOf(type, bits);
    }
    if (!values || !holds(values->number, type)) {
        return {};
    }
    if (values->kind != WireKind::Bytes) {
        return numberOf(type, values->bits); // not packed
    }
    if (values->number == 5 || values->number == 6) {
        std::uint64_t bits = 0;
        if (values->bytes.size() != bytesOf(type)) {
            return {};
        }
        std::memcpy(&bits, values->bytes.data(), values->bytes.size());
        return numberOf(type, bits);
    }
    WireReader packed(values->bytes);
    const auto number = packed.nextVarint();
    return number ? numberOf(type, *number) : std::nullopt;
}

} // namespace mantissa
