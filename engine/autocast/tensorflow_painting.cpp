#include "engine/autocast/policy.h"

#include <algorithm>
#include <functional>

namespace mantissa {

namespace {

enum class Colour : std::uint8_t { Allow, Infer, Deny, Clear };

/// Ops that TensorFlow builds of several have the colour of the strictest.
Colour colourOf(Op op, DType lower)
{
    // The list of CPUs with BF16 lets means and sums follow their neighbours.
    const Colour mean = lower == DType::BFloat16 ? Colour::Infer : Colour::Deny;
    switch (op) {
    case Op::Linear:
    case Op::MatMul:
    case Op::Conv2d:
    case Op::Attention:
        return Colour::Allow;
    case Op::Relu:
    case Op::MaxPool2d:
    case Op::Embedding:
    case Op::Reshape:
    case Op::Permute:
    case Op::Concat:
    case Op::Slice:
    case Op::Expand:
        return Colour::Clear;
    case Op::Sum:
    case Op::Mean:
    case Op::GlobalAvgPool:
    case Op::GroupNorm:
    case Op::LayerNorm:
    case Op::RmsNorm:
        return mean;
    case Op::Exp:
    case Op::SoftmaxCrossEntropy:
    case Op::NllLoss:
    case Op::MseLoss:
    case Op::BceWithLogits:
        return Colour::Deny;
    default:
        return Colour::Infer;
    }
}

class Painter
{
public:
    Painter(const Graph& graph, DType lower)
        : m_graph(graph)
        , m_successors(graph.nodes().size())
        , m_predecessors(graph.nodes().size())
        , m_paint(graph.nodes().size(), Paint::None)
    {
        std::vector<std::size_t> producer(graph.values().size(), nobody);
        for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
            m_colours.push_back(colourOf(graph.nodes()[n].op, lower));
            for (const ValueId input : graph.nodes()[n].inputs) {
                if (producer[input] != nobody) {
                    m_successors[producer[input]].push_back(n);
                    m_predecessors[n].push_back(producer[input]);
                }
            }
            for (const ValueId output : graph.nodes()[n].outputs) {
                producer[output] = n;
            }
        }
    }

    std::vector<PrecisionClass> run()
    {
        paintWhere(Paint::Allowed, [this](std::size_t n) { return m_colours[n] == Colour::Allow; });
        deny();
        allowBetween();
        allowFollowers();
        allowClearNeighbours();
        std::vector<PrecisionClass> classes;
        for (std::size_t n = 0; n < m_paint.size(); ++n) {
            const bool isFixed = opDef(m_graph.nodes()[n].op).precision == PrecisionClass::Fixed;
            classes.push_back(isFixed              ? PrecisionClass::Fixed
                    : m_paint[n] == Paint::Allowed ? PrecisionClass::Lower
                                                   : PrecisionClass::Float32);
        }
        return classes;
    }

private:
    enum class Paint : std::uint8_t { None, Allowed, Denied };
    using Nodes = std::vector<bool>;
    using Test = std::function<bool(std::size_t)>;

    static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

    void paintWhere(Paint paint, const Test& test)
    {
        for (std::size_t n = 0; n < m_paint.size(); ++n) {
            if (test(n)) {
                m_paint[n] = paint;
            }
        }
    }

    [[nodiscard]] bool isPassable(std::size_t n) const
    {
        return m_paint[n] == Paint::None && (m_colours[n] == Colour::Infer || m_colours[n] == Colour::Clear);
    }

    /// Nodes that can be reached from those of `start` through nodes that pass `through`, themselves such nodes.
    static Nodes reach(const std::vector<std::vector<std::size_t>>& edges, const Test& start, const Test& through)
    {
        Nodes reached(edges.size(), false);
        std::vector<std::size_t> open;
        for (std::size_t n = 0; n < edges.size(); ++n) {
            if (start(n)) {
                open.push_back(n);
            }
        }
        while (!open.empty()) {
            const std::size_t from = open.back();
            open.pop_back();
            for (const std::size_t to : edges[from]) {
                if (!reached[to] && through(to)) {
                    reached[to] = true;
                    open.push_back(to);
                }
            }
        }
        return reached;
    }

    void deny()
    {
        const auto passable = [this](std::size_t n) { return isPassable(n); };
        const auto isTarget
            = [this](std::size_t n) { return m_colours[n] == Colour::Deny || m_colours[n] == Colour::Infer; };
        Nodes upstream = reach(m_predecessors, isTarget, passable);
        for (std::size_t n = 0; n < upstream.size(); ++n) {
            upstream[n] = upstream[n] || (isPassable(n) && isTarget(n));
        }
        paintWhere(Paint::Denied, [this](std::size_t n) { return m_colours[n] == Colour::Deny; });
        const Nodes denied = reach(
            m_successors, [this](std::size_t n) { return m_paint[n] == Paint::Denied; },
            [&upstream](std::size_t n) { return upstream[n]; });
        paintWhere(Paint::Denied, [&denied](std::size_t n) { return denied[n]; });
    }

    void allowBetween()
    {
        const auto passable = [this](std::size_t n) { return isPassable(n); };
        const auto isAllowed = [this](std::size_t n) { return m_paint[n] == Paint::Allowed; };
        const Nodes downstream = reach(m_successors, isAllowed, passable);
        const Nodes upstream = reach(m_predecessors, isAllowed, passable);
        paintWhere(Paint::Allowed, [&](std::size_t n) { return downstream[n] && upstream[n]; });
    }

    void allowFollowers()
    {
        for (std::size_t n = 0; n < m_paint.size(); ++n) {
            const bool follows = std::ranges::any_of(
                m_predecessors[n], [this](std::size_t before) { return m_paint[before] == Paint::Allowed; });
            if (follows && m_paint[n] == Paint::None && m_colours[n] == Colour::Infer) {
                m_paint[n] = Paint::Allowed;
            }
        }
    }

    void allowClearNeighbours()
    {
        const auto isAllowed = [this](std::size_t n) { return m_paint[n] == Paint::Allowed; };
        const auto isClear
            = [this](std::size_t n) { return m_paint[n] == Paint::None && m_colours[n] == Colour::Clear; };
        std::vector<std::vector<std::size_t>> both = m_successors;
        for (std::size_t n = 0; n < both.size(); ++n) {
            both[n].insert(both[n].end(), m_predecessors[n].begin(), m_predecessors[n].end());
        }
        const Nodes touching = reach(both, isAllowed, isClear);
        paintWhere(Paint::Allowed, [&touching](std::size_t n) { return touching[n]; });
    }

    const Graph& m_graph;
    std::vector<std::vector<std::size_t>> m_successors;
    std::vector<std::vector<std::size_t>> m_predecessors;
    std::vector<Colour> m_colours;
    std::vector<Paint> m_paint;
};

} // namespace

std::vector<PrecisionClass> paintTensorFlow(const Graph& forward, DType lower)
{
    return Painter(forward, lower).run();
}

} // namespace mantissa
