/// Shape and gradient rules of the ops, for the one list that names them (op_registry.cpp).
#pragma once

#include "engine/graph/op_def.h"

namespace mantissa::ops {

using Types = std::vector<TensorType>;
using InputTypes = std::span<const TensorType>;

/// Throws Error (ShapeMismatch) naming the node, what it expects, and its input shapes.
[[noreturn]] void failShapes(const Node& node, InputTypes inputs, std::string_view expected);
/// Throws Error (InvalidArgument) naming the node, what its parameters must be, and its input shapes.
[[noreturn]] void failAttributes(const Node& node, InputTypes inputs, std::string_view expected);

/// The product of all dimensions but the last; 1 for a vector.
std::int64_t rowsOf(const Shape& shape);
/// The dimensions [begin, end).
Shape part(const Shape& shape, std::size_t begin, std::size_t end);
/// All dimensions but the last.
Shape leading(const Shape& shape);
Shape joined(const Shape& a, const Shape& b);

/// One output like input 0.
Types likeFirst(const Node& node, InputTypes inputs);
/// One output like input 0; input 1 has the same shape.
Types likeBoth(const Node& node, InputTypes inputs);

// linear.cpp
Types linearTypes(const Node& node, InputTypes inputs);
void linearGradient(const Node& node, GradientBuilder& builder);
Types matMulTypes(const Node& node, InputTypes inputs);
void matMulGradient(const Node& node, GradientBuilder& builder);
Types biasAddTypes(const Node& node, InputTypes inputs);
void biasAddGradient(const Node& node, GradientBuilder& builder);
Types sumRowsTypes(const Node& node, InputTypes inputs);

// conv.cpp
Types conv2dTypes(const Node& node, InputTypes inputs);
void conv2dGradient(const Node& node, GradientBuilder& builder);

// pool.cpp
Types maxPool2dTypes(const Node& node, InputTypes inputs);
void maxPool2dGradient(const Node& node, GradientBuilder& builder);
Types avgPool2dTypes(const Node& node, InputTypes inputs);
void avgPool2dGradient(const Node& node, GradientBuilder& builder);
Types globalAvgPoolTypes(const Node& node, InputTypes inputs);
void globalAvgPoolGradient(const Node& node, GradientBuilder& builder);

// norm.cpp
Types batchNorm2dTypes(const Node& node, InputTypes inputs);
void batchNorm2dGradient(const Node& node, GradientBuilder& builder);
Types groupNormTypes(const Node& node, InputTypes inputs);
Types layerNormTypes(const Node& node, InputTypes inputs);
Types rmsNormTypes(const Node& node, InputTypes inputs);
/// Of all three.
void normGradient(const Node& node, GradientBuilder& builder);

// embedding.cpp
Types embeddingTypes(const Node& node, InputTypes inputs);
void embeddingGradient(const Node& node, GradientBuilder& builder);

// attention.cpp
Types attentionTypes(const Node& node, InputTypes inputs);
void attentionGradient(const Node& node, GradientBuilder& builder);
Types scaleMaskTypes(const Node& node, InputTypes inputs);
void scaleMaskGradient(const Node& node, GradientBuilder& builder);

// elementwise.cpp
void castGradient(const Node& node, GradientBuilder& builder);
void scaleGradient(const Node& node, GradientBuilder& builder);

/// For a function whose backward op reads its result (relu, tanh, sigmoid, exp) or its operand (gelu, silu, log).
template <Op backward> void gradientFromOutput(const Node& node, GradientBuilder& builder)
{
    builder.contribute(
        node.inputs[0], "input", backward, node.attributes, {builder.gradientOf(node.outputs[0]), node.outputs[0]});
}

template <Op backward> void gradientFromInput(const Node& node, GradientBuilder& builder)
{
    builder.contribute(
        node.inputs[0], "input", backward, node.attributes, {builder.gradientOf(node.outputs[0]), node.inputs[0]});
}

/// One output like input 0, a vector of whose last axis is what the op works on.
Types rowwiseTypes(const Node& node, InputTypes inputs);
Types dropoutTypes(const Node& node, InputTypes inputs);
void dropoutGradient(const Node& node, GradientBuilder& builder);
Types accumulateTypes(const Node& node, InputTypes inputs);

// broadcast.cpp
Types broadcastTypes(const Node& node, InputTypes inputs);
void addGradient(const Node& node, GradientBuilder& builder);
void mulGradient(const Node& node, GradientBuilder& builder);

// reduce.cpp
Types reduceTypes(const Node& node, InputTypes inputs);
void sumGradient(const Node& node, GradientBuilder& builder);
void meanGradient(const Node& node, GradientBuilder& builder);
Types expandTypes(const Node& node, InputTypes inputs);
void expandGradient(const Node& node, GradientBuilder& builder);

// layout.cpp
Types reshapeTypes(const Node& node, InputTypes inputs);
void reshapeGradient(const Node& node, GradientBuilder& builder);
Types permuteTypes(const Node& node, InputTypes inputs);
void permuteGradient(const Node& node, GradientBuilder& builder);
Types concatTypes(const Node& node, InputTypes inputs);
void concatGradient(const Node& node, GradientBuilder& builder);
Types sliceTypes(const Node& node, InputTypes inputs);
void sliceGradient(const Node& node, GradientBuilder& builder);

// losses.cpp
Types softmaxCrossEntropyTypes(const Node& node, InputTypes inputs);
void softmaxCrossEntropyGradient(const Node& node, GradientBuilder& builder);
Types nllLossTypes(const Node& node, InputTypes inputs);
void nllLossGradient(const Node& node, GradientBuilder& builder);
Types elementLossTypes(const Node& node, InputTypes inputs);

/// For a loss whose backward op reads prediction and target.
template <Op backward> void elementLossGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "prediction", backward, {},
        {builder.gradientOf(node.outputs[0]), node.inputs[0], node.inputs[1]});
}

/// The gradient of a loss with respect to its prediction: shaped like input 1.
Types lossGradTypes(const Node& node, InputTypes inputs);

} // namespace mantissa::ops
