/// An experiment file: data, model, training, and lanes as merge patches (RFC 7386). design.md, section 7;
/// every key is documented in experiments/README.md.
#pragma once

#include "engine/data/data_config.h"
#include "engine/formats/dtype.h"
#include "engine/nn/model_config.h"
#include "engine/optim/optimizer_config.h"
#include "engine/optim/schedule.h"
#include "engine/scaling/loss_scaler.h"
#include "engine/train/claim.h"
#include "engine/train/step_order.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

struct PrecisionConfig
{
    std::string policy = "fp32"; ///< one of policyNames()
    /// master (FP32); or stored in the policy's 16-bit format: half (as pure-* and O3 do), half-stochastic (new weights
    /// are rounded at random), half-kahan (what rounding drops is kept in a second 16-bit tensor)
    std::string weights = "master";
    /// Op kind ("relu") or node name ("fc1") -> "fp32", "fp16", "bf16"; with ".accumulate" behind it, of its sums.
    std::map<std::string, std::string> overrides;
    bool tf32 = false; ///< FP32 matrix products on a GPU: operands cut to 10 fraction bits
    bool reducedSums = false; ///< FP16 matrix products on a GPU: summed up in FP16
    bool operator==(const PrecisionConfig&) const = default;

    [[nodiscard]] bool hasHalfWeights() const { return weights != "master"; }
};

/// The policy without overrides, and with the weights that it implies. Throws Error (InvalidArgument) for an unknown
/// one.
PrecisionConfig defaultPrecision(const std::string& policy);

struct ClipConfig
{
    ClipOrder order = ClipOrder::Off;
    std::optional<double> maxNorm;
    std::optional<double> maxValue; ///< exactly one of the two when order is not Off
    bool perLayer = false; ///< maxNorm holds for each layer's gradient by itself
    bool operator==(const ClipConfig&) const = default;
};

/// Judging the model on held-out samples while it trains.
struct EvaluationConfig
{
    std::int64_t every = 0; ///< steps; 0: only when the lane ends
    std::string policy = "lane"; ///< the lane's own precision, or one of policyNames()
    std::int64_t samples = 0; ///< the first so many of the validation samples; 0: all
    std::string weights = "trained"; ///< or their moving average: ema
    bool operator==(const EvaluationConfig&) const = default;
};

struct AccumulationConfig
{
    std::int64_t steps = 1;
    bool guard = false; ///< drop a micro-batch whose loss is not finite
    bool divide = true; ///< each micro-batch's loss by their number; without, the gradient is their sum
    bool scalerPerMicroBatch = false; ///< the scaler judges every micro-batch, not the step
    bool zeroGradients = true; ///< before each step; without, the last step's stay and the new ones are added
    bool operator==(const AccumulationConfig&) const = default;
};

/// A moving average of the weights: after each step ema += (1 - decay) (weights - ema), in FP32, rounded to the format.
struct EmaConfig
{
    double decay = 0; ///< 0: none is kept
    std::string format = "fp32";
    bool countSkipped = true; ///< whether a skipped step averages too
    bool operator==(const EmaConfig&) const = default;
};

/// Data-parallel training: each of several ranks holds the whole model and trains on its share of every batch. What it
/// does in a step: engine/train/rank_exchange.h.
struct ParallelConfig
{
    std::int64_t ranks = 1;
    std::string communication = "fp32"; ///< format in which gradients are exchanged: fp32, fp16, bf16
    std::string divide
        = "before"; ///< by the number of ranks, before each rank's gradient is rounded and summed, or after
    std::string scaler = "independent"; ///< or synchronised: all scalers see what any rank found
    std::string gradients = "averaged"; ///< or local: not exchanged at all
    std::string batchNorm = "local"; ///< or synchronised: statistics over all ranks
    std::vector<std::int64_t> shards {}; ///< samples of each micro-batch that each rank gets; empty: all the same
    bool everyMicroBatch = false; ///< gradients are exchanged after each micro-batch, not only after the last
    bool operator==(const ParallelConfig&) const = default;

    [[nodiscard]] bool isOn() const { return ranks > 1; }
};

