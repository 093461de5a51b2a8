#include "engine/pytorch/model_scopes.h"

#include "engine/core/error.h"
#include "engine/pytorch/op_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace mantissa {

namespace {

// What torch.nn.Module and its dictionary call something else, and Python's keywords.
constexpr std::array taken {"add_module", "and", "apply", "as", "assert", "async", "await", "bfloat16", "break",
    "buffers", "children", "class", "clear", "compile", "continue", "cpu", "cuda", "def", "del", "double",
    "dump_patches", "elif", "else", "eval", "except", "extra_repr", "False", "finally", "float", "for", "forward",
    "from", "get_buffer", "get_extra_state", "get_parameter", "get_submodule", "global", "half", "if", "import", "in",
    "ipu", "is", "items", "keys", "lambda", "load_state_dict", "modules", "mtia", "named_buffers", "named_children",
    "named_modules", "named_parameters", "None", "nonlocal", "not", "or", "parameters", "pass", "pop", "raise",
    "register_buffer", "register_module", "register_parameter", "requires_grad_", "return", "set_extra_state",
    "set_submodule", "share_memory", "state_dict", "to", "to_empty", "train", "training", "True", "try", "type",
    "update", "values", "while", "with", "xpu", "yield", "zero_grad"};

bool isIdentifier(const std::string& name)
{
    const auto isPart = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && !name.starts_with("__")
        && std::ranges::all_of(name, isPart);
}

bool isNumber(const std::string& name)
{
    return std::ranges::all_of(name, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

std::string parentOf(const std::string& path)
{
    const std::size_t dot = path.rfind('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string inside(const std::string& scope, const std::string& name)
{
    return scope.empty() ? name : scope + "." + name;
}

bool liesIn(const std::string& path, const std::string& scope)
{
    return scope.empty() || path == scope || path.starts_with(scope + ".");
}

/// The first part of a path behind the scope that it lies in.
std::string nextPart(const std::string& scope, const std::string& path)
{
    const std::size_t from = scope.empty() ? 0 : scope.size() + 1;
    return path.substr(from, path.find('.', from) - from);
}

bool isWeight(const Graph& graph, ValueId value)
{
    const ValueKind kind = graph.value(value).kind;
    return kind == ValueKind::Parameter || kind == ValueKind::Buffer;
}

} // namespace

ModelScopes::ModelScopes(const Model& model)
    : m_graph(model.graph)
    , m_nodeCount(0)
    , m_output(model.output)
{
    m_kinds[""] = ScopeKind::Class;
    m_children[""] = {};
    const std::vector<Node>& nodes = m_graph.nodes();
    const auto last = std::ranges::find_if(
        nodes, [this](const Node& node) { return !node.outputs.empty() && node.outputs.front() == m_output; });
    m_nodeCount = static_cast<std::size_t>(last - nodes.begin()) + 1;
    std::set<ValueId> ofModules;
    for (std::size_t i = 0; i < m_nodeCount; ++i) {
        const std::string module = moduleOf(nodes[i]);
        if (!module.empty()) {
            m_leaves.emplace(module, i);
            std::ranges::copy_if(nodes[i].inputs, std::inserter(ofModules, ofModules.end()),
                [this](ValueId input) { return isWeight(m_graph, input); });
            addPath(module);
        }
        for (const ValueId input : nodes[i].inputs) {
            const std::string& name = m_graph.value(input).name;
            if (isWeight(m_graph, input) && !ofModules.contains(input) && !m_weights.contains(name)) {
                m_weights.emplace(name, input);
                addPath(name);
            }
        }
    }
    for (std::size_t i = 0; i < m_nodeCount; ++i) {
        m_nodeScopes.push_back(scopeOf(nodes[i]));
    }
    // Those that lie deeper first: whether a scope is a chain depends on what lies in it.
    std::vector<std::string> scopes;
    for (const auto& [scope, kind] : m_kinds) {
        scopes.push_back(scope);
    }
    std::ranges::sort(scopes, std::greater {}, [](const std::string& scope) { return std::ranges::count(scope, '.'); });
    for (const std::string& scope : scopes) {
        if (!scope.empty()) {
            const std::vector<std::string>& names = childrenOf(scope);
            m_kinds[scope] = isChain(scope)                                ? ScopeKind::Sequential
                : whole(scope) && std::ranges::all_of(names, isIdentifier) ? ScopeKind::Class
                                                                           : ScopeKind::Dictionary;
        }
    }
    checkNames();
}

void ModelScopes::addPath(const std::string& path)
{
    for (std::string name = path; !name.empty(); name = parentOf(name)) {
        const std::string scope = parentOf(name);
        const std::string part = nextPart(scope, name);
        m_kinds.emplace(scope, ScopeKind::Dictionary);
        std::vector<std::string>& names = m_children[scope];
        if (std::ranges::find(names, part) == names.end()) {
            names.push_back(part);
        }
    }
}

std::string ModelScopes::moduleOf(const Node& node) const
{
    if (moduleCode(m_graph, node).empty()) {
        return {};
    }
    const std::string own = node.name + ".weight";
    const bool hasWeight = std::ranges::any_of(
        node.inputs, [&](ValueId input) { return isWeight(m_graph, input) && m_graph.value(input).name == own; });
    return hasWeight || node.op == Op::Dropout ? node.name : std::string();
}

std::string ModelScopes::scopeOf(const Node& node) const
{
    const std::string module = moduleOf(node);
    for (std::string scope = module.empty() ? node.name : parentOf(module); !scope.empty(); scope = parentOf(scope)) {
        if (m_kinds.contains(scope)) {
            return scope;
        }
    }
    return {};
}

std::optional<ScopeItem> ModelScopes::whole(const std::string& scope) const
{
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < m_nodeCount; ++i) {
        if (liesIn(m_nodeScopes[i], scope)) {
            own.push_back(i);
        }
    }
    if (own.empty() || own.back() - own.front() + 1 != own.size()) {
        return std::nullopt;
    }
    std::set<ValueId> made;
    std::set<ValueId> read;
    for (const std::size_t i : own) {
        for (const ValueId input : m_graph.nodes()[i].inputs) {
            if (isWeight(m_graph, input)) {
                if (!liesIn(m_graph.value(input).name, scope)) {
                    return std::nullopt;
                }
            } else if (!made.contains(input) && m_graph.value(input).kind != ValueKind::StepInput) {
                read.insert(input);
            }
        }
        made.insert(m_graph.nodes()[i].outputs.begin(), m_graph.nodes()[i].outputs.end());
    }
    std::set<ValueId> given;
    for (std::size_t i = own.back() + 1; i < m_nodeCount; ++i) {
        std::ranges::copy_if(m_graph.nodes()[i].inputs, std::inserter(given, given.end()),
            [&made](ValueId input) { return made.contains(input); });
    }
    if (made.contains(m_output)) {
        given.insert(m_output);
    }
    if (read.size() != 1 || given.size() != 1) {
        return std::nullopt;
    }
    return ScopeItem {.scope = scope, .node = own.front(), .inputs = {*read.begin()}, .output = *given.begin()};
}

bool ModelScopes::isChain(const std::string& scope) const
{
    const std::vector<std::string>& names = childrenOf(scope);
    const auto item = whole(scope);
    if (!item) {
        return false;
    }
    ValueId x = item->inputs.front();
    std::size_t count = 0;
    for (const ScopeItem& part : itemsOf(scope)) {
        const std::string wanted = inside(scope, std::to_string(count++));
        const Node& node = m_graph.nodes()[part.node];
        const bool isModule = part.scope.empty() ? moduleOf(node) == wanted : part.scope == wanted;
        // A module that needs another order of the channels is no mere call.
        const bool isPlain = !part.scope.empty() || node.op == Op::Embedding
            || expressionCode({.graph = m_graph,
                   .node = node,
                   .isImage = m_graph.value(node.inputs[0]).type.shape.rank() == 4,
                   .module = "m",
                   .operands = std::vector<std::string>(node.inputs.size(), "x")})
                == "m(x)";
        if (!isModule || !isPlain || part.inputs.empty() || part.inputs.front() != x) {
            return false;
        }
        x = part.output;
    }
    return count == names.size() && x == item->output;
}

std::optional<std::size_t> ModelScopes::nodeOf(const std::string& path) const
{
    const auto found = m_leaves.find(path);
    return found == m_leaves.end() ? std::nullopt : std::optional(found->second);
}

std::optional<ValueId> ModelScopes::weightOf(const std::string& path) const
{
    const auto found = m_weights.find(path);
    return found == m_weights.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ScopeItem> ModelScopes::itemsOf(const std::string& scope) const
{
    std::vector<ScopeItem> items;
    for (std::size_t i = 0; i < m_nodeCount; ++i) {
        if (!liesIn(m_nodeScopes[i], scope)) {
            continue;
        }
        std::string called;
        for (std::string path = m_nodeScopes[i]; path != scope; path = parentOf(path)) {
            called = kindOf(path) != ScopeKind::Dictionary ? path : called; // the outermost that runs by itself
        }
        if (called.empty()) {
            const Node& node = m_graph.nodes()[i];
            items.push_back({.scope = {}, .node = i, .inputs = node.inputs, .output = node.outputs.front()});
        } else if (items.empty() || items.back().scope != called) {
            items.push_back(*whole(called));
        }
    }
    return items;
}

std::string ModelScopes::reference(const std::string& scope, const std::string& path) const
{
    std::string code = "self";
    for (std::string at = scope; at != path;) {
        const std::string part = nextPart(at, path);
        const bool isAttribute = !isScope(at) || kindOf(at) == ScopeKind::Class;
        code += isAttribute                       ? "." + part
            : kindOf(at) == ScopeKind::Sequential ? "[" + part + "]"
                                                  : "[\"" + part + "\"]";
        at = inside(at, part);
    }
    return code;
}

void ModelScopes::checkNames() const
{
    for (const auto& [scope, names] : m_children) {
        for (const std::string& name : names) {
            const bool isAttribute = kindOf(scope) == ScopeKind::Class;
            const bool isTaken = std::ranges::find(taken, name) != taken.end();
            if ((isAttribute && !isIdentifier(name)) || (isTaken && !isNumber(name))) {
                throw Error(ErrorCode::InvalidArgument,
                    fmt::format("model.layers: \"{}\" in the name {} {}; give the layer another name", name,
                        inside(scope, name),
                        isTaken ? "is something else to a torch.nn.Module" : "cannot be an attribute in Python"));
            }
        }
        if (kindOf(scope) == ScopeKind::Dictionary) {
            for (const std::string& name : names) {
                if (m_weights.contains(inside(scope, name))) {
                    throw Error(ErrorCode::InvalidArgument,
                        fmt::format("model.layers: the weight {} lies among layers of other names, where a "
                                    "torch.nn.Module has no place for it; name the layer without a dot, and give a "
                                    "tied layer no bias",
                            inside(scope, name)));
                }
            }
        }
    }
}

} // namespace mantissa
