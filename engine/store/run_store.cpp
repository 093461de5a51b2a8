#include "engine/store/run_store.h"

#include "engine/store/rank_rows.h"
#include "engine/store/replay.h"
#include "engine/store/run_database.h"
#include "engine/store/sample_rows.h"
#include "engine/store/step_chunk.h"
#include "engine/store/store_names.h"
#include "engine/store/writer_lock.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>

namespace mantissa {

namespace {

constexpr const char* runQuery
    = "SELECT runs.id, experiments.name, lane, color, status, message, policy, scaler, device, instruction_set, "
      "threads, threads_per_lane, seed, steps, final_loss, validation_loss, validation_accuracy, skipped_steps, "
      "final_scale, "
      "weights_hash, initial_weights_hash, steps_per_second, bytes_weights, bytes_copies, bytes_gradients, "
      "bytes_optimizer, bytes_activations, bytes_workspace, casts_per_step, started_at, ended_at, updated_at, tags, "
      "note, writer_id, lost_steps, imported, uuid, sweep FROM runs JOIN experiments ON experiments.id = "
      "experiment_id ";

/// A damaged count must not ask for all of the memory.
constexpr std::int64_t mostReserved = 1 << 24;

/// SQLite stores NaN as NULL.
double realOf(const SQLite::Column& column)
{
    return column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
}

std::uint64_t unsignedOf(const SQLite::Column& column)
{
    return static_cast<std::uint64_t>(column.getInt64());
}

std::span<const std::byte> blobOf(const SQLite::Column& column)
{
    const auto* data = static_cast<const std::byte*>(column.getBlob());
    return {data, static_cast<std::size_t>(column.getBytes())};
}

/// As unpackColumn(); a column that an imported run does not have is NaN, or 0 where it counts.
template <typename T> bool unpackKnown(const SQLite::Column& column, std::span<T> values)
{
    if (column.isNull()) {
        std::ranges::fill(values, std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : T {});
        return true;
    }
    return unpackColumn(blobOf(column), values);
}

std::vector<std::string> tagsFrom(const std::string& text)
{
    std::vector<std::string> tags;
    for (const auto& tag : nlohmann::json::parse(text, nullptr, false)) {
        if (tag.is_string()) {
            tags.push_back(tag.get<std::string>());
        }
    }
    return tags;
}

/// A run that its dead program left as running is an interrupted one, whatever the row says.
RunStatus statusOf(const std::string& stored, std::int64_t writer, const WriterProbe& probe)
{
    const RunStatus status = runStatusFromName(stored).value_or(RunStatus::Failed);
    return status == RunStatus::Running && !probe.isAlive(writer) ? RunStatus::Interrupted : status;
}

RunInfo runFrom(SQLite::Statement& row, const WriterProbe& probe)
{
    RunInfo run;
    int at = 0;
    const auto next = [&] { return row.getColumn(at++); };
    run.id = next().getInt64();
    run.experimentName = next().getString();
    run.lane = next().getString();
    run.color = next().getString();
    const std::string status = next().getString();
    run.message = next().getString();
    run.policy = next().getString();
    run.scaler = next().getString();
    run.device = next().getString();
    run.instructionSet = next().getString();
    run.threads = next().getInt();
    run.threadsPerLane = next().getInt();
    run.seed = unsignedOf(next());
    run.steps = next().getInt64();
    run.finalLoss = realOf(next());
    run.validationLoss = realOf(next());
    run.validationAccuracy = realOf(next());
    run.skippedSteps = next().getInt64();
    run.finalScale = realOf(next());
    run.weightsHash = next().getString();
    run.initialWeightsHash = next().getString();
    run.stepsPerSecond = realOf(next());
    for (auto* bytes : {&run.bytes.weights, &run.bytes.copies, &run.bytes.gradients, &run.bytes.optimizer,
             &run.bytes.activations, &run.bytes.workspace}) {
        *bytes = unsignedOf(next());
    }
    run.castsPerStep = next().getInt();
    run.startedUnixSeconds = next().getDouble();
    run.endedUnixSeconds = next().getDouble();
    const double updated = next().getDouble();
    run.tags = tagsFrom(next().getString());
    run.note = next().getString();
    run.status = statusOf(status, next().getInt64(), probe);
    if (const std::int64_t lost = next().getInt64(); lost > 0) {
        run.message += fmt::format("{}{} steps could not be recorded while the file could not be written.",
            run.message.empty() ? "" : " ", lost);
    }
    if (const SQLite::Column imported = next(); !imported.isNull()) {
        run.imported = importSourceFromJson(nlohmann::json::parse(imported.getString(), nullptr, false));
    }
    run.uuid = next().getString();
    if (const SQLite::Column sweep = next(); !sweep.isNull()) {
        run.sweep = sweepPointFromJson(nlohmann::json::parse(sweep.getString(), nullptr, false));
    }
    if (run.status == RunStatus::Interrupted) {
        run.endedUnixSeconds = updated;
    }
    return run;
}

} // namespace

struct RunStore::Impl
{
    Impl(const std::filesystem::path& file, StoreAccess access)
        : database(file, access)
    {
        if (access == StoreAccess::ReadWrite) {
            markInterrupted();
        }
    }

