// Matrix products and their bias: y = x w^T + b, dx = dy w, dw = dy^T x, db = sum over rows of dy.
#include "engine/ops/rules.h"

namespace mantissa::ops {

Types linearTypes(const Node& node, InputTypes inputs)
{
    const Shape& x = inputs[0].shape;
    const Shape& w = inputs[1].shape;
    const bool fits = x.rank() == 2 && w.rank() == 2 && x[1] == w[1]
        && (inputs.size() < 3 || inputs[2].shape == Shape {w[0]});
    if (!fits) {
        failShapes(node, inputs, "x [m, k], w [n, k], b [n]");
    }
    return {{inputs[0].dtype, {x[0], w[0]}}};
}

void linearGradient(const Node& node, GradientBuilder& builder)
{
    const ValueId x = node.inputs[0];
    const ValueId w = node.inputs[1];
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    if (builder.wantsGradient(x)) {
        builder.contribute(x, "input", Op::MatMul, MatMulAttributes {}, {dy, w});
    }
    if (builder.wantsGradient(w)) {
        builder.contribute(w, "weight", Op::MatMul, MatMulAttributes {.transposeA = true}, {dy, x});
    }
    if (node.inputs.size() == 3 && builder.wantsGradient(node.inputs[2])) {
        builder.contribute(node.inputs[2], "bias", Op::SumRows, {}, {dy});
    }
}

Types matMulTypes(const Node& node, InputTypes inputs)
{
    const Shape& a = inputs[0].shape;
    const Shape& b = inputs[1].shape;
    if (a.rank() != 2 || b.rank() != 2) {
        failShapes(node, inputs, "two matrices");
    }
    const auto [transposeA, transposeB] = std::get<MatMulAttributes>(node.attributes);
    if (a[transposeA ? 0 : 1] != b[transposeB ? 1 : 0]) {
        failShapes(node, inputs, "equal inner dimensions");
    }
    return {{inputs[0].dtype, {a[transposeA ? 1 : 0], b[transposeB ? 0 : 1]}}};
}

void matMulGradient(const Node& node, GradientBuilder& builder)
{
    // y = op(a) op(b): d op(a) = dy op(b)^T and d op(b) = op(a)^T dy, each transposed back if its operand was.
    const auto [transposeA, transposeB] = std::get<MatMulAttributes>(node.attributes);
    const ValueId a = node.inputs[0];
    const ValueId b = node.inputs[1];
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    if (builder.wantsGradient(a) && transposeA) {
        builder.contribute(a, "a", Op::MatMul, MatMulAttributes {transposeB, true}, {b, dy});
    } else if (builder.wantsGradient(a)) {
        builder.contribute(a, "a", Op::MatMul, MatMulAttributes {false, !transposeB}, {dy, b});
    }
    if (builder.wantsGradient(b) && transposeB) {
        builder.contribute(b, "b", Op::MatMul, MatMulAttributes {true, transposeA}, {dy, a});
    } else if (builder.wantsGradient(b)) {
        builder.contribute(b, "b", Op::MatMul, MatMulAttributes {!transposeA, false}, {a, dy});
    }
}

Types biasAddTypes(const Node& node, InputTypes inputs)
{
    const Shape& x = inputs[0].shape;
    if (x.rank() != 2 || inputs[1].shape != Shape {x[1]}) {
        failShapes(node, inputs, "x [m, n], b [n]");
    }
    return {inputs[0]};
}

void biasAddGradient(const Node& node, GradientBuilder& builder)
{
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    if (builder.wantsGradient(node.inputs[0])) {
        builder.contribute(node.inputs[0], "input", Op::Cast, {}, {dy});
    }
    if (builder.wantsGradient(node.inputs[1])) {
        builder.contribute(node.inputs[1], "bias", Op::SumRows, {}, {dy});
    }
}

Types sumRowsTypes(const Node& node, InputTypes inputs)
{
    if (inputs[0].shape.rank() != 2) {
        failShapes(node, inputs, "d [m, n]");
    }
    return {{inputs[0].dtype, {inputs[0].shape[1]}}};
}

} // namespace mantissa::ops
