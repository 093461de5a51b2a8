/// Where a file reader gets its bytes from: a file, plain or gzip-compressed, or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace mantissa {

class ByteSource
{
public:
    virtual ~ByteSource() = default;
    /// For messages.
    [[nodiscard]] virtual const std::string& name() const = 0;
    /// The next bytes; fewer than asked for only at the end. At the end of a compressed file its checksum has been
    /// compared. Throws Error (InvalidArgument) if compressed data is damaged or cut off, Error (Io) if reading fails.
    virtual std::size_t read(std::span<unsigned char> into) = 0;
    /// No more bytes than this can come in all: the size, or for a compressed file what its size could at most unpack
    /// to.
    [[nodiscard]] virtual std::uint64_t mostBytes() const = 0;
};

/// A regular file; gzip is recognised by its first bytes, not by its name. Throws Error (InvalidArgument) if there is
/// no such regular file or it is empty, Error (Io) if it cannot be opened.
std::unique_ptr<ByteSource> openFile(const std::filesystem::path& file);

/// The folder, once it is found to be one. Throws Error (InvalidArgument) if it is not.
const std::filesystem::path& requireFolder(const std::filesystem::path& folder);

/// `bytes` must outlive the result.
std::unique_ptr<ByteSource> openMemory(std::span<const unsigned char> bytes, std::string name);

} // namespace mantissa
