/// A training step as data: named values, and the nodes that compute them in execution order.
#pragma once

#include "engine/graph/op.h"
#include "engine/tensor/tensor_type.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mantissa {

using ValueId = std::uint32_t;

/// What a value is kept for: decides its lifetime and the kind of memory it counts as.
enum class ValueKind : std::uint8_t {
    Input, ///< written by the host before each micro-batch: samples, labels
    StepInput, ///< a scalar the host writes before each step: learning rate, scale, ...
    Parameter, ///< (master) weights
    WeightCopy, ///< a parameter cast for compute, refreshed once per step
    Gradient, ///< the gradient of a parameter
    OptimizerState, ///< momentum, moments
    Buffer, ///< state that the forward pass updates itself and that has no gradient: running statistics
    Activation, ///< computed and consumed within one micro-batch
    StepOutput, ///< a scalar the host reads after the step
};

/// Part of a step, as its times are reported. WeightCast runs once per step, Forward and Backward per micro-batch.
/// Check: only where looking for infinity and NaN is no part of Unscale.
enum class Phase : std::uint8_t { WeightCast, Forward, Backward, Unscale, Check, Clip, Optimizer };
inline constexpr std::size_t phaseCount = 7;

/// "weight_cast", "forward", ...
std::string_view nameOf(Phase phase);

struct Value
{
    std::string name {}; ///< PyTorch's names for parameters: "fc1.weight"; gradients end in ".grad"
    TensorType type {};
    ValueKind kind = ValueKind::Activation;
};

struct Node
{
    Op op = Op::Cast;
    std::string name {}; ///< "fc1", "fc1.backward.weight"
    Attributes attributes {};
    std::vector<ValueId> inputs {};
    std::vector<ValueId> outputs {}; ///< an output that is also an input is updated in place
    Phase phase = Phase::Forward;
    std::string reason {}; ///< why autocast chose its format; empty if it did not
    int block = -1; ///< the block of the model that it belongs to, counted from 0; -1: none
};

class Graph
{
public:
    ValueId addValue(Value value);

    /// Appends a node whose outputs exist. Throws Error (ShapeMismatch or InvalidArgument), naming node and types, if
    /// its operands do not fit the op.
    void addNode(Node node);

    /// Appends a node and creates its outputs, named by `outputNames`, with the types that the op infers;
    /// `outputDtype` replaces the inferred dtype of output 0. Outputs that update an input in place (OpDef::updates)
    /// are that input and need no name. Returns the outputs.
    std::vector<ValueId> append(
        Node node, const std::vector<std::string>& outputNames, std::optional<DType> outputDtype = std::nullopt);

    /// Lets every node that reads or writes `from` use `to` instead, which must have the same type.
    void replaceValue(ValueId from, ValueId to);

    [[nodiscard]] const Value& value(ValueId id) const { return m_values.at(id); }

    [[nodiscard]] Value& value(ValueId id) { return m_values.at(id); }

    [[nodiscard]] const std::vector<Value>& values() const { return m_values; }

    [[nodiscard]] const std::vector<Node>& nodes() const { return m_nodes; }

    /// One line per node: "fc1: linear(input:fp16, fc1.weight:fp16) -> fc1.out:fp16 [64, 256]".
    [[nodiscard]] std::string text() const;

private:
    [[nodiscard]] std::vector<TensorType> inferTypes(const Node& node) const;

    std::vector<Value> m_values;
    std::vector<Node> m_nodes;
};

} // namespace mantissa
