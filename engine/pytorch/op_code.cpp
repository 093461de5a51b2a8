// Sources: the pages of torch.nn, torch.nn.functional and torch.Tensor.
#include "engine/pytorch/op_code.h"

#include "engine/core/error.h"
#include "engine/graph/op_def.h"
#include "engine/train/channel_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

using Pair = std::array<std::int64_t, 2>;

std::string pairText(const Pair& pair)
{
    return pair[0] == pair[1] ? fmt::format("{}", pair[0]) : fmt::format("({}, {})", pair[0], pair[1]);
}

/// ", name=value" where the value is not PyTorch's default.
template <typename T> std::string argument(const char* name, const T& value, const T& byDefault)
{
    return value == byDefault ? "" : fmt::format(", {}={}", name, value);
}

std::string pairArgument(const char* name, const Pair& value, std::int64_t byDefault)
{
    return value == Pair {byDefault, byDefault} ? "" : fmt::format(", {}={}", name, pairText(value));
}

std::string noBias(const Node& node)
{
    return node.inputs.size() > 2 ? "" : ", bias=False";
}

const Shape& shapeOf(const Graph& graph, ValueId value)
{
    return graph.value(value).type.shape;
}

/// Whether an op gives images where it gets some.
bool keepsImages(Op op)
{
    switch (op) {
    case Op::Linear:
    case Op::MaxPool2d:
    case Op::AvgPool2d:
    case Op::BatchNorm2d:
    case Op::GroupNorm:
    case Op::LayerNorm:
    case Op::RmsNorm:
    case Op::Add:
        return true;
    default:
        return keepsPlaces(op);
    }
}

/// The module called on x with its channels last, as we have them.
std::string channelsLast(const std::string& module, const std::string& x, bool isImage)
{
    return isImage ? fmt::format("{}({}.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)", module, x)
                   : fmt::format("{}({})", module, x);
}

/// The module called on x with its channels second, as batch and group norm have them.
std::string channelsSecond(const std::string& module, const std::string& x, std::size_t rank)
{
    return rank == 3 ? fmt::format("{}({}.transpose(1, 2)).transpose(1, 2)", module, x)
                     : fmt::format("{}({})", module, x);
}

std::string poolArguments(const Pool2dAttributes& pool)
{
    return pairText(pool.kernel) + (pool.stride == pool.kernel ? "" : ", stride=" + pairText(pool.stride))
        + pairArgument("padding", pool.padding, 0);
}

/// The batch stays what it is, whatever its size.
std::string reshapeCode(const NodeCode& code)
{
    const Shape& to = attributesOf<ReshapeAttributes>(code.node.attributes).shape;
    const std::string& x = code.operands[0];
    if (code.isImage) {
        const Shape& from = shapeOf(code.graph, code.node.inputs[0]);
        return x
            + (to.rank() == 2 ? flattenCode(code.graph, code.node.outputs[0], {from[1], from[2], from[3]})
                              : ".flatten(2).transpose(1, 2)");
    }
    std::string sizes = "-1";
    for (std::size_t i = 1; i < to.rank(); ++i) {
        sizes += fmt::format(", {}", to[i]);
    }
    return fmt::format("{}.reshape({})", x, sizes);
}

std::string sliceCode(const NodeCode& code)
{
    const SliceAttributes slice = attributesOf<SliceAttributes>(code.node.attributes);
    std::string before;
    for (std::int64_t axis = 0; axis < slice.axis; ++axis) {
        before += ":, ";
    }
    return fmt::format("{}[{}{}:{}]", code.operands[0], before, slice.begin, slice.begin + slice.length);
}

std::string permuteCode(const NodeCode& code)
{
    std::string axes;
    for (const std::int64_t axis : attributesOf<PermuteAttributes>(code.node.attributes).axes) {
        axes += fmt::format("{}{}", axes.empty() ? "" : ", ", axis);
    }
    return fmt::format("{}.permute({})", code.operands[0], axes);
}

std::string scaleMaskCode(const NodeCode& code)
{
    const ScaleMaskAttributes mask = attributesOf<ScaleMaskAttributes>(code.node.attributes);
    const std::string scaled = fmt::format("{} * {}", code.operands[0], mask.factor);
    if (!mask.causal) {
        return scaled;
    }
    const Shape& shape = shapeOf(code.graph, code.node.inputs[0]);
    return fmt::format("({}).masked_fill(torch.ones({}, {}, dtype=torch.bool, device={}.device).triu(1), -math.inf)",
        scaled, shape[shape.rank() - 2], shape.back(), code.operands[0]);
}

