#include "engine/store/migrations.h"

#include "engine/core/error.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <array>
#include <string>

namespace mantissa {

namespace {

constexpr int applicationId = 0x4D616E74; // "Mant"

// Columns are explained in engine/store/README.md. In step_chunks the columns that the plots read come first: SQLite
// follows a row's overflow pages only as far as the last column that a query asks for.
constexpr const char* version1 = R"sql(
CREATE TABLE writers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    started_at REAL NOT NULL
);
CREATE TABLE experiments (
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    name TEXT NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX experiments_by_hash ON experiments (hash);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    experiment_id INTEGER NOT NULL REFERENCES experiments (id),
    writer_id INTEGER NOT NULL REFERENCES writers (id),
    lane_number INTEGER NOT NULL,
    lane TEXT NOT NULL,
    color TEXT NOT NULL,
    settings TEXT NOT NULL,
    policy TEXT NOT NULL,
    scaler TEXT NOT NULL,
    device TEXT NOT NULL,
    backend TEXT NOT NULL,
    instruction_set TEXT NOT NULL,
    threads INTEGER NOT NULL,
    threads_per_lane INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    initial_weights_hash TEXT NOT NULL,
    started_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ended_at REAL,
    status TEXT NOT NULL DEFAULT 'running',
    message TEXT NOT NULL DEFAULT '',
    steps INTEGER NOT NULL DEFAULT 0,
    lost_steps INTEGER NOT NULL DEFAULT 0,
    final_loss REAL,
    min_loss REAL,
    validation_loss REAL,
    validation_accuracy REAL,
    skipped_steps INTEGER NOT NULL DEFAULT 0,
    first_skip INTEGER NOT NULL DEFAULT -1,
    final_scale REAL,
    weights_hash TEXT NOT NULL DEFAULT '',
    steps_per_second REAL,
    bytes_weights INTEGER NOT NULL DEFAULT 0,
    bytes_copies INTEGER NOT NULL DEFAULT 0,
    bytes_gradients INTEGER NOT NULL DEFAULT 0,
    bytes_optimizer INTEGER NOT NULL DEFAULT 0,
    bytes_activations INTEGER NOT NULL DEFAULT 0,
    bytes_workspace INTEGER NOT NULL DEFAULT 0,
    casts_per_step INTEGER NOT NULL DEFAULT 0,
    tags TEXT NOT NULL DEFAULT '[]',
    note TEXT NOT NULL DEFAULT '',
    deleted_at REAL
);
CREATE INDEX runs_by_experiment ON runs (experiment_id);
CREATE TABLE step_chunks (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    first_step INTEGER NOT NULL,
    step_count INTEGER NOT NULL,
    loss BLOB,
    grad_norm BLOB,
    grad_norm_clipped BLOB,
    scale BLOB,
    skipped BLOB,
    loss_finite BLOB,
    found_inf BLOB,
    growth_tracker BLOB,
    hysteresis BLOB,
    dropped_micro_batches BLOB,
    grad_max BLOB,
    lr BLOB,
    flushed BLOB,
    subnormal BLOB,
    overflowed BLOB,
    update_ratio BLOB,
    baseline_distance BLOB,
    batch_hash BLOB,
    time_data_ms BLOB,
    time_forward_ms BLOB,
    time_backward_ms BLOB,
    time_unscale_ms BLOB,
    time_clip_ms BLOB,
    time_optimizer_ms BLOB,
    time_instruments_ms BLOB,
    wall_seconds BLOB,
    bytes_weights BLOB,
    bytes_copies BLOB,
    bytes_gradients BLOB,
    bytes_optimizer BLOB,
    bytes_activations BLOB,
    bytes_workspace BLOB,
    UNIQUE (run_id, ordinal)
);
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    step INTEGER NOT NULL,
    all_lanes INTEGER NOT NULL,
    path TEXT NOT NULL,
    value_before TEXT NOT NULL,
    value_after TEXT NOT NULL,
    text TEXT NOT NULL,
    scripted INTEGER NOT NULL,
    happened_at REAL NOT NULL,
    command INTEGER NOT NULL
);
CREATE INDEX events_by_run ON events (run_id, id);
)sql";

// Held-out losses and the time that a step waits for its data.
constexpr const char* version2 = R"sql(
ALTER TABLE step_chunks ADD COLUMN validation_loss BLOB;
ALTER TABLE step_chunks ADD COLUMN validation_accuracy BLOB;
ALTER TABLE step_chunks ADD COLUMN time_wait_ms BLOB;
ALTER TABLE step_chunks ADD COLUMN time_evaluation_ms BLOB;
)sql";

