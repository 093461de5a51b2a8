/// A run boiled down to what the rules ask about.
#pragma once

#include "engine/train/event.h"
#include "engine/train/experiment.h"
#include "engine/train/layer_measure.h"
#include "engine/train/run_observer.h"
#include "engine/train/step_record.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

/// An FP32 lane of the same session that differs in precision and scaler alone: what both do is not the precision's
/// doing.
struct Sibling
{
    std::string name;
    bool hasDiverged = false; ///< its weights are broken, or its loss rose
    double stepMs = 0; ///< median
};

/// Settings that held from a step on.
struct SettingsSince
{
    std::int64_t step = 0;
    LaneConfig config;
};

/// What is known of a run. The spans must outlive its diagnosis.
struct RunView
{
    LaneConfig config; ///< at the end of the records: changes applied
    std::span<const StepRecord> records; ///< by step, without gaps
    std::span<const Event> events;
    std::optional<RunStatus> status; ///< nothing: it goes on
    std::vector<Sibling> siblings {};
    std::vector<SettingsSince> history {}; ///< by step, the last is `config`; empty: that held throughout
    std::span<const StepSample> samples {}; ///< of steps that were looked at, by step
};

/// A stretch of consecutive steps.
struct StepRange
{
    std::int64_t first = 0;
    std::int64_t last = -1;

    [[nodiscard]] std::int64_t length() const { return last - first + 1; }
};

struct RunFacts
{
    const RunView& run;
    const LaneConfig& config;
    DType lower = DType::Float32; ///< the policy's 16-bit format
    bool hasScaler = false;
    bool isFresh = true; ///< began with weights that had learnt nothing
    std::int64_t steps = 0;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = -1;

    std::vector<StepRange> skips {}; ///< stretches
    StepRange leadingSkips {}; ///< from the first step on: finding the scale
    std::int64_t skippedLater = 0; ///< steps behind those
    std::int64_t growths = 0; ///< of the scale, not by hand
    std::int64_t backoffs = 0; ///< behind the leading skips
    std::vector<StepRange> badLosses {}; ///< stretches of a loss that is not finite
    std::int64_t zeroGradients = 0; ///< steps with a loss and no gradient at all
    std::int64_t clipped = 0; ///< steps
    std::int64_t unmoved = 0; ///< steps taken that moved no weight
    double flushed = 0; ///< mean share over the steps with a finite gradient
    double updateRatio = 0; ///< median over the steps taken
    double startLoss = 0; ///< what a loss that has risen is above: the first one of weights that had learnt nothing,
                          ///< else the largest of the first twenty; NaN if there is none
    double firstLoss = 0; ///< mean of the first ten finite ones; NaN if there is none
    double lastLoss = 0; ///< of the last ten
    double minScale = 1;
    double maxScale = 1;
    double stepMs = 0; ///< medians
    double waitMs = 0;
    double scalerMs = 0; ///< unscaling, checking and clipping
    std::string origin {}; ///< of the first Numerics event that names a place
    std::int64_t originStep = -1;
    std::vector<const Event*> faults {}; ///< that were injected, in order
    /// In the order of the forward pass: medians over the later half of the samples whose gradient was finite.
    std::vector<LayerFigures> layers {};

    [[nodiscard]] bool isBroken() const; ///< ended with broken weights, or with a loss that is not finite any more
    [[nodiscard]] bool hasRisen() const; ///< the loss, clearly, over the whole run
    [[nodiscard]] bool isStill() const; ///< the loss, within two percent
    [[nodiscard]] bool fp32DivergesToo() const; ///< and this is no FP32 lane
    /// The mean of the ten finite losses before the step; NaN if there is none.
    [[nodiscard]] double lossBefore(std::int64_t step) const;
};

RunFacts factsOf(const RunView& run);

/// "fault.lr_jump = 100 was injected at step 50. ", to stand before an advice.
std::string faultSentence(const Event& fault);

} // namespace mantissa
