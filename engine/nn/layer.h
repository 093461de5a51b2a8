/// Layers as JSON: the kinds, the keys that each takes, and a checked layer's values.
#pragma once

#include "engine/graph/graph.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

class LayerBuilder;
class Layer;

enum class KeyType : std::uint8_t {
    Integer,
    Pair, ///< an integer, or [height, width]
    Number,
    Flag,
    Choice,
    Name, ///< of another layer
};

struct LayerKey
{
    std::string name;
    KeyType type;
    nlohmann::json fallback; ///< discarded: the key must be given; null: it may be missing
    double low = 0; ///< of an integer, each of a pair, or a number
    double high = 0;
    std::vector<std::string> choices {};
    bool highIncluded = true;
};

struct LayerKind
{
    std::string name; ///< "conv2d"
    std::string prefix; ///< of the names that its layers get: "conv1", "conv2"
    std::vector<LayerKey> keys;
    /// Appends the layer's nodes and returns its output.
    ValueId (*build)(LayerBuilder& builder, const Layer& layer, ValueId x);
};

/// All kinds of layer, in the order of documentation.
const std::vector<LayerKind>& layerKinds();
/// The kind of that name, or null.
const LayerKind* findLayerKind(std::string_view name);

/// The activations: layers without keys, and the values of "activation" settings.
const std::vector<std::string>& activationNames();

/// What is wrong with a list of layers, beginning with the place in it: "[3].kernel is 0; it must be ...". Empty if
/// nothing is. Shapes are checked where the model is built.
std::string layersProblem(const nlohmann::json& layers);

/// A layer that layersProblem() has accepted, with its kind's defaults.
class Layer
{
public:
    Layer(const LayerKind& kind, const nlohmann::json& object)
        : m_kind(kind)
        , m_object(object)
    {
    }

    [[nodiscard]] const LayerKind& kind() const { return m_kind; }

    [[nodiscard]] bool has(std::string_view key) const { return !value(key).is_null(); }

    [[nodiscard]] std::int64_t integer(std::string_view key) const { return value(key).get<std::int64_t>(); }

    [[nodiscard]] std::array<std::int64_t, 2> pair(std::string_view key) const;

    [[nodiscard]] double number(std::string_view key) const { return value(key).get<double>(); }

    [[nodiscard]] bool flag(std::string_view key) const { return value(key).get<bool>(); }

    [[nodiscard]] std::string text(std::string_view key) const { return value(key).get<std::string>(); }

private:
    [[nodiscard]] const nlohmann::json& value(std::string_view key) const;

    const LayerKind& m_kind;
    const nlohmann::json& m_object;
};

} // namespace mantissa
