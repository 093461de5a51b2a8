#include "engine/protocol/protocol_checks.h"

#include "engine/core/phrase.h"
#include "engine/core/readable_text.h"
#include "engine/protocol/protocol_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace mantissa {

namespace {

using Facts = std::span<const RunFacts>;

/// "in 2 of 3 seeds", or nothing where there is one.
std::string ofSeeds(std::size_t count, std::size_t all)
{
    return all == 1 ? "" : phrase(" in {} of {} seeds", count, all);
}

bool isBroken(const RunFacts& facts)
{
    return facts.isBroken() || facts.run.status == RunStatus::Failed;
}

// --- the ground that the comparison stands on ---

ProtocolCheck sameStart(const ProtocolResult& result)
{
    ProtocolCheck check {.id = "start", .question = phrase("Same start, same batches?")};
    const ProtocolRuns& runs = result.runs;
    for (std::size_t i = 0; i < runs.amp.size(); ++i) {
        const ProtocolRun& fp32 = runs.fp32[i];
        const ProtocolRun& amp = runs.amp[i];
        const std::size_t steps = std::min(fp32.records.size(), amp.records.size());
        const bool sameWeights = fp32.initialWeightsHash == amp.initialWeightsHash;
        const bool sameBatches = steps > 0 && fp32.records[steps - 1].batchHash == amp.records[steps - 1].batchHash;
        if (!sameWeights || !sameBatches) {
            check.level = CheckLevel::Problem;
            check.answer = phrase("No: with seed {} the {} differ, so the curves compare two trainings.",
                amp.config.seed, sameWeights ? phrase("batches") : phrase("initial weights"));
            return check;
        }
    }
    check.answer = phrase(
        "Yes, to the last bit{}.", runs.amp.size() == 1 ? "" : phrase(", with each of {} seeds", runs.amp.size()));
    return check;
}

ProtocolCheck enoughSteps(const ProtocolResult& result)
{
    constexpr std::int64_t few = 100;
    ProtocolCheck check {.id = "length", .question = phrase("Long enough to judge?")};
    const std::int64_t steps = result.runs.steps;
    for (const auto& [side, runs] : {std::pair("AMP", &result.runs.amp), std::pair("FP32", &result.runs.fp32)}) {
        for (const ProtocolRun& run : *runs) {
            if (run.summary.steps < steps) {
                check.level = CheckLevel::Problem;
                check.answer = phrase("No: {} ended after {} of {} steps{}{}", side, run.summary.steps, steps,
                    run.summary.message.empty() ? "." : ": ", run.summary.message);
                return check;
            }
        }
    }
    check.level = steps < few ? CheckLevel::Caution : CheckLevel::Fine;
    check.answer = steps < few
        ? phrase("{} steps show crashes, but not whether the curves agree. 300 are usual.", steps)
        : result.runs.amp.size() == 1 ? phrase("{} steps, with one seed.", steps)
                                      : phrase("{} steps with each of {} seeds.", steps, result.runs.amp.size());
    return check;
}

ProtocolCheck fp32Trains(const ProtocolResult& result, Facts fp32)
{
    ProtocolCheck check {.id = "fp32", .question = phrase("Does FP32 itself train?")};
    const CurveComparison& curves = result.curves;
    const auto broken = std::ranges::count_if(fp32, isBroken);
    const auto risen = std::ranges::count_if(fp32, &RunFacts::hasRisen);
    if (broken + risen > 0) {
        check.level = CheckLevel::Problem;
        check.answer = phrase("No: its {}{}. What breaks FP32 is not AMP's doing; mend that first.",
            broken > 0 ? phrase("numbers stop being finite") : phrase("loss rises"),
            ofSeeds(static_cast<std::size_t>(std::max(broken, risen)), fp32.size()));
    } else if (curves.learnt() < std::max(0.05 * std::abs(curves.fp32Start), 2 * curves.noiseEnd)) {
        check.level = CheckLevel::Caution;
        check.answer = phrase("Hardly: its loss goes from {} to {}. Equal curves say little while nothing is "
                              "learnt; give it more steps or a better rate.",
            protocolNumber(curves.fp32Start), protocolNumber(curves.fp32End));
    } else {
        check.answer = phrase(
            "Yes: its loss falls from {} to {}.", protocolNumber(curves.fp32Start), protocolNumber(curves.fp32End));
    }
    return check;
}

// --- the comparison ---

std::string toleranceText(const CurveComparison& curves)
{
    return curves.tolerance > curves.timesNoise * curves.noiseEnd
        ? phrase("1 % of what FP32 learnt, {}", protocolNumber(curves.tolerance))
        : phrase("the noise of \u00b1{}", protocolNumber(curves.tolerance));
}

ProtocolCheck equalCurves(const ProtocolResult& result)
{
    ProtocolCheck check {.id = "curves", .question = phrase("Loss curves equal within noise?")};
    const CurveComparison& curves = result.curves;
    if (std::isnan(curves.fp32End)) {
        check.level = CheckLevel::Problem;
        check.answer = phrase("They cannot be compared: FP32's loss is not finite at the end.");
        return check;
    }
    if (std::isinf(curves.gap)) {
        check.level = CheckLevel::Problem;
        check.answer = phrase("No: AMP's loss is not finite at the end, FP32's is {}.", protocolNumber(curves.fp32End));
        return check;
    }
    const std::string ends
        = phrase("AMP ends at {}, FP32 at {}", protocolNumber(curves.ampEnd), protocolNumber(curves.fp32End));
    if (curves.isEqual()) {
        check.answer = phrase(
            "Yes: {}; the difference of {} is within {}.", ends, protocolNumber(curves.gap), toleranceText(curves));
        constexpr std::int64_t several = 3;
        if (curves.blocksOutside >= several) {
            check.level = CheckLevel::Note;
            check.answer += phrase(" On the way they are apart in {} of {} stretches, and come together again.",
                curves.blocksOutside, curves.blocks.size());
        }
        return check;
    }
    const std::string since = curves.apartSince >= 0 ? phrase(", from about step {} on", curves.apartSince) : "";
    const std::string moreSeeds = curves.usesSeeds ? "" : phrase(" Several seeds would tell more surely.");
    if (curves.gap < 0) {
        check.level = CheckLevel::Caution;
        check.answer = phrase("No: {}; AMP is lower by more than {}{}. That is no harm, but it is not the same "
                              "training either.{}",
            ends, toleranceText(curves), since, moreSeeds);
        return check;
    }
    const bool isFar = curves.gap > std::max(3 * curves.tolerance, 0.05 * curves.learnt());
    check.level = isFar ? CheckLevel::Problem : CheckLevel::Caution;
    check.answer = phrase("No: {}; AMP is worse by more than {}{}.{}", ends, toleranceText(curves), since,
        isFar ? std::string() : moreSeeds);
    return check;
}

ProtocolCheck sameJitter(const ProtocolResult& result)
{
    ProtocolCheck check {.id = "jitter", .question = phrase("Is the loss as steady?")};
    const CurveComparison& curves = result.curves;
    const double ratio = curves.ampJitter / curves.fp32Jitter;
    if (!std::isfinite(ratio)) {
        check.level = CheckLevel::Note;
        check.answer
            = phrase("It cannot be compared: one of the two has no two finite losses in a row in the second half.");
        return check;
    }
    constexpr double still = 0.5;
    if (ratio < still && !curves.isEqual()) {
        check.level = CheckLevel::Note;
        check.answer = phrase("It jitters by {} from step to step, FP32's by {} ({:.2f} times): a loss that stands "
                              "still is steady too.",
            protocolNumber(curves.ampJitter), protocolNumber(curves.fp32Jitter), ratio);
        return check;
    }
    constexpr double clearly = 1.5;
    const bool matters = curves.ampJitter > std::max(0.01 * curves.learnt(), 0.0);
    check.level = ratio > clearly && matters ? CheckLevel::Caution : CheckLevel::Fine;
    check.answer = phrase("{}: it jitters by {} from step to step, FP32's by {} ({:.2f} times).{}",
        check.level == CheckLevel::Fine ? phrase("Yes") : phrase("No"), protocolNumber(curves.ampJitter),
        protocolNumber(curves.fp32Jitter), ratio,
        check.level == CheckLevel::Fine && ratio > clearly ? phrase(" Both are small against what was learnt.") : "");
    return check;
}

// --- the scaler ---

/// Falls in the last quarter, and never rose in the second half.
bool isStillFalling(const RunFacts& facts)
{
    const auto records = facts.run.records;
    if (records.size() < 8) {
        return false;
    }
    const std::size_t half = records.size() / 2;
    bool rises = false;
    for (std::size_t i = half + 1; i < records.size(); ++i) {
        rises = rises || records[i].scale > records[i - 1].scale;
    }
    return !rises && records.back().scale < records[records.size() - records.size() / 4].scale;
}

ProtocolCheck scaleTrend(const ProtocolResult& result, Facts amp)
{
    ProtocolCheck check {.id = "scale", .question = phrase("How does the scale move?")};
    const RunFacts& first = amp.front();
    if (!first.hasScaler) {
        const bool isFp16 = first.lower == DType::Float16;
        check.level = isFp16 ? CheckLevel::Note : CheckLevel::Fine;
        check.answer = isFp16 ? phrase("There is no scaler, so what is small in FP16 is lost.")
                              : phrase("There is none, and none is needed: the exponent range is FP32's.");
        return check;
    }
    if (first.run.records.empty()) {
        check.level = CheckLevel::Problem;
        check.answer = phrase("No step was trained.");
        return check;
    }
    const double begin = first.run.records.front().scale;
    double end = result.runs.amp.front().summary.finalScale;
    std::int64_t growths = 0;
    std::int64_t backoffs = 0;
    std::int64_t leading = 0;
    std::size_t falling = 0;
    for (std::size_t i = 0; i < amp.size(); ++i) {
        end = std::min(end, result.runs.amp[i].summary.finalScale);
        growths += amp[i].growths;
        backoffs += amp[i].backoffs;
        leading = std::max(leading, amp[i].leadingSkips.length());
        falling += isStillFalling(amp[i]) ? 1 : 0;
    }
    const bool isFixed = first.config.scaler->family == "fixed" || first.config.scaler->frozen;
    constexpr double low = 1000;
    if (isFixed) {
        check.level = CheckLevel::Note;
        check.answer = phrase("It is fixed at {}.", scaleText(begin));
    } else if (end < 1) {
        check.level = CheckLevel::Caution;
        check.answer = phrase(
            "It has fallen to {}. Below 1 it makes gradients smaller instead of lifting them.", scaleText(end));
    } else if (falling > 0) {
        check.level = CheckLevel::Caution;
        check.answer = phrase("It still falls at the end{}: from {} to {}. It has not found its level.",
            ofSeeds(falling, amp.size()), scaleText(begin), scaleText(end));
    } else if (growths + backoffs > 0) {
        check.answer = phrase("From {} to {}, with {} growth{} and {} backoff{}{}.", scaleText(begin), scaleText(end),
            growths, growths == 1 ? "" : "s", backoffs, backoffs == 1 ? "" : "s",
            leading > 0 ? phrase(" behind the first {} skips", leading) : "");
    } else if (leading >= static_cast<std::int64_t>(first.run.records.size())) {
        check.level = CheckLevel::Problem;
        check.answer = phrase(
            "From {} to {}, and every step was skipped: it has not found its level.", scaleText(begin), scaleText(end));
    } else if (leading > 0) {
        check.answer = phrase("It settles at {} after {} skipped step{}, from {}: normal.", scaleText(end), leading,
            leading == 1 ? "" : "s", scaleText(begin));
    } else {
        const auto interval = valueOf(*first.config.scaler, "growth_interval");
        check.answer = phrase("It stays at {}{}.", scaleText(end),
            interval ? phrase(": normal, since it grows after {:.0f} finite steps only", *interval) : "");
    }
    if (check.level == CheckLevel::Fine && end < low && end < begin) {
        check.level = CheckLevel::Note;
        check.answer += phrase(" That is low: look for large activations or gradients.");
    }
    return check;
}

ProtocolCheck skippedSteps(Facts amp)
{
    ProtocolCheck check {.id = "skips", .question = phrase("Are steps skipped?")};
    std::int64_t leading = 0;
    std::int64_t later = 0;
    std::int64_t rest = 0;
    for (const RunFacts& facts : amp) {
        leading += facts.leadingSkips.length();
        later += facts.skippedLater;
        rest += facts.steps - facts.leadingSkips.length();
    }
    const double share = static_cast<double>(later) / static_cast<double>(std::max<std::int64_t>(rest, 1));
    const std::string first = leading == 0 ? "" : phrase("the first {}, to find the scale (normal)", leading);
    if (rest == 0 && leading > 0) {
        check.level = CheckLevel::Problem;
        check.answer = phrase("All of them: nothing was trained.");
    } else if (later == 0) {
        check.answer = leading == 0 ? phrase("None.") : phrase("Only {}.", first);
    } else {
        constexpr double usual = 0.01;
        constexpr double often = 0.05;
        constexpr double most = 0.3;
        check.level = share > most ? CheckLevel::Problem
            : share > often        ? CheckLevel::Caution
            : share > usual        ? CheckLevel::Note
                                   : CheckLevel::Fine;
        check.answer = phrase("{} of {} ({:.2g} %){}{}", later, rest, 100 * share,
            leading == 0 ? "" : phrase(" besides ") + first,
            check.level == CheckLevel::Fine ? phrase("; one now and then is normal.")
                                            : phrase(". One now and then is normal, this is more."));
    }
    return check;
}

// --- the gain ---

ProtocolCheck speedGain(const ProtocolResult& result, Facts amp)
{
    ProtocolCheck check {.id = "speed", .level = CheckLevel::Note, .question = phrase("Is AMP faster here?")};
    const double ratio = result.speedUp();
    check.answer = phrase("{}: a step takes {} ms, FP32's {} ms, so {:.2f} times the speed.",
        ratio > 1.05       ? phrase("Yes")
            : ratio < 0.95 ? phrase("No")
                           : phrase("Neither faster nor slower"),
        protocolNumber(result.amp.stepMs), protocolNumber(result.fp32.stepMs), ratio);
    const DType lower = amp.front().lower;
    if (lower != DType::Float32) {
        const bool isFp16 = lower == DType::Float16;
        const FormatSupport support = isFp16 ? result.runs.device.fp16 : result.runs.device.bf16;
        check.answer += support == FormatSupport::Native
            ? phrase(" {} is native on this device.", isFp16 ? "FP16" : "BF16")
            : phrase(" {} is emulated on this device: that says nothing about a GPU.", isFp16 ? "FP16" : "BF16");
    }
    return check;
}

ProtocolCheck memoryGain(const ProtocolResult& result)
{
    ProtocolCheck check {.id = "memory", .level = CheckLevel::Note, .question = phrase("Does AMP save memory?")};
    const double share = result.memoryShare();
    const auto part = [&result](std::uint64_t MemoryBytes::*kind) {
        return 100 * static_cast<double>(result.amp.bytes.*kind) / static_cast<double>(result.fp32.bytes.*kind);
    };
    check.answer = phrase("{}: {} against FP32's {} ({:.0f} %); activations take {:.0f} %, 16-bit copies of "
                          "weights {}.",
        share < 0.98       ? phrase("Yes")
            : share > 1.02 ? phrase("No")
                           : phrase("Hardly"),
        bytesText(result.amp.bytes.total()), bytesText(result.fp32.bytes.total()), 100 * share,
        part(&MemoryBytes::activations), bytesText(result.amp.bytes.copies));
    return check;
}

// --- what the diagnosis says ---

/// What costs time alone, and a warning that FP32 gets too, say nothing against AMP.
CheckLevel levelOf(const ProtocolFinding& found)
{
    switch (found.finding.severity) {
    case Severity::Problem:
        return CheckLevel::Problem;
    case Severity::Warning:
        return found.isInFp32 || found.finding.rule == "waits_for_data" ? CheckLevel::Note : CheckLevel::Caution;
    case Severity::Info:
        break;
    }
    return CheckLevel::Fine;
}

ProtocolCheck diagnosis(const ProtocolResult& result)
{
    ProtocolCheck check {.id = "findings", .question = phrase("What does the diagnosis find?")};
    std::string names;
    std::size_t count = 0;
    for (const ProtocolFinding& found : result.findings) {
        if (!found.isInAmp) {
            continue;
        }
        const Severity severity = found.finding.severity;
        check.level = std::max(check.level, levelOf(found));
        if (severity == Severity::Info) {
            continue;
        }
        ++count;
        names += fmt::format("{}{} ({}{})", names.empty() ? "" : ", ", found.finding.rule, wordOf(severity),
            found.isInFp32 ? phrase(", in FP32 too") : "");
    }
    check.answer = count == 0 ? phrase("Nothing that needs attention.") : names + ".";
    return check;
}

} // namespace

std::string scaleText(double scale)
{
    int exponent = 0;
    const bool isPower = scale > 0 && std::isfinite(scale) && std::frexp(scale, &exponent) == 0.5;
    return isPower && (exponent <= 0 || exponent > 7) ? fmt::format("2^{}", exponent - 1) : protocolNumber(scale);
}

std::string protocolNumber(double value)
{
    if (std::isnan(value)) {
        return phrase("NaN");
    }
    if (std::isinf(value)) {
        return value > 0 ? phrase("infinity") : phrase("-infinity");
    }
    return fmt::format("{:.4g}", value);
}

std::vector<ProtocolCheck> protocolChecks(const ProtocolResult& result, Facts fp32, Facts amp)
{
    return {equalCurves(result), sameJitter(result), scaleTrend(result, amp), skippedSteps(amp), diagnosis(result),
        fp32Trains(result, fp32), sameStart(result), enoughSteps(result), speedGain(result, amp), memoryGain(result)};
}

} // namespace mantissa
