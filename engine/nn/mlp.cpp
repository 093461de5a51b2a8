#include "engine/nn/mlp.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

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

ValueId appendLinear(Model& model, const std::string& name, ValueId x, std::int64_t outputs, double initGain)
{
    const std::int64_t inputs = model.graph.value(x).type.shape[1];
    const double bound = 1 / std::sqrt(static_cast<double>(inputs));
    const auto parameter = [&model, &name](const char* part, Shape shape, double limit) {
        const ValueId id
            = model.graph.addValue({name + part, {DType::Float32, std::move(shape)}, ValueKind::Parameter});
        model.parameters.push_back({id, static_cast<float>(limit)});
        return id;
    };
    const ValueId weight = parameter(".weight", {outputs, inputs}, bound * initGain);
    const ValueId bias = parameter(".bias", {outputs}, bound);
    return model.graph.append(
        {.op = Op::Linear, .name = name, .attributes = {}, .inputs = {x, weight, bias}, .outputs = {}},
        {name + ".out"})[0];
}

ValueId appendActivation(Model& model, const std::string& name, const std::string& kind, ValueId x)
{
    for (const ActivationRow& row : activationTable) {
        if (row.name == kind) {
            Attributes attributes;
            if (row.op == Op::Gelu) {
                attributes = GeluAttributes {row.tanhForm};
            }
            return model.graph.append(
                {.op = row.op, .name = name, .attributes = attributes, .inputs = {x}, .outputs = {}},
                {name + ".out"})[0];
        }
    }
    throw Error(ErrorCode::InvalidArgument, fmt::format("model.activation: there is no \"{}\".", kind));
}

ValueId appendDropout(Model& model, const std::string& name, double probability, std::uint64_t seed, ValueId x)
{
    if (!model.hasDropout) {
        model.dropoutCounter = model.graph.addValue({"dropout_counter", {DType::Int32, {}}, ValueKind::StepInput});
        model.hasDropout = true;
    }
    const DropoutAttributes attributes {
        static_cast<float>(probability), seed, randomStream(RandomPurpose::Dropout, name)};
    return model.graph.append(
        {.op = Op::Dropout, .name = name, .attributes = attributes, .inputs = {x, model.dropoutCounter}, .outputs = {}},
        {name + ".out", name + ".mask"})[0];
}

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

ValueId appendMlp(Model& model, const ModelConfig& config, const ModelTask& task)
{
    ValueId x = model.input;
    for (std::size_t i = 0; i < config.hidden.size(); ++i) {
        const std::string number = std::to_string(i + 1);
        x = appendLinear(model, "fc" + number, x, config.hidden[i], config.initGain);
        x = appendActivation(model, "act" + number, config.activation, x);
        if (task.training && config.dropout > 0) {
            x = appendDropout(model, "drop" + number, config.dropout, task.seed, x);
        }
    }
    return appendLinear(model, "fc" + std::to_string(config.hidden.size() + 1), x, task.outputs, config.initGain);
}

} // namespace mantissa
