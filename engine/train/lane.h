/// One training run as it goes: its compiled step, weights, optimizer state, scaler and place in the data.
#pragma once

#include "engine/backends/executor.h"
#include "engine/core/hash.h"
#include "engine/data/batch_source.h"
#include "engine/data/dataset.h"
#include "engine/scaling/loss_scaler.h"
#include "engine/train/event.h"
#include "engine/train/experiment.h"
#include "engine/train/run_observer.h"
#include "engine/train/step_graph.h"
#include "engine/train/step_record.h"
#include "engine/train/validation.h"

#include <memory>
#include <string>
#include <vector>

namespace mantissa {

/// Used by one thread at a time.
class Lane
{
public:
    /// Compiles the step and fills in the initial weights. `events` are the scripted ones for this lane, in any order.
    /// Throws Error for settings that the model, the data or the backend cannot follow.
    Lane(std::uint32_t id, LaneConfig config, std::vector<ScriptedEvent> events, std::shared_ptr<const Dataset> data,
        Backend& backend, int threads);

    [[nodiscard]] std::uint32_t id() const { return m_id; }

    [[nodiscard]] const std::shared_ptr<const LaneConfig>& config() const { return m_config; }

    [[nodiscard]] std::int64_t nextStep() const { return m_nextStep; }

    [[nodiscard]] double scale() const { return m_scaler->scale(); }

    [[nodiscard]] double nextLr() const;
    [[nodiscard]] MemoryBytes bytes() const;

    [[nodiscard]] int castsPerStep() const { return m_step.castsPerStep; }

    [[nodiscard]] std::uint64_t batchHash() const { return m_batches.fingerprint(); }

    [[nodiscard]] const Graph& graph() const { return m_executor->graph(); }

    /// Applies what the experiment wants changed before the next step.
    std::vector<Event> applyScripted();
    /// Changes a setting, from the next step on; "steps" moves the end. Throws Error and changes nothing if it cannot
    /// be.
    Event set(const std::string& path, const nlohmann::json& value);
    /// All changes so far and the scripted ones still to come: what a replay of this lane needs.
    [[nodiscard]] std::vector<ScriptedEvent> history() const;

    /// Trains one step. Steady steps allocate nothing. Throws Error (BackendFailure) if the device fails.
    StepRecord step();

    /// The weights went to infinity or NaN: no further step can mend that.
    [[nodiscard]] bool hasDiverged() const { return m_diverged; }

    /// All weights in the parameters' order, half ones widened exactly.
    void readWeights(std::vector<float>& into);
    /// 16 hex digits: FNV-1a over the weights as stored, in order, then the running statistics, as in a state_dict.
    std::string weightsHash();
    /// The same over the initial values as drawn in FP32: equal in lanes that start equal, whatever their weights'
    /// format. That of FP32 weights before the first step.
    [[nodiscard]] std::string initialWeightsHash() const;

    /// Over the validation samples, in the lane's precision; leaves the training state alone.
    Validation validate();

    /// A lane like this one, with the same state to the last bit.
    [[nodiscard]] std::unique_ptr<Lane> fork(std::uint32_t id, const std::string& name);

private:
    void compile(const LaneConfig& config);
    void feed(std::int64_t microBatch);
    void writeScalars();
    void runMicroBatches(StepRecord& record);
    void runUpdate(PhaseTimes& times);
    void reportGradients(StepRecord& record) const;
    void reportCensus(StepRecord& record);
    [[nodiscard]] nlohmann::json currentValue(const std::string& path) const;
    void setScalerState(const std::string& key, const nlohmann::json& value);
    void changeSettings(LaneConfig to);

    std::uint32_t m_id;
    std::shared_ptr<const LaneConfig> m_config;
    std::vector<ScriptedEvent> m_script; ///< still to come, by step
    std::vector<ScriptedEvent> m_history; ///< applied
    std::shared_ptr<const Dataset> m_data;
    Backend& m_backend;
    int m_threads;
    BatchSource m_batches;
    StepGraph m_step;
    std::unique_ptr<Executor> m_executor;
    std::unique_ptr<LossScaler> m_scaler;
    std::int64_t m_nextStep = 0;
    std::int64_t m_schedulePosition = 0;
    bool m_diverged = false;
    std::uint64_t m_initialHash = fnvOffset;

    std::vector<float> m_inputs; ///< of one micro-batch
    std::vector<std::int32_t> m_labels;
    std::vector<float> m_targets;
};

} // namespace mantissa
