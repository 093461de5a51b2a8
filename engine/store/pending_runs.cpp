#include "engine/store/pending_runs.h"

#include "engine/core/clock.h"
#include "engine/core/hash.h"
#include "engine/store/sample_rows.h"
#include "engine/store/step_chunk.h"
#include "engine/store/store_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

constexpr std::size_t maxEarlyEvents = 4096;

/// Invalid UTF-8 in a name must not cost a run.
std::string textOf(const nlohmann::json& json)
{
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::int64_t signedBits(std::uint64_t value)
{
    return static_cast<std::int64_t>(value);
}

/// The row of a document, which all lanes and repetitions of an experiment share.
std::int64_t experimentRow(SQLite::Database& connection, const RunStart& start)
{
    const std::string document = textOf(start.experiment);
    const std::string hash = fmt::format("{:016x}", fnv1a(std::as_bytes(std::span(document))));
    SQLite::Statement find(connection, "SELECT id FROM experiments WHERE hash = ? AND name = ? AND document = ?");
    find.bind(1, hash);
    find.bind(2, start.experimentName);
    find.bind(3, document);
    if (find.executeStep()) {
        return find.getColumn(0).getInt64();
    }
    SQLite::Statement insert(connection, "INSERT INTO experiments (hash, name, document) VALUES (?, ?, ?)");
    insert.bind(1, hash);
    insert.bind(2, start.experimentName);
    insert.bind(3, document);
    insert.exec();
    return connection.getLastInsertRowid();
}

std::string chunkStatement()
{
    std::string names;
    std::string marks;
    std::string updates;
    forEachStepColumn([&](const char* name, const auto&) {
        names += fmt::format(", {}", name);
        marks += ", ?";
        updates += fmt::format(", {0} = excluded.{0}", name);
    });
    return fmt::format(
        "INSERT INTO step_chunks (run_id, ordinal, first_step, step_count, stride{}) VALUES (?, ?, ?, ?, "
        "?{}) ON CONFLICT (run_id, ordinal) DO UPDATE SET step_count = excluded.step_count, stride = "
        "excluded.stride{}",
        names, marks, updates);
}

/// By column of step_chunks: whether the run has it.
std::vector<bool> knownColumns(const std::optional<ImportSource>& imported)
{
    std::vector<bool> known;
    forEachStepColumn([&](const char* name, const auto&) { known.push_back(!imported || imported->knows(name)); });
    return known;
}

/// -1: not known.
std::int64_t skipsOf(const std::optional<ImportSource>& imported, std::int64_t counted)
{
    return imported && !imported->knows("skipped") ? -1 : counted;
}

void bindBytes(SQLite::Statement& statement, int first, const MemoryBytes& bytes)
{
    for (const std::uint64_t value :
        {bytes.weights, bytes.copies, bytes.gradients, bytes.optimizer, bytes.activations, bytes.workspace}) {
        statement.bind(first++, signedBits(value));
    }
}

} // namespace

bool PendingRuns::Run::hasWork() const
{
    return id == 0 || !full.empty() || tailChanged || ranks.hasWork() || !events.empty() || !samples.empty() || summary
        || rowChanged;
}

PendingRuns::Run* PendingRuns::current(std::uint32_t lane)
{
    const auto found = m_current.find(lane);
    return found == m_current.end() ? nullptr : found->second;
}

void PendingRuns::start(RunStart start, RunOrigin origin)
{
    auto run = std::make_unique<Run>();
    run->imported = std::move(origin.imported);
    run->sweep = std::move(origin.sweep);
    run->minLoss = std::numeric_limits<double>::quiet_NaN();
    run->last.loss = std::numeric_limits<double>::quiet_NaN();
    run->start = std::move(start);
    const std::uint32_t lane = run->start.lane;
    for (const Event& event : m_early) {
        if (event.lane == lane || event.lane == Event::allLanes) {
            run->events.push_back(event);
        }
    }
    m_current[lane] = run.get();
    m_runs.push_back(std::move(run));
}