/// All settings of one lane, the merge patch applied.
struct LaneConfig
{
    std::string name;
    std::string color; ///< "#RRGGBB"; empty: the window chooses
    std::string device = "session"; ///< the session's, or one of backendByName()'s
    std::uint64_t seed = 1;
    std::int64_t steps = 300;
    DataConfig data;
    ModelConfig model;
    std::string loss = "cross_entropy"; ///< cross_entropy, mse, bce_with_logits
    std::string lossForm = "fused"; ///< of cross_entropy: fused, log_softmax, log_of_softmax
    double labelSmoothing = 0; ///< of cross_entropy while training; held-out samples are judged without
    double lossWeight = 1; ///< multiplies the loss: small values push gradients toward underflow
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    PrecisionConfig precision;
    ClipConfig clip;
    StepOrder order = rightOrder; ///< agrees with clip.order
    AccumulationConfig accumulation;
    EmaConfig ema;
    EvaluationConfig evaluation;
    ParallelConfig parallel;
    std::optional<ScalerConfig> scaler;
    nlohmann::json document; ///< the merged JSON these settings were read from
};

/// A change of settings at a step: path as in "scaler.scale" or "optimizer.lr".
struct ScriptedEvent
{
    std::int64_t step = 0;
    std::string lane; ///< empty: all lanes
    std::vector<std::pair<std::string, nlohmann::json>> set;
};

enum class WatchAction : std::uint8_t {
    Pause, ///< all lanes
    Snapshot, ///< keeps the lane's state; a checkpoint too where these are written
    Fork, ///< a copy of the lane as it was before the step
    Set, ///< settings of the lane, from the next step on
};

/// Acts behind each step in which its condition becomes true; again only once it was false in between.
struct Watchpoint
{
    std::string when; ///< see WatchExpression
    WatchAction action = WatchAction::Pause;
    std::vector<std::pair<std::string, nlohmann::json>> set {}; ///< of Set
    std::string lane {}; ///< empty: each lane by itself
    bool isOn = true;
    bool operator==(const Watchpoint&) const = default;
};

struct Experiment
{
    std::string name;
    std::string text; ///< Markdown
    std::vector<LaneConfig> lanes;
    std::vector<ScriptedEvent> events;
    std::vector<Watchpoint> watchpoints;
    std::optional<Claim> claim; ///< what it is about
    nlohmann::json expect = nlohmann::json::array(); ///< readExpectations() has accepted it
    nlohmann::json document; ///< the file as read
    std::filesystem::path directory; ///< relative data paths start here
};

/// Reads and checks an experiment. Throws Error (InvalidArgument) naming the JSON path, the value and, for an unknown
/// key or choice, the nearest valid one; `source` names the file in messages.
Experiment parseExperiment(std::string_view text, const std::string& source);
Experiment loadExperiment(const std::filesystem::path& file);

/// Reads and checks one merged lane document ("name", "data", "model", ... at its top level).
LaneConfig parseLane(const nlohmann::json& merged, const std::string& source);

/// The lane's document with the setting at the dotted `path` replaced, checked. "scaler.scale" and
/// "scaler.growth_tracker" are state, not settings: they are accepted and leave the document as it is.
/// A path may name a section ("clip") with an object as its value: a merge patch, so null removes what it names.
/// Throws Error (InvalidArgument) for an invalid path or value, and for a setting that needs a new lane.
LaneConfig withSetting(const LaneConfig& lane, const std::string& path, const nlohmann::json& value);

/// As withSetting(), for a lane that has not started: everything but its name may change, several settings at once if
/// they need each other.
LaneConfig withOverrides(const LaneConfig& lane, const std::vector<std::pair<std::string, nlohmann::json>>& values);

/// Checks that every event names a lane that exists, and settings that can be changed to valid values, in the order in
/// which the events happen. Throws Error (InvalidArgument) naming the event. `source` names the file in messages.
void checkEvents(
    const std::vector<ScriptedEvent>& events, const std::vector<LaneConfig>& lanes, const std::string& source);

/// The experiment's document as its lanes, events and watchpoints are now: settings that all lanes share at the top,
/// lanes as patches, without the expectations of lanes that are gone. parseExperiment(result) gives the same lanes
/// back.
nlohmann::json composeExperiment(const Experiment& experiment);

} // namespace mantissa
