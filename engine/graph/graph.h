/// A training step as data: named values, and the nodes that compute them in execution order.
#pragma once

#include "engine/formats/dtype.h"
#include "engine/graph/op.h"
#include "engine/tensor/shape.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mantissa {

using ValueId = std::uint32_t;

/// What a value is kept for: decides its lifetime and the kind of memory it counts as.
enum class ValueKind : std::uint8_t {
    Input,          ///< written by the host before each micro-batch: samples, labels
    StepInput,      ///< a scalar the host writes before each step: learning rate, scale, ...
    Parameter,      ///< (master) weights
    WeightCopy,     ///< a parameter cast for compute, refreshed once per step
    Gradient,       ///< the gradient of a parameter
    OptimizerState, ///< momentum, moments
    Activation,     ///< computed and consumed within one micro-batch
    StepOutput,     ///< a scalar the host reads after the step
};

enum class Phase : std::uint8_t { Forward, Backward, Unscale, Clip, Optimizer };
inline constexpr std::size_t phaseCount = 5;

struct Value
{
    std::string name; ///< PyTorch's names for parameters: "fc1.weight"; gradients end in ".grad"
    Shape shape;
    DType dtype = DType::Float32;
    ValueKind kind = ValueKind::Activation;
};

struct Node
{
    Op op = Op::Cast;
    std::string name;
    Attributes attributes;
    std::vector<ValueId> inputs;
    std::vector<ValueId> outputs; ///< an output that is also an input is updated in place
    Phase phase = Phase::Forward;
    std::string layer;  ///< the layer it belongs to: "fc1"
    std::string reason; ///< why autocast chose its format; empty if it did not
};

class Graph
{
public:
    ValueId addValue(Value value);
    /// Appends a node; checks its arity and shapes by the op's rule. Throws Error (ShapeMismatch) naming the node.
    void addNode(Node node);

    [[nodiscard]] const Value& value(ValueId id) const { return m_values.at(id); }
    [[nodiscard]] Value& value(ValueId id) { return m_values.at(id); }
    [[nodiscard]] const std::vector<Value>& values() const { return m_values; }
    [[nodiscard]] const std::vector<Node>& nodes() const { return m_nodes; }

private:
    std::vector<Value> m_values;
    std::vector<Node> m_nodes;
};

} // namespace mantissa