    void markInterrupted() const;
    [[nodiscard]] std::vector<RunInfo> select(const std::string& condition, RunId id) const;
    [[nodiscard]] nlohmann::json documentFrom(RunId id, const std::string& text) const;
    [[nodiscard]] Error damaged(RunId id) const;
    [[nodiscard]] Error unknown(RunId id) const;
    [[nodiscard]] std::optional<ImportSource> importOf(RunId id) const;
    [[nodiscard]] std::size_t countSteps(RunId id) const;
    /// False if a row is damaged.
    bool readValidations(RunId id, std::vector<RunColumns::Validated>& into) const;
    void updateText(RunId id, const char* sql, const std::string& text) const;
    void setDeleted(std::span<const RunId> ids, const char* sql) const;

    RunDatabase database;
};

/// Best effort: statusOf() tells the same to every reader meanwhile.
void RunStore::Impl::markInterrupted() const
{
    SQLite::Database& connection = database.connection();
    try {
        std::vector<std::int64_t> dead;
        {
            const WriterProbe probe(database.file());
            SQLite::Statement writers(connection, "SELECT DISTINCT writer_id FROM runs WHERE status = 'running'");
            while (writers.executeStep()) {
                const std::int64_t writer = writers.getColumn(0).getInt64();
                if (!probe.isAlive(writer)) {
                    dead.push_back(writer);
                }
            }
        }
        for (const std::int64_t writer : dead) {
            SQLite::Statement update(connection,
                "UPDATE runs SET status = 'interrupted', ended_at = updated_at WHERE status = 'running' AND writer_id "
                "= ?");
            update.bind(1, writer);
            update.exec();
        }
    } catch (const SQLite::Exception& exception) {
        if (exception.getErrorCode() != SQLITE_BUSY && exception.getErrorCode() != SQLITE_FULL) {
            throw database.asError(exception, "marking interrupted runs");
        }
    }
}

std::vector<RunInfo> RunStore::Impl::select(const std::string& condition, RunId id) const
{
    return database.guarded("reading the list of runs", [&] {
        const WriterProbe probe(database.file());
        SQLite::Statement query(database.connection(), runQuery + condition);
        if (query.getBindParameterCount() > 0) {
            query.bind(1, id);
        }
        std::vector<RunInfo> found;
        while (query.executeStep()) {
            found.push_back(runFrom(query, probe));
        }
        return found;
    });
}

nlohmann::json RunStore::Impl::documentFrom(RunId id, const std::string& text) const
{
    auto document = nlohmann::json::parse(text, nullptr, false);
    if (document.is_discarded()) {
        throw damaged(id);
    }
    return document;
}

Error RunStore::Impl::damaged(RunId id) const
{
    return {ErrorCode::Io,
        fmt::format("The records of run {} in {} are damaged: 'sqlite3 FILE .recover' may save them.", id,
            database.file().string())};
}

Error RunStore::Impl::unknown(RunId id) const
{
    return {ErrorCode::InvalidArgument,
        fmt::format("There is no run {} in {}: 'runs list' shows those there are.", id, database.file().string())};
}

void RunStore::Impl::updateText(RunId id, const char* sql, const std::string& text) const
{
    const bool found = database.guarded("saving what you wrote about a run", [&] {
        SQLite::Statement update(database.connection(), sql);
        update.bind(1, text);
        update.bind(2, id);
        return update.exec() == 1;
    });
    if (!found) {
        throw unknown(id);
    }
}

void RunStore::Impl::setDeleted(std::span<const RunId> ids, const char* sql) const
{
    database.guarded("deleting or restoring runs", [&] {
        SQLite::Transaction transaction(database.connection(), SQLite::TransactionBehavior::IMMEDIATE);
        SQLite::Statement update(database.connection(), sql);
        for (const RunId id : ids) {
            update.bind(1, id);
            update.exec();
            update.reset();
        }
        transaction.commit();
    });
}

std::optional<ImportSource> RunStore::Impl::importOf(RunId id) const
{
    SQLite::Statement query(database.connection(), "SELECT imported FROM runs WHERE id = ? AND imported IS NOT NULL");
    query.bind(1, id);
    return query.executeStep()
        ? importSourceFromJson(nlohmann::json::parse(query.getColumn(0).getString(), nullptr, false))
        : std::nullopt;
}

std::size_t RunStore::Impl::countSteps(RunId id) const
{
    SQLite::Statement query(
        database.connection(), "SELECT coalesce(sum(step_count), 0) FROM step_chunks WHERE run_id = ?");
    query.bind(1, id);
    query.executeStep();
    return static_cast<std::size_t>(std::clamp<std::int64_t>(query.getColumn(0).getInt64(), 0, mostReserved));
}

bool RunStore::Impl::readValidations(RunId id, std::vector<RunColumns::Validated>& into) const
{
    // A column of nothing but NaN is five bytes long, and SQLite finds a length without reading the row to its end.
    SQLite::Statement query(database.connection(),
        "SELECT first_step, step_count, validation_loss, validation_accuracy, stride FROM step_chunks "
        "WHERE run_id = ? AND (length(validation_loss) > 5 OR step_count = 1) ORDER BY ordinal");
    query.bind(1, id);
    while (query.executeStep()) {
        const std::int64_t count = query.getColumn(1).getInt64();
        if (count < 1 || count > static_cast<std::int64_t>(stepsPerChunk)) {
            return false;
        }
        std::vector<double> losses(static_cast<std::size_t>(count));
        std::vector<double> accuracies(losses.size());
        if (query.getColumn(2).isNull()) {
            continue; // a row of one step, written by an earlier version
        }
        if (!unpackColumn(blobOf(query.getColumn(2)), std::span(losses))
            || !unpackKnown(query.getColumn(3), std::span(accuracies))) {
            return false;
        }
        for (std::size_t i = 0; i < losses.size(); ++i) {
            if (!std::isnan(losses[i]) || !std::isnan(accuracies[i])) {
                into.push_back(
                    {query.getColumn(0).getInt64() + static_cast<std::int64_t>(i) * query.getColumn(4).getInt64(),
                        losses[i], accuracies[i]});
            }
        }
    }
    return true;
}

std::filesystem::path RunStore::defaultPath()
{
    std::filesystem::path base;
    if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && data[0] == '/') {
        base = data;
    } else if (const char* home = std::getenv("HOME"); home != nullptr && home[0] != '\0') {
        base = std::filesystem::path(home) / ".local" / "share";
    } else {
        throw Error(ErrorCode::Io,
            "Neither XDG_DATA_HOME nor HOME is set, so there is no place for the database of "
            "runs: set one of them, or name a file with --db.");
    }
    return base / "mantissa" / "runs.db";
}

