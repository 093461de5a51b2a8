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

/// Kinds of knowledge that a rule may need, as bits. A run that was trained here has all of them; of an imported one
/// the log has some, and a rule that needs another says nothing.
enum Evidence : unsigned {
    KnownSettings = 1,
    KnownLosses = 2,
    KnownNorms = 4, ///< of the gradient, before clipping
    KnownScales = 8,
    KnownSkips = 16, ///< which steps were skipped
    KnownFlushing = 32,
    KnownTimes = 64,
    KnownAll = 127
};

/// What is known of a run. The spans must outlive its diagnosis.
struct RunView
{
    LaneConfig config; ///< at the end of the records: changes applied
    std::span<const StepRecord>
        records; ///< by step; of an imported run they may have gaps, and NaN where the log has none
    std::span<const Event> events;
    std::optional<RunStatus> status; ///< nothing: it goes on
    std::vector<Sibling> siblings {};
    std::vector<SettingsSince> history {}; ///< by step, the last is `config`; empty: that held throughout
    std::span<const StepSample> samples {}; ///< of steps that were looked at, by step
    unsigned known = KnownAll; ///< Evidence; without KnownSettings `config` means nothing
};

/// A stretch of steps whose records follow each other.
struct StepRange
{
    std::int64_t first = 0;
    std::int64_t last = -1;
    std::int64_t gaps = 0; ///< steps in it that have no record

    [[nodiscard]] std::int64_t length() const { return last - first + 1 - gaps; } ///< records
};

struct RunFacts
{
    const RunView& run;
    const LaneConfig& config;
    DType lower = DType::Float32; ///< the policy's 16-bit format
    bool hasScaler = false; ///< of an imported run: its log has a scale
    bool knowsSkips = true; ///< else what follows is as much as the falls of the scale tell: at least so many
    bool isFresh = true; ///< began with weights that had learnt nothing
    std::int64_t steps = 0;
    std::int64_t firstStep = 0;
    std::int64_t lastStep = -1;

    std::vector<StepRange> skips {}; ///< stretches
    StepRange leadingSkips {}; ///< from the first step on: finding the scale
    std::int64_t skippedLater = 0; ///< steps behind those
    std::int64_t growths = 0; ///< of the scale, not by hand
    std::int64_t backoffs = 0; ///< behind the leading skips
    double growthInterval = 0; ///< steps: the setting, or as the scale is seen to grow; 0: neither
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

    [[nodiscard]] bool knows(unsigned evidence) const { return (run.known & evidence) == evidence; }

    /// The steps from the first record to the last, recorded or not.
    [[nodiscard]] std::int64_t covered() const { return lastStep - firstStep + 1; }

    /// The records from the step on.
    [[nodiscard]] std::span<const StepRecord> since(std::int64_t step) const;
    /// The mean of the ten finite losses before the step; NaN if there is none.
    [[nodiscard]] double lossBefore(std::int64_t step) const;
};

RunFacts factsOf(const RunView& run);

/// "fault.lr_jump = 100 was injected at step 50. ", to stand before an advice.
std::string faultSentence(const Event& fault);

} // namespace mantissa
