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
        text = value.is_array() ? fmt::format("({} entries)", value.size()) : "(more)";
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
    text += precision.hasHalfWeights() ? fmt::format(", weights {}", precision.weights) : ", FP32 master weights";
    for (const auto& [op, format] : precision.overrides) {
        text += fmt::format(", {} in {}", op, format);
    }
    return text;
}

std::string scalerText(const LaneConfig& lane)
{
    if (!lane.scaler) {
        return "none";
    }
    std::string text = lane.scaler->family;
    for (const auto& [key, value] : lane.scaler->parameters) {
        text += fmt::format(", {} {}", key, key.ends_with("scale") ? scaleText(value) : protocolNumber(value));
    }
    return lane.scaler->frozen ? text + ", frozen" : text;
}

std::string clipText(const ClipConfig& clip)
{
    if (clip.order == ClipOrder::Off) {
        return "none";
    }
    return fmt::format("{}, {} {}",
        clip.order == ClipOrder::UnscaleThenClip ? "unscale, then clip" : "clip, then unscale",
        clip.maxNorm ? "max_norm" : "max_value", protocolNumber(clip.maxNorm.value_or(clip.maxValue.value_or(0))));
}

std::string seedsText(const std::vector<ProtocolRun>& runs)
{
    const std::uint64_t first = runs.front().config.seed;
    return runs.size() == 1 ? fmt::format("{}", first) : fmt::format("{} to {}", first, runs.back().config.seed);
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
        return "AMP trains as FP32 does here: the curves agree within noise, and the diagnosis has nothing against it.";
    case ProtocolVerdict::Caution:
        return "Nothing is broken, but look at this before you switch. " + reason(CheckLevel::Caution);
    case ProtocolVerdict::Problem:
        return "Do not switch yet. " + reason(CheckLevel::Problem);
    }
    return {};
}

std::string times(double amp, double fp32)
{
    return std::isfinite(amp / fp32) ? fmt::format("{:.2f} times", amp / fp32) : "";
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
        {"Loss, last quarter of the steps", protocolNumber(fp32.finalLoss), protocolNumber(amp.finalLoss),
            difference(amp.finalLoss, fp32.finalLoss)},
        {"Jitter of the loss", protocolNumber(fp32.jitter), protocolNumber(amp.jitter), times(amp.jitter, fp32.jitter)},
        {"Held-out loss", orDash(fp32.validationLoss), orDash(amp.validationLoss),
            difference(amp.validationLoss, fp32.validationLoss)},
        {"Held-out accuracy", share(fp32.validationAccuracy), share(amp.validationAccuracy),
            std::isfinite(amp.validationAccuracy - fp32.validationAccuracy)
                ? fmt::format("{:+.2f} points", 100 * (amp.validationAccuracy - fp32.validationAccuracy))
                : ""},
        {"Gradient norm, second half", orDash(fp32.gradNorm), orDash(amp.gradNorm), times(amp.gradNorm, fp32.gradNorm)},
        {"Update over weights, median", orDash(fp32.updateRatio), orDash(amp.updateRatio),
            times(amp.updateRatio, fp32.updateRatio)},
        {"Gradient flushed to zero", share(fp32.flushed), share(amp.flushed), ""},
        {"Steps skipped", std::to_string(fp32.skipped), std::to_string(amp.skipped), ""},
        {"Scale at the end", scaleText(fp32.finalScale), scaleText(amp.finalScale), ""},
        {"Time of a step, ms", protocolNumber(fp32.stepMs), protocolNumber(amp.stepMs),
            fmt::format("{:.2f} times as fast", result.speedUp())},
        {"Memory", bytesText(fp32.bytes.total()), bytesText(amp.bytes.total()),
            fmt::format("{:.0f} %", 100 * result.memoryShare())},
    };

    struct Kind
    {
        const char* name;
        std::uint64_t MemoryBytes::*bytes;
    };

    for (const Kind& kind : {Kind {"  weights", &MemoryBytes::weights}, Kind {"  16-bit copies", &MemoryBytes::copies},
             Kind {"  gradients", &MemoryBytes::gradients}, Kind {"  optimizer", &MemoryBytes::optimizer},
             Kind {"  activations", &MemoryBytes::activations}, Kind {"  workspace", &MemoryBytes::workspace}}) {
        const std::uint64_t before = fp32.bytes.*kind.bytes;
        const std::uint64_t after = amp.bytes.*kind.bytes;
        rows.push_back({kind.name, bytesText(before), bytesText(after),
            before == 0 || after / before >= 100
                ? ""
                : fmt::format("{:.0f} %", 100 * static_cast<double>(after) / static_cast<double>(before))});
    }
    rows.push_back({"Casts in a step", std::to_string(fp32.casts), std::to_string(amp.casts), ""});
    return rows;
}

