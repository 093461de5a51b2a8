/// The lanes of a session: trained in lockstep, reported to the observers, ended when their time has come.
#pragma once

#include "engine/train/dataset_cache.h"
#include "engine/train/lane.h"
#include "engine/train/lane_pool.h"
#include "engine/train/rank_lockstep.h"
#include "engine/train/run_observer.h"
#include "engine/train/session.h"
#include "engine/train/snapshot_ring.h"
#include "engine/train/watchpoint.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

/// Used by the session's worker thread alone.
class LaneGroup
{
public:
    /// Receives every event, lifecycle and settings alike.
    using EventSink = std::function<void(const Event&)>;

    /// Loads data and compiles all lanes. Throws Error; over several processes, in all of them if one cannot.
    /// `interrupt`, which must outlive the group, cuts validations short while it is set.
    LaneGroup(
        Experiment experiment, const SessionOptions& options, EventSink onEvent, const std::atomic<bool>& interrupt);
    ~LaneGroup();
    LaneGroup(const LaneGroup&) = delete;
    LaneGroup& operator=(const LaneGroup&) = delete;

    /// What follows a step: another one at once, or something else, for which all lanes stand still at its end.
    enum class Next : bool { Anything, Step };

    /// One step of every lane that is furthest behind, so that a lane added late catches up. The records are valid
    /// until the next call; empty when no lane can step. If a step is next, lanes that can and of which nothing else is
    /// wanted in between have begun it when this one's records are there.
    std::span<const StepRecord> step(Next next = Next::Anything);

    /// Whether some lane has begun a step that is not recorded. Then step() is all that may be called, and stopAll().
    [[nodiscard]] bool hasBegun() const;

    /// Of the step just trained, for the lanes in which it was looked at. Valid as the records.
    [[nodiscard]] std::span<const std::shared_ptr<const StepSample>> samples() const { return m_samples; }

    /// Of the step just trained, for lanes of several ranks. Valid as the records.
    [[nodiscard]] std::span<const RankRecord> rankRecords() const { return m_rankRecords; }

    [[nodiscard]] bool isActive() const; ///< some lane has a step to do
    [[nodiscard]] std::int64_t nextStep() const; ///< of the lane furthest behind, or the last step reached
    [[nodiscard]] std::int64_t totalSteps() const; ///< of the longest lane

    void set(std::uint32_t lane, const std::string& path, const nlohmann::json& value);
    void add(LaneConfig config);
    /// At a step before the present one: as the lane was then.
    void duplicate(std::uint32_t lane, const std::string& name, std::optional<std::int64_t> step,
        const std::vector<std::pair<std::string, nlohmann::json>>& changes);
    void setWatchpoints(const std::vector<Watchpoint>& watchpoints);

    /// Whether a watchpoint of the step just trained wants a pause.
    [[nodiscard]] bool wantsPause() const { return !m_pauseReason.empty(); }

    /// The lane's next step on a copy of it, which is then thrown away.
    StepWalk walk(std::uint32_t lane);
    /// The lane's next step at each of these scales, on a copy of it.
    std::vector<ScaleTrial> tryScales(std::uint32_t lane, std::span<const double> scales);

    /// Why the lane's step was not finite: from the state before it, or an earlier one that is kept.
    Blame blame(std::uint32_t lane, std::int64_t step);

    void setSampling(const SamplingPlan& plan) { m_options.sampling = plan; }

    [[nodiscard]] const SamplingPlan& sampling() const { return m_options.sampling; }

    void sampleNext();
    void remove(std::uint32_t lane);
    void setBaseline(std::uint32_t lane);
    void extend(std::int64_t totalSteps);
    void stopAll();
    void reset();
    /// Writes the lane as it stands and reports the checkpoint, or why there is none.
    void saveTo(std::uint32_t lane, const std::filesystem::path& file);

    [[nodiscard]] const DeviceInfo& device() const { return m_backend.device(); }

    [[nodiscard]] int threads() const { return m_threads; }

    [[nodiscard]] int threadsPerLane() const { return m_threadsPerLane; }

    [[nodiscard]] std::uint32_t generation() const { return m_generation; }

    [[nodiscard]] std::uint32_t baseline() const { return m_baseline; }

    [[nodiscard]] std::vector<LaneStatus> statuses() const;

private:
    struct Member;

    void makeMembers();
    void agree(const std::string& failure);

    [[nodiscard]] bool leads() const { return !m_lockstep || m_lockstep->leads(); }

    bool takeWord();
    void saveKept(Member& member);
    void saveAtEnd(Member& member);
    void keepStates();
    [[nodiscard]] bool wantsStates();
    std::unique_ptr<Member> makeMember(std::uint32_t id, LaneConfig config, std::vector<ScriptedEvent> events);
    std::unique_ptr<Member> resumeMember(std::uint32_t id, const ResumedLane& resumed);
    void keepIfDue(Member& member);
    void saveIfDue(Member& member);
    void save(Member& member);
    [[nodiscard]] Checkpoint checkpointOf(Member& member) const;
    void reportCheckpoints();
    [[nodiscard]] std::vector<ScriptedEvent> scriptFor(const std::string& lane) const;
    Member& member(std::uint32_t lane);
    [[nodiscard]] std::unique_ptr<Lane> copyForNextStep(std::uint32_t lane);
    [[nodiscard]] std::unique_ptr<Lane> copyBefore(
        Member& parent, std::int64_t step, std::uint32_t id, const std::string& name);
    [[nodiscard]] LaneWatch watchOf(
        const Member& member, const std::vector<Watchpoint>& watchpoints, bool isCopy) const;
    void keepStatesForForks();
    void watch(Member& member, const StepRecord& record);
    void act(Member& member, const Watchpoint& watchpoint, std::int64_t step);
    void forkBefore(Member& member, std::int64_t step);
    void keepState(Member& member);
    void start(Member& member);
    void stepMember(std::size_t index);
    [[nodiscard]] bool mayRunAhead(const Member& member) const;
    void reportRanks();
    void reportSamples();
    void measureDistances();
    void endIfDone(Member& member);
    void validate(Member& member);
    void end(Member& member, RunStatus status, const std::string& message);
    void emit(Member* member, Event event);
    [[nodiscard]] nlohmann::json document() const;

    Experiment m_experiment;
    SessionOptions m_options;
    EventSink m_onEvent;
    const std::atomic<bool>& m_interrupt;
    Backend& m_backend;
    int m_threads;
    int m_threadsPerLane;
    LanePool m_pool;
    DatasetCache m_datasets;
    CheckpointKeeper m_checkpoints;
    std::unique_ptr<RankLockstep> m_lockstep; ///< with other processes; null: there are none
    bool m_saves = false; ///< checkpoints are written, by rank 0
    nlohmann::json m_changes = nlohmann::json::array(); ///< for the other processes: [lane, path, value] each
    double m_keptAt = 0; ///< when states were kept, and how long that took
    double m_keepingSeconds = 0;
    std::vector<std::unique_ptr<Member>> m_members;
    std::vector<Member*> m_stepping; ///< of the present step
    std::vector<StepRecord> m_records; ///< of m_stepping
    std::vector<RankRecord> m_rankRecords; ///< of the present step
    std::vector<std::shared_ptr<const StepSample>> m_samples; ///< of the present step
    std::uint32_t m_nextId = 0;
    std::uint32_t m_baseline = 0;
    std::uint32_t m_generation = 0;
    std::string m_pauseReason; ///< of the step just trained
    double m_startedAt = 0;
};

} // namespace mantissa
