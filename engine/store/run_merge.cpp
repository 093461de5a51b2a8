#include "engine/store/run_merge.h"

#include "engine/store/migrations.h"
#include "engine/store/run_database.h"
#include "engine/store/writer_lock.h"

#include <SQLiteCpp/Backup.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace mantissa {

namespace fs = std::filesystem;

namespace {

constexpr int patienceMs = 120'000; // with others who write the same file

Error damagedFile(const fs::path& file, const std::string& what)
{
    return {ErrorCode::Io,
        fmt::format("The database of runs {} is damaged ({}): 'sqlite3 FILE .recover' may save what it holds.",
            file.string(), what)};
}

/// A folder for a copy, gone with the object.
class CopyFolder
{
public:
    CopyFolder()
    {
        std::string name = (fs::temp_directory_path() / "mantissa-merge-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw Error(ErrorCode::Io,
                fmt::format("No folder for a copy can be made in {}: check that it has space and may be written.",
                    fs::temp_directory_path().string()));
        }
        m_path = name;
    }

    ~CopyFolder()
    {
        std::error_code ignored;
        fs::remove_all(m_path, ignored);
    }

    CopyFolder(const CopyFolder&) = delete;
    CopyFolder& operator=(const CopyFolder&) = delete;

    [[nodiscard]] fs::path file() const { return m_path / "runs.db"; }

private:
    fs::path m_path;
};

