#include "engine/data/idx_file.h"

#include "engine/core/error.h"
#include "engine/data/byte_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

constexpr unsigned unsignedByteType = 0x08;

[[noreturn]] void refuse(const ByteSource& source, const std::string& what)
{
    throw Error(ErrorCode::InvalidArgument, fmt::format("{} {}", source.name(), what));
}

std::uint32_t magicOf(IdxContents contents)
{
    return unsignedByteType << 8U | static_cast<std::uint32_t>(contents);
}

const char* nameOf(IdxContents contents)
{
    return contents == IdxContents::Labels ? "labels" : "images";
}

std::uint32_t readNumber(ByteSource& source)
{
    std::array<unsigned char, 4> bytes {};
    if (source.read(bytes) < bytes.size()) {
        refuse(source, "is cut off within its header; fetch it again");
    }
    return static_cast<std::uint32_t>(bytes[0]) << 24U | static_cast<std::uint32_t>(bytes[1]) << 16U
        | static_cast<std::uint32_t>(bytes[2]) << 8U | static_cast<std::uint32_t>(bytes[3]);
}

void checkMagic(const ByteSource& source, std::uint32_t magic, IdxContents expected)
{
    if (magic == magicOf(expected)) {
        return;
    }
    for (const IdxContents other : {IdxContents::Labels, IdxContents::Images}) {
        if (magic == magicOf(other)) {
            refuse(source,
                fmt::format("holds {} (magic 0x{:08x}), not {} (0x{:08x}); is it under the wrong name?", nameOf(other),
                    magic, nameOf(expected), magicOf(expected)));
        }
    }
    refuse(source,
        fmt::format("is no IDX file of {}: it begins with 0x{:08x} instead of 0x{:08x}", nameOf(expected), magic,
            magicOf(expected)));
}

/// Reads the dimensions and returns their product, which the file has been found able to hold.
std::uint64_t readDims(ByteSource& source, IdxContents contents, std::vector<std::int64_t>& dims)
{
    std::uint64_t values = 1;
    std::string text;
    for (int i = 0; i < static_cast<int>(contents); ++i) {
        const std::uint32_t dim = readNumber(source);
        text += fmt::format("{}{}", i == 0 ? "" : " x ", dim);
        dims.push_back(dim);
        // Two factors below 2^32, or a product held at mostIdxValues + 1 times one: neither overflows 64 bits.
        values = std::min(values * dim, mostIdxValues + 1);
    }
    if (values == 0) {
        refuse(source, fmt::format("holds nothing: its header says {} {}", text, nameOf(contents)));
    }
    if (values > mostIdxValues) {
        refuse(source,
            fmt::format(
                "says in its header that it holds {} values; at most {} are read. It is damaged or not a file of "
                "this kind",
                text, mostIdxValues));
    }
    const std::uint64_t headerBytes = 4 + 4 * dims.size();
    if (values + headerBytes > source.mostBytes()) {
        refuse(source,
            fmt::format("is cut off: its header says {} values, but it can hold at most {}; fetch it again", text,
                source.mostBytes() > headerBytes ? source.mostBytes() - headerBytes : 0));
    }
    return values;
}

IdxArray readIdx(ByteSource& source, IdxContents expected)
{
    checkMagic(source, readNumber(source), expected);
    IdxArray result;
    const std::uint64_t count = readDims(source, expected, result.dims);

    constexpr std::uint64_t chunk = std::uint64_t {1} << 20U;
    while (result.values.size() < count) {
        const std::size_t begin = result.values.size();
        const auto wanted = static_cast<std::size_t>(std::min(count - begin, chunk));
        result.values.resize(begin + wanted);
        const std::size_t got = source.read(std::span(result.values).subspan(begin));
        if (got < wanted) {
            refuse(source, fmt::format("is cut off: {} of {} values are there; fetch it again", begin + got, count));
        }
    }
    // Also makes a compressed file reach its checksum.
    std::array<unsigned char, 1> excess {};
    if (source.read(excess) != 0) {
        refuse(source, fmt::format("is longer than the {} values its header says; it is damaged", count));
    }
    return result;
}

} // namespace

IdxArray readIdxFile(const std::filesystem::path& file, IdxContents expected)
{
    return readIdx(*openFile(file), expected);
}

IdxArray parseIdx(std::span<const unsigned char> bytes, IdxContents expected, const std::string& name)
{
    return readIdx(*openMemory(bytes, name), expected);
}

} // namespace mantissa
