#include "engine/data/byte_source.h"

#include "engine/core/error.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace mantissa {

namespace {

class MemorySource final : public ByteSource
{
public:
    MemorySource(std::span<const unsigned char> bytes, std::string name)
        : m_size(bytes.size())
        , m_rest(bytes)
        , m_name(std::move(name))
    {
    }

    [[nodiscard]] const std::string& name() const override { return m_name; }

    [[nodiscard]] std::uint64_t mostBytes() const override { return m_size; }

    std::size_t read(std::span<unsigned char> into) override
    {
        const std::size_t count = std::min(into.size(), m_rest.size());
        std::copy_n(m_rest.begin(), count, into.begin());
        m_rest = m_rest.subspan(count);
        return count;
    }

private:
    std::uint64_t m_size;
    std::span<const unsigned char> m_rest;
    std::string m_name;
};

struct GzClose
{
    void operator()(gzFile_s* file) const { gzclose(file); }
};

/// zlib's file reader passes plain files through unchanged.
class FileSource final : public ByteSource
{
public:
    FileSource(const std::filesystem::path& file, std::uint64_t size)
        : m_name(file.string())
        , m_file(gzopen(file.c_str(), "rb"))
    {
        if (m_file == nullptr) {
            throw Error(ErrorCode::Io, fmt::format("{} cannot be opened: {}", m_name, std::strerror(errno)));
        }
        // Deflate packs at most 258 bytes into 2 bits, 1032 to 1; zlib's technical notes give the same bound.
        constexpr std::uint64_t mostPerByte = 1032;
        m_mostBytes = gzdirect(m_file.get()) != 0 ? size : size * mostPerByte;
    }

    [[nodiscard]] const std::string& name() const override { return m_name; }

    [[nodiscard]] std::uint64_t mostBytes() const override { return m_mostBytes; }

    std::size_t read(std::span<unsigned char> into) override
    {
        const int count = gzread(m_file.get(), into.data(), static_cast<unsigned>(into.size()));
        if (count < 0 || static_cast<std::size_t>(count) < into.size()) {
            throwIfFailed();
        }
        return static_cast<std::size_t>(count);
    }

private:
    void throwIfFailed() const
    {
        int code = Z_OK;
        const char* text = gzerror(m_file.get(), &code);
        switch (code) {
        case Z_OK:
        case Z_STREAM_END:
            return;
        case Z_ERRNO:
            throw Error(ErrorCode::Io, fmt::format("{} cannot be read: {}", m_name, std::strerror(errno)));
        case Z_BUF_ERROR:
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("{} is cut off: its compressed data ends too early; fetch it again", m_name));
        default:
            throw Error(ErrorCode::InvalidArgument,
                fmt::format(
                    "{} is damaged ({}); fetch it again", m_name, code == Z_MEM_ERROR ? "out of memory" : text));
        }
    }

    std::string m_name;
    std::unique_ptr<gzFile_s, GzClose> m_file;
    std::uint64_t m_mostBytes = 0;
};

} // namespace

std::unique_ptr<ByteSource> openFile(const std::filesystem::path& file)
{
    std::error_code failed;
    // A pipe or a device could block, or never end.
    if (!std::filesystem::is_regular_file(file, failed)) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("{} is not a file", file.string()));
    }
    const std::uintmax_t size = std::filesystem::file_size(file, failed);
    if (failed) {
        throw Error(ErrorCode::Io, fmt::format("{} cannot be read: {}", file.string(), failed.message()));
    }
    if (size == 0) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("{} is empty; fetch it again", file.string()));
    }
    return std::make_unique<FileSource>(file, size);
}

const std::filesystem::path& requireFolder(const std::filesystem::path& folder)
{
    std::error_code ignored;
    if (!std::filesystem::is_directory(folder, ignored)) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("data.path: {} is not a folder", folder.string()));
    }
    return folder;
}

std::unique_ptr<ByteSource> openMemory(std::span<const unsigned char> bytes, std::string name)
{
    return std::make_unique<MemorySource>(bytes, std::move(name));
}

} // namespace mantissa
