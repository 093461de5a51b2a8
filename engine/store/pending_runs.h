/// What a session has reported and the file does not hold yet, and how it gets there.
#pragma once

#include "engine/store/rank_rows.h"
#include "engine/store/run_database.h"
#include "engine/store/run_store.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace mantissa {

/// Where a run comes from, besides its start.
struct RunOrigin
{
    std::optional<ImportSource> imported {};
    std::optional<SweepPoint> sweep {};
};

/// Keeps everything until a transaction with it was committed, so a failed one is simply tried again.
/// Belongs to the writer's thread.
class PendingRuns
{
public:
    void start(RunStart start, RunOrigin origin);
    /// A record whose step has come before, and whose row is not full yet, takes that one's place.
    void record(const StepRecord& record);
    void record(const RankRecord& record);
    void happened(const Event& event);
    void sampled(std::shared_ptr<const StepSample> sample);
    void learn(std::uint32_t lane, ImportSource source);
    void end(std::uint32_t lane, RunSummary summary);
    /// Steps of a lane that were reported while the file could not be written and memory for them ran out.
    void lost(std::uint32_t lane, std::int64_t steps);

    [[nodiscard]] bool hasWork() const;
    /// Records that only memory holds or that belong to a chunk which is not full yet.
    [[nodiscard]] std::size_t heldRecords() const;
    [[nodiscard]] std::size_t heldSamples() const;

    /// Writes all of it in one transaction. Throws Error (Io) and forgets nothing if that fails.
    void write(const RunDatabase& database, std::int64_t writerId);

    /// How many runs of a lane are in the file so far, and the newest one's id.
    struct Created
    {
        std::uint64_t count = 0;
        RunId newest = 0;
    };

    [[nodiscard]] const std::map<std::uint32_t, Created>& created() const { return m_created; }

private:
    struct Chunk
    {
        std::int64_t ordinal = 0;
        std::vector<StepRecord> records;

        /// Whether the record is the next at the distance that those before it have.
        [[nodiscard]] bool isFollowedBy(const StepRecord& record) const;
        [[nodiscard]] std::int64_t stride() const;
    };

    struct Run
    {
        RunStart start;
        std::optional<ImportSource> imported;
        std::optional<SweepPoint> sweep;
        RunId id = 0; ///< 0: not in the file
        RunId tentative = 0; ///< id within a transaction that is not committed
        std::vector<Chunk> full;
        Chunk tail;
        bool tailChanged = false;
        PendingRanks ranks;
        std::vector<Event> events;
        std::vector<std::shared_ptr<const StepSample>> samples;
        std::optional<RunSummary> summary;
        bool rowChanged = true;
        bool ended = false;
        // Running totals, so that an interrupted run still shows what it came to.
        std::int64_t steps = 0;
        std::int64_t lostSteps = 0;
        std::int64_t skippedSteps = 0;
        std::int64_t firstSkip = -1;
        double minLoss = 0;
        StepRecord last; ///< of an imported run, with the newest loss and scale that its log has

        [[nodiscard]] bool hasWork() const;
        void count(const StepRecord& record);
    };

    Run* current(std::uint32_t lane);
    static void createRow(SQLite::Database& connection, Run& run, std::int64_t writerId);
    static void writeChunks(SQLite::Statement& statement, const Run& run);
    static void writeEvents(SQLite::Statement& statement, const Run& run);
    static void updateRow(SQLite::Database& connection, const Run& run);
    static void writeSummary(SQLite::Database& connection, const Run& run);
    void committed();

    std::vector<std::unique_ptr<Run>> m_runs;
    std::map<std::uint32_t, Run*> m_current;
    std::vector<Event> m_early; ///< settings changed before any lane started
    std::map<std::uint32_t, Created> m_created;
};

} // namespace mantissa
