/// What the passes need to know about an op: arity, shapes, gradient, and how autocast treats it.
#pragma once

#include "engine/graph/graph.h"

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace mantissa {

/// How an autocast policy chooses an op's format; the classes of torch.autocast's lists.
enum class PrecisionClass : std::uint8_t {
    Lower, ///< runs in the policy's 16-bit format: matrix products
    Float32, ///< runs in FP32: losses, normalisations
    Float32Output, ///< reads its input as it is and writes FP32: sums, softmax
    Follow, ///< runs in the widest format among its inputs: elementwise ops
    AsIs, ///< runs in the format of its first input; its parameters keep theirs
    Fixed, ///< not autocast's business: casts, backward and update ops
};

/// What a gradient rule is given: it reads the gradients of a node's outputs and contributes those of its inputs.
class GradientBuilder
{
public:
    virtual ~GradientBuilder() = default;
    [[nodiscard]] virtual const Graph& graph() const = 0;
    /// The gradient of the value; only defined for outputs that the loss depends on.
    [[nodiscard]] virtual ValueId gradientOf(ValueId value) const = 0;
    /// Whether a parameter lies behind the value, so that its gradient is worth computing.
    [[nodiscard]] virtual bool wantsGradient(ValueId value) const = 0;
    /// Appends a backward node with an output for each target, of the target's type, and counts it as (part of) the
    /// target's gradient; not so for targets that want none. `part` names the node: "<forward node>.backward.<part>".
    /// Throws Error (ShapeMismatch) if the op's shape rule gives other shapes.
    virtual void contribute(const std::vector<ValueId>& targets, std::string_view part, Op op, Attributes attributes,
        std::vector<ValueId> inputs)
        = 0;
    /// Appends a backward node whose one output is only an operand of later ones. Returns the output.
    virtual ValueId compute(std::string_view part, Op op, Attributes attributes, std::vector<ValueId> inputs) = 0;

    void contribute(ValueId target, std::string_view part, Op op, Attributes attributes, std::vector<ValueId> inputs)
    {
        contribute(std::vector {target}, part, op, std::move(attributes), std::move(inputs));
    }
};

using ShapeRule = std::vector<TensorType> (*)(const Node& node, std::span<const TensorType> inputs);
using GradientRule = void (*)(const Node& node, GradientBuilder& builder);

struct OpDef
{
    Op op;
    std::string_view name; ///< as in experiment files: "softmax_cross_entropy"
    std::size_t minInputs;
    std::size_t maxInputs;
    PrecisionClass precision;
    std::size_t castInputs; ///< the leading inputs whose format autocast chooses
    ShapeRule inferTypes; ///< null: outputs are given (update ops, gradients whose shape the inputs do not tell)
    GradientRule gradient; ///< null: no gradient
    std::size_t updates = 0; ///< so many trailing outputs are trailing inputs, updated in place
};

/// All ops, in the order of the enum.
std::span<const OpDef> allOps();
const OpDef& opDef(Op op);
/// The op of that name in experiment files, if there is one.
std::optional<Op> opFromName(std::string_view name);

} // namespace mantissa
