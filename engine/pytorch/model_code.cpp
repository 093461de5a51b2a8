#include "engine/pytorch/model_code.h"

#include "engine/pytorch/model_scopes.h"
#include "engine/pytorch/op_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

namespace mantissa {

namespace {

std::string indented(const std::string& text, int depth)
{
    return fmt::format("{:{}}{}\n", "", depth * 4, text);
}

/// "PatchEmbed" for "patch_embed", "Block" for "blocks.0".
std::string classNameOf(const std::string& scope)
{
    std::string name;
    for (std::size_t end = scope.size(); name.empty() && end > 0;) {
        const std::size_t dot = scope.rfind('.', end - 1);
        const std::size_t from = dot == std::string::npos ? 0 : dot + 1;
        const std::string part = scope.substr(from, end - from);
        if (!std::ranges::all_of(part, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; })) {
            name = end < scope.size() && part.ends_with('s') ? part.substr(0, part.size() - 1) : part;
        }
        end = from == 0 ? 0 : from - 1;
    }
    std::string camel;
    bool isStart = true;
    for (const char c : name.empty() ? std::string("part") : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
            isStart = true;
        } else {
            camel += isStart ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
            isStart = false;
        }
    }
    return camel == "Model" ? "ModelPart" : camel;
}

/// Statements of a forward(): a value keeps the variable of the one that it is made of, if that is not needed again.
class Body
{
public:
    Body(const Graph& graph, const ModelScopes& scopes, std::string scope, const std::vector<bool>& isImage)
        : m_graph(graph)
        , m_scopes(scopes)
        , m_scope(std::move(scope))
        , m_isImage(isImage)
        , m_items(scopes.itemsOf(m_scope))
    {
    }

    /// `input` is x, and `flatten` what it goes through first: ".flatten(1)", or nothing.
    std::string write(ValueId input, ValueId output, const std::string& flatten)
    {
        m_variables.emplace(input, "x");
        m_text = flatten.empty() ? std::string() : indented("x = x" + flatten, 2);
        for (std::size_t i = 0; i < m_items.size(); ++i) {
            writeItem(i, output);
        }
        if (!m_hasReturned) {
            m_text += indented("return " + m_variables.at(output), 2);
        }
        return m_text;
    }

private:
    [[nodiscard]] bool isNeededAfter(ValueId value, std::size_t item, ValueId output) const
    {
        const auto reads
            = [value](const ScopeItem& later) { return std::ranges::find(later.inputs, value) != later.inputs.end(); };
        return value == output
            || std::any_of(m_items.begin() + static_cast<std::ptrdiff_t>(item) + 1, m_items.end(), reads);
    }

    [[nodiscard]] std::string textOf(ValueId value) const
    {
        if (const auto known = m_variables.find(value); known != m_variables.end()) {
            return known->second;
        }
        const Value& weight = m_graph.value(value);
        return weight.kind == ValueKind::Parameter ? m_scopes.reference(m_scope, weight.name) : std::string();
    }

    [[nodiscard]] std::string code(const ScopeItem& item) const
    {
        if (!item.scope.empty()) {
            return fmt::format("{}({})", m_scopes.reference(m_scope, item.scope), textOf(item.inputs.front()));
        }
        const Node& node = m_graph.nodes()[item.node];
        const std::string module = m_scopes.moduleOf(node);
        NodeCode code {.graph = m_graph, .node = node, .isImage = m_isImage[node.inputs[0]]};
        code.module = module.empty() ? module : m_scopes.reference(m_scope, module);
        for (const ValueId input : node.inputs) {
            code.operands.push_back(textOf(input));
        }
        return expressionCode(code);
    }

