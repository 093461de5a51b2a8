/// The schema as a list of numbered steps. A new version is one more entry at the end; no entry is ever changed.
#pragma once

#include <filesystem>
#include <span>

namespace SQLite {
class Database;
}

namespace mantissa {

struct Migration
{
    int version; ///< PRAGMA user_version once `sql` has run
    const char* sql; ///< any number of statements, run in one transaction
};

/// Ascending versions, starting with 1.
std::span<const Migration> migrations();
int newestSchemaVersion();

/// PRAGMA user_version.
int schemaVersion(SQLite::Database& database);

/// Throws Error (Io) if a newer program wrote the file or if it is some other program's database.
void checkSchema(SQLite::Database& database, const std::filesystem::path& file);

/// Runs the steps that the file has not seen, each in its own transaction: a program killed in between leaves a file
/// of an older version, never half a step. Two programs may do this at once.
/// Throws SQLite::Exception; Error (Io) as checkSchema().
void migrate(SQLite::Database& database, const std::filesystem::path& file, std::span<const Migration> steps);

} // namespace mantissa
