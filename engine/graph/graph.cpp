#include "engine/graph/graph.h"

#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

std::string operandText(const Graph& graph, const std::vector<ValueId>& ids)
{
    std::string text;
    for (const ValueId id : ids) {
        const Value& value = graph.value(id);
        text += fmt::format(
            "{}{}:{} {}", text.empty() ? "" : ", ", value.name, nameOf(value.type.dtype), value.type.shape.text());
    }
    return text;
}

} // namespace

std::string_view nameOf(Phase phase)
{
    constexpr std::array<std::string_view, phaseCount> names {
        "weight_cast", "forward", "backward", "unscale", "check", "clip", "optimizer"};
    return names.at(static_cast<std::size_t>(phase));
}

ValueId Graph::addValue(Value value)
{
    m_values.push_back(std::move(value));
    return static_cast<ValueId>(m_values.size() - 1);
}

std::vector<TensorType> Graph::inferTypes(const Node& node) const
{
    const OpDef& def = opDef(node.op);
    if (node.inputs.size() < def.minInputs || node.inputs.size() > def.maxInputs) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("[{}] {} takes {} to {} inputs, got {}", node.name, def.name, def.minInputs, def.maxInputs,
                node.inputs.size()));
    }
    if (def.inferTypes == nullptr) {
        return {};
    }
    std::vector<TensorType> inputs;
    inputs.reserve(node.inputs.size());
    for (const ValueId id : node.inputs) {
        inputs.push_back(value(id).type);
    }
    return def.inferTypes(node, inputs);
}

void Graph::addNode(Node node)
{
    const std::vector<TensorType> inferred = inferTypes(node);
    for (std::size_t i = 0; i < inferred.size(); ++i) {
        const Shape& given = value(node.outputs.at(i)).type.shape;
        if (given != inferred[i].shape) {
            throw Error(ErrorCode::ShapeMismatch,
                fmt::format("[{}] {} gives shape {}, but its output {} has {}", node.name, opDef(node.op).name,
                    inferred[i].shape.text(), value(node.outputs[i]).name, given.text()));
        }
    }
    m_nodes.push_back(std::move(node));
}

std::vector<ValueId> Graph::append(
    Node node, const std::vector<std::string>& outputNames, std::optional<DType> outputDtype)
{
    std::vector<TensorType> types = inferTypes(node);
    if (outputDtype && !types.empty()) {
        types[0].dtype = *outputDtype;
    }
    node.outputs.clear();
    const std::size_t created = types.size() - std::min(types.size(), opDef(node.op).updates);
    for (std::size_t i = 0; i < created; ++i) {
        node.outputs.push_back(addValue({outputNames.at(i), types[i], ValueKind::Activation}));
    }
    const auto updated = static_cast<std::ptrdiff_t>(types.size() - created);
    node.outputs.insert(node.outputs.end(), node.inputs.end() - updated, node.inputs.end());
    m_nodes.push_back(std::move(node));
    return m_nodes.back().outputs;
}

void Graph::replaceValue(ValueId from, ValueId to)
{
    for (Node& node : m_nodes) {
        std::ranges::replace(node.inputs, from, to);
        std::ranges::replace(node.outputs, from, to);
    }
}

std::string Graph::text() const
{
    std::string text;
    for (const Node& node : m_nodes) {
        text += fmt::format("{}: {}({}) -> {}\n", node.name, opDef(node.op).name, operandText(*this, node.inputs),
            operandText(*this, node.outputs));
    }
    return text;
}

} // namespace mantissa
