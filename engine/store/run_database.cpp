#include "engine/store/run_database.h"

#include "engine/store/migrations.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <system_error>
#include <thread>

namespace mantissa {

namespace fs = std::filesystem;

namespace {

constexpr int busyTimeoutMs = 2000;

/// What a person can do about a SQLite result code.
std::string adviceFor(int code)
{
    switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return "Another program keeps it locked: close that program, or try again in a moment.";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return "It is read-only: give yourself write permission for the file and its folder, or choose another file.";
    case SQLITE_FULL:
        return "The disk is full: free some space.";
    case SQLITE_NOTADB:
        return "It is not a database of runs: choose another file, or move this one away and a new one is made.";
    case SQLITE_CORRUPT:
        return "It is damaged: move it away and a new one is made, or recover it with 'sqlite3 FILE .recover'.";
    case SQLITE_CANTOPEN:
        return "It cannot be opened: check that its folder exists and that you may write there.";
    case SQLITE_IOERR:
        return "The disk refused: check that it has space left and is still connected.";
    default:
        return "Try again; if it stays so, move the file away and a new one is made.";
    }
}

std::string immutableUri(const fs::path& file)
{
    std::string uri = "file:";
    for (const char c : fs::absolute(file).string()) {
        if (c == '%' || c == '?' || c == '#') {
            uri += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
            uri += c;
        }
    }
    return uri + "?immutable=1";
}

void refuseFolder(const fs::path& file)
{
    std::error_code error;
    if (fs::is_directory(file, error)) {
        throw Error(ErrorCode::Io,
            fmt::format("{} is a folder, not a database of runs: name a file in it, such as {}.", file.string(),
                (file / "runs.db").string()));
    }
}

/// Two programs that make the same file at once collide here, and SQLite's own busy timeout does not cover this switch.
void switchToWal(SQLite::Database& connection)
{
    const auto giveUp = std::chrono::steady_clock::now() + std::chrono::milliseconds(busyTimeoutMs);
    while (true) {
        try {
            connection.exec("PRAGMA journal_mode = WAL");
            return;
        } catch (const SQLite::Exception& exception) {
            if (exception.getErrorCode() != SQLITE_BUSY || std::chrono::steady_clock::now() > giveUp) {
                throw;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
}

/// Without side files SQLite can only read a database whose log was written back completely.
bool hasUnmergedLog(const fs::path& file)
{
    std::error_code error;
    const auto size = fs::file_size(file.string() + "-wal", error);
    return !error && size > 0;
}

} // namespace

RunDatabase::RunDatabase(const fs::path& file, StoreAccess access, Older older)
    : m_file(file)
{
    if (access == StoreAccess::ReadWrite) {
        openReadWrite();
    } else {
        openReadOnly(older);
    }
}

void RunDatabase::open(const std::string& name, int flags)
{
    // A connection belongs to one thread, so SQLite need not lock it: a fifth of the time of writing otherwise.
    m_connection = std::make_unique<SQLite::Database>(name, flags | SQLite::OPEN_NOMUTEX, busyTimeoutMs);
    m_connection->exec("PRAGMA foreign_keys = ON");
}

void RunDatabase::openReadWrite()
{
    std::error_code error;
    if (m_file.has_parent_path()) {
        fs::create_directories(m_file.parent_path(), error);
        if (error) {
            throw Error(ErrorCode::Io,
                fmt::format("The folder {} for the database of runs cannot be made: {}. Choose another file.",
                    m_file.parent_path().string(), error.message()));
        }
    }
    refuseFolder(m_file);
    guarded("opening it", [this] {
        open(m_file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        checkSchema(*m_connection, m_file);
        // Only takes effect in a file without tables; purgeDeleted() then gives pages back.
        m_connection->exec("PRAGMA auto_vacuum = INCREMENTAL");
        switchToWal(*m_connection);
        m_connection->exec("PRAGMA synchronous = NORMAL");
        m_connection->exec("PRAGMA journal_size_limit = 16777216");
        migrate(*m_connection, m_file, migrations());
    });
}

void RunDatabase::openReadOnly(Older older)
{
    std::error_code error;
    if (!fs::exists(m_file, error)) {
        throw Error(ErrorCode::Io,
            fmt::format(
                "There is no database of runs at {}: train something, or choose another file.", m_file.string()));
    }
    refuseFolder(m_file);
    guarded("opening it", [this, older] {
        try {
            open(m_file.string(), SQLite::OPEN_READONLY);
            checkSchema(*m_connection, m_file);
        } catch (const SQLite::Exception& exception) {
            const int code = exception.getErrorCode();
            if ((code != SQLITE_CANTOPEN && code != SQLITE_READONLY) || hasUnmergedLog(m_file)) {
                throw;
            }
            open(immutableUri(m_file), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
            checkSchema(*m_connection, m_file);
        }
        if (older == Older::IsUpgraded && schemaVersion(*m_connection) < newestSchemaVersion()) {
            const RunDatabase upgraded(m_file, StoreAccess::ReadWrite);
        }
    });
}

Error RunDatabase::asError(const SQLite::Exception& exception, const std::string& task) const
{
    return {ErrorCode::Io,
        fmt::format("The database of runs {} failed while {} ({}). {}", m_file.string(), task, exception.what(),
            adviceFor(exception.getErrorCode()))};
}

} // namespace mantissa
