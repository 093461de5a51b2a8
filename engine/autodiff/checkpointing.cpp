#include "engine/autodiff/checkpointing.h"

#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <algorithm>
#include <map>
#include <optional>

namespace mantissa {

namespace {

class Recomputation
{
public:
    explicit Recomputation(const Graph& graph)
        : m_graph(graph)
        , m_producer(graph.values().size())
        , m_isKept(graph.values().size(), false)
    {
        for (const Value& value : graph.values()) {
            m_result.addValue(value);
        }
        const std::vector<Node>& nodes = graph.nodes();
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            if (nodes[n].phase != Phase::Forward) {
                continue;
            }
            for (const ValueId id : nodes[n].inputs) {
                m_isKept[id] = m_isKept[id] || blockOf(id) != nodes[n].block;
            }
            for (const ValueId id : nodes[n].outputs) {
                m_producer[id] = n;
            }
        }
    }

    Graph run()
    {
        for (const Node& node : m_graph.nodes()) {
            Node copy = node;
            if (node.phase == Phase::Backward) {
                for (ValueId& id : copy.inputs) {
                    id = again(id);
                }
            }
            m_result.addNode(std::move(copy));
        }
        if (m_again.empty()) {
            throw Error(ErrorCode::InvalidArgument,
                "model.checkpointing: this model has no block whose activations could be computed again; it helps cnn, "
                "resnet, vit and gpt, and lists of layers with a \"sequence\", \"residual\" or \"repeat\" in them.");
        }
        return std::move(m_result);
    }

private:
    /// The block that computes the value; -1 if none does.
    [[nodiscard]] int blockOf(ValueId id) const { return m_producer[id] ? m_graph.nodes()[*m_producer[id]].block : -1; }

    /// What stands for the value in the backward pass; appends the nodes that compute it again if they are not there.
    ValueId again(ValueId id)
    {
        if (blockOf(id) < 0 || m_isKept[id] || m_graph.value(id).kind != ValueKind::Activation) {
            return id;
        }
        if (const auto found = m_again.find(id); found != m_again.end()) {
            return found->second;
        }
        Node node = m_graph.nodes()[*m_producer[id]];
        const std::vector<ValueId> outputs = node.outputs;
        const std::size_t updated = opDef(node.op).updates;
        for (std::size_t i = 0; i < node.inputs.size() - updated; ++i) {
            node.inputs[i] = again(node.inputs[i]);
        }
        // Running statistics have been updated by the forward pass: the copy works on some that nobody reads.
        for (std::size_t i = node.inputs.size() - updated; i < node.inputs.size(); ++i) {
            node.inputs[i] = duplicate(node.inputs[i]);
            node.outputs[i + node.outputs.size() - node.inputs.size()] = node.inputs[i];
        }
        for (std::size_t i = 0; i < outputs.size() - updated; ++i) {
            node.outputs[i] = duplicate(outputs[i]);
            m_again[outputs[i]] = node.outputs[i];
        }
        node.name += ".again";
        node.phase = Phase::Backward;
        m_result.addNode(std::move(node));
        return m_again.at(id);
    }

    ValueId duplicate(ValueId id)
    {
        const Value& value = m_graph.value(id);
        return m_result.addValue({value.name + ".again", value.type, ValueKind::Activation});
    }

    const Graph& m_graph;
    std::vector<std::optional<std::size_t>> m_producer; ///< forward node, by value
    std::vector<bool> m_isKept; ///< by value: the forward pass of another block uses it
    Graph m_result;
    std::map<ValueId, ValueId> m_again;
};

} // namespace

Graph recomputeBlocks(const Graph& graph)
{
    return Recomputation(graph).run();
}

} // namespace mantissa
