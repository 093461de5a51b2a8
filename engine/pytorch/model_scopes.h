/// Which modules a model's names make: "blocks.0.attn.qkv" lies in "blocks.0.attn", which lies in "blocks.0".
#pragma once

#include "engine/nn/model.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

enum class ScopeKind : std::uint8_t {
    Class, ///< a module of its own, whose forward() runs the scope's nodes
    Sequential, ///< one module after the other, numbered from 0
    Dictionary, ///< holds modules that a scope around it runs
};

/// A part of the model's nodes: one, or all those of a scope.
struct ScopeItem
{
    std::string scope {}; ///< the scope that is run as one; empty: a node
    std::size_t node = 0; ///< the node, or the scope's first
    std::vector<ValueId> inputs {}; ///< without weights, for a scope; the node's operands otherwise
    ValueId output = 0;
};

class ModelScopes
{
public:
    /// Throws Error (InvalidArgument) for a name that no Python module can have.
    explicit ModelScopes(const Model& model);

    /// The model itself is the scope "".
    [[nodiscard]] ScopeKind kindOf(const std::string& scope) const { return m_kinds.at(scope); }

    [[nodiscard]] bool isScope(const std::string& path) const { return m_kinds.contains(path); }

    /// The parts of what lies directly in a scope's name, modules first met first: "fc1".
    [[nodiscard]] const std::vector<std::string>& childrenOf(const std::string& scope) const
    {
        return m_children.at(scope);
    }

    /// The node whose weights a module of that path holds, or that is a dropout; nothing: it is a scope or a weight.
    [[nodiscard]] std::optional<std::size_t> nodeOf(const std::string& path) const;
    /// A weight that is no module's: a class token. By its path.
    [[nodiscard]] std::optional<ValueId> weightOf(const std::string& path) const;

    /// What runs in a scope, in order.
    [[nodiscard]] std::vector<ScopeItem> itemsOf(const std::string& scope) const;

    /// A scope as one item; nothing unless its nodes stand together, read one value from outside and give one.
    [[nodiscard]] std::optional<ScopeItem> whole(const std::string& scope) const;

    /// "self.blocks[0].norm1", for a path in `scope`.
    [[nodiscard]] std::string reference(const std::string& scope, const std::string& path) const;

    /// A module of its own, or empty.
    [[nodiscard]] std::string moduleOf(const Node& node) const;

private:
    void addPath(const std::string& path);
    [[nodiscard]] std::string scopeOf(const Node& node) const;
    [[nodiscard]] bool isChain(const std::string& scope) const;
    void checkNames() const;

    const Graph& m_graph;
    std::size_t m_nodeCount; ///< those of the model, without the loss
    ValueId m_output;
    std::map<std::string, ScopeKind> m_kinds;
    std::map<std::string, std::vector<std::string>> m_children; ///< by scope
    std::map<std::string, std::size_t> m_leaves;
    std::map<std::string, ValueId> m_weights;
    std::vector<std::string> m_nodeScopes;
};

} // namespace mantissa