/// A database that is only read, of the newest version: itself, or an upgraded copy of it.
class Source
{
public:
    explicit Source(const fs::path& file)
        : m_database(std::make_unique<RunDatabase>(file, StoreAccess::ReadOnly, RunDatabase::Older::StaysOlder))
    {
        const bool isOlder = m_database->guarded(
            "opening it", [this] { return schemaVersion(m_database->connection()) < newestSchemaVersion(); });
        check();
        if (isOlder) {
            m_copy.emplace();
            m_database->guarded("copying it to upgrade the copy", [this] {
                SQLite::Database copy(m_copy->file().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
                SQLite::Backup backup(copy, m_database->connection());
                if (const int code = backup.executeStep(); code != SQLITE_DONE) {
                    throw SQLite::Exception("another program writes it", code);
                }
            });
            m_database = std::make_unique<RunDatabase>(m_copy->file(), StoreAccess::ReadWrite);
        }
    }

    [[nodiscard]] const RunDatabase& database() const { return *m_database; }

private:
    /// What SQLite can tell of damage, before anything of it is copied.
    void check() const
    {
        const std::string trouble = m_database->guarded("checking it for damage",
            [this] { return m_database->connection().execAndGet("PRAGMA quick_check(1)").getString(); });
        if (trouble != "ok") {
            throw damagedFile(m_database->file(), trouble);
        }
    }

    std::optional<CopyFolder> m_copy;
    std::unique_ptr<RunDatabase> m_database;
};

/// A table whose rows belong to runs.
struct Table
{
    std::string name;
    std::string columns; ///< "a, b": all but a number that SQLite gives to the row
    std::string marks; ///< "?, ?"
    int runColumn = 0; ///< place of run_id among them
    std::string order;
};

std::vector<std::string> columnsOf(SQLite::Database& database, const std::string& table)
{
    std::vector<std::string> names;
    SQLite::Statement query(database, "SELECT name FROM pragma_table_info(?)");
    query.bind(1, table);
    while (query.executeStep()) {
        names.push_back(query.getColumn(0).getString());
    }
    return names;
}

/// The column that stands for SQLite's own number of a row, if there is one.
std::string rowNumberOf(SQLite::Database& database, const std::string& table)
{
    SQLite::Statement query(database, "SELECT name, upper(type) FROM pragma_table_info(?) WHERE pk > 0");
    query.bind(1, table);
    std::string name;
    int count = 0;
    for (; query.executeStep(); ++count) {
        name = query.getColumn(1).getString() == "INTEGER" ? query.getColumn(0).getString() : std::string();
    }
    return count == 1 ? name : std::string();
}

std::string nameInSql(const std::string& name)
{
    std::string text = "\"";
    for (const char c : name) {
        text += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    return text + '"';
}

std::vector<Table> tablesOfRuns(SQLite::Database& database)
{
    std::vector<Table> tables;
    SQLite::Statement query(database,
        "SELECT name FROM sqlite_schema AS tables WHERE type = 'table' AND EXISTS "
        "(SELECT 1 FROM pragma_table_info(tables.name) AS columns WHERE columns.name = 'run_id') ORDER BY rowid");
    while (query.executeStep()) {
        Table table {query.getColumn(0).getString(), {}, {}, 0, {}};
        const std::string number = rowNumberOf(database, table.name);
        int at = 0;
        for (const std::string& column : columnsOf(database, table.name)) {
            if (column == number && column != "run_id") {
                table.order = " ORDER BY " + nameInSql(column);
                continue;
            }
            table.runColumn = column == "run_id" ? at : table.runColumn;
            table.columns += (at == 0 ? "" : ", ") + nameInSql(column);
            table.marks += at == 0 ? "?" : ", ?";
            ++at;
        }
        tables.push_back(std::move(table));
    }
    return tables;
}

void bindSame(SQLite::Statement& statement, int at, const SQLite::Column& value)
{
    if (value.isInteger()) {
        statement.bind(at, value.getInt64());
    } else if (value.isFloat()) {
        statement.bind(at, value.getDouble());
    } else if (value.isText()) {
        statement.bind(at, value.getString());
    } else if (value.isBlob()) {
        // A blob without bytes has no address, and would be taken for a NULL.
        const void* bytes = value.getBlob();
        statement.bind(at, bytes == nullptr ? static_cast<const void*>("") : bytes, value.getBytes());
    } else {
        statement.bind(at);
    }
}

/// The tags of both, those of the first one first.
std::string united(const std::string& a, const std::string& b)
{
    nlohmann::json tags = nlohmann::json::parse(a, nullptr, false);
    const nlohmann::json more = nlohmann::json::parse(b, nullptr, false);
    if (!tags.is_array() || !more.is_array()) {
        return a;
    }
    for (const nlohmann::json& tag : more) {
        if (std::ranges::find(tags, tag) == tags.end()) {
            tags.push_back(tag);
        }
    }
    return tags.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// What `into` holds of a run that a file has too.
struct Known
{
    std::int64_t id = 0;
    double updatedAt = 0;
    bool isLive = false;
    bool isDeleted = false;
    std::string tags;
    std::string note;
};

/// Copies the runs of one file. Both databases are within a transaction.
class Merge
{
public:
    Merge(const fs::path& file, const RunDatabase& source, const RunDatabase& target)
        : m_file(file)
        , m_source(source.connection())
        , m_target(target.connection())
        , m_writersOfTarget(target.file())
        , m_tables(tablesOfRuns(m_target))
        , m_columns(columnsOf(m_target, "runs"))
    {
        std::erase(m_columns, "id");
        for (const std::string& column : m_columns) {
            m_columnList += (m_columnList.empty() ? "" : ", ") + nameInSql(column);
        }
    }

    void copyAll(MergedRuns& result)
    {
        SQLite::Statement query(
            m_source, "SELECT id, uuid, updated_at, tags, note FROM runs WHERE deleted_at IS NULL ORDER BY id");
        while (query.executeStep()) {
            const std::int64_t run = query.getColumn(0).getInt64();
            if (!query.getColumn(1).isText()) {
                throw damaged(fmt::format("run {} has no identity", run));
            }
            const std::optional<Known> known = find(query.getColumn(1).getString());
            if (!known) {
                add(run);
                ++result.added;
                continue;
            }
            const bool goesOn
                = !known->isDeleted && !known->isLive && hasGoneOn(run, query.getColumn(2).getDouble(), *known);
            if (goesOn) {
                replace(run, known->id);
            }
            ++(goesOn ? result.completed : result.unchanged);
            uniteWords(*known, query.getColumn(3).getString(), query.getColumn(4).getString());
        }
    }

private:
    std::optional<Known> find(const std::string& uuid)
    {
        SQLite::Statement query(m_target,
            "SELECT id, updated_at, status = 'running', writer_id, deleted_at IS NOT NULL, tags, note FROM runs "
            "WHERE uuid = ?");
        query.bind(1, uuid);
        if (!query.executeStep()) {
            return std::nullopt;
        }
        return Known {query.getColumn(0).getInt64(), query.getColumn(1).getDouble(),
            query.getColumn(2).getInt() != 0 && m_writersOfTarget.isAlive(query.getColumn(3).getInt64()),
            query.getColumn(4).getInt() != 0, query.getColumn(5).getString(), query.getColumn(6).getString()};
    }

    static std::int64_t countRows(SQLite::Database& database, const Table& table, std::int64_t run)
    {
        SQLite::Statement query(database, "SELECT count(*) FROM " + nameInSql(table.name) + " WHERE run_id = ?");
        query.bind(1, run);
        query.executeStep();
        return query.getColumn(0).getInt64();
    }

    /// Rows are only ever added to a run, or replaced later: the copy with more of them, or the later one, is the
    /// further one. Counted too, since an event that follows a run's end leaves no mark in its row.
    bool hasGoneOn(std::int64_t run, double updatedAt, const Known& known)
    {
        bool hasMore = false;
        for (const Table& table : m_tables) {
            const std::int64_t here = countRows(m_source, table, run);
            const std::int64_t there = countRows(m_target, table, known.id);
            if (here < there) {
                return false;
            }
            hasMore = hasMore || here > there;
        }
        return hasMore || updatedAt > known.updatedAt;
    }

    void add(std::int64_t run)
    {
        std::string marks;
        for (std::size_t i = 0; i < m_columns.size(); ++i) {
            marks += i == 0 ? "?" : ", ?";
        }
        SQLite::Statement insert(m_target, "INSERT INTO runs (" + m_columnList + ") VALUES (" + marks + ")");
        bindRun(insert, run, m_columns);
        insert.exec();
        copyRows(run, m_target.getLastInsertRowid());
    }

    void replace(std::int64_t run, std::int64_t into)
    {
        std::vector<std::string> columns = m_columns;
        for (const char* own : {"uuid", "tags", "note", "deleted_at"}) {
            std::erase(columns, own);
        }
        std::string changes;
        for (const std::string& column : columns) {
            changes += (changes.empty() ? "" : ", ") + nameInSql(column) + " = ?";
        }
        SQLite::Statement update(m_target, "UPDATE runs SET " + changes + " WHERE id = ?");
        bindRun(update, run, columns);
        update.bind(static_cast<int>(columns.size()) + 1, into);
        update.exec();
        for (auto table = m_tables.rbegin(); table != m_tables.rend(); ++table) {
            SQLite::Statement remove(m_target, "DELETE FROM " + nameInSql(table->name) + " WHERE run_id = ?");
            remove.bind(1, into);
            remove.exec();
        }
        copyRows(run, into);
    }

    /// Binds the columns of the source's row, with the target's numbers of its writer and its experiment.
    void bindRun(SQLite::Statement& statement, std::int64_t run, const std::vector<std::string>& columns)
    {
        SQLite::Statement query(
            m_source, "SELECT " + m_columnList + ", writer_id, experiment_id FROM runs WHERE id = ?");
        query.bind(1, run);
        query.executeStep();
        const auto count = static_cast<int>(m_columns.size());
        const std::int64_t writer = writerFor(query.getColumn(count).getInt64());
        const std::int64_t experiment = experimentFor(query.getColumn(count + 1).getInt64());
        int at = 0;
        for (const std::string& column : columns) {
            ++at;
            if (column == "writer_id") {
                statement.bind(at, writer);
            } else if (column == "experiment_id") {
                statement.bind(at, experiment);
            } else {
                const auto place = std::ranges::find(m_columns, column) - m_columns.begin();
                bindSame(statement, at, query.getColumn(static_cast<int>(place)));
            }
        }
    }

    /// A new one for each merge, that nobody is behind: a copied run must not seem alive because some program is.
    std::int64_t writerFor(std::int64_t writer)
    {
        const auto [place, isNew] = m_newWriters.try_emplace(writer, 0);
        if (isNew) {
            SQLite::Statement query(m_source, "SELECT pid, host, started_at FROM writers WHERE id = ?");
            query.bind(1, writer);
            SQLite::Statement insert(m_target, "INSERT INTO writers (pid, host, started_at) VALUES (?, ?, ?)");
            if (!query.executeStep()) {
                throw damaged("a run's writer is missing");
            }
            for (int i = 0; i < 3; ++i) {
                bindSame(insert, i + 1, query.getColumn(i));
            }
            insert.exec();
            place->second = m_target.getLastInsertRowid();
        }
        return place->second;
    }

    std::int64_t experimentFor(std::int64_t experiment)
    {
        const auto [place, isNew] = m_newExperiments.try_emplace(experiment, 0);
        if (isNew) {
            SQLite::Statement query(m_source, "SELECT hash, name, document FROM experiments WHERE id = ?");
            query.bind(1, experiment);
            if (!query.executeStep()) {
                throw damaged("a run's experiment is missing");
            }
            SQLite::Statement known(
                m_target, "SELECT id FROM experiments WHERE hash = ? AND name = ? AND document = ?");
            SQLite::Statement insert(m_target, "INSERT INTO experiments (hash, name, document) VALUES (?, ?, ?)");
            for (int i = 0; i < 3; ++i) {
                bindSame(known, i + 1, query.getColumn(i));
                bindSame(insert, i + 1, query.getColumn(i));
            }
            if (known.executeStep()) {
                place->second = known.getColumn(0).getInt64();
            } else {
                insert.exec();
                place->second = m_target.getLastInsertRowid();
            }
        }
        return place->second;
    }

    void copyRows(std::int64_t run, std::int64_t into)
    {
        for (const Table& table : m_tables) {
            SQLite::Statement query(m_source,
                "SELECT " + table.columns + " FROM " + nameInSql(table.name) + " WHERE run_id = ?" + table.order);
            query.bind(1, run);
            SQLite::Statement insert(m_target,
                "INSERT INTO " + nameInSql(table.name) + " (" + table.columns + ") VALUES (" + table.marks + ")");
            while (query.executeStep()) {
                for (int i = 0; i < query.getColumnCount(); ++i) {
                    if (i == table.runColumn) {
                        insert.bind(i + 1, into);
                    } else {
                        bindSame(insert, i + 1, query.getColumn(i));
                    }
                }
                insert.exec();
                insert.reset();
            }
        }
    }

    void uniteWords(const Known& known, const std::string& tags, const std::string& note)
    {
        SQLite::Statement update(m_target, "UPDATE runs SET tags = ?, note = ? WHERE id = ?");
        update.bind(1, united(known.tags, tags));
        update.bind(2, known.note.empty() ? note : known.note);
        update.bind(3, known.id);
        update.exec();
    }

    [[nodiscard]] Error damaged(const std::string& what) const { return damagedFile(m_file, what); }

    fs::path m_file; ///< what a person calls the source
    SQLite::Database& m_source;
    SQLite::Database& m_target;
    WriterProbe m_writersOfTarget;
    std::vector<Table> m_tables;
    std::vector<std::string> m_columns; ///< of runs, but for its number
    std::string m_columnList;
    std::map<std::int64_t, std::int64_t> m_newWriters; ///< by the source's number
    std::map<std::int64_t, std::int64_t> m_newExperiments;
};

void copyFile(const RunDatabase& target, MergedRuns& result)
{
    const Source source(result.file);
    SQLite::Database& connection = source.database().connection();
    const SQLite::Transaction view(connection); // one state of it, whoever writes it meanwhile
    try {
        Merge(result.file, source.database(), target).copyAll(result);
    } catch (const SQLite::Exception& exception) {
        const int code = connection.getErrorCode();
        if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) {
            throw; // the target's
        }
        throw source.database().asError(exception, "reading its runs");
    }
}

} // namespace

std::vector<MergedRuns> mergeRuns(const fs::path& into, std::span<const fs::path> files)
{
    for (const fs::path& file : files) {
        std::error_code ignored;
        if (fs::equivalent(file, into, ignored)) {
            throw Error(ErrorCode::Io, fmt::format("{} cannot be merged into itself.", file.string()));
        }
        const Source looked(file); // what is wrong with a file is known before `into` is made
    }
    const RunDatabase target(into, StoreAccess::ReadWrite);
    std::vector<MergedRuns> results;
    target.guarded("merging runs into it", [&] {
        SQLite::Database& connection = target.connection();
        connection.setBusyTimeout(patienceMs);
        SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
        // Tables are copied one after another, whichever refers to which.
        connection.exec("PRAGMA defer_foreign_keys = ON");
        for (const fs::path& file : files) {
            results.push_back({file, 0, 0, 0});
            copyFile(target, results.back());
        }
        transaction.commit();
    });
    return results;
}

} // namespace mantissa
