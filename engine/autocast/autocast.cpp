#include "engine/autocast/autocast.h"

#include "engine/core/error.h"
#include "engine/graph/op_def.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace mantissa {

namespace {

bool isFloating(DType dtype)
{
    return dtype == DType::Float32 || isHalf(dtype);
}

/// The narrowest format that holds all of the given ones exactly: FP16 and BF16 meet in FP32.
DType widest(DType a, DType b)
{
    return a == b ? a : DType::Float32;
}

class Rewriter
{
public:
    Rewriter(const Graph& forward, const Policy& policy)
        : m_forward(forward)
        , m_policy(policy)
    {
    }

    AutocastResult run()
    {
        checkOverrides();
        m_result.values.resize(m_forward.values().size());
        for (ValueId id = 0; id < m_forward.values().size(); ++id) {
            if (m_forward.value(id).kind != ValueKind::Activation) {
                m_result.values[id] = m_result.graph.addValue(m_forward.value(id));
            }
        }
        for (const Node& node : m_forward.nodes()) {
            rewrite(node);
        }
        return std::move(m_result);
    }

private:
    void checkOverrides() const
    {
        const auto isNode = [this](std::string_view name) {
            return std::ranges::find(m_forward.nodes(), name, &Node::name) != m_forward.nodes().end();
        };
        for (const auto& [name, dtype] : m_policy.overrides) {
            if (!isNode(name) && !opFromName(name)) {
                std::string nodes;
                for (const Node& node : m_forward.nodes()) {
                    nodes += (nodes.empty() ? "" : ", ") + node.name;
                }
                throw Error(ErrorCode::InvalidArgument,
                    "precision.overrides: \"" + name
                        + "\" is neither an op kind nor a node of this model; its nodes are " + nodes + ".");
            }
        }
    }

    void rewrite(Node node)
    {
        std::vector<std::string> names;
        for (const ValueId id : node.outputs) {
            names.push_back(m_forward.value(id).name);
        }
        const std::vector<ValueId> originals = node.outputs;
        for (ValueId& id : node.inputs) {
            id = m_result.values[id];
        }
        std::optional<DType> outputFormat;
        if (const auto format = chooseFormat(node, outputFormat)) {
            for (std::size_t i = 0; i < castInputs(node); ++i) {
                node.inputs[i] = inFormat(node.inputs[i], *format, node.name);
            }
        }
        const std::vector<ValueId> outputs = m_result.graph.append(std::move(node), names, outputFormat);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            m_result.values[originals[i]] = outputs[i];
            m_result.graph.value(outputs[i]).kind = m_forward.value(originals[i]).kind;
        }
    }

    /// The leading inputs whose format is chosen.
    static std::size_t castInputs(const Node& node) { return std::min(opDef(node.op).castInputs, node.inputs.size()); }

    /// The format of the node's inputs, and of its output where that is another one, noting the reason on the node.
    std::optional<DType> chooseFormat(Node& node, std::optional<DType>& outputFormat) const
    {
        const OpDef& def = opDef(node.op);
        for (const std::string_view name : {std::string_view(node.name), def.name}) {
            if (const auto found = m_policy.overrides.find(name); found != m_policy.overrides.end()) {
                node.reason = fmt::format("override of {}", name);
                return found->second;
            }
        }
        switch (def.precision) {
        case PrecisionClass::Lower:
            node.reason = fmt::format("policy {}: {} runs in {}", m_policy.name, def.name, nameOf(m_policy.lower));
            return m_policy.lower;
        case PrecisionClass::Float32:
            node.reason = fmt::format("policy {}: {} runs in fp32", m_policy.name, def.name);
            return DType::Float32;
        case PrecisionClass::Float32Output:
            node.reason
                = fmt::format("policy {}: {} reads its input as it is and writes fp32", m_policy.name, def.name);
            outputFormat = DType::Float32;
            return std::nullopt;
        case PrecisionClass::Follow: {
            node.reason = "follows its inputs";
            DType format = m_result.graph.value(node.inputs[0]).type.dtype;
            for (std::size_t i = 1; i < castInputs(node); ++i) {
                format = widest(format, m_result.graph.value(node.inputs[i]).type.dtype);
            }
            return format;
        }
        case PrecisionClass::Fixed:
            return std::nullopt;
        }
        return std::nullopt;
    }

    ValueId inFormat(ValueId id, DType format, const std::string& user)
    {
        const Value source = m_result.graph.value(id);
        if (source.type.dtype == format || !isFloating(source.type.dtype)) {
            return id;
        }
        const bool isParameter = source.kind == ValueKind::Parameter;
        if (isParameter) {
            if (const auto cached = m_weightCopies.find({id, format}); cached != m_weightCopies.end()) {
                return cached->second;
            }
        }
        const std::string suffix
            = isParameter ? std::string(nameOf(format)) : fmt::format("{}.{}", user, nameOf(format));
        Node cast {.op = Op::Cast,
            .name = fmt::format("{}.to_{}", source.name, suffix),
            .attributes = {},
            .inputs = {id},
            .outputs = {},
            .phase = isParameter ? Phase::WeightCast : Phase::Forward,
            .reason = fmt::format("input of {}", user)};
        const ValueId copy
            = m_result.graph.append(std::move(cast), {fmt::format("{}.{}", source.name, suffix)}, format)[0];
        if (isParameter) {
            m_result.graph.value(copy).kind = ValueKind::WeightCopy;
            m_weightCopies.emplace(std::pair(id, format), copy);
        }
        return copy;
    }

    const Graph& m_forward;
    const Policy& m_policy;
    AutocastResult m_result;
    std::map<std::pair<ValueId, DType>, ValueId> m_weightCopies;
};

} // namespace

AutocastResult applyAutocast(const Graph& forward, const Policy& policy)
{
    return Rewriter(forward, policy).run();
}

} // namespace mantissa