// Steps that were looked at tensor by tensor.
constexpr const char* version3 = R"sql(
CREATE TABLE step_samples (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    format TEXT NOT NULL,
    scale REAL NOT NULL,
    clip_limit REAL NOT NULL,
    milliseconds REAL NOT NULL,
    PRIMARY KEY (run_id, step)
) WITHOUT ROWID;
CREATE TABLE tensor_samples (
    run_id INTEGER NOT NULL,
    step INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    tensor TEXT NOT NULL,
    role TEXT NOT NULL,
    format TEXT NOT NULL,
    elements INTEGER NOT NULL,
    zero INTEGER NOT NULL,
    flushed INTEGER NOT NULL,
    subnormal INTEGER NOT NULL,
    normal INTEGER NOT NULL,
    overflowed INTEGER NOT NULL,
    infinite INTEGER NOT NULL,
    nan INTEGER NOT NULL,
    largest REAL NOT NULL,
    smallest REAL NOT NULL,
    norm REAL NOT NULL,
    first_exponent INTEGER NOT NULL,
    exponents BLOB NOT NULL,
    dead REAL,
    saturated REAL,
    cosine REAL,
    relative_error REAL,
    ratio REAL,
    unmoved REAL,
    below_half_ulp REAL,
    PRIMARY KEY (run_id, step, ordinal),
    FOREIGN KEY (run_id, step) REFERENCES step_samples (run_id, step) ON DELETE CASCADE
) WITHOUT ROWID;
)sql";

// Runs that were not trained here, and records that are logged every so many steps.
constexpr const char* version4 = R"sql(
ALTER TABLE runs ADD COLUMN imported TEXT;
ALTER TABLE step_chunks ADD COLUMN stride INTEGER NOT NULL DEFAULT 1;
)sql";

// What a run is, wherever it is copied to, and the sweep that it belongs to. Runs from before have no identity of their
// own: theirs follows from what they hold, so that copies of one file agree on it.
constexpr const char* runIdentity = R"sql(
ALTER TABLE runs ADD COLUMN uuid TEXT;
ALTER TABLE runs ADD COLUMN sweep TEXT;
UPDATE runs SET uuid = (
    SELECT printf('%d-%d-%s-%d-%d-%d', runs.id, writers.pid, writers.host, CAST(writers.started_at AS INTEGER),
        lane_number, CAST(runs.started_at * 1000000 AS INTEGER))
    FROM writers WHERE writers.id = writer_id);
CREATE UNIQUE INDEX runs_by_uuid ON runs (uuid);
)sql";

// What the ranks of data-parallel lanes report.
constexpr const char* rankRecords = R"sql(
CREATE TABLE rank_chunks (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    first_step INTEGER NOT NULL,
    step_count INTEGER NOT NULL,
    loss BLOB NOT NULL,
    scale BLOB NOT NULL,
    grad_norm BLOB NOT NULL,
    flushed BLOB NOT NULL,
    distance BLOB NOT NULL,
    found_inf BLOB NOT NULL,
    skipped BLOB NOT NULL,
    PRIMARY KEY (run_id, rank, ordinal)
) WITHOUT ROWID;
)sql";

constexpr std::array allSteps {
    Migration {1, version1},
    Migration {2, version2},
    Migration {3, version3},
    Migration {4, version4},
    Migration {5, runIdentity},
    Migration {6, rankRecords},
};

int pragma(SQLite::Database& database, const char* name)
{
    return database.execAndGet(std::string("PRAGMA ") + name).getInt();
}

bool hasTables(SQLite::Database& database)
{
    return database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() > 0;
}

} // namespace

std::span<const Migration> migrations()
{
    return allSteps;
}

int newestSchemaVersion()
{
    return allSteps.back().version;
}

int schemaVersion(SQLite::Database& database)
{
    return pragma(database, "user_version");
}

void checkSchema(SQLite::Database& database, const std::filesystem::path& file)
{
    // In this order: a program that makes the file right now sets both at once, and may do so between the two looks.
    if (hasTables(database) && pragma(database, "application_id") != applicationId) {
        throw Error(ErrorCode::Io,
            fmt::format(
                "{} is another program's database, not one of Mantissa's runs: choose another file.", file.string()));
    }
    const int version = schemaVersion(database);
    if (version > newestSchemaVersion()) {
        throw Error(ErrorCode::Io,
            fmt::format("A newer Mantissa wrote the database of runs {} (version {}; this program knows up to {}): "
                        "update Mantissa, or choose another file.",
                file.string(), version, newestSchemaVersion()));
    }
}

void migrate(SQLite::Database& database, const std::filesystem::path& file, std::span<const Migration> steps)
{
    for (const Migration& step : steps) {
        if (schemaVersion(database) >= step.version) {
            continue;
        }
        SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
        // Another program may have taken this step, or later ones, while we waited for the lock.
        checkSchema(database, file);
        if (schemaVersion(database) < step.version) {
            database.exec(step.sql);
            database.exec(fmt::format("PRAGMA application_id = {}", applicationId));
            database.exec(fmt::format("PRAGMA user_version = {}", step.version));
        }
        transaction.commit();
    }
}

} // namespace mantissa
