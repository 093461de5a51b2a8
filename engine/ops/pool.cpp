// Pooling over the height and width of [n, h, w, c].
#include "engine/ops/rules.h"

namespace mantissa::ops {

namespace {

constexpr std::int64_t largestWindow = 256; // places in a window are stored as uint8

Shape pooledShape(const Node& node, InputTypes inputs, const Pool2dAttributes& attributes)
{
    const Shape& x = inputs[0].shape;
    if (x.rank() != 4) {
        failShapes(node, inputs, "x [n, h, w, c]");
    }
    const auto size = [&](std::size_t i) {
        const std::int64_t kernel = attributes.kernel.at(i);
        const std::int64_t padding = attributes.padding.at(i);
        // More padding than half the window would leave windows with nothing in them.
        if (kernel < 1 || attributes.stride.at(i) < 1 || padding < 0 || 2 * padding > kernel) {
            failAttributes(node, inputs, "a window and stride of at least 1 and a padding of at most half the window");
        }
        const std::int64_t room = x[1 + i] + 2 * padding - kernel;
        if (room < 0) {
            failShapes(node, inputs, "a window no larger than the padded image");
        }
        return room / attributes.stride.at(i) + 1;
    };
    return {x[0], size(0), size(1), x[3]};
}

} // namespace

Types maxPool2dTypes(const Node& node, InputTypes inputs)
{
    const auto attributes = attributesOf<Pool2dAttributes>(node.attributes);
    const Shape shape = pooledShape(node, inputs, attributes);
    if (attributes.kernel[0] * attributes.kernel[1] > largestWindow) {
        failAttributes(node, inputs, "a window of at most 256 elements");
    }
    return {{inputs[0].dtype, shape}, {DType::UInt8, shape}};
}

void maxPool2dGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(node.inputs[0], "input", Op::MaxPool2dGrad, node.attributes,
        {builder.gradientOf(node.outputs[0]), node.outputs[1]});
}

Types avgPool2dTypes(const Node& node, InputTypes inputs)
{
    return {{inputs[0].dtype, pooledShape(node, inputs, attributesOf<Pool2dAttributes>(node.attributes))}};
}

void avgPool2dGradient(const Node& node, GradientBuilder& builder)
{
    builder.contribute(
        node.inputs[0], "input", Op::AvgPool2dGrad, node.attributes, {builder.gradientOf(node.outputs[0])});
}

Types globalAvgPoolTypes(const Node& node, InputTypes inputs)
{
    const Shape& x = inputs[0].shape;
    if (x.rank() != 4 || x.elements() == 0) {
        failShapes(node, inputs, "x [n, h, w, c] with elements");
    }
    return {{inputs[0].dtype, {x[0], x[3]}}};
}

void globalAvgPoolGradient(const Node& node, GradientBuilder& builder)
{
    const Shape x = builder.graph().value(node.inputs[0]).type.shape;
    const ExpandAttributes overImage {.firstAxis = 1, .sizes = {x[1], x[2]}, .divisor = x[1] * x[2]};
    builder.contribute(node.inputs[0], "input", Op::Expand, overImage, {builder.gradientOf(node.outputs[0])});
}

} // namespace mantissa::ops
