// Pointwise ops: activations, dropout, sums, casts.
#include "engine/ops/rules.h"

#include "engine/core/error.h"

#include <fmt/format.h>

namespace mantissa::ops {

void failShapes(const Node& node, InputTypes inputs, std::string_view expected)
{
    std::string got;
    for (const TensorType& type : inputs) {
        got += (got.empty() ? "" : ", ") + type.shape.text();
    }
    throw Error(ErrorCode::ShapeMismatch,
        fmt::format("[{}] {} expects {}, got {}", node.name, opDef(node.op).name, expected, got));
}

Types likeFirst(const Node& /*node*/, InputTypes inputs)
{
    return {inputs[0]};
}

Types likeBoth(const Node& node, InputTypes inputs)
{
    if (inputs[0].shape != inputs[1].shape) {
        failShapes(node, inputs, "two equal shapes");
    }
    return {inputs[0]};
}

void addGradient(const Node& node, GradientBuilder& builder)
{
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    for (const ValueId input : node.inputs) {
        if (builder.wantsGradient(input)) {
            builder.contribute(input, "input", Op::Cast, {}, {dy});
        }
    }
}

void castGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "cast", Op::Cast, {}, {builder.gradientOf(node.outputs[0])});
}

void scaleGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "input", Op::Scale, {}, {builder.gradientOf(node.outputs[0]), node.inputs[1]});
}

Types dropoutTypes(const Node& node, InputTypes inputs)
{
    if (inputs[1].shape != Shape {}) {
        failShapes(node, inputs, "x and a scalar counter");
    }
    return {inputs[0], {DType::UInt8, inputs[0].shape}};
}

void dropoutGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "input", Op::DropoutGrad, node.attributes,
        {builder.gradientOf(node.outputs[0]), node.outputs[1]});
}

Types accumulateTypes(const Node& node, InputTypes inputs)
{
    if (inputs[1].shape != Shape {} || inputs[2].shape != Shape {}) {
        failShapes(node, inputs, "g and two scalars");
    }
    return {inputs[0]};
}

} // namespace mantissa::ops
