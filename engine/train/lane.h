/// One training run as it goes: its compiled step, weights, optimizer state, scaler and place in the data.
#pragma once

#include "engine/backends/executor.h"
#include "engine/core/hash.h"
#include "engine/data/batch_loader.h"
#include "engine/data/dataset.h"
#include "engine/probe/origin.h"
#include "engine/scaling/loss_scaler.h"
#include "engine/train/evaluator.h"
#include "engine/train/event.h"
#include "engine/train/experiment.h"
#include "engine/train/fault.h"
#include "engine/train/lane_state.h"
#include "engine/train/rank_exchange.h"
#include "engine/train/run_observer.h"
#include "engine/train/scale_on_device.h"
#include "engine/train/step_flight.h"
#include "engine/train/step_graph.h"
#include "engine/train/step_record.h"
#include "engine/train/step_stage.h"

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

struct LayerShares;
class RankLanes;

/// Used by one thread at a time.
/// A data-parallel lane (parallel.ranks above 1) is either one rank of it, whose communicator it is given: then step(),
/// state() and fork() are collective, and all ranks get the same changes at the same step. Or it is given none: then it
/// is rank 0, and owns and steps the lanes of the other ranks, threads of this process.
class Lane
{
public:
    /// Compiles the step and fills in the initial weights. `events` are the scripted ones for this lane, in any order.
    /// Throws Error for settings that the model, the data, the backend or the ranks cannot follow.
    Lane(std::uint32_t id, LaneConfig config, std::vector<ScriptedEvent> events, std::shared_ptr<const Dataset> data,
        Backend& backend, int threads, std::shared_ptr<Communicator> ranks = nullptr);

    /// A lane that goes on from `state` to the last bit. Throws Error (InvalidArgument) naming the tensors that the
    /// model lacks, and those that `state` does.
    Lane(std::uint32_t id, const LaneState& state, std::shared_ptr<const Dataset> data, Backend& backend, int threads,
        std::shared_ptr<Communicator> ranks = nullptr);
    ~Lane();

    [[nodiscard]] std::uint32_t id() const { return m_id; }

    [[nodiscard]] const std::shared_ptr<const LaneConfig>& config() const { return m_config; }

    /// On which it trains.
    [[nodiscard]] const DeviceInfo& device() const { return m_backend.device(); }

    [[nodiscard]] std::int64_t nextStep() const { return m_nextStep; }

    [[nodiscard]] double scale() const { return m_scaler->scale(); }

    [[nodiscard]] double nextLr() const;
    [[nodiscard]] MemoryBytes bytes() const;

    [[nodiscard]] int castsPerStep() const { return m_step.castsPerStep; }

    [[nodiscard]] std::uint64_t batchHash() const;

    /// Micro-batches that lie ready; nothing if the lane's steps gather their own.
    [[nodiscard]] std::optional<std::int64_t> queuedBatches() const;

    [[nodiscard]] const std::shared_ptr<const Graph>& graph() const { return m_graph; }

    /// Replaces the initial weights and running statistics by values under their names, rounded once to the weights'
    /// format. Before the first step only.
    void startFrom(const std::map<std::string, std::vector<float>>& values);

    /// Applies what the experiment wants changed before the next step.
    std::vector<Event> applyScripted();
    /// Changes a setting, from the next step on; "steps" moves the end. Throws Error and changes nothing if it cannot
    /// be.
    Event set(const std::string& path, const nlohmann::json& value);
    /// All changes so far and the scripted ones still to come: what a replay of this lane needs.
    [[nodiscard]] std::vector<ScriptedEvent> history() const;

    /// Of these, the changes so far.
    [[nodiscard]] const std::vector<ScriptedEvent>& past() const { return m_history; }

    /// Trains one step. Steady steps allocate nothing. Throws Error (BackendFailure) if the device fails.
    /// `nodes` sees every node of the forward and backward passes.
    StepRecord step(const StepWatcher& watcher = {}, const NodeWatcher& nodes = {});

    // --- the same in three parts, for who enqueues a step before the numbers of the one before are there ---
    // In between, the lane is as the last collected step left it: nothing may be set or read on the device, which
    // throws Error (Internal), until collect(), or discard(). A lane of several ranks makes whole steps only.

