#include "engine/core/phrase.h"
#include "engine/diagnose/rules.h"
#include "engine/formats/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace mantissa {

namespace {

using Result = std::optional<Finding>;

/// The layers whose measure is at least `limit`, in the order of the forward pass.
std::vector<const LayerFigures*> layersWith(const RunFacts& facts, LayerMeasure measure, double limit)
{
    std::vector<const LayerFigures*> layers;
    for (const LayerFigures& layer : facts.layers) {
        if (layer[measure] >= limit) { // not so for NaN
            layers.push_back(&layer);
        }
    }
    return layers;
}

nlohmann::json sharesOf(const std::vector<const LayerFigures*>& layers, LayerMeasure measure)
{
    nlohmann::json shares = nlohmann::json::object();
    for (const LayerFigures* layer : layers) {
        shares[layer->name] = (*layer)[measure];
    }
    return shares;
}

Finding findingOn(const RunFacts& facts, std::string rule, const LayerFigures& layer, LayerMeasure measure)
{
    Finding finding {.rule = std::move(rule), .severity = Severity::Warning};
    finding.layer = layer.name;
    finding.measure = measure;
    finding.firstStep = facts.run.samples[facts.run.samples.size() / 2].step;
    finding.lastStep = facts.run.samples.back().step;
    return finding;
}

std::string andMore(std::size_t layers)
{
    return layers < 2 ? ""
        : layers == 2 ? phrase(" One more layer is as bad.")
                      : phrase(" {} more layers are as bad.", layers - 1);
}

/// ReLU units that give 0 for every sample.
Result deadUnits(const RunFacts& facts)
{
    constexpr double many = 0.9;
    const auto layers = layersWith(facts, LayerMeasure::Dead, many);
    if (layers.empty()) {
        return {};
    }
    const LayerFigures& worst = **std::ranges::max_element(
        layers, {}, [](const LayerFigures* layer) { return (*layer)[LayerMeasure::Dead]; });
    const double share = worst[LayerMeasure::Dead];
    Finding finding = findingOn(facts, "dead_layer", worst, LayerMeasure::Dead);
    finding.severity = share == 1 ? Severity::Problem : Severity::Warning;
    finding.title = share == 1
        ? phrase("All units of {} are dead: they are 0 for every sample, so no gradient passes them.{}", worst.name,
            andMore(layers.size()))
        : phrase("{:.3g} % of the units of {} are dead: they are 0 for every sample of a batch.{}", share * 100,
            worst.name, andMore(layers.size()));
    finding.evidence = {{"dead_share", sharesOf(layers, LayerMeasure::Dead)}};
    finding.advice = phrase(
        "A ReLU dies when a step pushes what comes before it far below 0: lower the learning rate, or use an "
        "activation with a gradient on both sides (gelu, silu). Not the scaler's doing, and no scale revives it.");
    return finding;
}

/// Sigmoids and tanhs at their flat ends.
Result saturated(const RunFacts& facts)
{
    constexpr double many = 0.9;
    const auto layers = layersWith(facts, LayerMeasure::Saturated, many);
    if (layers.empty()) {
        return {};
    }
    const LayerFigures& first = *layers.front();
    Finding finding = findingOn(facts, "saturated_activation", first, LayerMeasure::Saturated);
    finding.severity = facts.isStill() || facts.zeroGradients * 2 > facts.steps ? Severity::Problem : Severity::Warning;
    finding.title = phrase("{:.3g} % of {} is saturated: its derivative there is below 1 % of the largest.{}",
        first[LayerMeasure::Saturated] * 100, first.name, andMore(layers.size()));
    finding.evidence = {{"saturated_share", sharesOf(layers, LayerMeasure::Saturated)}};
    finding.advice = phrase("Layers before it hardly learn{}. Smaller initial weights or a lower learning rate, a "
                            "normalisation before it, or an activation that does not saturate.",
        facts.lower == DType::Float16 ? phrase(", and in FP16 what is left of their gradient is flushed first") : "");
    return finding;
}

/// A layer's gradient in 16 bits that has little to do with FP32's.
Result lostGradient(const RunFacts& facts)
{
    constexpr double much = 0.9;
    const bool isAllZero = facts.zeroGradients * 2 > facts.steps; // said of the whole net then
    if (facts.lower == DType::Float32 || facts.isBroken() || isAllZero) {
        return {};
    }
    const auto layers = layersWith(facts, LayerMeasure::RelativeError, much);
    if (layers.empty()) {
        return {};
    }
    const LayerFigures& first = *layers.front();
    const bool isZero = first[LayerMeasure::GradientNorm] == 0;
    Finding finding = findingOn(facts, "layer_gradient_lost", first, LayerMeasure::RelativeError);
    finding.severity = Severity::Problem;
    finding.confidence = Confidence::Certain;
    finding.title = isZero
        ? phrase(
            "The gradient of {} is 0, but not in FP32: the layer does not learn.{}", first.name, andMore(layers.size()))
        : phrase("The gradient of {} is off by {:.3g} % of what FP32 has for the same weights and batch.{}", first.name,
            first[LayerMeasure::RelativeError] * 100, andMore(layers.size()));
    finding.evidence = {{"relative_error", sharesOf(layers, LayerMeasure::RelativeError)},
        {"layers_with_gradients", std::ranges::count_if(facts.layers, [](const LayerFigures& layer) {
             return !std::isnan(layer[LayerMeasure::GradientNorm]);
         })}};
    const auto& overrides = facts.config.precision.overrides;
    const bool hasFp16 = facts.lower == DType::Float16
        || std::ranges::any_of(overrides, [](const auto& each) { return each.second == nameOf(DType::Float16); });
    const std::string lost = isZero
        ? phrase("It is flushed to zero, there or on its way back through the layers above. ")
        : phrase("What was flushed or rounded off in the layers above is missing in it, and what is left points "
                 "elsewhere. ");
    if (hasFp16) {
        finding.advice = lost
            + (facts.hasScaler
                    ? phrase("Raise the scale.")
                    : phrase("If the loss still falls, that is the other layers' work. Use a scaler, or BF16."));
        finding.fix = scaleThatMovesFix(facts);
    } else {
        finding.advice = lost
            + phrase("BF16 has FP32's range but three digits fewer: give the ops around the layer FP32 "
                     "(precision.overrides).");
    }
    return finding;
}

/// Activations on their way to FP16's end.
Result nearOverflow(const RunFacts& facts)
{
    const double limit = limitsOf(DType::Float16).maxFinite;
    constexpr double near = 0.25;
    const TensorSample* largest = nullptr;
    std::int64_t step = 0;
    for (const StepSample& sample : facts.run.samples) {
        for (const TensorSample& tensor : sample.tensors) {
            const bool isCandidate = tensor.role == TensorRole::Activation && tensor.format == DType::Float16;
            if (isCandidate && (largest == nullptr || tensor.largest > largest->largest)) {
                largest = &tensor;
                step = sample.step;
            }
        }
    }
    if (largest == nullptr || largest->largest < near * limit || facts.isBroken()) {
        return {};
    }
    Finding finding {.rule = "activation_near_overflow", .severity = Severity::Warning};
    finding.layer = largest->tensor;
    finding.measure = LayerMeasure::ActivationLargest;
    finding.firstStep = step;
    finding.lastStep = step;
    finding.title = phrase("{} reaches {:.4g}; FP16 ends at {:.0f}.", largest->tensor, largest->largest, limit);
    finding.evidence = {{"largest", largest->largest}, {"limit", limit}};
    finding.advice
        = phrase("No scaler helps: it scales gradients, not activations. Give the op FP32 (precision.overrides), "
                 "use BF16, or normalise before it.");
    return finding;
}

/// Uniform initial weights reach to gain / sqrt(inputs), and their root mean square is that over sqrt(3).
double initialGain(const TensorSample& weight, const TensorSample& bias)
{
    const auto elements = static_cast<double>(weight.elements);
    const double inputs = elements / static_cast<double>(bias.elements);
    return weight.norm / std::sqrt(elements) * std::sqrt(3 * inputs);
}

/// Weights that carry no signal before anything has been learnt.
Result tinyInit(const RunFacts& facts)
{
    constexpr double small = 0.03;
    if (!facts.isFresh || facts.run.samples.empty() || facts.run.samples.front().step != 0) {
        return {};
    }
    const std::vector<TensorSample>& tensors = facts.run.samples.front().tensors;
    const TensorSample* smallest = nullptr;
    double gain = small;
    std::size_t count = 0;
    for (const TensorSample& bias : tensors) {
        const std::string layer(layerOf(bias.tensor));
        if (bias.role != TensorRole::Weight || bias.tensor != layer + ".bias") {
            continue;
        }
        const auto weight = std::ranges::find_if(tensors, [&layer](const TensorSample& tensor) {
            return tensor.role == TensorRole::Weight && tensor.tensor == layer + ".weight";
        });
        // Weights that begin at exactly 0 are meant to.
        if (weight == tensors.end() || weight->norm == 0 || initialGain(*weight, bias) >= small) {
            continue;
        }
        ++count;
        if (initialGain(*weight, bias) < gain) {
            gain = initialGain(*weight, bias);
            smallest = &*weight;
        }
    }
    if (smallest == nullptr) {
        return {};
    }
    Finding finding {.rule = "tiny_init", .severity = Severity::Warning, .confidence = Confidence::Likely};
    finding.severity = facts.isStill() ? Severity::Problem : Severity::Warning;
    finding.layer = layerOf(smallest->tensor);
    finding.measure = LayerMeasure::GradientNorm;
    finding.firstStep = 0;
    finding.lastStep = facts.lastStep;
    finding.title = phrase("{} begins at {:.2g} of the size that lets a signal through, or less.{}", smallest->tensor,
        gain, andMore(count));
    finding.evidence = {{"initial_gain", gain}, {"first_loss", facts.firstLoss}, {"last_loss", facts.lastLoss}};
    finding.advice = phrase(
        "Signals shrink by such factors on their way in and gradients on their way back, and FP16 flushes these "
        "first. Initialise by the number of inputs (model.init_gain 1, no init_std), or normalise between the "
        "layers; a scaler "
        "mends the flushing alone.");
    if (facts.config.model.initGain < 1) {
        finding.fix = {{"model.init_gain", 1}};
    }
    return finding;
}

} // namespace

void nameWorstLayer(Finding& finding, const RunFacts& facts, LayerMeasure measure)
{
    double worst = 0;
    for (const LayerFigures& layer : facts.layers) {
        if (layer[measure] > worst) {
            worst = layer[measure];
            finding.layer = layer.name;
            finding.measure = measure;
        }
    }
}

std::vector<Rule> layerRules()
{
    return {{deadUnits, KnownSettings}, {saturated, KnownSettings}, {lostGradient, KnownSettings},
        {nearOverflow, KnownSettings}, {tinyInit, KnownSettings}};
}

} // namespace mantissa