    /// A class token, which all samples share: no statement of its own.
    [[nodiscard]] std::optional<std::string> sharedToken(const ScopeItem& item) const
    {
        if (!item.scope.empty()) {
            return std::nullopt;
        }
        const Node& node = m_graph.nodes()[item.node];
        const bool isWeight = m_graph.value(node.inputs[0]).kind == ValueKind::Parameter;
        if (node.op == Op::Reshape && isWeight) {
            return textOf(node.inputs[0]);
        }
        if (node.op == Op::Expand) {
            return textOf(node.inputs[0]) + ".expand(len(x), -1, -1)";
        }
        return std::nullopt;
    }

    /// A token taken out of each sample: slice and reshape are one expression.
    [[nodiscard]] std::optional<std::string> takenToken(std::size_t i) const
    {
        const ScopeItem& item = m_items[i];
        if (!item.scope.empty() || i + 1 >= m_items.size() || !m_items[i + 1].scope.empty()) {
            return std::nullopt;
        }
        const Node& node = m_graph.nodes()[item.node];
        const Node& next = m_graph.nodes()[m_items[i + 1].node];
        if (node.op != Op::Slice || next.op != Op::Reshape || next.inputs[0] != node.outputs[0]) {
            return std::nullopt;
        }
        const SliceAttributes slice = attributesOf<SliceAttributes>(node.attributes);
        const Shape& from = m_graph.value(node.inputs[0]).type.shape;
        if (slice.axis != 1 || slice.length != 1 || m_graph.value(next.outputs[0]).type.shape.rank() != 2) {
            return std::nullopt;
        }
        const bool isLast = slice.begin + 1 == from[1] && from[1] > 1;
        return fmt::format("{}[:, {}]", textOf(node.inputs[0]), isLast ? -1 : slice.begin);
    }

    void writeItem(std::size_t i, ValueId output)
    {
        const ScopeItem& item = m_items[i];
        if (m_isWritten.contains(item.output)) {
            return;
        }
        if (const auto token = sharedToken(item)) {
            m_variables[item.output] = *token;
            return;
        }
        const auto taken = takenToken(i);
        const ValueId result = taken ? m_items[i + 1].output : item.output;
        m_isWritten.insert(result);
        const std::string expression = taken ? *taken : code(item);
        if (result == output) {
            m_text += indented("return " + expression, 2);
            m_hasReturned = true;
            return;
        }
        const std::string variable = variableFor(i, output);
        m_variables[result] = variable;
        m_text += indented(fmt::format("{} = {}", variable, expression), 2);
    }

    /// That of an operand which is read for the last time, or else a new one.
    std::string variableFor(std::size_t i, ValueId output)
    {
        static constexpr std::array names {"x", "y", "z", "u", "v", "w"};
        std::set<std::string> busy;
        for (const auto& [value, variable] : m_variables) {
            if (isNeededAfter(value, i, output)) {
                busy.insert(variable);
            }
        }
        std::set<std::string> free;
        for (const ValueId input : m_items[i].inputs) {
            const auto known = m_variables.find(input);
            if (known != m_variables.end() && !busy.contains(known->second)) {
                free.insert(known->second);
            }
        }
        for (const char* name : names) {
            if (free.contains(name)) {
                return name;
            }
        }
        for (const char* name : names) {
            if (!busy.contains(name)) {
                return name;
            }
        }
        return fmt::format("v{}", i);
    }

    const Graph& m_graph;
    const ModelScopes& m_scopes;
    std::string m_scope;
    const std::vector<bool>& m_isImage;
    std::vector<ScopeItem> m_items;
    std::map<ValueId, std::string> m_variables;
    std::set<ValueId> m_isWritten;
    std::string m_text;
    bool m_hasReturned = false;
};

class ModelWriter
{
public:
    ModelWriter(const Model& model, const Shape& sample)
        : m_model(model)
        , m_sample(sample)
        , m_scopes(model)
        , m_isImage(imageValues(model.graph))
    {
    }