    /// Enqueues a step as far as its gradients are ready for the optimizer. After collect(), or before it: where the
    /// lane canRunAhead(), behind complete().
    void begin(const StepWatcher& watcher = {}, const NodeWatcher& nodes = {});
    /// Enqueues the rest of what was begun: all that changes weights, optimizer and scale, and the way of the numbers
    /// to the host.
    void complete(const StepWatcher& watcher = {});
    /// Waits for the numbers of the step that was completed, not for one that was begun behind it.
    StepRecord collect(const StepWatcher& watcher = {});
    /// Forgets what was begun: the lane goes on as if it had not been.
    void discard();

    [[nodiscard]] bool hasBegun() const { return m_begun != nullptr; }

    /// Whether nothing that the next step needs is known only from the numbers of this one. Of the step that comes
    /// next, or is begun.
    [[nodiscard]] bool canRunAhead() const;

    /// Whether the experiment wants something changed before that step.
    [[nodiscard]] bool isScriptDue(std::int64_t step) const
    {
        return !m_script.empty() && m_script.front().step <= step;
    }

    /// Whether the steps to come count what rounding did; see Executor. Without it a record's shares are NaN, and the
    /// origin of what is not finite stays unknown.
    void setCounting(bool counts);

    /// Of the step just trained, by rank; empty for a lane of one rank.
    [[nodiscard]] std::span<const RankRecord> rankRecords() const;

    // --- for instruments, which read and change nothing ---
    [[nodiscard]] Executor& executor() { return *m_executor; }

    [[nodiscard]] const StepGraph& stepGraph() const { return m_step; }

    [[nodiscard]] const LossScaler& scaler() const { return *m_scaler; }

    /// Where the step just trained stopped being finite, if it did and this is the first time that it is there.
    [[nodiscard]] std::optional<Event> takeOrigin();

    /// What carries the gradients between the ranks, where that was found out in the step just trained.
    [[nodiscard]] std::optional<Event> takeExchange();

    /// Of the gradients of a layer's parameters in the step just trained; zeros if it has none, NaN if nothing was
    /// counted. See layersOf().
    [[nodiscard]] LayerShares layerShares(std::string_view layer) const;

    /// The weights went to infinity or NaN: no further step can mend that.
    [[nodiscard]] bool hasDiverged() const { return m_diverged; }

    /// All weights in the parameters' order, half ones widened exactly.
    void readWeights(std::vector<float>& into);
    /// 16 hex digits: FNV-1a over the weights as stored, in order, then the running statistics, as in a state_dict.
    std::string weightsHash();
    /// The same over the initial values as drawn in FP32: equal in lanes that start equal, whatever their weights'
    /// format. That of FP32 weights before the first step.
    [[nodiscard]] std::string initialWeightsHash() const;

    /// Over the validation samples, in the evaluation policy; leaves the training state alone. Returns soon, with NaN,
    /// once `interrupt` is set.
    Validation validate(const std::atomic<bool>& interrupt = uninterrupted);
    /// Notes a validation in the record of the step just trained, if evaluation.every asks for one there.
    void validateIfDue(StepRecord& record, const std::atomic<bool>& interrupt = uninterrupted);

    [[nodiscard]] LaneState state();
    /// A lane like this one, with the same state to the last bit.
    [[nodiscard]] std::unique_ptr<Lane> fork(std::uint32_t id, const std::string& name);
    /// A lane like this one was before `step`, from a state of its own at that step or an earlier one: what lies
    /// between is trained again. Changes of settings made at `step` or later are left out; scripted ones are still to
    /// come.
    [[nodiscard]] std::unique_ptr<Lane> forkAt(
        std::int64_t step, const LaneState& earlier, std::uint32_t id, const std::string& name) const;
    /// Puts a lane with the same settings back to a state of its own. Throws as the constructor does.
    void restore(const LaneState& state);
    /// A lane that trains the same model on the same batches in FP32, without scaler, clipping and what else departs
    /// from plain training: for follow().
    [[nodiscard]] std::unique_ptr<Lane> fp32Twin() const;
    /// The step to come gets the weights, running statistics, batch, random numbers and faults of `other`'s.
    void follow(const Lane& other);

private:
    void joinRanks(std::shared_ptr<Communicator> ranks);
    void addOtherRanks();

    [[nodiscard]] int rank() const { return m_exchange ? m_exchange->rank() : 0; }