void PendingRuns::record(const StepRecord& record)
{
    m_early.clear();
    Run* run = current(record.lane);
    if (run == nullptr) {
        return;
    }
    auto& tail = run->tail;
    run->tailChanged = true;
    run->rowChanged = true;
    run->ended = false; // a finished lane that is extended goes on in the same run
    if (run->imported) {
        const auto known = std::ranges::lower_bound(tail.records, record.step, {}, &StepRecord::step);
        if (known != tail.records.end() && known->step == record.step) {
            --run->steps;
            run->skippedSteps -= known->skipped ? 1 : 0;
            *known = record;
            run->count(record);
            return;
        }
    }
    if (!tail.records.empty() && (tail.records.size() == stepsPerChunk || !tail.isFollowedBy(record))) {
        const std::int64_t next = tail.ordinal + 1;
        run->full.push_back(std::exchange(tail, Chunk {next, {}}));
    }
    tail.records.push_back(record);
    run->count(record);
}

void PendingRuns::record(const RankRecord& record)
{
    if (Run* run = current(record.lane)) {
        run->ranks.record(record);
    }
}

bool PendingRuns::Chunk::isFollowedBy(const StepRecord& record) const
{
    const std::int64_t distance = record.step - records.back().step;
    return distance > 0 && (records.size() < 2 || distance == stride());
}

std::int64_t PendingRuns::Chunk::stride() const
{
    return records.size() < 2 ? 1 : records[1].step - records[0].step;
}

void PendingRuns::Run::count(const StepRecord& record)
{
    ++steps;
    if (record.skipped) {
        ++skippedSteps;
        firstSkip = firstSkip < 0 ? record.step : firstSkip;
    }
    minLoss = std::fmin(minLoss, record.loss);
    if (imported && steps > 1 && record.step < last.step) {
        return;
    }
    const StepRecord before = std::exchange(last, record);
    if (imported && steps > 1) {
        last.loss = std::isnan(record.loss) && record.lossFinite ? before.loss : record.loss;
        last.scale = std::isnan(record.scale) ? before.scale : record.scale;
    }
}

void PendingRuns::happened(const Event& event)
{
    const bool changesSettings = event.kind == EventKind::Set;
    if (event.lane == Event::allLanes) {
        for (const auto& [lane, run] : m_current) {
            if (changesSettings || !run->ended) {
                run->events.push_back(event);
            }
        }
    } else if (Run* run = current(event.lane)) {
        run->events.push_back(event);
        return;
    }
    if (changesSettings && m_early.size() < maxEarlyEvents) {
        m_early.push_back(event);
    }
}

void PendingRuns::sampled(std::shared_ptr<const StepSample> sample)
{
    if (Run* run = current(sample->lane)) {
        run->samples.push_back(std::move(sample));
    }
}

void PendingRuns::learn(std::uint32_t lane, ImportSource source)
{
    if (Run* run = current(lane)) {
        run->imported = std::move(source);
        run->rowChanged = true;
    }
}

void PendingRuns::end(std::uint32_t lane, RunSummary summary)
{
    if (Run* run = current(lane)) {
        run->summary = std::move(summary);
        run->rowChanged = true;
        run->ended = true;
    }
}

void PendingRuns::lost(std::uint32_t lane, std::int64_t steps)
{
    if (Run* run = current(lane)) {
        run->lostSteps += steps;
        run->rowChanged = true;
    }
}

bool PendingRuns::hasWork() const
{
    return std::any_of(m_runs.begin(), m_runs.end(), [](const auto& run) { return run->hasWork(); });
}

std::size_t PendingRuns::heldRecords() const
{
    std::size_t count = 0;
    for (const auto& run : m_runs) {
        count += run->tail.records.size() + run->ranks.held();
        for (const Chunk& chunk : run->full) {
            count += chunk.records.size();
        }
    }
    return count;
}

std::size_t PendingRuns::heldSamples() const
{
    std::size_t count = 0;
    for (const auto& run : m_runs) {
        count += run->samples.size();
    }
    return count;
}

