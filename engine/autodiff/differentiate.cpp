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

    using GradientBuilder::contribute;

    void contribute(const std::vector<ValueId>& targets, std::string_view part, Op op, Attributes attributes,
        std::vector<ValueId> inputs) override
    {
        const std::string nodeName = nameOf(part);
        // A cast to the same format would only copy.
        if (op == Op::Cast && m_graph.value(inputs[0]).type.dtype == m_graph.value(targets[0]).type.dtype) {
            count(targets[0], inputs[0], nodeName);
            return;
        }
        Node node {op, nodeName, std::move(attributes), std::move(inputs), {}, Phase::Backward, {}};
        for (const ValueId target : targets) {
            const Value wanted = m_graph.value(target);
            node.outputs.push_back(m_graph.addValue({wanted.name + ".grad", wanted.type, ValueKind::Activation}));
        }
        const std::vector<ValueId> outputs = node.outputs;
        m_graph.addNode(std::move(node));
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (m_wanted.at(targets[i])) {
                count(targets[i], outputs[i], nodeName);
            }
        }
    }

    ValueId compute(std::string_view part, Op op, Attributes attributes, std::vector<ValueId> inputs) override
    {
        const std::string nodeName = nameOf(part);
        return m_graph.append(
            {op, nodeName, std::move(attributes), std::move(inputs), {}, Phase::Backward, {}}, {nodeName + ".out"})[0];
    }

private:
    [[nodiscard]] std::string nameOf(std::string_view part) const
    {
        return fmt::format("{}.backward.{}", m_current->name, part);
    }

    /// Adds up what the uses of a value contribute.
    void count(ValueId target, ValueId gradient, const std::string& nodeName)
    {
        if (const auto earlier = m_gradients[target]) {
            gradient = m_graph.append({Op::Add, nodeName + ".sum", {}, {*earlier, gradient}, {}, Phase::Backward, {}},
                {m_graph.value(target).name + ".grad"})[0];
        }
        m_gradients[target] = gradient;
    }

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
