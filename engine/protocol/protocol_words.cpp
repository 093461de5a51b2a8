#include "engine/core/phrase.h"
#include "engine/core/readable_text.h"
#include "engine/protocol/protocol_checks.h"
#include "engine/protocol/protocol_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

std::string valueText(const nlohmann::json& value)
{
    constexpr std::size_t longest = 60;
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.size() > longest) {
        text = value.is_array() ? phrase("({} entries)", value.size()) : phrase("(more)");
    }
    return text;
}

/// "mlp, hidden [64, 64], activation relu": the kind, and what the experiment says besides.
std::string sectionText(const nlohmann::json& document, const char* section, const std::string& kind)
{
    std::string text = kind;
    if (const auto found = document.find(section); found != document.end() && found->is_object()) {
        for (const auto& [key, value] : found->items()) {
            if (key != "kind") {
                text += fmt::format(", {} {}", key, valueText(value));
            }
        }
    }
    return text;
}

std::string precisionText(const PrecisionConfig& precision)
{
    std::string text = precision.policy;
    text += precision.hasHalfWeights() ? phrase(", weights {}", precision.weights) : phrase(", FP32 master weights");
    for (const auto& [op, format] : precision.overrides) {
        text += phrase(", {} in {}", op, format);
    }
    text += precision.tf32 ? ", TF32" : "";
    text += precision.reducedSums ? phrase(", products summed in FP16") : std::string();
    return text;
}

std::string scalerText(const LaneConfig& lane)
{
    if (!lane.scaler) {
        return phrase("none");
    }
    std::string text = lane.scaler->family;
    for (const auto& [key, value] : lane.scaler->parameters) {
        text += fmt::format(", {} {}", key, key.ends_with("scale") ? scaleText(value) : protocolNumber(value));
    }
    return lane.scaler->frozen ? text + phrase(", frozen") : text;
}

std::string clipText(const ClipConfig& clip)
{
    if (clip.order == ClipOrder::Off) {
        return phrase("none");
    }
    return fmt::format("{}, {} {}",
        clip.order == ClipOrder::UnscaleThenClip ? phrase("unscale, then clip") : phrase("clip, then unscale"),
        clip.maxNorm ? "max_norm" : "max_value", protocolNumber(clip.maxNorm.value_or(clip.maxValue.value_or(0))));
}

std::string seedsText(const std::vector<ProtocolRun>& runs)
{
    const std::uint64_t first = runs.front().config.seed;
    return runs.size() == 1 ? fmt::format("{}", first) : phrase("{} to {}", first, runs.back().config.seed);
}

std::string summaryOf(const ProtocolResult& result)
{
    // The first of the worst, in full; the rest stand below.
    const auto reason = [&result](CheckLevel level) {
        const auto first = std::ranges::find(result.checks, level, &ProtocolCheck::level);
        return first == result.checks.end() ? "" : fmt::format("{} {}", first->question, first->answer);
    };
    switch (result.verdict) {
    case ProtocolVerdict::Healthy:
        return phrase(
            "AMP trains as FP32 does here: the curves agree within noise, and the diagnosis has nothing against it.");
    case ProtocolVerdict::Caution:
        return phrase("Nothing is broken, but look at this before you switch. ") + reason(CheckLevel::Caution);
    case ProtocolVerdict::Problem:
        return phrase("Do not switch yet. ") + reason(CheckLevel::Problem);
    }
    return {};
}

std::string times(double amp, double fp32)
{
    return std::isfinite(amp / fp32) ? phrase("{:.2f} times", amp / fp32) : "";
}

std::string difference(double amp, double fp32)
{
    return std::isfinite(amp - fp32) ? fmt::format("{:+.3g}", amp - fp32) : "";
}

std::string share(double value)
{
    return std::isnan(value) ? "-" : fmt::format("{:.3g} %", 100 * value);
}

std::string orDash(double value)
{
    return std::isnan(value) ? "-" : protocolNumber(value);
}

