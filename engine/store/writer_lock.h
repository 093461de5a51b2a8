/// Tells whether the program that writes a run is still alive.
///
/// Every RunWriter has a row in `writers` and holds an exclusive lock on the byte at that row's id of the file
/// "<database>-writers". The kernel drops the lock when the process ends in any way, kill -9 and power loss included,
/// so neither a reused process id nor a copied database can be mistaken for a live writer; containers with process ids
/// of their own see each other's locks. Open-file-description locks, unlike POSIX ones, also work inside one process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace mantissa {

/// The lock of one writer, held while the object lives.
class WriterLock
{
public:
    /// Throws Error (Io) if the side file cannot be made or locked.
    WriterLock(const std::filesystem::path& database, std::int64_t writerId);
    ~WriterLock();
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

private:
    int m_descriptor = -1;
};

/// Asks about any number of writers of one database.
class WriterProbe
{
public:
    explicit WriterProbe(const std::filesystem::path& database);
    ~WriterProbe();
    WriterProbe(const WriterProbe&) = delete;
    WriterProbe& operator=(const WriterProbe&) = delete;

    [[nodiscard]] bool isAlive(std::int64_t writerId) const;

private:
    int m_descriptor = -1; ///< -1: no side file, hence no live writer
};

} // namespace mantissa
