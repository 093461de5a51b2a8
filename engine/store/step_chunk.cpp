#include "engine/store/step_chunk.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

namespace mantissa {

static_assert(std::endian::native == std::endian::little, "the file format stores values as they lie in memory");

namespace {

/// The integer type as which a field that is neither floating nor a hash travels.
template <typename Field>
using Wide
    = std::conditional_t<std::is_floating_point_v<Field> || std::is_same_v<Field, std::uint64_t>, Field, std::int64_t>;

template <typename T> bool sameBits(T a, T b)
{
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <typename T> bool allTheSame(std::span<const T> values)
{
    return std::all_of(values.begin(), values.end(), [&](T value) { return sameBits(value, values.front()); });
}

bool isExactlyFloat(double value)
{
    return sameBits(static_cast<double>(static_cast<float>(value)), value);
}

template <typename Stored, typename T> Blob packAs(char tag, std::span<const T> values)
{
    Blob blob(1 + values.size() * sizeof(Stored));
    blob[0] = static_cast<std::byte>(tag);
    std::byte* out = blob.data() + 1;
    for (const T value : values) {
        const auto stored = static_cast<Stored>(value);
        std::memcpy(out, &stored, sizeof stored);
        out += sizeof stored;
    }
    return blob;
}

/// One value stands for all if they are equal.
template <typename T> std::span<const T> folded(std::span<const T> values)
{
    return !values.empty() && allTheSame(values) ? values.first(1) : values;
}

template <typename Stored, typename T> bool unpackAs(std::span<const std::byte> payload, std::span<T> values)
{
    const auto valueAt = [&](std::size_t i) {
        Stored stored;
        std::memcpy(&stored, payload.data() + i * sizeof stored, sizeof stored);
        return static_cast<T>(stored);
    };
    if (payload.size() == sizeof(Stored)) {
        std::fill(values.begin(), values.end(), valueAt(0));
        return true;
    }
    if (payload.size() != values.size() * sizeof(Stored)) {
        return false;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = valueAt(i);
    }
    return true;
}

template <typename T> bool unpackFloating(std::span<const std::byte> blob, std::span<T> values)
{
    if (blob.empty()) {
        return false;
    }
    const auto payload = blob.subspan(1);
    switch (static_cast<char>(blob[0])) {
    case 'f':
        return unpackAs<float>(payload, values);
    case 'd':
        return unpackAs<double>(payload, values);
    default:
        return false;
    }
}

template <typename T> bool unpackInteger(std::span<const std::byte> blob, std::span<T> values)
{
    if (blob.empty()) {
        return false;
    }
    const auto payload = blob.subspan(1);
    switch (static_cast<char>(blob[0])) {
    case 'b':
        return unpackAs<std::int8_t>(payload, values);
    case 'i':
        return unpackAs<std::int32_t>(payload, values);
    case 'q':
        return unpackAs<std::int64_t>(payload, values);
    case 'Q':
        return unpackAs<std::uint64_t>(payload, values);
    default:
        return false;
    }
}

template <typename Access> Blob packField(std::span<const StepRecord> records, const Access& access)
{
    using Field = std::remove_cvref_t<decltype(access(records.front()))>;
    std::vector<Wide<Field>> values(records.size());
    std::transform(records.begin(), records.end(), values.begin(),
        [&](const StepRecord& record) { return static_cast<Wide<Field>>(access(record)); });
    return packColumn(std::span<const Wide<Field>>(values));
}

template <typename Access>
bool unpackField(std::span<const std::byte> blob, std::span<StepRecord> records, const Access& access)
{
    using Field = std::remove_cvref_t<decltype(access(records.front()))>;
    std::vector<Wide<Field>> values(records.size());
    if (!unpackColumn(blob, std::span(values))) {
        return false;
    }
    for (std::size_t i = 0; i < records.size(); ++i) {
        access(records[i]) = static_cast<Field>(values[i]);
    }
    return true;
}

} // namespace

const std::string& qualifiedStepColumns()
{
    static const std::string names = [] {
        std::string list;
        forEachStepColumn([&](const char* name, const auto&) {
            list += list.empty() ? "step_chunks." : ", step_chunks.";
            list += name;
        });
        return list;
    }();
    return names;
}

std::size_t stepColumnCount()
{
    std::size_t count = 0;
    forEachStepColumn([&](const char*, const auto&) { ++count; });
    return count;
}

Blob packColumn(std::span<const double> values)
{
    values = folded(values);
    return std::all_of(values.begin(), values.end(), isExactlyFloat) ? packAs<float>('f', values)
                                                                     : packAs<double>('d', values);
}

Blob packColumn(std::span<const float> values)
{
    return packAs<float>('f', folded(values));
}

Blob packColumn(std::span<const std::uint64_t> values)
{
    return packAs<std::uint64_t>('Q', folded(values));
}

Blob packColumn(std::span<const std::int64_t> values)
{
    values = folded(values);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const auto fits = [&, least = low, most = high](
                          auto limits) { return values.empty() || (*least >= limits.min() && *most <= limits.max()); };
    if (fits(std::numeric_limits<std::int8_t> {})) {
        return packAs<std::int8_t>('b', values);
    }
    if (fits(std::numeric_limits<std::int32_t> {})) {
        return packAs<std::int32_t>('i', values);
    }
    return packAs<std::int64_t>('q', values);
}

bool unpackColumn(std::span<const std::byte> blob, std::span<double> values)
{
    return unpackFloating(blob, values);
}

bool unpackColumn(std::span<const std::byte> blob, std::span<float> values)
{
    return unpackFloating(blob, values);
}

bool unpackColumn(std::span<const std::byte> blob, std::span<std::uint64_t> values)
{
    return unpackInteger(blob, values);
}

bool unpackColumn(std::span<const std::byte> blob, std::span<std::int64_t> values)
{
    return unpackInteger(blob, values);
}

bool unpackColumn(std::span<const std::byte> blob, std::span<std::uint8_t> values)
{
    return unpackInteger(blob, values);
}

std::vector<Blob> packRecords(std::span<const StepRecord> records)
{
    std::vector<Blob> columns;
    columns.reserve(stepColumnCount());
    forEachStepColumn([&](const char*, const auto& access) { columns.push_back(packField(records, access)); });
    return columns;
}

bool unpackIntoRecords(std::size_t index, std::span<const std::byte> blob, std::span<StepRecord> records)
{
    if (blob.empty()) {
        return true;
    }
    bool good = false;
    std::size_t column = 0;
    forEachStepColumn([&](const char*, const auto& access) {
        if (column++ == index) {
            good = unpackField(blob, records, access);
        }
    });
    return good;
}

} // namespace mantissa