RunStore::RunStore(const std::filesystem::path& file, StoreAccess access)
    : m_impl(std::make_unique<Impl>(file, access))
{
}

RunStore::~RunStore() = default;

std::vector<RunInfo> RunStore::runs() const
{
    return m_impl->select("WHERE deleted_at IS NULL ORDER BY runs.id DESC", 0);
}

std::optional<RunInfo> RunStore::run(RunId id) const
{
    auto found = m_impl->select("WHERE deleted_at IS NULL AND runs.id = ?", id);
    return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

RunColumns RunStore::columns(RunId id) const
{
    RunColumns columns;
    bool good = true;
    m_impl->database.guarded("reading a run's curves", [&] {
        SQLite::Statement query(m_impl->database.connection(),
            "SELECT first_step, step_count, loss, grad_norm, grad_norm_clipped, scale, skipped, stride, loss_finite "
            "FROM step_chunks WHERE run_id = ? ORDER BY ordinal");
        query.bind(1, id);
        const std::size_t steps = m_impl->countSteps(id);
        const bool isImported = m_impl->importOf(id).has_value();
        columns.step.reserve(steps);
        columns.skipped.reserve(steps);
        for (auto* column : {&columns.loss, &columns.gradNorm, &columns.gradNormClipped, &columns.scale}) {
            column->reserve(steps);
        }
        while (good && query.executeStep()) {
            const std::int64_t first = query.getColumn(0).getInt64();
            const std::int64_t count = query.getColumn(1).getInt64();
            good = count > 0 && count <= static_cast<std::int64_t>(stepsPerChunk);
            if (!good) {
                break;
            }
            const std::size_t before = columns.step.size();
            const auto n = static_cast<std::size_t>(count);
            const std::int64_t stride = query.getColumn(7).getInt64();
            for (std::int64_t i = 0; i < count; ++i) {
                columns.step.push_back(first + i * stride);
            }
            const auto read = [&](auto& column, int at) {
                column.resize(before + n);
                const auto values = std::span(column).subspan(before);
                const SQLite::Column blob = query.getColumn(at);
                good = (isImported ? unpackKnown(blob, values) : unpackColumn(blobOf(blob), values)) && good;
            };
            int at = 2;
            for (auto* column : {&columns.loss, &columns.gradNorm, &columns.gradNormClipped, &columns.scale}) {
                read(*column, at++);
            }
            read(columns.skipped, at);
            if (isImported) {
                read(columns.lossFinite, 8);
            }
        }
        good = good && m_impl->readValidations(id, columns.validations);
    });
    if (!good) {
        throw m_impl->damaged(id);
    }
    return columns;
}

std::vector<StepRecord> RunStore::records(RunId id) const
{
    std::vector<StepRecord> records;
    bool good = true;
    m_impl->database.guarded("reading a run's records", [&] {
        SQLite::Statement query(m_impl->database.connection(),
            "SELECT lane_number, first_step, step_count, stride, " + qualifiedStepColumns()
                + " FROM step_chunks JOIN runs ON runs.id = run_id WHERE run_id = ? ORDER BY ordinal");
        query.bind(1, id);
        records.reserve(m_impl->countSteps(id));
        const StepRecord blank = m_impl->importOf(id) ? unmeasuredRecord() : StepRecord();
        while (good && query.executeStep()) {
            const auto lane = static_cast<std::uint32_t>(query.getColumn(0).getInt64());
            const std::int64_t first = query.getColumn(1).getInt64();
            const std::int64_t count = query.getColumn(2).getInt64();
            const std::int64_t stride = query.getColumn(3).getInt64();
            good = count > 0 && count <= static_cast<std::int64_t>(stepsPerChunk);
            if (!good) {
                break;
            }
            const std::size_t before = records.size();
            records.resize(before + static_cast<std::size_t>(count), blank);
            const auto chunk = std::span(records).subspan(before);
            for (std::size_t i = 0; i < chunk.size(); ++i) {
                chunk[i].lane = lane;
                chunk[i].step = first + static_cast<std::int64_t>(i) * stride;
            }
            for (std::size_t column = 0; column < stepColumnCount(); ++column) {
                good = unpackIntoRecords(column, blobOf(query.getColumn(static_cast<int>(4 + column))), chunk) && good;
            }
        }
    });
    if (!good) {
        throw m_impl->damaged(id);
    }
    return records;
}

std::vector<Event> RunStore::events(RunId id) const
{
    return m_impl->database.guarded("reading a run's events", [&] {
        SQLite::Statement query(m_impl->database.connection(),
            "SELECT kind, step, all_lanes, lane_number, path, value_before, value_after, text, scripted, happened_at, "
            "command FROM events JOIN runs ON runs.id = run_id WHERE run_id = ? ORDER BY events.id");
        query.bind(1, id);
        std::vector<Event> events;
        while (query.executeStep()) {
            Event event;
            event.kind = eventKindFromName(query.getColumn(0).getString());
            event.step = query.getColumn(1).getInt64();
            event.lane = query.getColumn(2).getInt() != 0 ? Event::allLanes : query.getColumn(3).getUInt();
            event.path = query.getColumn(4).getString();
            event.before = query.getColumn(5).getString();
            event.after = query.getColumn(6).getString();
            event.text = query.getColumn(7).getString();
            event.scripted = query.getColumn(8).getInt() != 0;
            event.unixSeconds = query.getColumn(9).getDouble();
            event.command = unsignedOf(query.getColumn(10));
            events.push_back(std::move(event));
        }
        return events;
    });
}

std::vector<RankRecord> RunStore::ranks(RunId id) const
{
    auto ranks = m_impl->database.guarded(
        "reading a run's ranks", [&] { return readRanks(m_impl->database.connection(), id); });
    if (!ranks) {
        throw m_impl->damaged(id);
    }
    return *std::move(ranks);
}

std::vector<std::int64_t> RunStore::sampledSteps(RunId id) const
{
    return m_impl->database.guarded("reading a run's samples", [&] {
        SQLite::Statement query(
            m_impl->database.connection(), "SELECT step FROM step_samples WHERE run_id = ? ORDER BY step");
        query.bind(1, id);
        std::vector<std::int64_t> steps;
        while (query.executeStep()) {
            steps.push_back(query.getColumn(0).getInt64());
        }
        return steps;
    });
}

std::vector<StepSample> RunStore::samples(RunId id, std::int64_t first, std::int64_t last) const
{
    auto samples = m_impl->database.guarded(
        "reading a run's samples", [&] { return readSamples(m_impl->database.connection(), id, first, last); });
    if (!samples) {
        throw m_impl->damaged(id);
    }
    return *std::move(samples);
}

nlohmann::json RunStore::replayExperiment(RunId id) const
{
    const auto imported = m_impl->database.guarded("reading a run's settings", [&] { return m_impl->importOf(id); });
    if (imported) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("Run {} was imported from {}: its settings are not known, so it cannot be trained here.", id,
                imported->file));
    }
    ReplaySource source;
    const bool found = m_impl->database.guarded("reading a run's settings", [&] {
        SQLite::Statement query(m_impl->database.connection(),
            "SELECT settings, document, name, lane, color, coalesce((SELECT first_step + (step_count - 1) * stride + 1 "
            "FROM "
            "step_chunks WHERE run_id = runs.id ORDER BY ordinal DESC LIMIT 1), 0) FROM runs "
            "JOIN experiments ON experiments.id = experiment_id WHERE runs.id = ?");
        query.bind(1, id);
        if (!query.executeStep()) {
            return false;
        }
        source.settings = m_impl->documentFrom(id, query.getColumn(0).getString());
        source.experiment = m_impl->documentFrom(id, query.getColumn(1).getString());
        source.experimentName = query.getColumn(2).getString();
        source.lane = query.getColumn(3).getString();
        source.color = query.getColumn(4).getString();
        source.nextStep = query.getColumn(5).getInt64();
        return true;
    });
    if (!found) {
        throw m_impl->unknown(id);
    }
    source.events = events(id);
    return replayDocument(source);
}

