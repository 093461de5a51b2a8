/// An experiment being trained: lanes in lockstep on one worker thread, steered by commands, watched through a ring.
/// Everything here may be called from one controlling thread (the window's or the command line's) and returns at once,
/// unless its name says wait. Commands take effect at the next step boundary, in order, each recorded as an Event.
#pragma once

#include "engine/backends/device_info.h"
#include "engine/core/error.h"
#include "engine/parallel/communicator.h"
#include "engine/train/blame.h"
#include "engine/train/checkpoint_keeper.h"
#include "engine/train/run_observer.h"
#include "engine/train/scale_trial.h"
#include "engine/train/step_walk.h"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

class Graph;

struct ResumedLane
{
    std::shared_ptr<const Checkpoint> checkpoint; ///< never null
    std::filesystem::path file; ///< for the record
};

struct SessionOptions
{
    std::string device = "auto"; ///< of lanes that name none
    int threads = 0; ///< compute threads; 0: one per lane, at most the machine's cores
    std::vector<RunObserver*> observers; ///< not owned; must outlive the session
    /// Steps between comparisons of every lane's weights with the baseline lane's; 0: never.
    std::int64_t baselineInterval = 10;
    /// Least steps between the states that every lane keeps in memory, to go back to; 0: none.
    std::int64_t snapshotInterval = 0;
    SamplingPlan sampling {};
    CheckpointPlan checkpoints {};
    /// Lanes that go on from a checkpoint, found by the name of its initial settings, instead of from step 0.
    std::vector<ResumedLane> resumed {};
    /// Of the processes that train this session's data-parallel lanes together, each with a session of its own that
    /// does the same at the same step; null: one process trains all ranks.
    std::shared_ptr<Communicator> ranks {};
};

enum class SessionState : std::uint8_t { Preparing, Ready, Running, Paused, Finished, Failed };

/// A lane as it stands; a copy made at a step boundary.
struct LaneStatus
{
    std::uint32_t id = 0;
    std::shared_ptr<const LaneConfig> config {}; ///< never null
    std::shared_ptr<const Graph> graph {}; ///< what a step runs; another object after each recompilation; never null
    DeviceInfo device {}; ///< on which it trains
    RunStatus status = RunStatus::Running;
    std::string message {}; ///< why it failed or diverged
    std::int64_t nextStep = 0;
    std::int64_t earliestStep = 0; ///< that a copy can go back to
    double scale = 1;
    double lr = 0;
    MemoryBytes bytes {};
    int castsPerStep = 0;
    std::string initialWeightsHash {};
    std::uint64_t batchHash = 0;
    std::optional<std::int64_t> queuedBatches {}; ///< that lie ready; nothing without prefetching
    std::optional<RunSummary> summary {}; ///< once it has ended
};

struct SessionStatus
{
    SessionState state = SessionState::Preparing;
    std::string message {}; ///< of Failed
    ErrorCode error = ErrorCode::Internal; ///< of Failed: InvalidArgument where a setting or a data file is at fault
    std::uint32_t generation = 0; ///< resets so far, see StepRecord
    std::int64_t step = 0; ///< the next step of the slowest lane
    std::int64_t totalSteps = 0;
    double stepsPerSecond = 0; ///< over the last second
    double speedLimit = 0; ///< steps per second; 0: none
    DeviceInfo device {}; ///< of lanes that name none
    int threads = 1;
    int threadsPerLane = 1;
    std::uint32_t baseline = 0; ///< lane id
    SamplingPlan sampling {};
    std::vector<LaneStatus> lanes {};
    std::uint64_t appliedCommands = 0; ///< id of the last command that took effect
};

class Session
{
public:
    /// Starts the worker, which prepares the lanes (data, plans) and then waits: state Preparing, then Ready or Failed.
    Session(Experiment experiment, SessionOptions options);
    /// Stops within one step, ends unfinished runs as stopped, joins the worker.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // --- commands; each returns its id, compare with SessionStatus::appliedCommands ---
    std::uint64_t run(); ///< until the last step, a pause or stop
    std::uint64_t runSteps(std::int64_t steps);
    std::uint64_t pause();
    std::uint64_t stop(); ///< ends all lanes now, without validating them
    std::uint64_t reset(); ///< ends all lanes, prepares fresh ones with the present settings
    std::uint64_t setSpeedLimit(double stepsPerSecond);
    std::uint64_t set(std::uint32_t lane, const std::string& path, const nlohmann::json& value);
    /// A new lane; if training has begun it first catches up, from step 0, on the same batches.
    std::uint64_t addLane(const LaneConfig& config);
    /// A copy of a lane as it stands: weights, optimizer, scaler, and its past events (so a replay needs no parent). Or
    /// as it was before `step`, from LaneStatus::earliestStep on: without the changes made then and later. `changes`
    /// are settings of the copy, from its next step on.
    std::uint64_t duplicateLane(std::uint32_t lane, const std::string& name,
        std::optional<std::int64_t> step = std::nullopt,
        const std::vector<std::pair<std::string, nlohmann::json>>& changes = {});
    /// Replaces those of the experiment. What stays as it was does not act again on a condition that has been true all
    /// the time.
    std::uint64_t setWatchpoints(const std::vector<Watchpoint>& watchpoints);
    std::uint64_t removeLane(std::uint32_t lane);
    /// The lane that others are compared with; the first one until set.
    std::uint64_t setBaseline(std::uint32_t lane);
    /// Trains on past the present last step.
    std::uint64_t extend(std::int64_t totalSteps);
    /// Writes a checkpoint of the lane as it stands into a file that no rotation touches.
    std::uint64_t saveCheckpoint(std::uint32_t lane, const std::filesystem::path& file);

    /// Which steps are looked at tensor by tensor, in all lanes; what they compute does not change by it.
    std::uint64_t setSampling(const SamplingPlan& plan);
    /// Looks at the next step of every lane, whatever the plan says.
    std::uint64_t sampleNext();

    // --- observing ---
    /// What the lane's next step will do, stage by stage; nothing changes by it. The future throws if there is no such
    /// lane, no step left, or no session any more.
    std::future<StepWalk> walkStep(std::uint32_t lane);
    /// What the lane's next step would come to at each of these scales; nothing changes by it. Takes as long as that
    /// many steps. The future throws as walkStep()'s.
    std::future<std::vector<ScaleTrial>> tryScales(std::uint32_t lane, std::vector<double> scales);
    /// Why the lane's step was not finite, found on copies of it as it was then; nothing changes by it. From
    /// LaneStatus::earliestStep on. Training waits for as long as some dozens of steps take, unless there is a command.
    std::future<Blame> blame(std::uint32_t lane, std::int64_t step);
    /// Moves out the records made since the last call, oldest first. Lock-free for the worker.
    std::size_t takeRecords(std::vector<StepRecord>& into);
    /// Records lost because takeRecords() was not called for too long; the store has them.
    [[nodiscard]] std::uint64_t droppedRecords() const;
    std::size_t takeEvents(std::vector<Event>& into);
    /// The same for the records of the ranks of data-parallel lanes.
    std::size_t takeRankRecords(std::vector<RankRecord>& into);
    /// Samples are kept until they are taken, but no more than the newest 64.
    std::size_t takeSamples(std::vector<std::shared_ptr<const StepSample>>& into);
    /// The newest status the worker published; cheap, never blocks on a step.
    [[nodiscard]] std::shared_ptr<const SessionStatus> status() const;
    /// Blocks until the session neither runs nor prepares and all commands so far were applied.
    void waitUntilIdle();

private:
    class Worker;
    std::unique_ptr<Worker> m_worker;
};

} // namespace mantissa