    /// To be handed to copies of this lane; null if it owns its ranks, or has none.
    [[nodiscard]] std::shared_ptr<Communicator> givenRanks() const;
    [[nodiscard]] ModelTask shareTask(const LaneConfig& config) const;
    StepRecord stepRank(const StepWatcher& watcher, const NodeWatcher& nodes);
    Event setRank(const std::string& path, const nlohmann::json& value);
    void restoreRank(const LaneState& state);
    [[nodiscard]] LaneState rankState();
    void shareFoundInf();
    [[nodiscard]] bool microFoundInf();
    [[nodiscard]] double lossForScaler(double own);
    [[nodiscard]] bool averagesGradients() const;
    [[nodiscard]] bool sharesScaler() const;
    void finishRank(StepRecord& record);
    void findForeignOrigin(const StepRecord& record);
    [[nodiscard]] bool isBefallen(int otherwise) const;
    void compile(const LaneConfig& config);
    void startAverages();
    [[nodiscard]] std::unique_ptr<BatchLoader> makeLoader(const LaneConfig& config) const;
    void writeTensors(const std::vector<StateTensor>& tensors);
    void requireBoundary() const;
    [[nodiscard]] std::size_t firstOfSecondHalf() const;
    [[nodiscard]] std::size_t firstBehindResults() const;
    [[nodiscard]] double lrAt(std::int64_t position) const;
    double feed(std::int64_t step, std::int64_t microBatch);
    void writeScalars(const StepRecord& record);
    void writeScale();
    void runMicroBatches(StepRecord& record, const StepWatcher& watcher, const NodeWatcher& nodes);
    void runBlocks(StepRecord& record, std::size_t first, std::size_t end, const StepWatcher& watcher);
    void runOnHost(StepBlock block, bool hasChecked, const StepRecord& record);
    [[nodiscard]] double stepLoss(std::int32_t dropped) const;
    void sendAhead();
    void updateScaler(bool foundInf, double loss);
    void advanceSchedule(bool hasChecked);
    [[nodiscard]] bool mustSkip() const;

    [[nodiscard]] bool keepsGradients() const { return !m_config->accumulation.zeroGradients; }

    void reportUpdate(StepRecord& record);
    void reportGradients(StepRecord& record) const;
    void reportCensus(StepRecord& record);
    void findOrigin(const StepRecord& record);
    [[nodiscard]] std::string rankPrefix() const;
    [[nodiscard]] nlohmann::json currentValue(const std::string& path) const;
    void setScalerState(const std::string& key, const nlohmann::json& value);
    void inject(FaultKind fault, const nlohmann::json& value);
    void arm(FaultKind fault, const nlohmann::json& value);
    void scaleWeights(std::size_t parameter, double factor);
    [[nodiscard]] std::string parameterNamed(const std::string& layer) const;
    void spoil(std::vector<std::byte>& samples) const;
    void spoilGradients();
    void changeSettings(LaneConfig to);

    std::uint32_t m_id;
    std::shared_ptr<const LaneConfig> m_config;
    std::vector<ScriptedEvent> m_script; ///< still to come, by step
    std::vector<ScriptedEvent> m_history; ///< applied
    std::shared_ptr<const Dataset> m_data;
    Backend& m_backend;
    int m_threads;
    std::unique_ptr<RankLanes> m_others; ///< of ranks 1, 2, ..., if this lane owns them
    std::unique_ptr<RankExchange> m_exchange; ///< null: the lane has one rank
    std::unique_ptr<BatchLoader> m_loader;
    StepGraph m_step;
    std::shared_ptr<const Graph> m_graph; ///< of m_step, to be looked at from any thread
    std::unique_ptr<Executor> m_executor;
    std::unique_ptr<LossScaler> m_scaler;
    std::optional<ScaleOnDevice> m_scaleOnDevice; ///< nothing: the host alone moves the scale
    std::array<StepFlight, 2> m_flights; ///< even steps and odd ones
    StepFlight* m_begun = nullptr; ///< its first half is enqueued
    StepFlight* m_completed = nullptr; ///< both are, and its numbers are on their way
    std::int64_t m_nextStep = 0;
    std::int64_t m_schedulePosition = 0;
    bool m_foundInf = false; ///< by the last check
    ArmedFaults m_faults;
    bool m_diverged = false;
    std::set<std::optional<Origin>> m_knownOrigins; ///< in this graph; nothing: FP32
    bool m_saysUnknownOrigin = false; ///< that there is one which was not counted
    std::set<int> m_knownForeign; ///< ranks from which what is not finite has come; size(): from their sum
    std::optional<Event> m_newOrigin;
    std::uint64_t m_initialHash = fnvOffset;
    std::unique_ptr<Evaluator> m_evaluator; ///< kept between validations of a run that asks for several
};

} // namespace mantissa
