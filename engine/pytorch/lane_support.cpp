#include "engine/pytorch/lane_support.h"

#include "engine/autocast/policy.h"

#include <fmt/format.h>

#include <algorithm>

namespace mantissa {

namespace {

using Reasons = std::vector<std::string>;

std::string familyOf(const LaneConfig& lane)
{
    return lane.scaler ? lane.scaler->family : "none";
}

void checkScaler(const LaneConfig& lane, Reasons& reasons)
{
    const std::string family = familyOf(lane);
    if (family != "none" && family != "pytorch" && family != "fixed") {
        reasons.push_back(
            fmt::format("scaler.family {} has no PyTorch equivalent; use pytorch, fixed or none", family));
    }
    if (family == "pytorch" && lane.precision.hasHalfWeights()
        && policyNamed(lane.precision.policy).lower == DType::Float16) {
        reasons.emplace_back(
            "scaler.family pytorch with FP16 weights: GradScaler refuses to unscale FP16 gradients; use "
            "fixed or none, or precision.weights master");
    }
    if (lane.accumulation.scalerPerMicroBatch && family == "pytorch") {
        reasons.emplace_back(
            "accumulation.scaler_per_micro_batch: GradScaler.update() raises where nothing was unscaled "
            "since the last update");
    }
}

void checkOrder(const LaneConfig& lane, Reasons& reasons)
{
    const auto before = [&lane](StepBlock a, StepBlock b) { return comesBefore(lane.order, a, b); };
    if (familyOf(lane) != "pytorch") {
        return;
    }
    if (before(StepBlock::Update, StepBlock::Unscale) || before(StepBlock::Update, StepBlock::Check)) {
        reasons.emplace_back(
            "order puts update before unscale or check: GradScaler.update() raises unless unscale_() has "
            "looked for infinity in this step");
    }
    const bool isBetween = before(StepBlock::Unscale, StepBlock::Clip) != before(StepBlock::Check, StepBlock::Clip);
    if (lane.clip.order != ClipOrder::Off && lane.clip.maxValue && isBetween) {
        reasons.emplace_back("order puts clip between unscale and check, and clip.max_value hides infinity: GradScaler "
                             "does both at once");
    }
}

void checkPrecision(const LaneConfig& lane, Reasons& reasons)
{
    const Policy policy = policyNamed(lane.precision.policy);
    const bool isTorch
        = policy.lists == OpLists::PyTorchCuda || policy.lists == OpLists::PyTorchCpu || policy.lists == OpLists::Pure;
    if (!isTorch) {
        reasons.push_back(fmt::format(
            "precision.policy {} follows the lists of another library; torch.amp has those of fp16, bf16, cpu-fp16 and "
            "cpu-bf16",
            policy.name));
    }
    const std::string& weights = lane.precision.weights;
    if (weights == "half-stochastic" || weights == "half-kahan") {
        reasons.push_back(fmt::format("precision.weights {} has no equivalent in torch.optim", weights));
    } else if (weights == "half" && isTorch && policy.lists != OpLists::Pure) {
        reasons.push_back(fmt::format("precision.weights half under the policy {}: autocast expects FP32 weights; use "
                                      "pure-fp16 or pure-bf16",
            policy.name));
    }
    if (policy.lists == OpLists::Pure && !lane.precision.hasHalfWeights()) {
        reasons.push_back(
            fmt::format("precision.weights master under the policy {}: the whole model in 16 bits on FP32 "
                        "weights is nothing that torch.amp does; use half",
                policy.name));
    }
    for (const auto& [name, format] : lane.precision.overrides) {
        reasons.push_back(fmt::format(
            "precision.overrides {} ({}): torch.amp has no setting for single ops; null removes it", name, format));
    }
    if (lane.precision.reducedSums) {
        reasons.emplace_back("precision.reduced_sums: PyTorch sums FP16 products in FP32, and lets cuBLAS reduce only the "
                          "parts of a sum in FP16; use false");
    }
    if (lane.precision.hasHalfWeights() && lane.clip.order != ClipOrder::Off && lane.clip.maxNorm) {
        reasons.emplace_back(
            "clip.max_norm with 16-bit weights: PyTorch adds up the norm of 16-bit gradients in 16 bits");
    }
}

void checkOptimizer(const LaneConfig& lane, Reasons& reasons)
{
    if (lane.optimizer.stateFormat != "weights"
        && !(lane.optimizer.stateFormat == "fp32" && !lane.precision.hasHalfWeights())) {
        reasons.push_back(fmt::format("optimizer.state_format {}: torch.optim keeps its state in the format of the "
                                      "weights; use weights",
            lane.optimizer.stateFormat));
    }
    if (lane.ema.decay > 0 && lane.ema.format != "fp32") {
        reasons.push_back(
            fmt::format("ema.format {}: AveragedModel keeps the average in the format of the weights; use "
                        "fp32",
                lane.ema.format));
    }
}

void checkRanks(const LaneConfig& lane, Reasons& reasons)
{
    if (lane.parallel.isOn()) {
        reasons.push_back(fmt::format("parallel.ranks {}: the script is one process's; wrap its model in "
                                      "DistributedDataParallel yourself, or set "
                                      "parallel to null, which trains the whole batch in one process",
            lane.parallel.ranks));
    }
}

void checkChanges(const LaneConfig& lane, const Experiment& experiment, Reasons& reasons)
{
    for (const ScriptedEvent& event : experiment.events) {
        if ((event.lane.empty() || event.lane == lane.name) && event.step < lane.steps) {
            for (const auto& [path, value] : event.set) {
                reasons.push_back(fmt::format(
                    "events set {} at step {}: a script has one setting for all steps; take the event out of the file, "
                    "or ask for fewer steps",
                    path, event.step));
            }
        }
    }
    for (const Watchpoint& watchpoint : experiment.watchpoints) {
        const bool isOurs = watchpoint.lane.empty() || watchpoint.lane == lane.name;
        if (watchpoint.isOn && isOurs && watchpoint.action == WatchAction::Set) {
            reasons.push_back(fmt::format(
                "watch \"{}\" changes settings while the lane trains; take it out of the file", watchpoint.when));
        }
    }
}

} // namespace

std::vector<std::string> whyNotInPytorch(const LaneConfig& lane, const Experiment& experiment)
{
    Reasons reasons;
    checkScaler(lane, reasons);
    checkOrder(lane, reasons);
    checkPrecision(lane, reasons);
    checkOptimizer(lane, reasons);
    checkRanks(lane, reasons);
    checkChanges(lane, experiment, reasons);
    return reasons;
}

std::vector<std::string> notesForPytorch(const LaneConfig& lane)
{
    std::vector<std::string> notes;
    const bool listsDropout
        = lane.model.kind == "layers" && lane.model.layers.dump().find("dropout") != std::string::npos;
    if (lane.model.dropout > 0 || listsDropout) {
        notes.emplace_back("dropout draws PyTorch's random numbers, not ours: the curves agree on average, not step by "
                           "step");
    }
    if (lane.model.checkpointing) {
        notes.emplace_back("model.checkpointing is left out: it saves memory and changes no result");
    }
    if (lane.evaluation.every > 0) {
        notes.emplace_back("evaluation is left out: it changes nothing that trains");
    }
    if (lane.data.throttleMs > 0) {
        notes.emplace_back("data.throttle_ms is left out: it changes no result");
    }
    if (usesCudaLists(lane)) {
        notes.push_back(fmt::format("on a CPU, PyTorch's autocast has other lists: there the script is what Mantissa's "
                                    "policy {} is, and compare.py compares it with that",
            policyOnCpu(lane)));
    }
    return notes;
}

bool usesCudaLists(const LaneConfig& lane)
{
    const Policy policy = policyNamed(lane.precision.policy);
    return policy.lists == OpLists::PyTorchCuda && policy.lower != DType::Float32;
}

std::string policyOnCpu(const LaneConfig& lane)
{
    return usesCudaLists(lane) ? "cpu-" + lane.precision.policy : lane.precision.policy;
}

bool usesCpuLists(const LaneConfig& lane)
{
    return policyNamed(lane.precision.policy).lists == OpLists::PyTorchCpu;
}

} // namespace mantissa
