/// The database of runs: one SQLite file, WAL. Schema: engine/store/README.md. design.md, section 7.
#pragma once

#include "engine/store/import_source.h"
#include "engine/store/sweep_point.h"
#include "engine/train/run_observer.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

using RunId = std::int64_t;

/// A row of the runs table.
struct RunInfo
{
    RunId id = 0;
    std::string experimentName;
    std::string lane;
    std::string color;
    RunStatus status = RunStatus::Running; ///< Interrupted: its program ended without finishing it
    std::string message;
    std::string policy; ///< "fp16"; empty if not known, as the next
    std::string scaler; ///< family, or "none"
    std::string device;
    std::string instructionSet;
    int threads = 1; ///< of its session
    int threadsPerLane = 1; ///< of this lane: what a replay needs
    std::uint64_t seed = 1;
    std::int64_t steps = 0; ///< recorded
    double finalLoss = 0;
    double validationLoss = 0;
    double validationAccuracy = 0;
    std::int64_t skippedSteps = 0; ///< -1: not known (of an imported run)
    double finalScale = 1;
    std::string weightsHash;
    std::string initialWeightsHash;
    double stepsPerSecond = 0;
    MemoryBytes bytes;
    int castsPerStep = 0;
    double startedUnixSeconds = 0;
    double endedUnixSeconds = 0;
    std::vector<std::string> tags;
    std::string note;
    std::optional<ImportSource> imported; ///< of a run that was not trained here
    std::string uuid; ///< the same in every database that the run is copied to
    std::optional<SweepPoint> sweep; ///< of a run that a sweep trained
};

/// The numbers of a run, column by column; all columns have the same length, but for the validations. Names as in
/// --metrics.
struct RunColumns
{
    /// With the weights after the step; accuracy is NaN for a regression.
    struct Validated
    {
        std::int64_t step;
        double loss;
        double accuracy;
    };

    std::vector<std::int64_t> step;
    std::vector<double> loss;
    std::vector<double> gradNorm;
    std::vector<double> gradNormClipped;
    std::vector<double> scale;
    std::vector<std::uint8_t> skipped;
    /// Of an imported run alone: tells a loss that is not finite from one that its log does not have.
    std::vector<std::uint8_t> lossFinite;
    std::vector<Validated> validations;
};

enum class StoreAccess { ReadOnly, ReadWrite };

/// One connection. Use from one thread at a time; any number of connections and processes may share a file.
/// Errors: Error (Io) that says what, which file, and what to do (locked, read-only, disk full, newer version,
/// damaged).
class RunStore
{
public:
    /// $XDG_DATA_HOME/mantissa/runs.db, or ~/.local/share/mantissa/runs.db.
    static std::filesystem::path defaultPath();

    /// Opens, creates (ReadWrite) and migrates the file. Runs whose program is gone become Interrupted.
    explicit RunStore(const std::filesystem::path& file, StoreAccess access = StoreAccess::ReadWrite);
    ~RunStore();
    RunStore(const RunStore&) = delete;
    RunStore& operator=(const RunStore&) = delete;

    [[nodiscard]] std::vector<RunInfo> runs() const; ///< newest first, deleted ones left out
    [[nodiscard]] std::optional<RunInfo> run(RunId id) const;
    [[nodiscard]] RunColumns columns(RunId id) const; ///< the dashboard's columns, fast
    [[nodiscard]] std::vector<StepRecord> records(RunId id) const; ///< everything, for export
    [[nodiscard]] std::vector<RankRecord> ranks(RunId id) const; ///< by step, then rank; empty for one rank
    [[nodiscard]] std::vector<Event> events(RunId id) const;
    [[nodiscard]] std::vector<std::int64_t> sampledSteps(RunId id) const; ///< that were looked at, in order
    /// Those of the steps first .. last, in order; `lane` is the run's number in its session.
    [[nodiscard]] std::vector<StepSample> samples(RunId id, std::int64_t first, std::int64_t last) const;
    /// The experiment that replays this run exactly: its one lane, its events as scripted ones. Throws Error
    /// (InvalidArgument) for an imported run, whose settings are not known.
    [[nodiscard]] nlohmann::json replayExperiment(RunId id) const;
    [[nodiscard]] nlohmann::json experiment(RunId id) const; ///< the document it was started from

    void setTags(RunId id, const std::vector<std::string>& tags);
    void setNote(RunId id, const std::string& note);
    void markDeleted(std::span<const RunId> ids); ///< hides them; restore() brings them back
    void restore(std::span<const RunId> ids);
    void purgeDeleted(); ///< frees what was marked

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Writes a session's runs on its own thread: a transaction every 250 ms, so a killed program loses at most that.
/// Never blocks the session; a write that fails (full disk, locked file) is kept and retried, and reported by
/// problem().
class RunWriter : public RunObserver
{
public:
    explicit RunWriter(const std::filesystem::path& file);
    ~RunWriter() override; ///< writes what is left

    /// The runs that start from now on belong to the point, and have its settings as tags. Before a session has the
    /// writer.
    void setSweepPoint(const SweepPoint& point);

    void runStarted(const RunStart& start) override;
    /// A run that a log tells of; of `start` only names and the time count. A record whose step has come before, within
    /// the newest thousand, takes that one's place.
    void importStarted(const RunStart& start, const ImportSource& source);
    /// The log of a lane tells more than it did so far.
    void importLearned(std::uint32_t lane, const ImportSource& source);
    void stepsRecorded(std::span<const StepRecord> records) override;
    void ranksRecorded(std::span<const RankRecord> records) override;
    void eventHappened(const Event& event) override;
    void stepSampled(const std::shared_ptr<const StepSample>& sample) override;
    void runEnded(std::uint32_t lane, const RunSummary& summary) override;

    /// Whether the lane has started.
    [[nodiscard]] bool hasRun(std::uint32_t lane);
    /// The newest run of a lane. Blocks until it is in the file. Throws Error (Io, problem()) if it cannot be written,
    /// and (InvalidArgument) if the lane has not started.
    RunId runOf(std::uint32_t lane);
    /// Blocks until everything handed over so far is in the file, or an attempt to write it failed: see problem().
    void flush();
    /// Why writing does not work at present, in words; empty if it does.
    [[nodiscard]] std::string problem() const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace mantissa