std::string concatCode(const NodeCode& code)
{
    std::string list;
    for (const std::string& operand : code.operands) {
        list += (list.empty() ? "" : ", ") + operand;
    }
    return fmt::format("torch.cat(({}), {})", list, attributesOf<ConcatAttributes>(code.node.attributes).axis);
}

std::string meanCode(const NodeCode& code)
{
    const ReduceAttributes reduce = attributesOf<ReduceAttributes>(code.node.attributes);
    std::string axes;
    for (std::int64_t i = 0; i < reduce.axes; ++i) {
        axes += fmt::format("{}{}", i == 0 ? "" : ", ", reduce.firstAxis + i);
    }
    return fmt::format("{}.mean(({},))", code.operands[0], axes);
}

/// What reads a value: linear layers, or ops to which places matter.
struct Readers
{
    bool linear = false;
    bool others = false;
};

Readers readersOf(const Graph& graph, ValueId value)
{
    Readers readers;
    for (const Node& node : graph.nodes()) {
        if (node.inputs.empty() || std::ranges::find(node.inputs, value) == node.inputs.end()) {
            continue;
        }
        if (keepsPlaces(node.op)) {
            const Readers further = readersOf(graph, node.outputs[0]);
            readers = {readers.linear || further.linear, readers.others || further.others};
        } else {
            (node.op == Op::Linear ? readers.linear : readers.others) = true;
        }
    }
    return readers;
}

} // namespace

std::string flattenCode(const Graph& graph, ValueId flat, const Shape& image)
{
    const Readers readers = readersOf(graph, flat);
    const bool hasOneOrder = image[2] == 1 || image[0] * image[1] == 1;
    if (hasOneOrder || !readers.others) {
        return ".flatten(1)";
    }
    if (readers.linear) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("model.layers: a linear layer and other layers read the flattened images {}; PyTorch flattens "
                        "them in another order, which only linear layers can be adapted to",
                graph.value(flat).name));
    }
    return ".permute(0, 2, 3, 1).flatten(1)";
}

std::vector<bool> imageValues(const Graph& graph)
{
    std::vector<bool> isImage(graph.values().size(), false);
    for (std::size_t i = 0; i < isImage.size(); ++i) {
        const Value& value = graph.values()[i];
        isImage[i] = value.kind == ValueKind::Input && value.type.shape.rank() == 4;
    }
    for (const Node& node : graph.nodes()) {
        const bool getsImage = !node.inputs.empty() && isImage[node.inputs[0]];
        if (!node.outputs.empty()) {
            isImage[node.outputs[0]] = node.op == Op::Conv2d || (getsImage && keepsImages(node.op));
        }
    }
    return isImage;
}

std::string moduleCode(const Graph& graph, const Node& node)
{
    const auto width = [&] { return shapeOf(graph, node.inputs[1])[0]; };
    switch (node.op) {
    case Op::Linear: {
        const Shape& weight = shapeOf(graph, node.inputs[1]);
        return fmt::format("nn.Linear({}, {}{})", weight[1], weight[0], noBias(node));
    }
    case Op::Conv2d: {
        const Shape& weight = shapeOf(graph, node.inputs[1]);
        const Conv2dAttributes conv = attributesOf<Conv2dAttributes>(node.attributes);
        return fmt::format("nn.Conv2d({}, {}, {}{}{}{}{}{})", weight[1] * conv.groups, weight[0],
            pairText({weight[2], weight[3]}), pairArgument("stride", conv.stride, 1),
            pairArgument("padding", conv.padding, 0), pairArgument("dilation", conv.dilation, 1),
            argument("groups", conv.groups, std::int64_t {1}), noBias(node));
    }
    case Op::BatchNorm2d: {
        const BatchNormAttributes norm = attributesOf<BatchNormAttributes>(node.attributes);
        const bool isImage = shapeOf(graph, node.inputs[0]).rank() == 4;
        return fmt::format("nn.BatchNorm{}d({}{}{})", isImage ? 2 : 1, width(), argument("eps", norm.epsilon, 1e-5F),
            argument("momentum", norm.momentum, 0.1F));
    }
    case Op::GroupNorm: {
        const NormAttributes norm = attributesOf<NormAttributes>(node.attributes);
        return fmt::format("nn.GroupNorm({}, {}{})", norm.groups, width(), argument("eps", norm.epsilon, 1e-5F));
    }
    case Op::LayerNorm:
        return fmt::format("nn.LayerNorm({}{})", width(),
            argument("eps", attributesOf<NormAttributes>(node.attributes).epsilon, 1e-5F));
    case Op::RmsNorm:
        return fmt::format("nn.RMSNorm({}, eps={})", width(), attributesOf<NormAttributes>(node.attributes).epsilon);
    case Op::Embedding: {
        const Shape& weight = shapeOf(graph, node.inputs[0]);
        return fmt::format("nn.Embedding({}, {})", weight[0], weight[1]);
    }
    case Op::Dropout:
        return fmt::format("nn.Dropout({})", attributesOf<DropoutAttributes>(node.attributes).probability);
    default:
        return {};
    }
}

