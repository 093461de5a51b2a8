#include "engine/core/phrase.h"
#include "engine/diagnose/rules.h"
#include "engine/formats/dtype.h"
#include "engine/formats/round_value.h"

#include <fmt/format.h>

#include <cmath>

namespace mantissa {

namespace {

using Result = std::optional<Finding>;

bool isBefore(const RunFacts& facts, StepBlock first, StepBlock second)
{
    return comesBefore(facts.config.order, first, second);
}

double presentScale(const RunFacts& facts)
{
    return facts.run.records.empty() ? 1 : facts.run.records.back().scale;
}

Finding certain(std::string rule, Severity severity, std::string title, std::string advice)
{
    return {.rule = std::move(rule),
        .severity = severity,
        .confidence = Confidence::Certain,
        .title = std::move(title),
        .advice = std::move(advice)};
}

nlohmann::json rightOrderFix()
{
    return {{"order", namesOf(rightOrder)}};
}

/// The finding with settings that mend it.
Finding mended(Finding finding, nlohmann::json fix)
{
    finding.fix = std::move(fix);
    return finding;
}

double thresholdOf(const ClipConfig& clip)
{
    return clip.maxNorm.value_or(clip.maxValue.value_or(0));
}

// --- orders ---

Result clipsEarly(const RunFacts& facts)
{
    const ClipConfig& clip = facts.config.clip;
    const double scale = presentScale(facts);
    if (clip.order != ClipOrder::ClipThenUnscale || scale == 1) {
        return {};
    }
    Finding finding = certain("clip_before_unscale", Severity::Problem,
        phrase("Gradients are clipped before they are unscaled: the threshold {} acts as {} / {} = {:.4g}.",
            thresholdOf(clip), thresholdOf(clip), scale, thresholdOf(clip) / scale),
        phrase("Unscale first, then clip (clip.order = unscale-then-clip)."));
    finding.evidence = {{"threshold", thresholdOf(clip)}, {"scale", scale}, {"acts_as", thresholdOf(clip) / scale},
        {"steps_clipped", facts.clipped}};
    return mended(finding, {{"clip.order", "unscale-then-clip"}});
}

Result clipsLate(const RunFacts& facts)
{
    if (facts.config.clip.order == ClipOrder::Off || isBefore(facts, StepBlock::Clip, StepBlock::Step)) {
        return {};
    }
    return mended(certain("clip_after_step", Severity::Problem,
                      phrase("Gradients are clipped after the optimizer's step: it has no effect."),
                      phrase("Clip between unscaling and the step.")),
        rightOrderFix());
}

Result stepsScaled(const RunFacts& facts)
{
    const double scale = presentScale(facts);
    if (isBefore(facts, StepBlock::Unscale, StepBlock::Step) || scale == 1) {
        return {};
    }
    const OptimizerConfig& config = facts.config.optimizer;
    Finding finding = certain("step_before_unscale", Severity::Problem,
        config.kind == "sgd"
            ? phrase("The optimizer steps on gradients that still carry the scale: the rate {} acts as {:.4g}.",
                config.lr, config.lr * scale)
            : phrase(
                "The optimizer steps on gradients that still carry the scale: Adam hides it, but epsilon {} acts as "
                "{:.4g}.",
                config.epsilon, config.epsilon / scale),
        phrase("Unscale before the step."));
    finding.evidence = {{"scale", scale}, {"lr", config.lr}};
    return mended(finding, rightOrderFix());
}

Result checksLate(const RunFacts& facts)
{
    if (!facts.hasScaler || isBefore(facts, StepBlock::Check, StepBlock::Step)) {
        return {};
    }
    return mended(certain("check_after_step", Severity::Problem,
                      phrase("Infinity is looked for after the step: the first overflow reaches the weights."),
                      phrase("Check before the step.")),
        rightOrderFix());
}

Result updatesEarly(const RunFacts& facts)
{
    const bool beforeUnscale = isBefore(facts, StepBlock::Update, StepBlock::Unscale);
    if (!facts.hasScaler || (!beforeUnscale && isBefore(facts, StepBlock::Check, StepBlock::Update))) {
        return {};
    }
    Finding finding = certain("scaler_updated_early", Severity::Problem,
        beforeUnscale ? phrase(
            "The scaler is updated before unscaling: where the scale moves, gradients are divided by another scale "
            "than they were multiplied by.")
                      : phrase("The scaler is updated before the check: it hears of an overflow one step late."),
        phrase("Update the scaler at the end of the step."));
    return mended(finding, rightOrderFix());
}

Result advancesEarly(const RunFacts& facts)
{
    const bool isConstant = facts.config.schedule.kind == "constant" && facts.config.schedule.warmupSteps == 0;
    if (isConstant || isBefore(facts, StepBlock::Step, StepBlock::Schedule)) {
        return {};
    }
    return mended(
        certain("schedule_before_step", Severity::Warning,
            phrase("The schedule advances before the step: each rate is used one step early, the first one never."),
            phrase("Advance the schedule after the step.")),
        rightOrderFix());
}

// --- switches ---

Result stepsTwice(const RunFacts& facts)
{
    if (!facts.config.optimizer.extraStep) {
        return {};
    }
    Finding finding = certain("double_step", Severity::Problem,
        phrase("The optimizer steps twice on the same gradients, and the second step heeds no overflow."),
        phrase("Remove the second optimizer.step(): scaler.step(optimizer) has done it."));
    finding.evidence = {{"skipped_steps_applied_all_the_same", facts.skips.size()}};
    return mended(finding, {{"optimizer.extra_step", false}});
}

Result sumsMicroBatches(const RunFacts& facts)
{
    const AccumulationConfig& config = facts.config.accumulation;
    if (config.divide || config.steps == 1) {
        return {};
    }
    Finding finding = certain("accumulation_not_divided", Severity::Problem,
        phrase(
            "The loss is not divided by the {} micro-batches: gradients are {} times as large as of one large batch.",
            config.steps, config.steps),
        phrase("Divide the loss by the number of micro-batches (accumulation.divide)."));
    return mended(finding, {{"accumulation.divide", true}});
}

Result scalerPerMicroBatch(const RunFacts& facts)
{
    if (!facts.config.accumulation.scalerPerMicroBatch || !facts.hasScaler) {
        return {};
    }
    Finding finding
        = certain("scaler_per_micro_batch", facts.config.accumulation.steps > 1 ? Severity::Problem : Severity::Warning,
            phrase("The scaler is updated after every micro-batch: a step may mix gradients of two scales."),
            phrase("Update it once per step."));
    return mended(finding, {{"accumulation.scaler_per_micro_batch", false}});
}

Result keepsGradients(const RunFacts& facts)
{
    if (facts.config.accumulation.zeroGradients) {
        return {};
    }
    Finding finding = certain("gradients_not_zeroed", Severity::Problem,
        presentScale(facts) == 1
            ? phrase("Gradients are not zeroed: every step adds to those before.")
            : phrase("Gradients are not zeroed; the scaler hides it, since what is left over is divided "
                     "by the scale once more."),
        phrase("Call optimizer.zero_grad() before each step (accumulation.zero_gradients)."));
    finding.evidence = {{"skipped", facts.skips.empty() ? 0 : facts.skips.back().length()}};
    return mended(finding, {{"accumulation.zero_gradients", true}});
}

// --- formats ---

Result losesEpsilon(const RunFacts& facts)
{
    const OptimizerConfig& config = facts.config.optimizer;
    if (config.kind == "sgd" || config.epsilon == 0) {
        return {};
    }
    const bool isHalfArithmetic = facts.config.precision.weights == "half" && config.stateFormat == "weights";
    const DType format = isHalfArithmetic ? facts.lower : dtypeFromName(config.epsilonFormat).value_or(DType::Float32);
    if (!isHalf(format) || roundValue(format, config.epsilon) != 0) {
        return {};
    }
    Finding finding = certain("epsilon_is_zero", facts.isBroken() ? Severity::Problem : Severity::Warning,
        phrase("Adam's epsilon {} is 0 in {}: where the second moment is 0, 0 is divided by 0.", config.epsilon,
            format == DType::Float16 ? "FP16" : "BF16"),
        phrase("Use an epsilon of at least 6e-8 (1e-4 is usual in FP16), or keep the optimizer in FP32."));
    finding.evidence = {{"epsilon", config.epsilon}, {"smallest_subnormal", limitsOf(format).minSubnormal}};
    constexpr double usual = 1e-4;
    return mended(finding,
        isHalfArithmetic ? nlohmann::json {{"optimizer.epsilon", usual}}
                         : nlohmann::json {{"optimizer.epsilon_format", "fp32"}});
}

Result secondMomentSticks(const RunFacts& facts)
{
    const OptimizerConfig& config = facts.config.optimizer;
    const bool isHalfState = config.stateFormat == "bf16"
        || (config.stateFormat == "weights" && facts.config.precision.hasHalfWeights()
            && facts.lower == DType::BFloat16);
    if (config.kind == "sgd" || !isHalfState || 1 - config.beta2 >= limitsOf(DType::BFloat16).epsilon / 4) {
        return {};
    }
    Finding finding = certain("second_moment_sticks", Severity::Warning,
        phrase(
            "Adam's second moment is BF16 and should decay by {:.2g} of itself in a step: less than half a unit in its "
            "last place, so it can only grow.",
            1 - config.beta2),
        phrase("Keep the optimizer's state in FP32 (optimizer.state_format), or use a smaller beta2."));
    finding.evidence = {{"beta2", config.beta2}, {"half_ulp", limitsOf(DType::BFloat16).epsilon / 4}};
    return mended(finding, {{"optimizer.state_format", "fp32"}});
}

Result secondMomentVanishes(const RunFacts& facts)
{
    const OptimizerConfig& config = facts.config.optimizer;
    const bool isHalfState = config.stateFormat == "fp16"
        || (config.stateFormat == "weights" && facts.config.precision.hasHalfWeights()
            && facts.lower == DType::Float16);
    if (config.kind == "sgd" || !isHalfState) {
        return {};
    }
    const double smallest = std::sqrt(limitsOf(DType::Float16).flushesUpTo / (1 - config.beta2));
    Finding finding = certain("second_moment_vanishes", facts.isBroken() ? Severity::Problem : Severity::Warning,
        phrase("Adam's second moment is FP16: the square of a gradient below {:.2g} is 0 there, and epsilon alone "
               "is left to divide by.",
            smallest),
        phrase("Keep the optimizer's state in FP32 (optimizer.state_format)."));
    finding.evidence = {{"gradients_below", smallest}, {"epsilon", config.epsilon}};
    return mended(finding, {{"optimizer.state_format", "fp32"}});
}

Result averageSticks(const RunFacts& facts)
{
    const EmaConfig& config = facts.config.ema;
    const DType format = dtypeFromName(config.format).value_or(DType::Float32);
    if (config.decay == 0 || !isHalf(format)) {
        return {};
    }
    // Half a unit in the last place is between a quarter and a half of epsilon, relative to the value.
    constexpr double worthSaying = 0.1;
    const double least = limitsOf(format).epsilon / 4 / (1 - config.decay);
    if (least < worthSaying) {
        return {};
    }
    Finding finding = certain("average_sticks", Severity::Warning,
        phrase("The moving average is stored in {} and takes a share of {:.2g} of its distance to the weights: it "
               "hardly moves, only where a weight differs from it by more than {:.2g} to {:.2g} % of itself.",
            format == DType::Float16 ? "FP16" : "BF16", 1 - config.decay, 100 * least, 200 * least),
        phrase("Keep the average in FP32 (ema.format)."));
    finding.evidence = {{"decay", config.decay}, {"half_ulp", limitsOf(format).epsilon / 4}};
    return mended(finding, {{"ema.format", "fp32"}});
}

/// Weights that are rounded to the nearest keep what a decay would take from them.
Result decayIsLost(const RunFacts& facts)
{
    const OptimizerConfig& config = facts.config.optimizer;
    const double share = config.lr * config.weightDecay;
    if (facts.config.precision.weights != "half" || share <= 0 || share >= limitsOf(facts.lower).epsilon / 4) {
        return {};
    }
    const bool standsStill = facts.unmoved * 5 > facts.steps;
    Finding finding = certain("decay_is_lost", standsStill ? Severity::Problem : Severity::Warning,
        phrase("Weight decay takes {:.2g} of a weight per step, less than half a unit in the last place of {}: where "
               "nothing else moves a weight, it never decays.",
            share, facts.lower == DType::Float16 ? "FP16" : "BF16"),
        phrase("Keep FP32 masters, or round at random (half-stochastic), or compensate (half-kahan)."));
    finding.evidence = {{"lr_times_decay", share}, {"half_ulp", limitsOf(facts.lower).epsilon / 4}};
    return mended(finding, mastersFix(facts.config));
}

/// Once a 16-bit sum is large, what a further micro-batch adds is below half a unit in its last place.
Result sumsGradientsInHalf(const RunFacts& facts)
{
    if (!facts.config.precision.hasHalfWeights() || facts.config.accumulation.steps < 2) {
        return {};
    }
    const auto parts = static_cast<double>(facts.config.accumulation.steps);
    const double most = 1 / limitsOf(facts.lower).epsilon; // equal parts stop adding at twice this number
    if (parts < most / 8) {
        return {};
    }
    Finding finding = certain("accumulates_in_16_bits", parts >= most ? Severity::Problem : Severity::Warning,
        phrase("Gradients of {} micro-batches are summed in {}: each further one counts less, and where the sum is "
               "{} times as large as it, not at all.",
            facts.config.accumulation.steps, facts.lower == DType::Float16 ? "FP16" : "BF16", 2 * most),
        phrase("Keep FP32 masters, whose gradients are summed in FP32, or take larger and fewer micro-batches."));
    finding.evidence = {{"micro_batches", facts.config.accumulation.steps}, {"nothing_added_from", 2 * most}};
    return mended(finding, mastersFix(facts.config));
}

/// The loss knows nothing of overflow and underflow.
Result steeredByLoss(const RunFacts& facts)
{
    if (!facts.hasScaler || facts.config.scaler->family != "loss-driven") {
        return {};
    }
    const double scale = presentScale(facts);
    const bool isAtFloor = scale <= 1;
    Finding finding = certain("scaler_follows_the_loss",
        facts.isBroken() || (isAtFloor && facts.flushed >= 0.01) ? Severity::Problem : Severity::Warning,
        phrase("The scaler is steered by the loss, which knows nothing of overflow and underflow: the scale is {:.3g}"
               "{}, and no overflow is skipped.",
            scale, isAtFloor ? phrase(", as if there were no scaler") : ""),
        phrase("Use a scaler that looks at the gradients (scaler.family = pytorch)."));
    finding.evidence = {{"scale", scale}, {"flushed_share", facts.flushed}};
    return mended(finding, dynamicScalerFix());
}

Result gradientsInHalf(const RunFacts& facts)
{
    if (!facts.config.precision.hasHalfWeights() || facts.lower != DType::Float16 || !facts.hasScaler) {
        return {};
    }
    return mended(certain("half_gradients_with_scaler", Severity::Warning,
                      phrase("Gradients are FP16, like the weights: what the scaler saves is lost again when it is "
                             "unscaled below 3e-8."),
                      phrase("Keep FP32 masters, whose gradients are FP32.")),
        mastersFix(facts.config));
}

Result sumsInHalf(const RunFacts& facts)
{
    std::string names;
    nlohmann::json without = nlohmann::json::object();
    for (const auto& [name, format] : facts.config.precision.overrides) {
        const bool isHalfSum = name.ends_with(".accumulate") && format != "fp32";
        if (isHalfSum) {
            without[name] = nullptr; // a merge patch: removes it
        }
        names += isHalfSum ? (names.empty() ? "" : ", ") + name.substr(0, name.rfind('.')) : "";
    }
    if (names.empty()) {
        return {};
    }
    Finding finding = certain("statistics_in_16_bits",
        facts.isBroken() || facts.isStill() ? Severity::Problem : Severity::Warning,
        phrase(
            "Sums and statistics of {} are in 16 bits: squares overflow above 256 in FP16, and small terms are lost.",
            names),
        phrase("Keep them in FP32: remove these overrides."));
    finding.op = facts.origin;
    return mended(finding, {{"precision.overrides", without}});
}

Result logOfSoftmax(const RunFacts& facts)
{
    const bool isHalfLoss = facts.lower != DType::Float32;
    if (facts.config.lossForm != "log_of_softmax" || !isHalfLoss) {
        return {};
    }
    const bool isOrigin
        = facts.origin.starts_with("loss.") || facts.origin.starts_with("softmax") || facts.origin.starts_with("log");
    Finding finding = certain("log_of_softmax",
        facts.isBroken() || (isOrigin && !facts.badLosses.empty()) ? Severity::Problem : Severity::Warning,
        phrase("The loss takes the logarithm of a softmax: a probability that is rounded to 0 makes it infinite{}.",
            isOrigin ? phrase(", which is where numbers first were not finite") : ""),
        phrase("Use the fused cross-entropy (loss_form = fused), or log_softmax."));
    finding.op = isOrigin ? facts.origin : "";
    return mended(finding, {{"loss_form", "fused"}});
}

} // namespace

std::vector<Rule> settingRules()
{
    std::vector<Rule> rules;
    for (const auto judge : {clipsEarly, clipsLate, stepsScaled, checksLate, updatesEarly, stepsTwice, sumsMicroBatches,
             scalerPerMicroBatch, keepsGradients, advancesEarly, losesEpsilon, secondMomentSticks, secondMomentVanishes,
             averageSticks, steeredByLoss, gradientsInHalf, sumsInHalf, logOfSoftmax, sumsGradientsInHalf,
             decayIsLost}) {
        rules.push_back({judge, KnownSettings});
    }
    return rules;
}

} // namespace mantissa
