/// Shape and gradient rules of the ops, for the one list that names them (op_registry.cpp).
#pragma once

#include "engine/graph/op_def.h"

namespace mantissa::ops {

using Types = std::vector<TensorType>;
using InputTypes = std::span<const TensorType>;

/// Throws Error (ShapeMismatch) naming the node, what it expects, and its input shapes.
[[noreturn]] void failShapes(const Node& node, InputTypes inputs, std::string_view expected);

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

// elementwise.cpp
void addGradient(const Node& node, GradientBuilder& builder);
void castGradient(const Node& node, GradientBuilder& builder);
void scaleGradient(const Node& node, GradientBuilder& builder);
/// For an activation whose backward op reads its result (relu, tanh, sigmoid) or its operand (gelu, silu).
template <Op backward>
void gradientFromOutput(const Node& node, GradientBuilder& builder)
{
    builder.contribute(
        node.inputs[0], "input", backward, node.attributes, {builder.gradientOf(node.outputs[0]), node.outputs[0]});
}
template <Op backward>
void gradientFromInput(const Node& node, GradientBuilder& builder)
{
    builder.contribute(
        node.inputs[0], "input", backward, node.attributes, {builder.gradientOf(node.outputs[0]), node.inputs[0]});
}
Types dropoutTypes(const Node& node, InputTypes inputs);
void dropoutGradient(const Node& node, GradientBuilder& builder);
Types accumulateTypes(const Node& node, InputTypes inputs);

// losses.cpp
Types softmaxCrossEntropyTypes(const Node& node, InputTypes inputs);
void softmaxCrossEntropyGradient(const Node& node, GradientBuilder& builder);
Types elementLossTypes(const Node& node, InputTypes inputs);
/// For a loss whose backward op reads prediction and target.
template <Op backward>
void elementLossGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "prediction", backward, {},
        {builder.gradientOf(node.outputs[0]), node.inputs[0], node.inputs[1]});
}
/// The gradient of a loss with respect to its prediction: shaped like input 1.
Types lossGradTypes(const Node& node, InputTypes inputs);

} // namespace mantissa::ops
