/// A file that another program may still be writing, read from its beginning on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace mantissa {

class GrowingFile
{
public:
    /// Throws Error (InvalidArgument) if there is no such regular file, Error (Io) if it cannot be opened.
    explicit GrowingFile(std::filesystem::path file);
    ~GrowingFile();
    GrowingFile(const GrowingFile&) = delete;
    GrowingFile& operator=(const GrowingFile&) = delete;

    /// The next bytes; fewer than asked for only where the file ends for now. Throws Error (Io) if reading fails.
    std::size_t read(std::span<std::byte> into);

    /// Goes back, to read something again.
    void seek(std::uint64_t position) { m_position = position; }

    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

    [[nodiscard]] std::uint64_t position() const { return m_position; }

    [[nodiscard]] std::uint64_t size() const;
    /// Whether it is shorter than what was read, or another file bears its name by now.
    [[nodiscard]] bool wasReplaced() const;

private:
    std::filesystem::path m_path;
    int m_descriptor = -1;
    std::uint64_t m_position = 0;
};

} // namespace mantissa
