#include "engine/nn/layer_builder.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace mantissa {

namespace {

constexpr std::int64_t mostNumbers = std::int64_t {1} << 38; // so that sums of sizes cannot overflow
constexpr int mostLayers = 10'000; // repeats within repeats multiply

std::string textOf(const Value& value)
{
    return fmt::format("{} {} {}", value.name, nameOf(value.type.dtype), value.type.shape.text());
}

} // namespace

LayerBuilder::LayerBuilder(Model& model, const ModelTask& task, double initGain, std::string path)
    : m_model(model)
    , m_task(task)
    , m_initGain(initGain)
    , m_path(std::move(path))
    , m_isGenerated(m_path != "model.layers")
    , m_names {"input", "target", "loss", "dropout_counter", "log_probabilities"}
{
}

// --- blocks ---

ValueId LayerBuilder::appendModel(const nlohmann::json& layers, ValueId x)
{
    const std::string path = m_path; // which changes from layer to layer
    try {
        x = appendList(layers, path, x);
        const Shape wanted = m_task.perToken ? Shape {m_task.batch, m_task.sample.shape[0], m_task.outputs}
                                             : Shape {m_task.batch, m_task.outputs};
        if (shapeOf(x) != wanted || typeOf(x).dtype != DType::Float32) {
            throw Error(ErrorCode::ShapeMismatch,
                fmt::format("the model's output must be fp32 {} {}, but its last layer gives {}", wanted.text(),
                    m_task.perToken ? "(batch, tokens, outputs)" : "(batch, outputs)", textOf(m_model.graph.value(x))));
        }
        if (m_model.parameters.empty()) {
            fail("this is the last layer, and none has weights that could be trained");
        }
        return x;
    } catch (const Error& error) {
        // The graph's own messages begin with the node's name, which stands before them here already.
        std::string text = error.what();
        if (const std::size_t end = text.find("] "); text.starts_with('[') && end != std::string::npos) {
            text.erase(0, end + 2);
        }
        throw Error(error.code(), fmt::format("{}{}: {}", m_path, m_name.empty() ? "" : " (" + m_name + ")", text));
    }
}

ValueId LayerBuilder::appendList(const nlohmann::json& layers, const std::string& path, ValueId x)
{
    for (std::size_t i = 0; i < layers.size(); ++i) {
        x = appendEntry(layers[i], m_isGenerated ? path : fmt::format("{}[{}]", path, i), x);
    }
    return x;
}

ValueId LayerBuilder::appendEntry(const nlohmann::json& entry, const std::string& path, ValueId x)
{
    m_path = path;
    m_name.clear();
    if (++m_layerCount > mostLayers) {
        fail(fmt::format("makes more than {} layers", mostLayers));
    }
    const nlohmann::json& kind = entry.is_string() ? entry : entry.value("kind", nlohmann::json());
    if (!kind.is_null()) {
        const LayerKind& row = *findLayerKind(kind.get<std::string>());
        m_name = takeName(entry, row.prefix);
        return appendLayer(row, entry, x);
    }
    const std::string outer = m_scope;
    if (entry.contains("name")) {
        m_name = takeName(entry, "");
        m_scope = m_name + ".";
    }
    if (entry.contains("residual")) {
        x = asBlock([&] { return appendResidual(entry, path, x); });
    } else if (entry.contains("repeat")) {
        x = appendRepeat(entry, path, x);
    } else {
        x = asBlock([&] { return appendList(entry.at("sequence"), m_isGenerated ? path : path + ".sequence", x); });
    }
    m_scope = outer;
    return x;
}

ValueId LayerBuilder::appendLayer(const LayerKind& kind, const nlohmann::json& entry, ValueId x)
{
    const ValueId y = kind.build(*this, Layer(kind, entry), x);
    checkSize(y);
    return y;
}

ValueId LayerBuilder::appendResidual(const nlohmann::json& entry, const std::string& path, ValueId x)
{
    const ValueId branch = appendList(entry.at("residual"), m_isGenerated ? path : path + ".residual", x);
    const ValueId shortcut = entry.contains("shortcut")
        ? appendList(entry.at("shortcut"), m_isGenerated ? path : path + ".shortcut", x)
        : x;
    m_path = path;
    m_name = takeName({}, "add");
    if (typeOf(branch) != typeOf(shortcut)) {
        throw Error(ErrorCode::ShapeMismatch,
            fmt::format("the block gives {}, but its shortcut {}; they are added, so their shapes must be equal{}",
                textOf(m_model.graph.value(branch)), textOf(m_model.graph.value(shortcut)),
                entry.contains("shortcut") ? "" : ": add a \"shortcut\" that changes the shape alike"));
    }
    return node(Op::Add, m_name, {}, {branch, shortcut});
}

ValueId LayerBuilder::appendRepeat(const nlohmann::json& entry, const std::string& path, ValueId x)
{
    const std::string outer = m_scope;
    const auto times = entry.at("repeat").get<std::int64_t>();
    for (std::int64_t i = 0; i < times; ++i) {
        if (entry.contains("name")) {
            m_scope = outer + std::to_string(i) + ".";
        }
        x = asBlock([&] { return appendList(entry.at("layers"), m_isGenerated ? path : path + ".layers", x); });
    }
    return x;
}

template <typename Append> ValueId LayerBuilder::asBlock(Append append)
{
    const int outer = m_block;
    if (outer < 0) {
        m_block = m_blockCount++;
    }
    const ValueId y = append();
    m_block = outer;
    return y;
}

