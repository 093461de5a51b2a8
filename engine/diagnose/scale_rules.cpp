#include "engine/core/phrase.h"
#include "engine/diagnose/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace mantissa {

namespace {

using Result = std::optional<Finding>;

bool isPowerOfTwo(double value)
{
    int exponent = 0;
    return value > 0 && std::isfinite(value) && std::frexp(value, &exponent) == 0.5;
}

double parameterOf(const RunFacts& facts, std::string_view key, double otherwise)
{
    return facts.hasScaler && facts.knows(KnownSettings)
        ? valueOf(*facts.config.scaler, std::string(key)).value_or(otherwise)
        : otherwise;
}

/// Skips at one distance, at scales at which steps between them were taken: not the scale's doing.
Result skipsInARhythm(const RunFacts& facts)
{
    constexpr std::size_t enough = 4;
    std::vector<StepRange> later = facts.skips;
    std::erase_if(later, [&facts](const StepRange& range) { return range.last <= facts.leadingSkips.last; });
    if (!facts.hasScaler || later.size() < enough) {
        return {};
    }
    const std::int64_t distance = later[1].first - later[0].first;
    double fits = 0; // the largest scale of a step that was taken
    auto record = facts.run.records.begin();
    for (std::size_t i = 0; i < later.size(); ++i) {
        if (later[i].length() != 1 || (i > 0 && later[i].first - later[i - 1].first != distance)) {
            return {};
        }
        for (; record->step < later[i].first; ++record) {
            fits = std::max(fits, record->skipped ? 0 : record->scale);
        }
        if (record->scale > fits) {
            return {};
        }
    }
    Finding finding {.rule = "skips_in_a_rhythm", .severity = Severity::Problem, .confidence = Confidence::Certain};
    finding.op = facts.origin;
    finding.firstStep = later.front().first;
    finding.lastStep = later.back().last;
    finding.title = phrase("Every {}th step is skipped, at scales at which the steps between are not: what comes "
                           "every {} steps never takes effect.",
        distance, distance);
    finding.evidence = {{"every_steps", distance}, {"times", later.size()}, {"steps_taken_at_scale", fits}};
    finding.advice
        = phrase("Look for a term of the loss, a regulariser or data that comes in this rhythm, and make it smaller or "
                 "part of every step.");
    if (!facts.faults.empty()) {
        finding.advice = faultSentence(*facts.faults.front()) + finding.advice;
    }
    return finding;
}

Result atFloor(const RunFacts& facts)
{
    const double floor = parameterOf(facts, "min_scale", 0);
    if (!facts.hasScaler || floor <= 0 || facts.skips.empty()) {
        return {};
    }
    const auto stuck = std::ranges::count_if(
        facts.run.records, [floor](const StepRecord& record) { return record.skipped && record.scale <= floor; });
    if (stuck < 3) {
        return {};
    }
    Finding finding {.rule = "scale_at_floor", .severity = Severity::Problem, .confidence = Confidence::Certain};
    finding.lastStep = facts.lastStep;
    finding.firstStep = facts.skips.back().first;
    finding.title = phrase("The scale stands at its floor of {} and steps are still skipped ({} times).", floor, stuck);
    finding.evidence = {{"floor", floor}, {"skipped_at_floor", stuck}};
    finding.advice = phrase(
        "Gradients are too large even there: make the loss or the targets smaller, lower the floor, or use BF16.");
    if (!facts.fp32DivergesToo()) {
        finding.fix = bf16Fix();
    }
    return finding;
}

/// Overflows that cost a step but not yet the scale.
Result absorbs(const RunFacts& facts)
{
    const std::span<const StepRecord> records = facts.run.records;
    std::int64_t count = 0;
    std::int64_t first = -1;
    for (std::size_t i = 0; i + 1 < records.size(); ++i) {
        const bool isAbsorbed
            = records[i].skipped && records[i].hysteresis >= 0 && records[i + 1].scale == records[i].scale;
        first = isAbsorbed && count == 0 ? records[i].step : first;
        count += isAbsorbed ? 1 : 0;
    }
    if (count == 0 || atFloor(facts)) {
        return {};
    }
    Finding finding {.rule = "hysteresis_absorbs", .severity = Severity::Info, .confidence = Confidence::Certain};
    finding.firstStep = first;
    finding.lastStep = facts.lastStep;
    finding.title
        = phrase("{} step{} skipped without the scale falling: the scaler's hysteresis absorbs the first overflows.",
            count, count == 1 ? " was" : "s were");
    finding.evidence = {{"absorbed", count}, {"hysteresis", parameterOf(facts, "hysteresis", 0)}};
    finding.advice = phrase("That is how it is meant; a hysteresis of 1 lowers the scale at once.");
    return finding;
}

/// Grows into overflow again and again.
Result oscillates(const RunFacts& facts)
{
    const double interval = facts.growthInterval;
    if (skipsInARhythm(facts) || !facts.hasScaler || facts.growths < 3 || facts.backoffs < 3 || interval <= 0
        || interval > 250) {
        return {};
    }
    const double rate = static_cast<double>(facts.skippedLater)
        / static_cast<double>(facts.knowsSkips ? facts.steps : facts.covered());
    if (rate < 0.01) {
        return {};
    }
    Finding finding {.rule = "scale_oscillates", .severity = Severity::Warning, .confidence = Confidence::Likely};
    finding.firstStep = facts.leadingSkips.last + 1;
    finding.lastStep = facts.lastStep;
    finding.title = facts.knowsSkips
        ? phrase(
            "The scale grows into overflow again and again: {} growths, {} backoffs, {:.2g} % of the steps skipped.",
            facts.growths, facts.backoffs, rate * 100)
        : phrase(
            "The scale grows into overflow again and again: {} growths, {} backoffs, at least {:.2g} % of the steps "
            "skipped.",
            facts.growths, facts.backoffs, rate * 100);
    finding.evidence = {{"growths", facts.growths}, {"backoffs", facts.backoffs}, {"skipped_share", rate},
        {"growth_interval", interval}};
    finding.advice
        = phrase("The growth interval of {} steps is short: each growth costs about one skipped step. 2000 is "
                 "the usual one.",
            interval);
    finding.fix = {{"scaler.growth_interval", 2000}};
    return finding;
}

Result skipsOften(const RunFacts& facts)
{
    const std::int64_t rest = facts.knowsSkips
        ? static_cast<std::int64_t>(facts.since(facts.leadingSkips.last + 1).size())
        : facts.lastStep - facts.leadingSkips.last;
    if (rest < 20 || oscillates(facts) || skipsInARhythm(facts)) {
        return {};
    }
    const double rate = static_cast<double>(facts.skippedLater) / static_cast<double>(rest);
    // A single long stretch at the end is a collapse, which has a finding of its own.
    const bool isOneStretch = facts.knowsSkips
        ? !facts.skips.empty() && facts.skips.back().length() * 2 > facts.skippedLater
        : facts.growths == 0;
    if (rate < 0.05 || isOneStretch) {
        return {};
    }
    Finding finding {.rule = "skips_often",
        .severity = rate > 0.3 ? Severity::Problem : Severity::Warning,
        .confidence = Confidence::Certain};
    finding.op = facts.origin;
    finding.firstStep = facts.leadingSkips.last + 1;
    finding.lastStep = facts.lastStep;
    finding.title = facts.knowsSkips
        ? phrase("{:.2g} % of the steps are skipped, beyond the first ones that find the scale.", rate * 100)
        : phrase("At least {:.2g} % of the steps are skipped, beyond the first ones that find the scale.", rate * 100);
    finding.evidence
        = {{"skipped_share", rate}, {"skipped", facts.skippedLater}, {"losses_not_finite", facts.badLosses.size()}};
    finding.advice = facts.badLosses.empty()
        ? phrase("The loss is finite, so gradients overflow: a lower learning rate, clipping after unscaling, or FP32 "
                 "for the "
                 "op "
                 "named.")
        : phrase("The loss is not finite in some of them: look at the data of those steps.");
    return finding;
}

Result findsItsScale(const RunFacts& facts)
{
    if (facts.leadingSkips.length() < 4 || facts.leadingSkips.last == facts.lastStep) {
        return {};
    }
    Finding finding {.rule = "found_its_scale", .severity = Severity::Info, .confidence = Confidence::Certain};
    finding.firstStep = facts.leadingSkips.first;
    finding.lastStep = facts.leadingSkips.last;
    finding.title = phrase(
        "The first {} steps were skipped while the scale was found: that is normal.", facts.leadingSkips.length());
    finding.evidence = {{"skipped", facts.leadingSkips.length()}, {"first_scale", facts.run.records.front().scale}};
    finding.advice = phrase("An init_scale nearer to where it settles saves them; nothing else is lost.");
    const auto settled = static_cast<std::size_t>(facts.leadingSkips.length());
    if (facts.hasScaler && facts.knows(KnownSettings) && valueOf(*facts.config.scaler, "init_scale")) {
        finding.fix = {{"scaler.init_scale", facts.run.records[settled].scale}};
    }
    return finding;
}

Result runsAway(const RunFacts& facts)
{
    constexpr double absurd = 0x1p60;
    if (!facts.hasScaler || facts.maxScale < absurd || facts.growths < 3
        || facts.maxScale <= facts.run.records.front().scale) {
        return {};
    }
    Finding finding {.rule = "scale_runs_away",
        .severity = std::isinf(facts.maxScale) ? Severity::Problem : Severity::Warning,
        .confidence = Confidence::Certain};
    finding.firstStep = facts.firstStep;
    finding.lastStep = facts.lastStep;
    finding.title = phrase("The scale has grown to {:.3g}: no overflow stops it.", facts.maxScale);
    finding.evidence = {{"scale", std::isinf(facts.maxScale) ? nlohmann::json("inf") : nlohmann::json(facts.maxScale)}};
    finding.advice
        = phrase("In a format with FP32's range a scaler has nothing to find; leave it out, or give it a max_scale.");
    if (facts.lower != DType::Float16) {
        finding.fix = {{"scaler", nullptr}};
    }
    return finding;
}

Result isUseless(const RunFacts& facts)
{
    if (!facts.hasScaler || facts.lower == DType::Float16) {
        return {};
    }
    Finding finding {.rule = "scaler_without_fp16", .severity = Severity::Info, .confidence = Confidence::Certain};
    finding.title = phrase("This lane runs in {}, where a loss scaler changes nothing but the time of a step.",
        facts.lower == DType::BFloat16 ? "BF16" : "FP32");
    finding.evidence = {{"scaler_ms", facts.scalerMs}, {"step_ms", facts.stepMs}};
    finding.advice = phrase("Leave it out: the exponent range is FP32's already.");
    finding.fix = {{"scaler", nullptr}};
    return finding;
}

Result roundsTwice(const RunFacts& facts)
{
    if (!facts.hasScaler || facts.steps == 0) {
        return {};
    }
    // A log may hold means over several steps, which are no scale that any step had.
    if (!facts.knows(KnownSettings) && facts.minScale != facts.maxScale) {
        return {};
    }
    const auto odd = std::ranges::count_if(facts.run.records, [](const StepRecord& record) {
        return !isPowerOfTwo(record.scale) && std::isfinite(record.scale) && record.scale > 0;
    });
    if (odd == 0) {
        return {};
    }
    Finding finding {.rule = "scale_not_a_power_of_two", .severity = Severity::Info, .confidence = Confidence::Certain};
    finding.title
        = phrase("The scale is not a power of two, so scaling and unscaling round every gradient once more each.");
    finding.evidence = {{"steps", odd}, {"scale", facts.run.records.back().scale}};
    finding.advice = phrase("Use a power of two, and growth and backoff factors that are: these cost no rounding.");
    if (!facts.knows(KnownSettings)) {
        return finding;
    }
    if (const auto init = valueOf(*facts.config.scaler, "init_scale"); init && *init > 0 && !isPowerOfTwo(*init)) {
        finding.fix = {{"scaler.init_scale", std::exp2(std::round(std::log2(*init)))}};
    }
    return finding;
}

Finding lostScalerState(const RunFacts& facts, std::int64_t step, const std::string& scale)
{
    Finding finding {
        .rule = "resumed_without_scaler", .severity = Severity::Warning, .confidence = Confidence::Certain};
    finding.firstStep = step;
    finding.lastStep = step;
    finding.title = phrase("The run went on at step {} with a scaler that began again at {}.", step, scale);
    if (facts.knowsSkips) {
        const auto behind = std::ranges::count_if(facts.run.records, [step](const StepRecord& record) {
            return record.skipped && record.step >= step && record.step < step + 50;
        });
        finding.evidence = {{"skipped_within_50_steps", behind}};
    }
    finding.advice
        = phrase("Keep the scaler's state with the checkpoint: its search for the scale costs steps, and what is "
                 "flushed meanwhile is lost.");
    return finding;
}

/// A resumed run whose scaler began again.
Result resumedWithoutScaler(const RunFacts& facts)
{
    for (const Event& resumed : facts.run.events) {
        if (resumed.kind != EventKind::Resumed) {
            continue;
        }
        const auto reset = std::ranges::find_if(facts.run.events, [&resumed](const Event& event) {
            return event.kind == EventKind::Set && event.step == resumed.step && event.path == "scaler.scale";
        });
        if (reset != facts.run.events.end()) {
            return lostScalerState(facts, resumed.step, reset->after);
        }
    }
    return {};
}

/// In a log: a scale that rises at once by more than one growth. No scaler does that while it trains.
Result restartedScaler(const RunFacts& facts)
{
    constexpr double more = 3.9; // growths double it, most often
    if (facts.knows(KnownSettings)) {
        return {};
    }
    const StepRecord* before = nullptr;
    for (const StepRecord& record : facts.run.records) {
        if (std::isnan(record.scale)) {
            continue;
        }
        if (before != nullptr && record.scale >= more * before->scale && before->scale > 0) {
            const bool isSeam = std::ranges::any_of(facts.run.events, [&](const Event& event) {
                return event.kind == EventKind::Resumed && event.step > before->step && event.step <= record.step;
            });
            if (isSeam || record.step == before->step + 1) {
                Finding finding = lostScalerState(facts, record.step, fmt::format("{:.6g}", record.scale));
                finding.confidence = isSeam ? Confidence::Certain : Confidence::Likely;
                finding.evidence["scale_before"] = before->scale;
                finding.evidence["scale_after"] = record.scale;
                return finding;
            }
        }
        before = &record;
    }
    return {};
}

} // namespace

std::vector<Rule> scaleRules()
{
    constexpr unsigned scaler = KnownSettings | KnownScales;
    return {{skipsInARhythm, KnownSkips | KnownScales}, {oscillates, KnownScales}, {skipsOften, 0},
        {absorbs, scaler | KnownSkips}, {atFloor, scaler | KnownSkips}, {runsAway, KnownScales},
        {resumedWithoutScaler, scaler}, {restartedScaler, KnownScales}, {isUseless, scaler}, {roundsTwice, KnownScales},
        {findsItsScale, KnownSkips}};
}

} // namespace mantissa
