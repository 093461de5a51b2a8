// Two-dimensional convolution over [n, h, w, c] with weights [o, c / groups, kh, kw].
#include "engine/ops/rules.h"

namespace mantissa::ops {

namespace {

bool areSensible(const Conv2dAttributes& attributes)
{
    for (std::size_t i = 0; i < 2; ++i) {
        if (attributes.stride.at(i) < 1 || attributes.padding.at(i) < 0 || attributes.dilation.at(i) < 1) {
            return false;
        }
    }
    return attributes.groups >= 1;
}

} // namespace

Types conv2dTypes(const Node& node, InputTypes inputs)
{
    const Shape& x = inputs[0].shape;
    const Shape& w = inputs[1].shape;
    const auto attributes = attributesOf<Conv2dAttributes>(node.attributes);
    if (!areSensible(attributes)) {
        failAttributes(node, inputs, "a stride, dilation and number of groups of at least 1 and no negative padding");
    }
    const bool fits = x.rank() == 4 && w.rank() == 4 && x[3] == w[1] * attributes.groups
        && w[0] % attributes.groups == 0 && (inputs.size() < 3 || inputs[2].shape == Shape {w[0]});
    if (!fits) {
        failShapes(node, inputs, "x [n, h, w, c], w [o, c / groups, kh, kw], b [o], with c and o multiples of groups");
    }
    const auto size = [&](std::size_t i) {
        const std::int64_t reach = attributes.dilation.at(i) * (w[2 + i] - 1) + 1;
        const std::int64_t room = x[1 + i] + 2 * attributes.padding.at(i) - reach;
        if (room < 0 || w[2 + i] < 1) {
            failShapes(node, inputs, "a kernel no larger than the padded image");
        }
        return room / attributes.stride.at(i) + 1;
    };
    return {{inputs[0].dtype, {x[0], size(0), size(1), w[0]}}};
}

void conv2dGradient(const Node& node, GradientBuilder& builder)
{
    const ValueId x = node.inputs[0];
    const ValueId w = node.inputs[1];
    const ValueId dy = builder.gradientOf(node.outputs[0]);
    if (builder.wantsGradient(x)) {
        builder.contribute(x, "input", Op::Conv2dInputGrad, node.attributes, {dy, w});
    }
    if (builder.wantsGradient(w)) {
        builder.contribute(w, "weight", Op::Conv2dWeightGrad, node.attributes, {dy, x});
    }
    if (node.inputs.size() == 3 && builder.wantsGradient(node.inputs[2])) {
        builder.contribute(node.inputs[2], "bias", Op::SumRows, {}, {dy});
    }
}

} // namespace mantissa::ops
