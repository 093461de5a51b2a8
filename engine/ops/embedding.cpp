// Rows of a table, looked up by index.
#include "engine/ops/rules.h"

namespace mantissa::ops {

Types embeddingTypes(const Node& node, InputTypes inputs)
{
    const Shape& w = inputs[0].shape;
    if (w.rank() != 2) {
        failShapes(node, inputs, "w [v, c], indices [...]");
    }
    return {{inputs[0].dtype, joined(inputs[1].shape, {w[1]})}};
}

void embeddingGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(
        node.inputs[0], "weight", Op::EmbeddingGrad, {}, {builder.gradientOf(node.outputs[0]), node.inputs[1]});
}

} // namespace mantissa::ops