std::vector<ProtocolWords::Number> numbersOf(const ProtocolResult& result)
{
    const ProtocolNumbers& fp32 = result.fp32;
    const ProtocolNumbers& amp = result.amp;
    std::vector<ProtocolWords::Number> rows {
        {phrase("Loss, last quarter of the steps"), protocolNumber(fp32.finalLoss), protocolNumber(amp.finalLoss),
            difference(amp.finalLoss, fp32.finalLoss)},
        {phrase("Jitter of the loss"), protocolNumber(fp32.jitter), protocolNumber(amp.jitter),
            times(amp.jitter, fp32.jitter)},
        {phrase("Held-out loss"), orDash(fp32.validationLoss), orDash(amp.validationLoss),
            difference(amp.validationLoss, fp32.validationLoss)},
        {phrase("Held-out accuracy"), share(fp32.validationAccuracy), share(amp.validationAccuracy),
            std::isfinite(amp.validationAccuracy - fp32.validationAccuracy)
                ? phrase("{:+.2f} points", 100 * (amp.validationAccuracy - fp32.validationAccuracy))
                : ""},
        {phrase("Gradient norm, second half"), orDash(fp32.gradNorm), orDash(amp.gradNorm),
            times(amp.gradNorm, fp32.gradNorm)},
        {phrase("Update over weights, median"), orDash(fp32.updateRatio), orDash(amp.updateRatio),
            times(amp.updateRatio, fp32.updateRatio)},
        {phrase("Gradient flushed to zero"), share(fp32.flushed), share(amp.flushed), ""},
        {phrase("Steps skipped"), std::to_string(fp32.skipped), std::to_string(amp.skipped), ""},
        {phrase("Scale at the end"), scaleText(fp32.finalScale), scaleText(amp.finalScale), ""},
        {phrase("Time of a step, ms"), protocolNumber(fp32.stepMs), protocolNumber(amp.stepMs),
            phrase("{:.2f} times as fast", result.speedUp())},
        {phrase("Memory"), bytesText(fp32.bytes.total()), bytesText(amp.bytes.total()),
            fmt::format("{:.0f} %", 100 * result.memoryShare())},
    };

    struct Kind
    {
        std::string name;
        std::uint64_t MemoryBytes::*bytes;
    };

    for (const Kind& kind :
        {Kind {phrase("  weights"), &MemoryBytes::weights}, Kind {phrase("  16-bit copies"), &MemoryBytes::copies},
            Kind {phrase("  gradients"), &MemoryBytes::gradients},
            Kind {phrase("  optimizer"), &MemoryBytes::optimizer},
            Kind {phrase("  activations"), &MemoryBytes::activations},
            Kind {phrase("  workspace"), &MemoryBytes::workspace}}) {
        const std::uint64_t before = fp32.bytes.*kind.bytes;
        const std::uint64_t after = amp.bytes.*kind.bytes;
        rows.push_back({kind.name, bytesText(before), bytesText(after),
            before == 0 || after / before >= 100
                ? ""
                : fmt::format("{:.0f} %", 100 * static_cast<double>(after) / static_cast<double>(before))});
    }
    rows.push_back({phrase("Casts in a step"), std::to_string(fp32.casts), std::to_string(amp.casts), ""});
    return rows;
}

std::string methodOf(const ProtocolResult& result)
{
    const CurveComparison& curves = result.curves;
    const CurveBlock& block = curves.blocks.front();
    std::string text
        = phrase("Mean losses of stretches of about {} steps are compared. ", block.lastStep - block.firstStep + 1);
    text += curves.usesSeeds
        ? phrase("Their noise is what the {} FP32 runs spread over their seeds (sample standard deviation, pooled "
                 "with the neighbouring stretches), but at least what FP32's step-to-step jitter leaves in such a "
                 "mean. ",
            result.runs.fp32.size())
        : phrase(
            "With one seed their noise is estimated from FP32's step-to-step jitter, as another order of the batches "
            "would make it, or from the stretch-to-stretch jitter of the difference where that is larger; what other "
            "initial weights would do it does not know, so several seeds are the surer test. ");
    text += phrase(
        "The band is {} times that noise. Curves are equal if they differ by less over the last quarter, "
        "or by less than 1 % of what FP32 learnt. Times are lower quartiles, and still depend on what else the "
        "machine did.",
        curves.timesNoise);
    return text;
}

} // namespace