ValueId LayerBuilder::appendParts(const nlohmann::json& layers, ValueId x)
{
    const std::string outer = std::exchange(m_scope, m_name + ".");
    const bool wasGenerated = std::exchange(m_isGenerated, true);
    const std::string path = m_path;
    x = asBlock([&] { return appendList(layers, path, x); });
    m_scope = outer;
    m_isGenerated = wasGenerated;
    return x;
}

// --- names ---

std::string LayerBuilder::takeName(const nlohmann::json& entry, const std::string& prefix)
{
    if (entry.is_object() && entry.contains("name")) {
        std::string name = m_scope + entry.at("name").get<std::string>();
        if (!m_names.insert(name).second) {
            fail(fmt::format("\"{}\" is the name of an earlier layer; each needs its own", name));
        }
        return name;
    }
    std::string name;
    do {
        name = fmt::format("{}{}{}", m_scope, prefix, ++m_counts[m_scope + prefix]);
    } while (!m_names.insert(name).second);
    return name;
}

// --- values ---

ValueId LayerBuilder::parameter(const std::string& name, Shape shape, Initializer initial)
{
    const ValueId id = m_model.graph.addValue({name, {DType::Float32, std::move(shape)}, ValueKind::Parameter});
    checkSize(id);
    m_model.parameters.push_back({id, initial});
    m_parameters.emplace(name, id);
    return id;
}

ValueId LayerBuilder::buffer(const std::string& name, Shape shape, float initial)
{
    const ValueId id = m_model.graph.addValue({name, {DType::Float32, std::move(shape)}, ValueKind::Buffer});
    m_model.buffers.push_back({id, {Initializer::Kind::Constant, initial}});
    return id;
}

std::optional<ValueId> LayerBuilder::parameterNamed(const std::string& name) const
{
    const auto found = m_parameters.find(name);
    return found == m_parameters.end() ? std::nullopt : std::optional(found->second);
}

Initializer LayerBuilder::weightInitializer(std::int64_t fanIn, std::optional<double> initStd) const
{
    if (initStd) {
        return {Initializer::Kind::Normal, static_cast<float>(*initStd * m_initGain)};
    }
    return {Initializer::Kind::Uniform, static_cast<float>(1 / std::sqrt(static_cast<double>(fanIn)) * m_initGain)};
}

ValueId LayerBuilder::node(Op op, const std::string& name, Attributes attributes, std::vector<ValueId> inputs,
    const std::vector<std::string>& moreOutputs)
{
    std::vector<std::string> outputs {name + ".out"};
    for (const std::string& suffix : moreOutputs) {
        outputs.push_back(name + suffix);
    }
    return m_model.graph.append({.op = op,
                                    .name = name,
                                    .attributes = std::move(attributes),
                                    .inputs = std::move(inputs),
                                    .outputs = {},
                                    .block = m_block},
        outputs)[0];
}

ValueId LayerBuilder::dropout(const std::string& name, double probability, ValueId x)
{
    if (!m_task.training || probability <= 0) {
        return x;
    }
    if (!m_model.hasDropout) {
        m_model.dropoutCounter = m_model.graph.addValue({"dropout_counter", {DType::Int32, {}}, ValueKind::StepInput});
        m_model.hasDropout = true;
    }
    const std::int64_t elementsPerSample = shapeOf(x).elements() / m_task.batch;
    const DropoutAttributes attributes {static_cast<float>(probability), m_task.seed,
        randomStream(RandomPurpose::Dropout, name), static_cast<std::uint64_t>(m_task.firstSample * elementsPerSample)};
    return node(Op::Dropout, name, attributes, {x, m_model.dropoutCounter}, {".mask"});
}

ValueId LayerBuilder::reshape(const std::string& name, ValueId x, Shape shape)
{
    return shapeOf(x) == shape ? x : node(Op::Reshape, name, ReshapeAttributes {std::move(shape)}, {x});
}

void LayerBuilder::flattenInput()
{
    Shape& shape = m_model.graph.value(m_model.input).type.shape;
    shape = {m_task.batch, m_task.sample.shape.elements()};
}

// --- checks ---

void LayerBuilder::requireFloats(ValueId x) const
{
    if (typeOf(x).dtype != DType::Float32) {
        failShape("works on numbers (token ids go through an embedding first)", x);
    }
}

void LayerBuilder::requireImages(ValueId x) const
{
    if (typeOf(x).dtype != DType::Float32 || shapeOf(x).rank() != 4) {
        failShape("needs images [batch, height, width, channels]", x);
    }
}

void LayerBuilder::requireSequence(ValueId x) const
{
    if (typeOf(x).dtype != DType::Float32 || shapeOf(x).rank() != 3) {
        failShape("needs sequences [batch, tokens, width]", x);
    }
}

void LayerBuilder::failShape(const std::string& needs, ValueId x) const
{
    throw Error(ErrorCode::ShapeMismatch, fmt::format("{}, but gets {}", needs, textOf(m_model.graph.value(x))));
}

void LayerBuilder::fail(const std::string& text)
{
    throw Error(ErrorCode::InvalidArgument, text);
}

void LayerBuilder::checkSize(ValueId value) const
{
    const std::int64_t numbers = shapeOf(value).elements();
    if (numbers > mostNumbers) {
        fail(fmt::format("{} {} has {} numbers; at most {} are supported", m_model.graph.value(value).name,
            shapeOf(value).text(), numbers, mostNumbers));
    }
}

} // namespace mantissa
