/// One SQLite connection to a run file, opened the way the store needs it, with SQLite's codes turned into plain words.
#pragma once

#include "engine/core/error.h"
#include "engine/store/run_store.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace mantissa {

/// Opens (ReadWrite: creates), sets WAL, synchronous NORMAL and a busy timeout, and migrates to the newest schema.
/// A read-only file in a folder that cannot be written is read without WAL's side files.
/// Errors: Error (Io) as described at RunStore.
class RunDatabase
{
public:
    /// What becomes of a file of an older version that is opened for reading.
    enum class Older { IsUpgraded, StaysOlder };

    RunDatabase(const std::filesystem::path& file, StoreAccess access, Older older = Older::IsUpgraded);

    [[nodiscard]] SQLite::Database& connection() const { return *m_connection; }

    [[nodiscard]] const std::filesystem::path& file() const { return m_file; }

    /// Runs `work`; a SQLite failure in it becomes an Error that says what `task` ("reading the runs") met.
    template <typename Work> auto guarded(const char* task, Work&& work) const
    {
        try {
            return std::forward<Work>(work)();
        } catch (const SQLite::Exception& exception) {
            throw asError(exception, task);
        }
    }

    [[nodiscard]] Error asError(const SQLite::Exception& exception, const std::string& task) const;

private:
    void openReadWrite();
    void openReadOnly(Older older);
    void open(const std::string& name, int flags);

    std::filesystem::path m_file;
    std::unique_ptr<SQLite::Database> m_connection;
};

} // namespace mantissa
