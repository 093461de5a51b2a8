/// Appends a list of layers to a model's graph: names, parameters, blocks, and errors that name the layer.
#pragma once

#include "engine/nn/layer.h"
#include "engine/nn/model.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace mantissa {

/// Names: a layer without a "name" is called after its kind and counted: conv1, conv2. A block with a name puts it, and
/// for "repeat" the number of the repetition, before those of its layers ("layer1.0.conv1"); one without adds nothing.
class LayerBuilder
{
public:
    /// `path` is where the layers stand in the experiment: "model.layers".
    LayerBuilder(Model& model, const ModelTask& task, double initGain, std::string path);

    /// Appends a list that layersProblem() has accepted and returns its output, shaped as the task wants it.
    /// Throws Error (InvalidArgument or ShapeMismatch).
    ValueId appendModel(const nlohmann::json& layers, ValueId x);

    // --- for the functions of layerKinds() ---

    [[nodiscard]] const ModelTask& task() const { return m_task; }

    [[nodiscard]] const std::string& name() const { return m_name; } ///< of the layer being appended

    [[nodiscard]] const TensorType& typeOf(ValueId value) const { return m_model.graph.value(value).type; }

    [[nodiscard]] const Shape& shapeOf(ValueId value) const { return typeOf(value).shape; }

    [[nodiscard]] bool isInput(ValueId value) const { return value == m_model.input; }

    ValueId parameter(const std::string& name, Shape shape, Initializer initial);
    ValueId buffer(const std::string& name, Shape shape, float initial);
    /// The weight of a layer appended before: "tok_embed.weight".
    [[nodiscard]] std::optional<ValueId> parameterNamed(const std::string& name) const;
    /// The initializer of a weight whose sums have `fanIn` terms: normal with `initStd` if there is one, else
    /// PyTorch's kaiming_uniform(a = sqrt 5), which is uniform within 1 / sqrt(fanIn). The model's gain multiplies it.
    [[nodiscard]] Initializer weightInitializer(std::int64_t fanIn, std::optional<double> initStd) const;

    /// Appends a node; its outputs are named after it: ".out", then those of `moreOutputs`. Returns output 0.
    ValueId node(Op op, const std::string& name, Attributes attributes, std::vector<ValueId> inputs,
        const std::vector<std::string>& moreOutputs = {});
    ValueId dropout(const std::string& name, double probability, ValueId x);
    ValueId reshape(const std::string& name, ValueId x, Shape shape);
    /// Flattens the model's input by declaring it flat.
    void flattenInput();

    /// Appends layers that the present one stands for; its name goes before theirs.
    ValueId appendParts(const nlohmann::json& layers, ValueId x);

    void requireFloats(ValueId x) const;
    void requireImages(ValueId x) const; ///< fp32 [batch, height, width, channels]
    void requireSequence(ValueId x) const; ///< fp32 [batch, tokens, width]
    /// Throws Error (ShapeMismatch): the present layer `needs`, but gets x.
    [[noreturn]] void failShape(const std::string& needs, ValueId x) const;
    [[noreturn]] static void fail(const std::string& text);

private:
    ValueId appendList(const nlohmann::json& layers, const std::string& path, ValueId x);
    ValueId appendEntry(const nlohmann::json& entry, const std::string& path, ValueId x);
    ValueId appendLayer(const LayerKind& kind, const nlohmann::json& entry, ValueId x);
    ValueId appendResidual(const nlohmann::json& entry, const std::string& path, ValueId x);
    ValueId appendRepeat(const nlohmann::json& entry, const std::string& path, ValueId x);
    /// What `append` appends is a block of the model, unless it is part of one.
    template <typename Append> ValueId asBlock(Append append);
    std::string takeName(const nlohmann::json& entry, const std::string& prefix);
    void checkSize(ValueId value) const;

    Model& m_model;
    const ModelTask& m_task;
    double m_initGain;
    std::string m_path; ///< where the present layer stands
    std::string m_name;
    std::string m_scope; ///< "layer1.0."
    bool m_isGenerated; ///< the present list is not the one in the experiment: places in it say nothing
    int m_block = -1; ///< Node::block of what is appended
    int m_blockCount = 0;
    std::map<std::string, int> m_counts; ///< of unnamed layers, by scope and prefix
    std::set<std::string> m_names;
    std::map<std::string, ValueId> m_parameters;
    int m_layerCount = 0;
};

} // namespace mantissa
