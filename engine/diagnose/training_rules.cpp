#include "engine/core/phrase.h"
#include "engine/core/statistics.h"
#include "engine/diagnose/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace mantissa {

namespace {

using Result = std::optional<Finding>;

Result diverges(const RunFacts& facts)
{
    if (!facts.hasRisen() || facts.isBroken()) {
        return {};
    }
    const bool isFp32Too = facts.fp32DivergesToo();
    Finding finding {.rule = "diverges", .severity = Severity::Problem, .confidence = Confidence::Likely};
    finding.firstStep = facts.firstStep;
    finding.lastStep = facts.lastStep;
    finding.title = phrase("The loss has risen from {:.3g} to {:.3g}.", facts.startLoss, facts.lastLoss);
    finding.evidence = {{"first_loss", facts.startLoss}, {"last_loss", facts.lastLoss}, {"fp32_too", isFp32Too}};
    finding.advice = isFp32Too
        ? phrase("The FP32 lane rises too, so the precision is not at fault: lower the learning rate.")
        : phrase("Lower the learning rate, or clip the gradient; compare with an FP32 lane of the same seed.");
    finding.fix = slowerFix(facts.config);
    if (!facts.faults.empty()) {
        finding.advice = faultSentence(*facts.faults.front()) + finding.advice;
        finding.fix = nlohmann::json::object();
    }
    return finding;
}

/// A loss that has gone nowhere in a hundred steps.
Result learnsNothing(const RunFacts& facts)
{
    if (!facts.isFresh || facts.steps < 100 || facts.isBroken() || facts.hasRisen()
        || facts.lastLoss < 0.95 * facts.startLoss) {
        return {};
    }
    double largest = 0;
    for (const StepRecord& record : facts.run.records) {
        largest = std::isfinite(record.loss) ? std::max(largest, record.loss) : largest;
    }
    Finding finding {.rule = "learns_nothing", .severity = Severity::Warning, .confidence = Confidence::Likely};
    finding.firstStep = facts.firstStep;
    finding.lastStep = facts.lastStep;
    finding.title = phrase("The loss stands where it began: {:.3g}, now {:.3g}.", facts.startLoss, facts.lastLoss);
    finding.evidence = {{"first_loss", facts.startLoss}, {"last_loss", facts.lastLoss}, {"largest_loss", largest}};
    finding.advice = largest > 5 * facts.startLoss
        ? phrase("It went far up on the way: the learning rate is too high.")
        : phrase("Is the learning rate too low, or does the gradient not reach the weights?");
    if (largest > 5 * facts.startLoss) {
        finding.fix = slowerFix(facts.config);
    }
    return finding;
}

/// One step's loss far above its neighbours', and back.
Result spikes(const RunFacts& facts)
{
    constexpr std::size_t window = 10;
    const auto records = facts.run.records;
    std::int64_t count = 0;
    std::int64_t worst = -1;
    double factor = 0;
    // A loss near zero jumps about; what is small against where it began is no spike.
    const double worthSaying = (facts.isFresh ? 0.3 : 2.0) * facts.startLoss;
    for (std::size_t i = window; i + 2 < records.size(); ++i) {
        double before = 0;
        for (std::size_t j = i - window; j < i; ++j) {
            before = std::max(before, records[j].loss);
        }
        const bool isSpike = std::isfinite(records[i].loss) && records[i].loss > 5 * before && before > 0
            && records[i].loss > worthSaying
            && std::min(records[i + 1].loss, records[i + 2].loss) < records[i].loss / 3;
        if (isSpike) {
            ++count;
            worst = records[i].loss / before > factor ? records[i].step : worst;
            factor = std::max(factor, records[i].loss / before);
        }
    }
    if (count == 0) {
        return {};
    }
    Finding finding {.rule = "loss_spike", .severity = Severity::Warning, .confidence = Confidence::Likely};
    finding.firstStep = worst;
    finding.lastStep = worst;
    finding.title = phrase("The loss of step {} is {:.3g} times the largest of the ten before it{}.", worst, factor,
        count > 1 ? phrase(", and {} more like it", count - 1) : "");
    finding.evidence = {{"spikes", count}, {"factor", factor}};
    finding.advice = phrase("One batch or one rate is out of line: look at the samples and at the schedule there.");
    return finding;
}

/// A run that was resumed and learnt on from somewhere else than where it was left.
Result jumpsAtSeam(const RunFacts& facts)
{
    constexpr std::size_t window = 10;
    constexpr double far = 1.5;
    for (const Event& resumed : facts.run.events) {
        if (resumed.kind != EventKind::Resumed) {
            continue;
        }
        const auto after = facts.since(resumed.step);
        const auto before = facts.run.records.first(facts.run.records.size() - after.size());
        if (before.size() < window || after.size() < window) {
            continue;
        }
        double highest = 0; // of the windows before
        std::vector<double> losses;
        for (const StepRecord& record : before.last(std::min(before.size(), 5 * window))) {
            highest = std::isfinite(record.loss) ? std::max(highest, record.loss) : highest;
        }
        for (const StepRecord& record : after.first(window)) {
            losses.push_back(record.loss);
        }
        const double now = meanOf(losses);
        const double then = facts.lossBefore(resumed.step);
        if (!(now > far * then) || now <= highest || then <= 0) {
            continue;
        }
        Finding finding {
            .rule = "loss_jumps_at_resume", .severity = Severity::Warning, .confidence = Confidence::Likely};
        finding.firstStep = resumed.step;
        finding.lastStep = after[window - 1].step;
        finding.title = phrase(
            "The loss went up from {:.3g} to {:.3g} where the run was resumed, at step {}.", then, now, resumed.step);
        finding.evidence = {{"loss_before", then}, {"loss_after", now}, {"highest_before", highest}};
        finding.advice = phrase(
            "Something was not restored: compare the weights, the optimizer's state, the rate and the position "
            "in the data. A validation loss that is right at once, with a training loss that is not, points "
            "at the optimizer's state or at 16-bit weights that became the masters.");
        return finding;
    }
    return {};
}

Result clipsAlwaysOrNever(const RunFacts& facts)
{
    const ClipConfig& clip = facts.config.clip;
    const bool isRight
        = clip.order == ClipOrder::UnscaleThenClip && comesBefore(facts.config.order, StepBlock::Clip, StepBlock::Step);
    if (!isRight || facts.steps < 50) {
        return {};
    }
    const double share = static_cast<double>(facts.clipped) / static_cast<double>(facts.steps);
    if (share > 0.01 && share < 0.99) {
        return {};
    }
    Finding finding {.rule = share < 0.5 ? "clip_never" : "clip_always",
        .severity = Severity::Info,
        .confidence = Confidence::Certain};
    finding.firstStep = facts.firstStep;
    finding.lastStep = facts.lastStep;
    finding.title = share < 0.5
        ? phrase("The clip threshold is never reached.")
        : phrase("Every step is clipped: the threshold normalises the gradient, and the rate alone sets the "
                 "size of an update.");
    finding.evidence = {{"clipped_share", share}, {"threshold", clip.maxNorm.value_or(clip.maxValue.value_or(0))}};
    finding.advice
        = share < 0.5 ? phrase("It is a safety net, or too high.") : phrase("Raise it, unless that is what you want.");
    return finding;
}

Result waitsForData(const RunFacts& facts)
{
    constexpr double worthSayingMs = 0.1; // a busy machine takes that from a tiny step
    if (facts.steps < 20 || facts.waitMs < std::max(0.4 * facts.stepMs, worthSayingMs)) {
        return {};
    }
    Finding finding {.rule = "waits_for_data", .severity = Severity::Warning, .confidence = Confidence::Certain};
    finding.firstStep = facts.firstStep;
    finding.lastStep = facts.lastStep;
    finding.title = phrase("{:.0f} % of a step is spent waiting for the batch: no precision makes that faster.",
        100 * facts.waitMs / facts.stepMs);
    finding.evidence = {{"wait_ms", facts.waitMs}, {"step_ms", facts.stepMs}, {"prefetch", facts.config.data.prefetch},
        {"throttle_ms", facts.config.data.throttleMs}};
    finding.advice = facts.config.data.throttleMs > 0 ? phrase("data.throttle_ms slows the loader down on purpose.")
                                                      : phrase("Prefetch more batches, or make loading cheaper.");
    finding.fix = facts.config.data.throttleMs > 0 ? nlohmann::json {{"data.throttle_ms", 0}}
                                                   : nlohmann::json {{"data.prefetch", 8}};
    return finding;
}

Result isSlower(const RunFacts& facts)
{
    if (facts.lower == DType::Float32 || facts.steps < 20) {
        return {};
    }
    const auto fp32 = std::ranges::find_if(facts.run.siblings, [](const Sibling& lane) { return lane.stepMs > 0; });
    if (fp32 == facts.run.siblings.end() || facts.stepMs < 1.5 * fp32->stepMs) {
        return {};
    }
    Finding finding {.rule = "slower_than_fp32", .severity = Severity::Info, .confidence = Confidence::Likely};
    finding.title = phrase("A step takes {:.2f} times as long as in the FP32 lane.", facts.stepMs / fp32->stepMs);
    finding.evidence = {{"step_ms", facts.stepMs}, {"fp32_step_ms", fp32->stepMs}, {"scaler_ms", facts.scalerMs}};
    finding.advice = phrase(
        "On a CPU 16 bits are emulated or cast; that says nothing about a GPU. mantissa-cli devices tells which.");
    return finding;
}

} // namespace

std::vector<Rule> trainingRules()
{
    return {{diverges, KnownLosses}, {learnsNothing, KnownLosses | KnownSettings}, {spikes, KnownLosses},
        {jumpsAtSeam, KnownLosses}, {waitsForData, KnownTimes}, {clipsAlwaysOrNever, KnownSettings},
        {isSlower, KnownTimes | KnownSettings}};
}

} // namespace mantissa
