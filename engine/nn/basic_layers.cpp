// Linear layers, activations, dropout, flatten.
#include "engine/nn/layer_functions.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace mantissa {

namespace {

struct ActivationRow
{
    const char* name;
    Op op;
    bool tanhForm;
};

constexpr std::array activationTable {
    ActivationRow {"relu", Op::Relu, false},
    ActivationRow {"gelu", Op::Gelu, false},
    ActivationRow {"gelu_tanh", Op::Gelu, true},
    ActivationRow {"silu", Op::Silu, false},
    ActivationRow {"tanh", Op::Tanh, false},
    ActivationRow {"sigmoid", Op::Sigmoid, false},
};

} // namespace

const std::vector<std::string>& activationNames()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> list;
        for (const ActivationRow& row : activationTable) {
            list.emplace_back(row.name);
        }
        return list;
    }();
    return names;
}

namespace layers {

std::optional<double> initStdOf(const Layer& layer)
{
    return layer.has("init_std") ? std::optional(layer.number("init_std")) : std::nullopt;
}

ValueId appendLinear(LayerBuilder& builder, const std::string& name, ValueId x, std::int64_t features, bool hasBias,
    std::optional<double> initStd)
{
    const std::int64_t inputs = builder.shapeOf(x).back();
    std::vector<ValueId> operands {
        x, builder.parameter(name + ".weight", {features, inputs}, builder.weightInitializer(inputs, initStd))};
    if (hasBias) {
        // torch.nn.Linear's bias is uniform too; where weights are normal, as in GPT-2, it is zero.
        const Initializer initial = initStd
            ? Initializer {}
            : Initializer {Initializer::Kind::Uniform, static_cast<float>(1 / std::sqrt(static_cast<double>(inputs)))};
        operands.push_back(builder.parameter(name + ".bias", {features}, initial));
    }
    return builder.node(Op::Linear, name, {}, std::move(operands));
}

ValueId linear(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireFloats(x);
    if (builder.shapeOf(x).rank() < 2) {
        builder.failShape("needs [batch, ..., features]", x);
    }
    const std::int64_t features = layer.has("features") ? layer.integer("features") : builder.task().outputs;
    if (!layer.has("tied")) {
        return appendLinear(builder, builder.name(), x, features, layer.flag("bias"), initStdOf(layer));
    }
    const std::string source = layer.text("tied") + ".weight";
    const auto weight = builder.parameterNamed(source);
    if (!weight) {
        LayerBuilder::fail(fmt::format("is tied to {}, but no earlier layer has that weight", source));
    }
    if (builder.shapeOf(*weight) != Shape {features, builder.shapeOf(x).back()}) {
        builder.failShape(fmt::format("is tied to {}, whose shape {} must be [features, width] = [{}, width of x]",
                              source, builder.shapeOf(*weight).text(), features),
            x);
    }
    std::vector<ValueId> operands {x, *weight};
    if (layer.flag("bias")) {
        operands.push_back(builder.parameter(builder.name() + ".bias", {features}, {}));
    }
    return builder.node(Op::Linear, builder.name(), {}, std::move(operands));
}

ValueId activation(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireFloats(x);
    for (const ActivationRow& row : activationTable) {
        if (row.name == layer.kind().name) {
            const Attributes attributes = row.op == Op::Gelu ? Attributes(GeluAttributes {row.tanhForm}) : Attributes();
            return builder.node(row.op, builder.name(), attributes, {x});
        }
    }
    LayerBuilder::fail("there is no activation " + layer.kind().name);
}

ValueId dropout(LayerBuilder& builder, const Layer& layer, ValueId x)
{
    builder.requireFloats(x);
    return builder.dropout(builder.name(), layer.number("p"), x);
}

ValueId flatten(LayerBuilder& builder, const Layer& /*layer*/, ValueId x)
{
    builder.requireFloats(x);
    if (builder.isInput(x)) {
        builder.flattenInput();
        return x;
    }
    const Shape& shape = builder.shapeOf(x);
    return builder.reshape(builder.name(), x, {shape[0], shape.elements() / shape[0]});
}

} // namespace layers

} // namespace mantissa
