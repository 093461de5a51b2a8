#include "engine/core/phrase.h"
#include "engine/diagnose/rules.h"
#include "engine/formats/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace mantissa {

namespace {

using Result = std::optional<Finding>;

/// The fault that was injected last before the step, in words; empty if there is none.
std::string faultBefore(const RunFacts& facts, std::int64_t step)
{
    std::string words;
    for (const Event* fault : facts.faults) {
        if (fault->step <= step) {
            words = faultSentence(*fault);
        }
    }
    return words;
}

/// The last stretch of skips, if it is long and nothing was taken behind it.
const StepRange* endlessSkips(const RunFacts& facts)
{
    constexpr std::int64_t tooMany = 24; // from 2^16 to below 1, and then some
    return !facts.skips.empty() && facts.skips.back().last == facts.lastStep
            && facts.skips.back().length() >= std::min(tooMany, std::max<std::int64_t>(facts.steps / 2, 8))
        ? &facts.skips.back()
        : nullptr;
}

/// By the settings, or where these are not known as the scale is seen to stand.
bool hasFixedScale(const RunFacts& facts, std::span<const StepRecord> skipped)
{
    if (facts.knows(KnownSettings)) {
        return facts.config.scaler->family == "fixed" || facts.config.scaler->frozen;
    }
    return std::ranges::all_of(
        skipped, [&skipped](const StepRecord& record) { return record.scale == skipped.front().scale; });
}

/// A scale that falls to the end, in a log that does not say which steps were skipped.
Result fallingScale(const RunFacts& facts)
{
    if (facts.knowsSkips) {
        return {};
    }
    constexpr double far = 0x1p10;
    std::vector<const StepRecord*> known;
    for (const StepRecord& record : facts.run.records) {
        if (!std::isnan(record.scale)) {
            known.push_back(&record);
        }
    }
    // Back from the end, as long as it never rose.
    std::size_t top = known.empty() ? 0 : known.size() - 1;
    std::size_t lastFall = 0;
    while (top > 0 && known[top - 1]->scale >= known[top]->scale) {
        if (lastFall == 0 && known[top - 1]->scale > known[top]->scale) {
            lastFall = top;
        }
        --top;
    }
    constexpr std::size_t recent = 3; // rows
    if (lastFall == 0 || known.size() - lastFall > recent || known.back()->scale >= 1
        || known[top]->scale < far * known.back()->scale) {
        return {};
    }
    while (known[top + 1]->scale == known[top]->scale) {
        ++top;
    }
    const auto since = facts.since(known[top]->step);
    const auto badLosses = std::ranges::count_if(since, [](const StepRecord& record) { return !record.lossFinite; });
    Finding finding {.rule = "scale_collapse", .severity = Severity::Problem, .confidence = Confidence::Likely};
    finding.firstStep = known[top]->step;
    finding.lastStep = known.back()->step;
    finding.title = phrase("The scale falls without end: from {:.4g} at step {} to {:.3g} at step {}.",
        known[top]->scale, known[top]->step, known.back()->scale, known.back()->step);
    finding.evidence
        = {{"scale_before", known[top]->scale}, {"scale_now", known.back()->scale}, {"losses_not_finite", badLosses}};
    finding.advice = badLosses > 0
        ? phrase("The loss is not finite either, so no scale can help. Find what is infinite before it: the data, the "
                 "weights, or an activation too large for the format.")
        : phrase(
            "Below 1 a smaller scale rarely helps: the raw gradient is infinite or NaN at any. Look at the data of "
            "the first step of the fall, and for a layer whose activations or gradients leave FP16's range.");
    return finding;
}

Result brokenNumbers(const RunFacts& facts)
{
    if (!facts.isBroken() || endlessSkips(facts) != nullptr || fallingScale(facts)) {
        return {};
    }
    const std::int64_t since = facts.badLosses.empty() ? facts.lastStep : facts.badLosses.back().first;
    Finding finding {.rule = "non_finite", .severity = Severity::Problem, .confidence = Confidence::Likely};
    finding.op = facts.origin;
    finding.firstStep = facts.originStep >= 0 ? facts.originStep : since;
    finding.lastStep = facts.lastStep;
    finding.evidence = {{"since_step", since}, {"loss_before", facts.lossBefore(finding.firstStep)}};
    if (!facts.knows(KnownSettings)) {
        finding.title = phrase("The loss stopped being finite at step {}.", since);
        finding.advice
            = phrase("The log does not say where that arose. If gradients were infinite before the loss was, the "
                     "backward pass overflowed; if a scaler skipped those steps and the loss broke all the same, the "
                     "forward pass or the data did. Train in FP32 or BF16 from a checkpoint before it: what is finite "
                     "there overflowed in 16 bits.");
    } else if (!facts.origin.empty()) {
        finding.title = phrase("Numbers stopped being finite; the first were in {}.", facts.origin);
        finding.advice = facts.hasScaler
            ? phrase(
                "Give that op FP32 (precision.overrides) or the lane BF16; the scaler cannot mend what is infinite "
                "without it.")
            : phrase(
                "Give that op FP32 (precision.overrides), or use BF16, or a scaler if it arose in the backward pass.");
    } else {
        finding.title = phrase("Numbers stopped being finite, but not by a rounding to 16 bits.");
        finding.advice
            = phrase("They arose in FP32: look at the data, the learning rate and the initial weights first.");
    }
    if (facts.fp32DivergesToo()) {
        finding.advice
            = phrase("The FP32 lane breaks too, so it is not the precision's doing but something both share: the "
                     "settings, the learning rate or the data.");
        finding.evidence["fp32_breaks_too"] = true;
        finding.fix = slowerFix(facts.config);
    } else if (!facts.run.siblings.empty()) {
        finding.evidence["fp32_breaks_too"] = false;
        finding.fix = facts.lower == DType::Float16 ? bf16Fix() : finding.fix;
    }
    if (!faultBefore(facts, since).empty()) {
        finding.fix = nlohmann::json::object();
    }
    finding.advice = faultBefore(facts, since) + finding.advice;
    return finding;
}

Result collapsingScale(const RunFacts& facts)
{
    const StepRange* skips = endlessSkips(facts);
    if (skips == nullptr) {
        return {};
    }
    const auto inStretch = facts.since(skips->first);
    const auto badLosses
        = std::ranges::count_if(inStretch, [](const StepRecord& record) { return !record.lossFinite; });
    Finding finding {.rule = "scale_collapse", .severity = Severity::Problem, .confidence = Confidence::Certain};
    finding.op = facts.origin;
    finding.firstStep = skips->first;
    finding.lastStep = skips->last;
    finding.evidence = {{"skipped_in_a_row", skips->length()}, {"scale_before", inStretch.front().scale},
        {"scale_now", inStretch.back().scale}, {"updates_since", 0}, {"losses_not_finite", badLosses}};
    const std::string place
        = facts.origin.empty() ? "" : phrase("; the first non-finite numbers were in {}", facts.origin);
    if (static_cast<std::size_t>(badLosses) == inStretch.size()) {
        finding.title
            = phrase("Every step is skipped, but the scale is not the cause: the loss itself is not finite{}.", place);
        finding.advice = facts.fp32DivergesToo()
            ? phrase(
                "The FP32 lane breaks too: look at the data, the weights and the learning rate, not at the scaler.")
            : phrase(
                "No scale can help. Find what is infinite before the loss: the data, the weights, or an activation too "
                "large "
                "for the format (then BF16, or FP32 for that op).");
    } else {
        const bool isFixed = hasFixedScale(facts, inStretch);
        finding.title = isFixed
            ? phrase("Every step is skipped: the gradient overflows at the scale of {:.3g}, which never moves{}.",
                inStretch.back().scale, place)
            : phrase("Every step is skipped: the gradient overflows at every scale tried{}.", place);
        finding.advice = facts.fp32DivergesToo()
            ? phrase(
                "The FP32 lane diverges too, so the training is at fault, not the precision: lower the learning rate.")
            : isFixed
            ? phrase("Choose a smaller scale, or a scaler that backs off.")
            : phrase("If the scale is far below 1, the raw gradient is infinite or NaN: look at the data and at the "
                     "first op named. If it stands at a floor, lower the floor or make the loss smaller.");
    }
    if (const std::string fault = faultBefore(facts, skips->first); !fault.empty()) {
        finding.advice = fault + finding.advice;
    } else if (!facts.knows(KnownSettings)) {
        return finding;
    } else if (facts.fp32DivergesToo()) {
        finding.fix = slowerFix(facts.config);
    } else if (facts.config.scaler->family == "fixed") {
        finding.fix = dynamicScalerFix();
    } else if (facts.config.scaler->frozen) {
        finding.fix = {{"scaler.frozen", false}};
    } else if (!facts.run.siblings.empty() && facts.lower == DType::Float16) {
        finding.fix = bf16Fix(); // FP32 trains, so its range is what lacks
    }
    return finding;
}

/// A loss that is not finite for a step or three, and is so again behind them.
Result badBatch(const RunFacts& facts)
{
    const auto isolated = std::ranges::find_if(facts.badLosses,
        [&facts](const StepRange& range) { return range.length() <= 3 && range.last < facts.lastStep; });
    if (isolated == facts.badLosses.end()) {
        return {};
    }
    const auto count
        = std::ranges::count_if(facts.badLosses, [](const StepRange& range) { return range.length() <= 3; });
    Finding finding {.rule = "bad_batch", .severity = Severity::Warning, .confidence = Confidence::Likely};
    finding.firstStep = isolated->first;
    finding.lastStep = isolated->last;
    finding.op = facts.originStep == isolated->first ? facts.origin : "";
    finding.title
        = phrase("The loss of step {} is not finite, those around it are: one batch is bad.", isolated->first);
    finding.evidence = {{"times", count}};
    finding.advice = facts.config.accumulation.steps > 1 && !facts.config.accumulation.guard
        ? phrase(
            "Look at the samples of that step. Nothing guards the micro-batches, so the bad one cost the whole step: "
            "accumulation.guard drops it alone.")
        : phrase("Look at the samples of that step for NaN, infinity and values far outside the rest.");
    finding.advice = faultBefore(facts, isolated->first) + finding.advice;
    if (facts.config.accumulation.steps > 1 && !facts.config.accumulation.guard) {
        finding.fix = {{"accumulation.guard", true}};
    }
    return finding;
}

/// FP16 gradients that are rounded to zero.
Result underflow(const RunFacts& facts)
{
    const bool isFp16 = facts.lower == DType::Float16 || !facts.knows(KnownSettings); // or the log has no such shares
    if (!isFp16 || facts.steps < 20 || facts.isBroken() || endlessSkips(facts) != nullptr) {
        return {};
    }
    const bool isDead = facts.knows(KnownSettings) && facts.zeroGradients * 2 > facts.steps;
    const bool losesMuch = facts.flushed >= 0.2;
    const bool standsStill = facts.isStill() && facts.flushed >= 0.003 && facts.firstLoss > 0;
    const double worthSaying = facts.hasScaler ? 0.05 : 0.01;
    if (!isDead && !losesMuch && !standsStill && facts.flushed < worthSaying) {
        return {};
    }
    const bool isProblem = isDead || losesMuch || (standsStill && !facts.hasScaler);
    Finding finding {.rule = facts.hasScaler ? "underflow" : "underflow_without_scaler",
        .severity = isProblem ? Severity::Problem : Severity::Warning,
        .confidence = isDead || losesMuch ? Confidence::Certain : Confidence::Likely};
    finding.op = facts.origin;
    finding.firstStep = facts.firstStep;
    finding.lastStep = facts.lastStep;
    finding.evidence = {{"flushed_share", facts.flushed}, {"steps_with_zero_gradient", facts.zeroGradients},
        {"first_loss", facts.firstLoss}, {"last_loss", facts.lastLoss}, {"scale", facts.maxScale}};
    finding.title = isDead
        ? phrase("The whole gradient is zero in most steps: FP16 rounds it away, and nothing is learnt.")
        : phrase("{:.2g} % of the gradient is rounded to zero in FP16{}.", facts.flushed * 100,
            standsStill ? phrase(", and the loss does not move") : "");
    finding.advice = facts.hasScaler ? phrase("Raise the scale: what is flushed lies below 2^-25 divided by it.")
                                     : phrase("Use a scaler, a fixed scale of 1024 or more, or BF16.");
    finding.fix = scaleThatMovesFix(facts);
    nameWorstLayer(finding, facts, isDead ? LayerMeasure::RelativeError : LayerMeasure::Flushed);
    return finding;
}

Result zeroGradient(const RunFacts& facts)
{
    if (facts.lower == DType::Float16 || facts.zeroGradients * 2 <= facts.steps || facts.steps < 10) {
        return {};
    }
    Finding finding {.rule = "zero_gradient", .severity = Severity::Problem, .confidence = Confidence::Certain};
    finding.firstStep = facts.firstStep;
    finding.lastStep = facts.lastStep;
    finding.title = phrase("The whole gradient is zero in most steps, although the loss is not.");
    finding.evidence = {{"steps_with_zero_gradient", facts.zeroGradients}, {"steps", facts.steps}};
    finding.advice = facts.knows(KnownSettings)
        ? phrase("Not FP16's doing: look for saturated or dead activations, or a loss that does not depend on the "
                 "weights.")
        : phrase("If it trains in FP16, gradients may all be rounded to zero: a scaler, or BF16, shows. Else look for "
                 "saturated or dead activations, or a loss that does not depend on the weights.");
    return finding;
}

Result lostUpdates(const RunFacts& facts)
{
    const PrecisionConfig& precision = facts.config.precision;
    if (precision.weights != "half" || facts.steps < 20 || facts.isBroken()) {
        return {};
    }
    const double halfUlp = limitsOf(facts.lower).epsilon / 2;
    const bool standsStill = facts.unmoved * 5 > facts.steps;
    if (!standsStill && facts.updateRatio >= halfUlp) {
        return {};
    }
    Finding finding {.rule = "updates_below_half_ulp",
        .severity = standsStill || facts.isStill() ? Severity::Problem : Severity::Warning,
        .confidence = standsStill ? Confidence::Certain : Confidence::Likely};
    finding.firstStep = facts.firstStep;
    finding.lastStep = facts.lastStep;
    finding.title = phrase("Updates are small against half a unit in the last place of {} weights, so part of them is "
                           "rounded away.",
        facts.lower == DType::Float16 ? "FP16" : "BF16");
    finding.evidence = {{"median_update_ratio", facts.updateRatio}, {"half_ulp_of_one", halfUlp},
        {"steps_without_any_change", facts.unmoved}};
    finding.advice
        = phrase("Keep FP32 masters (precision.weights = master), or round at random (half-stochastic), or compensate "
                 "(half-kahan).");
    finding.fix = mastersFix(facts.config);
    nameWorstLayer(finding, facts, LayerMeasure::Unmoved);
    return finding;
}

} // namespace

std::vector<Rule> numericsRules()
{
    return {{collapsingScale, KnownSkips}, {fallingScale, KnownScales}, {brokenNumbers, KnownLosses},
        {badBatch, KnownLosses}, {underflow, KnownFlushing}, {zeroGradient, KnownNorms | KnownLosses},
        {lostUpdates, KnownSettings}};
}

} // namespace mantissa