ProtocolWords protocolWords(const ProtocolResult& result)
{
    const ProtocolRuns& runs = result.runs;
    const LaneConfig& lane = runs.amp.front().config;
    ProtocolWords words;
    words.title = phrase("FP32 against AMP: {}", runs.experiment.empty() ? phrase("untitled") : runs.experiment);
    words.verdict = result.verdict == ProtocolVerdict::Healthy ? phrase("Healthy")
        : result.verdict == ProtocolVerdict::Caution           ? phrase("Caution")
                                                               : phrase("Problem");
    words.summary = summaryOf(result);
    words.settings = {
        {"AMP", lane.name},
        {phrase("Precision"), precisionText(lane.precision)},
        {phrase("Scaler"), scalerText(lane)},
        {phrase("Clipping"), clipText(lane.clip)},
        {phrase("Model"), sectionText(lane.document, "model", lane.model.kind)},
        {phrase("Data"), sectionText(lane.document, "data", lane.data.kind)},
        {phrase("Optimizer"), sectionText(lane.document, "optimizer", lane.optimizer.kind)},
        {phrase("Schedule"), sectionText(lane.document, "schedule", lane.schedule.kind)},
        {phrase("Steps"), phrase("{} each", runs.steps)},
        {runs.amp.size() == 1 ? phrase("Seed") : phrase("Seeds"), seedsText(runs.amp)},
        {phrase("Device"),
            phrase("{}, {} thread{}; FP16 {}, BF16 {}", runs.device.name, runs.threads, runs.threads == 1 ? "" : "s",
                runs.device.fp16 == FormatSupport::Native ? phrase("native") : phrase("emulated"),
                runs.device.bf16 == FormatSupport::Native ? phrase("native") : phrase("emulated"))},
        {phrase("Date"), timeText(runs.unixSeconds)},
    };
    words.numbers = numbersOf(result);
    words.method = methodOf(result);
    return words;
}

std::string wordOf(Severity severity)
{
    switch (severity) {
    case Severity::Info:
        return phrase("info");
    case Severity::Warning:
        return phrase("warning");
    case Severity::Problem:
        return phrase("problem");
    }
    return {};
}

std::string wordOf(Confidence confidence)
{
    switch (confidence) {
    case Confidence::Certain:
        return phrase("certain");
    case Confidence::Likely:
        return phrase("likely");
    case Confidence::Possible:
        return phrase("possible");
    }
    return {};
}

std::string wordOf(CheckLevel level)
{
    switch (level) {
    case CheckLevel::Fine:
        return phrase("fine");
    case CheckLevel::Note:
        return phrase("note");
    case CheckLevel::Caution:
        return phrase("caution");
    case CheckLevel::Problem:
        return phrase("problem");
    }
    return {};
}

std::string findingPlace(const ProtocolFinding& found, int seeds)
{
    const Finding& finding = found.finding;
    std::string text = fmt::format("{}, {}", wordOf(finding.severity), wordOf(finding.confidence));
    if (finding.firstStep >= 0) {
        text += finding.firstStep == finding.lastStep ? phrase(", step {}", finding.firstStep)
                                                      : phrase(", steps {} to {}", finding.firstStep, finding.lastStep);
    }
    if (seeds > 1) {
        text += phrase(", in {} of {} seeds", found.seeds, seeds);
    }
    return text + (!found.isInAmp ? phrase(", in FP32") : found.isInFp32 ? phrase(", in FP32 too") : "");
}

} // namespace mantissa