nlohmann::json RunStore::experiment(RunId id) const
{
    const auto document = m_impl->database.guarded("reading a run's experiment", [&]() -> std::optional<std::string> {
        SQLite::Statement query(m_impl->database.connection(),
            "SELECT document FROM runs JOIN experiments ON experiments.id = experiment_id WHERE runs.id = ?");
        query.bind(1, id);
        return query.executeStep() ? std::optional(query.getColumn(0).getString()) : std::nullopt;
    });
    if (!document) {
        throw m_impl->unknown(id);
    }
    return m_impl->documentFrom(id, *document);
}

void RunStore::setTags(RunId id, const std::vector<std::string>& tags)
{
    const nlohmann::json list = tags;
    m_impl->updateText(id, "UPDATE runs SET tags = ? WHERE id = ?",
        list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void RunStore::setNote(RunId id, const std::string& note)
{
    m_impl->updateText(id, "UPDATE runs SET note = ? WHERE id = ?", note);
}

void RunStore::markDeleted(std::span<const RunId> ids)
{
    m_impl->setDeleted(ids, "UPDATE runs SET deleted_at = unixepoch() WHERE id = ? AND deleted_at IS NULL");
}

void RunStore::restore(std::span<const RunId> ids)
{
    m_impl->setDeleted(ids, "UPDATE runs SET deleted_at = NULL WHERE id = ?");
}

void RunStore::purgeDeleted()
{
    m_impl->database.guarded("removing deleted runs", [this] {
        SQLite::Database& connection = m_impl->database.connection();
        std::vector<RunId> gone;
        {
            const WriterProbe probe(m_impl->database.file());
            SQLite::Statement query(connection, "SELECT id, status, writer_id FROM runs WHERE deleted_at IS NOT NULL");
            while (query.executeStep()) {
                // A run whose program still writes must keep its row until that is over.
                if (statusOf(query.getColumn(1).getString(), query.getColumn(2).getInt64(), probe)
                    != RunStatus::Running) {
                    gone.push_back(query.getColumn(0).getInt64());
                }
            }
        }
        SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
        SQLite::Statement remove(connection, "DELETE FROM runs WHERE id = ? AND deleted_at IS NOT NULL");
        for (const RunId id : gone) {
            remove.bind(1, id);
            remove.exec();
            remove.reset();
        }
        connection.exec("DELETE FROM experiments WHERE id NOT IN (SELECT experiment_id FROM runs)");
        transaction.commit();
        connection.exec("PRAGMA incremental_vacuum");
    });
}

} // namespace mantissa
