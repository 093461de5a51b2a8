#include "engine/train/channel_order.h"

#include <algorithm>
#include <optional>

namespace mantissa {

namespace {

const Node* producerOf(const Graph& graph, ValueId value)
{
    const auto found = std::ranges::find_if(
        graph.nodes(), [value](const Node& node) { return !node.outputs.empty() && node.outputs.front() == value; });
    return found == graph.nodes().end() ? nullptr : &*found;
}

/// Back to where the numbers were last put in places.
ValueId originOf(const Graph& graph, ValueId value)
{
    const Node* node = producerOf(graph, value);
    while (node != nullptr && keepsPlaces(node->op)) {
        value = node->inputs.front();
        node = producerOf(graph, value);
    }
    return value;
}

/// Height, width and channels of the images that `value` holds one in a row; nothing if it holds something else.
std::optional<Shape> imagesIn(const Graph& graph, ValueId value, const Shape& sample)
{
    const Node* node = producerOf(graph, value);
    if (node == nullptr) {
        const bool isFlat = graph.value(value).kind == ValueKind::Input && graph.value(value).type.shape.rank() == 2;
        return isFlat && sample.rank() == 3 ? std::optional(sample) : std::nullopt;
    }
    const Shape& before = graph.value(node->inputs.front()).type.shape;
    if (node->op != Op::Reshape || before.rank() != 4 || graph.value(value).type.shape.rank() != 2) {
        return std::nullopt;
    }
    return Shape({before[1], before[2], before[3]});
}

/// Where PyTorch has the number that we have in place i.
std::size_t channelsFirstPlace(std::size_t i, const FlattenedImages& layer)
{
    const auto pixels = static_cast<std::size_t>(layer.height * layer.width);
    const auto channels = static_cast<std::size_t>(layer.channels);
    const std::size_t column = i % (pixels * channels);
    return i - column + column % channels * pixels + column / channels;
}

} // namespace

bool keepsPlaces(Op op)
{
    switch (op) {
    case Op::Cast:
    case Op::Relu:
    case Op::Gelu:
    case Op::Silu:
    case Op::Tanh:
    case Op::Sigmoid:
    case Op::Dropout:
        return true;
    default:
        return false;
    }
}

std::vector<FlattenedImages> flattenedImages(const Graph& graph, const Shape& sample)
{
    std::vector<FlattenedImages> found;
    for (const Node& node : graph.nodes()) {
        if (node.op != Op::Linear || node.phase != Phase::Forward) {
            continue;
        }
        const auto images = imagesIn(graph, originOf(graph, node.inputs[0]), sample);
        if (images && (*images)[0] * (*images)[1] > 1 && (*images)[2] > 1) {
            found.push_back({.weight = graph.value(originOf(graph, node.inputs[1])).name,
                .height = (*images)[0],
                .width = (*images)[1],
                .channels = (*images)[2]});
        }
    }
    return found;
}

void toChannelsLast(std::vector<float>& weight, const FlattenedImages& layer)
{
    const std::vector<float> before = weight;
    for (std::size_t i = 0; i < weight.size(); ++i) {
        weight[i] = before[channelsFirstPlace(i, layer)];
    }
}

void toChannelsFirst(std::vector<float>& weight, const FlattenedImages& layer)
{
    const std::vector<float> before = weight;
    for (std::size_t i = 0; i < weight.size(); ++i) {
        weight[channelsFirstPlace(i, layer)] = before[i];
    }
}

} // namespace mantissa
