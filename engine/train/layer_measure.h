/// What can be said about a layer at a sampled step: one number per measure, computed from the step's tensors.
#pragma once

#include "engine/train/step_sample.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class LayerMeasure : std::uint8_t {
    GradientNorm, ///< true: of the unscaled gradient
    Flushed, ///< share of the gradient's elements that its rounding made zero
    Subnormal, ///< ... that are subnormal after it
    Overflowed, ///< ... that it made infinite
    Cosine, ///< between the gradient and that of FP32
    RelativeError, ///< of the gradient to that of FP32
    UpdateRatio, ///< |update| / |weights|
    BelowHalfUlp, ///< of the updated elements, the share that would not move 16-bit weights
    Unmoved, ///< of the elements with a gradient, the share that kept their bits
    ActivationLargest,
    Dead, ///< ReLU: share of the units
    Saturated, ///< sigmoid, tanh: share of the elements
};
inline constexpr std::array allLayerMeasures {LayerMeasure::GradientNorm, LayerMeasure::Flushed,
    LayerMeasure::Subnormal, LayerMeasure::Overflowed, LayerMeasure::Cosine, LayerMeasure::RelativeError,
    LayerMeasure::UpdateRatio, LayerMeasure::BelowHalfUlp, LayerMeasure::Unmoved, LayerMeasure::ActivationLargest,
    LayerMeasure::Dead, LayerMeasure::Saturated};

std::string_view nameOf(LayerMeasure measure); ///< "gradient_norm", "flushed", ...: as files spell it

/// By measure, in the order of allLayerMeasures.
using LayerValues = std::array<double, allLayerMeasures.size()>;

enum class LayerGrouping : std::uint8_t {
    Layers, ///< a parameter's name up to its last dot; an activation's node
    Tensors ///< each parameter by itself
};

struct LayerFigures
{
    std::string name;
    LayerValues values {}; ///< NaN: does not apply, or is not a number

    [[nodiscard]] double operator[](LayerMeasure measure) const { return values[static_cast<std::size_t>(measure)]; }
};

/// In the order of the forward pass. Figures of a layer are those of its tensors taken as one.
std::vector<LayerFigures> figuresOf(const StepSample& sample, LayerGrouping grouping);

/// "fc1" of "fc1.weight"; the name itself if it has no dot.
std::string_view layerOf(std::string_view parameter);

} // namespace mantissa