std::string expressionCode(const NodeCode& code)
{
    const Node& node = code.node;
    const std::string& x = code.operands[0];
    const std::size_t rank = shapeOf(code.graph, node.inputs[0]).rank();
    switch (node.op) {
    case Op::Linear:
        return code.module.empty() ? fmt::format("F.linear({}, {})", x, code.operands[1])
                                   : channelsLast(code.module, x, code.isImage);
    case Op::LayerNorm:
    case Op::RmsNorm:
        return channelsLast(code.module, x, code.isImage);
    case Op::BatchNorm2d:
    case Op::GroupNorm:
        return channelsSecond(code.module, x, rank);
    case Op::Conv2d:
    case Op::Dropout:
        return fmt::format("{}({})", code.module, x);
    case Op::Embedding:
        return fmt::format("{}({})", code.module, code.operands[1]);
    case Op::MaxPool2d:
        return fmt::format("F.max_pool2d({}, {})", x, poolArguments(attributesOf<Pool2dAttributes>(node.attributes)));
    case Op::AvgPool2d: {
        const Pool2dAttributes pool = attributesOf<Pool2dAttributes>(node.attributes);
        return fmt::format(
            "F.avg_pool2d({}, {}{})", x, poolArguments(pool), pool.countPadding ? "" : ", count_include_pad=False");
    }
    case Op::GlobalAvgPool:
        return x + ".mean((2, 3))";
    case Op::Mean:
        return meanCode(code);
    case Op::Reshape:
        return reshapeCode(code);
    case Op::Permute:
        return permuteCode(code);
    case Op::Slice:
        return sliceCode(code);
    case Op::Concat:
        return concatCode(code);
    case Op::Add:
        return fmt::format("{} + {}", x, code.operands[1]);
    case Op::Relu:
        return fmt::format("F.relu({})", x);
    case Op::Gelu:
        return fmt::format(
            "F.gelu({}{})", x, attributesOf<GeluAttributes>(node.attributes).tanhForm ? ", approximate=\"tanh\"" : "");
    case Op::Silu:
        return fmt::format("F.silu({})", x);
    case Op::Tanh:
        return fmt::format("torch.tanh({})", x);
    case Op::Sigmoid:
        return fmt::format("torch.sigmoid({})", x);
    case Op::MatMul:
        return fmt::format("{} @ {}{}", x, code.operands[1],
            attributesOf<MatMulAttributes>(node.attributes).transposeB ? ".transpose(-1, -2)" : "");
    case Op::ScaleMask:
        return scaleMaskCode(code);
    case Op::Softmax:
        return fmt::format("{}.softmax(-1)", x);
    case Op::Attention: {
        const AttentionAttributes attention = attributesOf<AttentionAttributes>(node.attributes);
        return fmt::format(
            "attention({}, heads={}, causal={})", x, attention.heads, attention.causal ? "True" : "False");
    }
    default:
        throw Error(ErrorCode::InvalidArgument,
            fmt::format(
                "model: the op {} of {} has no counterpart in PyTorch's modules", opDef(node.op).name, node.name));
    }
}

std::string attentionFunction()
{
    return R"(def attention(qkv, heads, causal):
    q, k, v = qkv.unflatten(-1, (3, heads, -1)).permute(2, 0, 3, 1, 4)
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2).flatten(2)
)";
}

} // namespace mantissa
