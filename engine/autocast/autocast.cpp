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

/// Sets the format that the node accumulates in; false if its kind has none.
bool setAccumulate(Node& node, DType format)
{
    return std::visit(
        [format](auto& attributes) {
            if constexpr (requires { attributes.accumulate = format; }) {
                attributes.accumulate = format;
                return true;
            } else {
                return false;
            }
        },
        node.attributes);
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
        checkNames(m_policy.overrides, "");
        checkNames(m_policy.accumulate, ".accumulate");
        m_result.values.resize(m_forward.values().size());
        for (ValueId id = 0; id < m_forward.values().size(); ++id) {
            Value value = m_forward.value(id);
            if (value.kind == ValueKind::Parameter || value.kind == ValueKind::Buffer) {
                value.type.dtype = m_policy.weights;
            }
            if (value.kind != ValueKind::Activation) {
                m_result.values[id] = m_result.graph.addValue(std::move(value));
            }
        }
        const std::vector<PrecisionClass> classes = precisionClasses(m_forward, m_policy);
        for (std::size_t n = 0; n < m_forward.nodes().size(); ++n) {
            rewrite(m_forward.nodes()[n], classes[n]);
        }
        return std::move(m_result);
    }

private:
    using Formats = std::map<std::string, DType, std::less<>>;

    void checkNames(const Formats& formats, std::string_view suffix) const
    {
        const auto isNode = [this](std::string_view name) {
            return std::ranges::find(m_forward.nodes(), name, &Node::name) != m_forward.nodes().end();
        };
        for (const auto& [name, dtype] : formats) {
            if (!isNode(name) && !opFromName(name)) {
                std::string nodes;
                for (const Node& node : m_forward.nodes()) {
                    nodes += (nodes.empty() ? "" : ", ") + node.name;
                }
                throw Error(ErrorCode::InvalidArgument,
                    fmt::format("precision.overrides: \"{}{}\" is neither an op kind nor a node of this model; its "
                                "nodes are {}.",
                        name, suffix, nodes));
            }
        }
    }

    /// What is said of the node by its name or, failing that, by its kind.
    static Formats::const_iterator find(const Formats& formats, const Node& node)
    {
        const auto byName = formats.find(node.name);
        return byName != formats.end() ? byName : formats.find(opDef(node.op).name);
    }

    void rewrite(Node node, PrecisionClass precision)
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
        if (const auto format = chooseFormat(node, precision, outputFormat)) {
            for (std::size_t i = 0; i < castInputs(node); ++i) {
                node.inputs[i] = inFormat(node.inputs[i], *format, node);
            }
        }
        chooseAccumulate(node);
        const std::vector<ValueId> outputs = m_result.graph.append(std::move(node), names, outputFormat);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            m_result.values[originals[i]] = outputs[i];
            m_result.graph.value(outputs[i]).kind = m_forward.value(originals[i]).kind;
        }
    }

    /// The leading inputs whose format is chosen.
    static std::size_t castInputs(const Node& node) { return std::min(opDef(node.op).castInputs, node.inputs.size()); }

    /// The format of the node's inputs, and of its output where that is another one, noting the reason on the node.
    std::optional<DType> chooseFormat(Node& node, PrecisionClass precision, std::optional<DType>& outputFormat) const
    {
        const OpDef& def = opDef(node.op);
        if (const auto found = find(m_policy.overrides, node); found != m_policy.overrides.end()) {
            node.reason = fmt::format("override of {}", found->first);
            return found->second;
        }
        switch (precision) {
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
        case PrecisionClass::AsIs:
            node.reason = "follows its input; its parameters keep their format";
            return std::nullopt;
        case PrecisionClass::Fixed:
            return std::nullopt;
        }
        return std::nullopt;
    }

    void chooseAccumulate(Node& node) const
    {
        const auto found = find(m_policy.accumulate, node);
        if (found == m_policy.accumulate.end()) {
            return;
        }
        if (!setAccumulate(node, found->second)) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format("precision.overrides: \"{}.accumulate\": {} accumulates nothing whose format can be "
                            "chosen.",
                    found->first, opDef(node.op).name));
        }
        node.reason += fmt::format("; accumulates in {}", nameOf(found->second));
    }

    ValueId inFormat(ValueId id, DType format, const Node& user)
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
            = isParameter ? std::string(nameOf(format)) : fmt::format("{}.{}", user.name, nameOf(format));
        Node cast {.op = Op::Cast,
            .name = fmt::format("{}.to_{}", source.name, suffix),
            .attributes = {},
            .inputs = {id},
            .outputs = {},
            .phase = isParameter ? Phase::WeightCast : Phase::Forward,
            .reason = fmt::format("input of {}", user.name),
            .block = isParameter ? -1 : user.block};
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