    std::string write()
    {
        const std::string body = classBody("", m_model.input, m_model.output);
        std::string text = usesMath() ? "import math\n\n" : "";
        text += "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n";
        if (hasOp(Op::Attention)) {
            text += "\n\n" + attentionFunction();
        }
        return text + m_classes + "\n\nclass Model(nn.Module):\n" + body;
    }

private:
    [[nodiscard]] bool hasOp(Op op) const
    {
        return std::ranges::any_of(m_model.graph.nodes(), [op](const Node& node) { return node.op == op; });
    }

    [[nodiscard]] bool usesMath() const
    {
        return std::ranges::any_of(m_model.graph.nodes(), [](const Node& node) {
            return node.op == Op::ScaleMask && attributesOf<ScaleMaskAttributes>(node.attributes).causal;
        });
    }

    /// __init__ and forward of a scope; the classes that it needs go before.
    std::string classBody(const std::string& scope, ValueId input, ValueId output)
    {
        std::string text = indented("def __init__(self):", 1) + indented("super().__init__()", 2);
        for (const std::string& name : m_scopes.childrenOf(scope)) {
            text += indented(fmt::format("self.{} = {}", name, made(scope.empty() ? name : scope + "." + name, 2)), 2);
        }
        // The model declares its input flat, which the samples are not.
        const bool isFlat = scope.empty() && m_sample.rank() == 3 && m_model.graph.value(input).type.shape.rank() == 2;
        return text + "\n" + indented("def forward(self, x):", 1)
            + Body(m_model.graph, m_scopes, scope, m_isImage)
                  .write(input, output, isFlat ? flattenCode(m_model.graph, input, m_sample) : "");
    }

    /// What makes the module, or the weight, of a path.
    std::string made(const std::string& path, int depth)
    {
        if (const auto node = m_scopes.nodeOf(path)) {
            return moduleCode(m_model.graph, m_model.graph.nodes()[*node]);
        }
        if (const auto weight = m_scopes.weightOf(path)) {
            std::string sizes;
            for (const std::int64_t size : m_model.graph.value(*weight).type.shape.dims()) {
                sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size);
            }
            return fmt::format("nn.Parameter(torch.empty({}))", sizes);
        }
        if (m_scopes.kindOf(path) == ScopeKind::Class) {
            return classOf(path) + "()";
        }
        const bool isSequential = m_scopes.kindOf(path) == ScopeKind::Sequential;
        std::string parts;
        for (const std::string& name : m_scopes.childrenOf(path)) {
            const std::string part = made(path + "." + name, depth + 1);
            parts += isSequential ? indented(part + ",", depth + 1)
                                  : indented(fmt::format("\"{}\": {},", name, part), depth + 1);
        }
        const std::string end(static_cast<std::size_t>(depth) * 4, ' ');
        return isSequential ? fmt::format("nn.Sequential(\n{}{})", parts, end)
                            : fmt::format("nn.ModuleDict({{\n{}{}}})", parts, end);
    }

    /// The class of a scope; scopes that are written alike share one.
    std::string classOf(const std::string& scope)
    {
        const ScopeItem whole = m_scopes.whole(scope).value();
        const std::string body = classBody(scope, whole.inputs.front(), whole.output);
        if (const auto known = m_names.find(body); known != m_names.end()) {
            return known->second;
        }
        const std::string plain = classNameOf(scope);
        std::string name = plain;
        for (int i = 2; !m_taken.insert(name).second; ++i) {
            name = fmt::format("{}{}{}", plain, std::isdigit(static_cast<unsigned char>(plain.back())) ? "_" : "", i);
        }
        m_names.emplace(body, name);
        m_classes += fmt::format("\n\nclass {}(nn.Module):\n{}", name, body);
        return name;
    }

    const Model& m_model;
    const Shape& m_sample;
    ModelScopes m_scopes;
    std::vector<bool> m_isImage;
    std::map<std::string, std::string> m_names; ///< of classes, by their bodies
    std::set<std::string> m_taken {"Model"};
    std::string m_classes;
};

} // namespace

std::string modelCode(const Model& model, const Shape& sample)
{
    return ModelWriter(model, sample).write();
}

} // namespace mantissa
