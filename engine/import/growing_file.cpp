#include "engine/import/growing_file.h"

#include "engine/core/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace mantissa {

GrowingFile::GrowingFile(std::filesystem::path file)
    : m_path(std::move(file))
{
    std::error_code error;
    const auto status = std::filesystem::status(m_path, error);
    if (!std::filesystem::exists(status)) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("there is no file {}", m_path.string()));
    }
    if (!std::filesystem::is_regular_file(status)) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("{} is no file that can be read twice", m_path.string()));
    }
    m_descriptor = ::open(m_path.c_str(), O_RDONLY | O_CLOEXEC);
    if (m_descriptor < 0) {
        throw Error(ErrorCode::Io, fmt::format("cannot open {}: {}", m_path.string(), std::strerror(errno)));
    }
}

GrowingFile::~GrowingFile()
{
    ::close(m_descriptor);
}

std::size_t GrowingFile::read(std::span<std::byte> into)
{
    std::size_t got = 0;
    while (got < into.size()) {
        const ::ssize_t count
            = ::pread(m_descriptor, into.data() + got, into.size() - got, static_cast<::off_t>(m_position));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw Error(ErrorCode::Io, fmt::format("cannot read {}: {}", m_path.string(), std::strerror(errno)));
        }
        if (count == 0) {
            break;
        }
        got += static_cast<std::size_t>(count);
        m_position += static_cast<std::uint64_t>(count);
    }
    return got;
}

std::uint64_t GrowingFile::size() const
{
    struct ::stat state
    {
    };

    return ::fstat(m_descriptor, &state) == 0 ? static_cast<std::uint64_t>(state.st_size) : 0;
}

bool GrowingFile::wasReplaced() const
{
    struct ::stat mine
    {
    };

    struct ::stat named
    {
    };

    if (::fstat(m_descriptor, &mine) != 0 || ::stat(m_path.c_str(), &named) != 0) {
        return false; // gone: what was read stays
    }
    return mine.st_dev != named.st_dev || mine.st_ino != named.st_ino
        || static_cast<std::uint64_t>(mine.st_size) < m_position;
}

} // namespace mantissa
