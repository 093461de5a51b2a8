#include "engine/autodiff/differentiate.h"

#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace mantissa {

namespace {

class ReverseSweep : public GradientBuilder
{
public:
    ReverseSweep(Graph& graph, std::span<const ValueId> parameters)
        : m_graph(graph)
        , m_forwardNodes(graph.nodes())
        , m_wanted(graph.values().size(), false)
        , m_gradients(graph.values().size())
    {
        for (const ValueId id : parameters) {
            m_wanted[id] = true;
        }
        for (const Node& node : m_forwardNodes) {
            const bool reaches = opDef(node.op).gradient != nullptr
                && std::ranges::any_of(node.inputs, [this](ValueId id) { return m_wanted[id]; });
            if (reaches) {
                m_wanted[node.outputs[0]] = true;
            }
        }
    }

    void run(ValueId loss, ValueId lossGradient)
    {
        m_gradients[loss] = lossGradient;
        for (auto node = m_forwardNodes.rbegin(); node != m_forwardNodes.rend(); ++node) {
            const ValueId output = node->outputs[0];
            if (m_wanted[output] && m_gradients[output]) {
                m_current = &*node;
                opDef(node->op).gradient(*node, *this);
            }
        }
    }

    [[nodiscard]] std::optional<ValueId> found(ValueId value) const { return m_gradients[value]; }

    [[nodiscard]] const Graph& graph() const override { return m_graph; }

    [[nodiscard]] ValueId gradientOf(ValueId value) const override { return m_gradients.at(value).value(); }

    [[nodiscard]] bool wantsGradient(ValueId value) const override { return m_wanted.at(value); }

    void contribute(
        ValueId target, std::string_view part, Op op, Attributes attributes, std::vector<ValueId> inputs) override
    {
        const Value wanted = m_graph.value(target);
        const std::string nodeName = fmt::format("{}.backward.{}", m_current->name, part);
        // A cast to the same format would only copy.
        const bool isIdentity = op == Op::Cast && m_graph.value(inputs[0]).type.dtype == wanted.type.dtype;
        ValueId gradient = isIdentity
            ? inputs[0]
            : m_graph.append({op, nodeName, std::move(attributes), std::move(inputs), {}, Phase::Backward, {}},
                {wanted.name + ".grad"}, wanted.type.dtype)[0];
        if (const auto earlier = m_gradients[target]) {
            gradient = m_graph.append({Op::Add, nodeName + ".sum", {}, {*earlier, gradient}, {}, Phase::Backward, {}},
                {wanted.name + ".grad"})[0];
        }
        m_gradients[target] = gradient;
    }

private:
    Graph& m_graph;
    std::vector<Node> m_forwardNodes; ///< a copy: the graph grows during the sweep
    std::vector<bool> m_wanted; ///< a parameter lies behind the value
    std::vector<std::optional<ValueId>> m_gradients;
    const Node* m_current = nullptr;
};

} // namespace

std::vector<ValueId> differentiate(
    Graph& graph, ValueId loss, ValueId lossGradient, std::span<const ValueId> parameters)
{
    ReverseSweep sweep(graph, parameters);
    sweep.run(loss, lossGradient);
    std::vector<ValueId> gradients;
    std::set<ValueId> taken {lossGradient};
    for (const ValueId parameter : parameters) {
        const Value value = graph.value(parameter);
        const auto found = sweep.found(parameter);
        if (!found) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("The loss does not depend on {}: remove the layer or use its output.", value.name));
        }
        ValueId gradient = *found;
        if (!taken.insert(gradient).second) {
            // Two parameters whose gradients are the same value: the update changes gradients in place.
            gradient = graph.append({Op::Cast, value.name + ".backward.copy", {}, {gradient}, {}, Phase::Backward, {}},
                {value.name + ".grad"})[0];
        }
        gradients.push_back(gradient);
    }
    return gradients;
}

} // namespace mantissa