void PendingRuns::write(const RunDatabase& database, std::int64_t writerId)
{
    database.guarded("saving a run", [&] {
        SQLite::Database& connection = database.connection();
        SQLite::Transaction transaction(connection, SQLite::TransactionBehavior::IMMEDIATE);
        SQLite::Statement chunks(connection, chunkStatement());
        SQLite::Statement events(connection,
            "INSERT INTO events (run_id, kind, step, all_lanes, path, value_before, value_after, text, scripted, "
            "happened_at, command) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        for (const auto& run : m_runs) {
            if (!run->hasWork()) {
                continue;
            }
            run->tentative = run->id;
            if (run->id == 0) {
                createRow(connection, *run, writerId);
            }
            writeChunks(chunks, *run);
            run->ranks.write(connection, run->tentative);
            writeEvents(events, *run);
            writeSamples(connection, run->tentative, run->samples);
            updateRow(connection, *run);
            if (run->summary) {
                writeSummary(connection, *run);
            }
        }
        transaction.commit();
    });
    committed();
}

void PendingRuns::createRow(SQLite::Database& connection, Run& run, std::int64_t writerId)
{
    const RunStart& start = run.start;
    const std::int64_t experiment = experimentRow(connection, start);
    SQLite::Statement insert(connection,
        "INSERT INTO runs (experiment_id, writer_id, lane_number, lane, color, settings, policy, scaler, device, "
        "backend, instruction_set, threads, threads_per_lane, seed, initial_weights_hash, started_at, updated_at, "
        "imported, sweep, tags, uuid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "lower(hex(randomblob(16))))");
    int at = 0;
    insert.bind(++at, experiment);
    insert.bind(++at, writerId);
    insert.bind(++at, static_cast<std::int64_t>(start.lane));
    insert.bind(++at, start.config.name);
    insert.bind(++at, start.config.color);
    insert.bind(++at, textOf(start.config.document));
    insert.bind(++at, run.imported ? std::string() : start.config.precision.policy);
    insert.bind(++at,
        run.imported              ? std::string()
            : start.config.scaler ? start.config.scaler->family
                                  : std::string("none"));
    insert.bind(++at, start.device);
    insert.bind(++at, start.backend);
    insert.bind(++at, start.instructionSet);
    insert.bind(++at, start.threads);
    insert.bind(++at, start.threadsPerLane);
    insert.bind(++at, signedBits(start.config.seed));
    insert.bind(++at, start.initialWeightsHash);
    insert.bind(++at, start.unixSeconds);
    insert.bind(++at, unixSeconds());
    ++at;
    if (run.imported) {
        insert.bind(at, textOf(importSourceAsJson(*run.imported)));
    }
    ++at;
    if (run.sweep) {
        insert.bind(at, textOf(sweepPointAsJson(*run.sweep)));
    }
    insert.bind(++at, textOf(run.sweep ? nlohmann::json(tagsOf(*run.sweep)) : nlohmann::json::array()));
    insert.exec();
    run.tentative = connection.getLastInsertRowid();
}

void PendingRuns::writeChunks(SQLite::Statement& statement, const Run& run)
{
    const std::vector<bool> known = knownColumns(run.imported);
    const auto writeOne = [&](const Chunk& chunk) {
        const std::vector<Blob> columns = packRecords(chunk.records);
        int at = 0;
        statement.bind(++at, run.tentative);
        statement.bind(++at, chunk.ordinal);
        statement.bind(++at, chunk.records.front().step);
        statement.bind(++at, static_cast<std::int64_t>(chunk.records.size()));
        statement.bind(++at, chunk.stride());
        for (std::size_t i = 0; i < columns.size(); ++i) {
            ++at;
            if (known[i]) {
                statement.bindNoCopy(at, columns[i].data(), static_cast<int>(columns[i].size()));
            } else {
                statement.bind(at); // NULL
            }
        }
        statement.exec();
        statement.reset();
    };
    std::for_each(run.full.begin(), run.full.end(), writeOne);
    if (run.tailChanged) {
        writeOne(run.tail);
    }
}