std::string methodOf(const ProtocolResult& result)
{
    const CurveComparison& curves = result.curves;
    const CurveBlock& block = curves.blocks.front();
    std::string text = fmt::format(
        "Mean losses of stretches of about {} steps are compared. ", block.lastStep - block.firstStep + 1);
    text += curves.usesSeeds
        ? fmt::format("Their noise is what the {} FP32 runs spread over their seeds (sample standard deviation, pooled "
                      "with the neighbouring stretches), but at least what FP32's step-to-step jitter leaves in such a "
                      "mean. ",
            result.runs.fp32.size())
        : "With one seed their noise is estimated from FP32's step-to-step jitter, as another order of the batches "
          "would make it, or from the stretch-to-stretch jitter of the difference where that is larger; what other "
          "initial weights would do it does not know, so several seeds are the surer test. ";
    text += fmt::format(
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
    words.title = fmt::format("FP32 against AMP: {}", runs.experiment.empty() ? "untitled" : runs.experiment);
    words.verdict = nameOf(result.verdict);
    words.verdict.front() = static_cast<char>(words.verdict.front() - 'a' + 'A');
    words.summary = summaryOf(result);
    words.settings = {
        {"AMP", lane.name},
        {"Precision", precisionText(lane.precision)},
        {"Scaler", scalerText(lane)},
        {"Clipping", clipText(lane.clip)},
        {"Model", sectionText(lane.document, "model", lane.model.kind)},
        {"Data", sectionText(lane.document, "data", lane.data.kind)},
        {"Optimizer", sectionText(lane.document, "optimizer", lane.optimizer.kind)},
        {"Schedule", sectionText(lane.document, "schedule", lane.schedule.kind)},
        {"Steps", fmt::format("{} each", runs.steps)},
        {runs.amp.size() == 1 ? "Seed" : "Seeds", seedsText(runs.amp)},
        {"Device",
            fmt::format("{}, {} thread{}; FP16 {}, BF16 {}", runs.device.name, runs.threads,
                runs.threads == 1 ? "" : "s", runs.device.fp16 == FormatSupport::Native ? "native" : "emulated",
                runs.device.bf16 == FormatSupport::Native ? "native" : "emulated")},
        {"Date", timeText(runs.unixSeconds)},
    };
    words.numbers = numbersOf(result);
    words.method = methodOf(result);
    return words;
}

std::string findingPlace(const ProtocolFinding& found, int seeds)
{
    const Finding& finding = found.finding;
    std::string text = fmt::format("{}, {}", nameOf(finding.severity), nameOf(finding.confidence));
    if (finding.firstStep >= 0) {
        text += finding.firstStep == finding.lastStep
            ? fmt::format(", step {}", finding.firstStep)
            : fmt::format(", steps {} to {}", finding.firstStep, finding.lastStep);
    }
    if (seeds > 1) {
        text += fmt::format(", in {} of {} seeds", found.seeds, seeds);
    }
    return text + (!found.isInAmp ? ", in FP32" : found.isInFp32 ? ", in FP32 too" : "");
}

} // namespace mantissa
