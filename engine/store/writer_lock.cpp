#include "engine/store/writer_lock.h"

#include "engine/core/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mantissa {

namespace {

std::string sideFile(const std::filesystem::path& database)
{
    return database.string() + "-writers";
}

struct flock byteOf(std::int64_t writerId)
{
    struct flock range
    {
    };

    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = writerId;
    range.l_len = 1;
    return range;
}

} // namespace

WriterLock::WriterLock(const std::filesystem::path& database, std::int64_t writerId)
    : m_descriptor(::open(sideFile(database).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666))
{
    struct flock range = byteOf(writerId);
    if (m_descriptor < 0 || ::fcntl(m_descriptor, F_OFD_SETLK, &range) != 0) {
        const int reason = errno;
        if (m_descriptor >= 0) {
            ::close(m_descriptor);
        }
        throw Error(ErrorCode::Io,
            fmt::format(
                "The file {} that marks live runs cannot be locked ({}): check that you may write in its folder.",
                sideFile(database), std::strerror(reason)));
    }
}

WriterLock::~WriterLock()
{
    ::close(m_descriptor);
}

WriterProbe::WriterProbe(const std::filesystem::path& database)
    : m_descriptor(::open(sideFile(database).c_str(), O_RDONLY | O_CLOEXEC))
{
}

WriterProbe::~WriterProbe()
{
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
    }
}

bool WriterProbe::isAlive(std::int64_t writerId) const
{
    struct flock range = byteOf(writerId);
    return m_descriptor >= 0 && ::fcntl(m_descriptor, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

} // namespace mantissa
