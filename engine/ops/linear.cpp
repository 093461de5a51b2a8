// Matrix products and their bias: y = x w^T + b, dx = dy w, dw = dy^T x, db = sum over rows of dy.
#include "engine/ops/rules.h"

namespace mantissa::ops {

Types linearTypes(const Node& node, InputTypes inputs)
{
    const Shape& x = inputs[0].shape;
    const Shape& w = inputs[1].shape;
    const bool fits
        = x.rank() >= 2 && w.rank() == 2 && x.back() == w[1] && (inputs.size() < 3 || inputs[2].shape == Shape {w[0]});
    if (!fits) {
        failShapes(node, inputs, "x [..., k], w [n, k], b [n]");
    }
    return {{inputs[0].dtype, joined(leading(x), {w[0]})}};
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
        builder.contribute(w, "weight", Op::MatMul, MatMulAttributes {.transposeA = true, .joinRows = true}, {dy, x});
    }
    if (node.inputs.size() == 3 && builder.wantsGradient(node.inputs[2])) {
        builder.contribute(node.inputs[2], "bias", Op::SumRows, {}, {dy});
    }
}

Types matMulTypes(const Node& node, InputTypes inputs)
{
    const Shape& a = inputs[0].shape;
    const Shape& b = inputs[1].shape;
    const auto attributes = attributesOf<MatMulAttributes>(node.attributes);
    if (a.rank() < 2 || b.rank() < 2) {
        failShapes(node, inputs, "two matrices, or more of them behind leading dimensions");
    }
    if (attributes.joinRows) {
        if (!attributes.transposeA || attributes.transposeB) {
            failAttributes(node, inputs, "a transposed and b not where rows are joined");
        }
        if (rowsOf(a) != rowsOf(b)) {
            failShapes(node, inputs, "equal numbers of rows");
        }
        return {{inputs[0].dtype, {a.back(), b.back()}}};
    }
    const Shape batchA = part(a, 0, a.rank() - 2);
    const Shape batchB = part(b, 0, b.rank() - 2);
    if (batchA != batchB && (batchB.rank() != 0 || attributes.transposeA)) {
        failShapes(node, inputs, "equal leading dimensions, or none of b and a not transposed");
    }
    const auto side = [](const Shape& shape, bool first) { return shape[shape.rank() - (first ? 2 : 1)]; };
    if (side(a, attributes.transposeA) != side(b, !attributes.transposeB)) {
        failShapes(node, inputs, "equal inner dimensions");
    }
    return {{inputs[0].dtype, joined(batchA, {side(a, !attributes.transposeA), side(b, attributes.transposeB)})}};
}

void matMulGradient(const Node& node, GradientBuilder& builder)
{
    // y = op(a) op(b): d op(a) = dy op(b)^T and d op(b) = op(a)^T dy, each transposed back if its operand was.
    const auto attributes = attributesOf<MatMulAttributes>(node.attributes);
    const bool transposeA = attributes.transposeA;
    const bool transposeB = attributes.transposeB;
    const ValueId a = node.inputs[0];
    const ValueId b = node.inputs[1];
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    if (builder.wantsGradient(a) && transposeA) {
        builder.contribute(a, "a", Op::MatMul, MatMulAttributes {transposeB, true}, {b, dy});
    } else if (builder.wantsGradient(a)) {
        builder.contribute(a, "a", Op::MatMul, MatMulAttributes {false, !transposeB}, {dy, b});
    }
    // The leading dimensions that only a has are rows, to be summed over.
    const bool joins = builder.graph().value(b).type.shape.rank() < builder.graph().value(a).type.shape.rank();
    if (builder.wantsGradient(b) && transposeB) {
        builder.contribute(b, "b", Op::MatMul, MatMulAttributes {true, transposeA, joins}, {dy, a});
    } else if (builder.wantsGradient(b)) {
        builder.contribute(b, "b", Op::MatMul, MatMulAttributes {!transposeA, false, joins}, {a, dy});
    }
}

Types biasAddTypes(const Node& node, InputTypes inputs)
{
    const Shape& x = inputs[0].shape;
    if (x.rank() < 2 || inputs[1].shape != Shape {x.back()}) {
        failShapes(node, inputs, "x [..., n], b [n]");
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
    if (inputs[0].shape.rank() < 2) {
        failShapes(node, inputs, "d [..., n]");
    }
    return {{inputs[0].dtype, {inputs[0].shape.back()}}};
}

} // namespace mantissa::ops