void PendingRuns::writeEvents(SQLite::Statement& statement, const Run& run)
{
    for (const Event& event : run.events) {
        int at = 0;
        statement.bind(++at, run.tentative);
        statement.bind(++at, std::string(nameOf(event.kind)));
        statement.bind(++at, event.step);
        statement.bind(++at, event.lane == Event::allLanes ? 1 : 0);
        statement.bind(++at, event.path);
        statement.bind(++at, event.before);
        statement.bind(++at, event.after);
        statement.bind(++at, event.text);
        statement.bind(++at, event.scripted ? 1 : 0);
        statement.bind(++at, event.unixSeconds);
        statement.bind(++at, signedBits(event.command));
        statement.exec();
        statement.reset();
    }
}

void PendingRuns::updateRow(SQLite::Database& connection, const Run& run)
{
    SQLite::Statement update(connection,
        "UPDATE runs SET status = 'running', ended_at = NULL, updated_at = ?, steps = ?, lost_steps = ?, "
        "final_loss = ?, min_loss = ?, skipped_steps = ?, first_skip = ?, final_scale = ?, bytes_weights = ?, "
        "bytes_copies = ?, bytes_gradients = ?, bytes_optimizer = ?, bytes_activations = ?, bytes_workspace = ? "
        "WHERE id = ? AND (status IN ('running', 'interrupted') OR ?)");
    int at = 0;
    update.bind(++at, unixSeconds());
    update.bind(++at, run.steps);
    update.bind(++at, run.lostSteps);
    update.bind(++at, run.last.loss);
    update.bind(++at, run.minLoss);
    update.bind(++at, skipsOf(run.imported, run.skippedSteps));
    update.bind(++at, run.firstSkip);
    update.bind(++at, run.last.scale);
    bindBytes(update, at + 1, run.last.bytes);
    at += 6;
    update.bind(++at, run.tentative);
    // An event that follows the end of a run does not reopen it; steps do.
    update.bind(++at, run.rowChanged ? 1 : 0);
    update.exec();
    if (run.imported && run.rowChanged) {
        SQLite::Statement source(connection, "UPDATE runs SET imported = ? WHERE id = ?");
        source.bind(1, textOf(importSourceAsJson(*run.imported)));
        source.bind(2, run.tentative);
        source.exec();
    }
}

void PendingRuns::writeSummary(SQLite::Database& connection, const Run& run)
{
    const RunSummary& summary = *run.summary;
    SQLite::Statement update(connection,
        "UPDATE runs SET status = ?, message = ?, steps = ?, final_loss = ?, min_loss = ?, validation_loss = ?, "
        "validation_accuracy = ?, skipped_steps = ?, first_skip = ?, final_scale = ?, weights_hash = ?, "
        "steps_per_second = ?, casts_per_step = ?, ended_at = ?, bytes_weights = ?, bytes_copies = ?, "
        "bytes_gradients = ?, bytes_optimizer = ?, bytes_activations = ?, bytes_workspace = ? WHERE id = ?");
    int at = 0;
    update.bind(++at, std::string(nameOf(summary.status)));
    update.bind(++at, summary.message);
    update.bind(++at, summary.steps);
    update.bind(++at, summary.finalLoss);
    update.bind(++at, summary.minLoss);
    update.bind(++at, summary.validationLoss);
    update.bind(++at, summary.validationAccuracy);
    update.bind(++at, skipsOf(run.imported, summary.skippedSteps));
    update.bind(++at, summary.firstSkip);
    update.bind(++at, summary.finalScale);
    update.bind(++at, summary.weightsHash);
    update.bind(++at, summary.stepsPerSecond);
    update.bind(++at, summary.castsPerStep);
    update.bind(++at, summary.unixSeconds);
    bindBytes(update, at + 1, summary.bytes);
    at += 6;
    update.bind(++at, run.tentative);
    update.exec();
}

void PendingRuns::committed()
{
    for (const auto& run : m_runs) {
        if (run->id == 0) {
            run->id = run->tentative;
            Created& created = m_created[run->start.lane];
            ++created.count;
            created.newest = run->id;
        }
        run->full.clear();
        run->tailChanged = false;
        run->ranks.committed();
        run->events.clear();
        run->samples.clear();
        run->summary.reset();
        run->rowChanged = false;
    }
    std::erase_if(m_runs, [this](const auto& run) { return current(run->start.lane) != run.get(); });
}

} // namespace mantissa
