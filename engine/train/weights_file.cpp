#include "engine/train/weights_file.h"

#include "engine/core/error.h"
#include "engine/core/hash.h"
#include "engine/core/text.h"
#include "engine/formats/convert.h"
#include "engine/train/channel_order.h"
#include "engine/train/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace mantissa {

namespace {

constexpr std::array<std::string_view, 2> wrappers {"module.", "model."}; // DataParallel's, Lightning's
constexpr std::string_view batchCount = "num_batches_tracked"; // nothing depends on it where a norm has a momentum

std::string hashOf(const Safetensors& contents)
{
    std::uint64_t hash = fnvOffset;
    for (const StoredTensor& tensor : contents.tensors) {
        const std::string header = fmt::format("{}\n{}\n{}\n", tensor.name, tensor.dtype, tensor.shape.text());
        hash = fnv1a(tensor.bytes, fnv1a(std::as_bytes(std::span(header)), hash));
    }
    return fmt::format("{:016x}", hash);
}

std::vector<const Value*> wantedBy(const Graph& graph)
{
    std::vector<const Value*> wanted;
    for (const Value& value : graph.values()) {
        if (value.kind == ValueKind::Parameter || value.kind == ValueKind::Buffer) {
            wanted.push_back(&value);
        }
    }
    return wanted;
}

/// What wrappers put before every name and the model has not.
std::string prefixOf(const Safetensors& contents, const std::vector<const Value*>& wanted)
{
    std::string prefix;
    for (bool isLonger = true; isLonger && !contents.tensors.empty();) {
        isLonger = false;
        for (const std::string_view wrapper : wrappers) {
            const std::string longer = prefix + std::string(wrapper);
            const bool isEverywhere = std::ranges::all_of(
                contents.tensors, [&](const StoredTensor& tensor) { return tensor.name.starts_with(longer); });
            const bool isOurs
                = std::ranges::any_of(wanted, [&](const Value* value) { return value->name.starts_with(wrapper); });
            if (isEverywhere && !isOurs) {
                prefix = longer;
                isLonger = true;
            }
        }
    }
    return prefix;
}

/// Tensors that share memory are stored once; the metadata then say under which other name.
const StoredTensor* findTensor(const Safetensors& contents, const std::string& name)
{
    if (const StoredTensor* tensor = contents.find(name)) {
        return tensor;
    }
    const auto shared = contents.metadata.find(name);
    return shared == contents.metadata.end() ? nullptr : contents.find(shared->second);
}

/// Empty if the tensor fits.
std::string whyNot(const StoredTensor& tensor, const Value& wanted)
{
    const auto type = tensor.type();
    if (!type || (*type != DType::Float32 && !isHalf(*type))) {
        return fmt::format("{} is {}, but F32, F16 and BF16 are read", wanted.name, tensor.dtype);
    }
    if (tensor.shape != wanted.type.shape) {
        return fmt::format(
            "{} is {} in the file, {} in the model", wanted.name, tensor.shape.text(), wanted.type.shape.text());
    }
    return {};
}

std::vector<float> valuesOf(const StoredTensor& tensor)
{
    std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
    toFloats(*tensor.type(), tensor.bytes, values);
    return values;
}

/// The answers to a name each, for one message.
struct Misfits
{
    std::vector<std::string> missing {};
    std::vector<std::string> unexpected {};
    std::vector<std::string> wrong {};

    [[nodiscard]] std::string text() const
    {
        std::string text;
        const auto add = [&text](std::string_view what, const std::vector<std::string>& names) {
            if (!names.empty()) {
                text += fmt::format("{}{}{}", text.empty() ? "" : "; ", what, joined(names));
            }
        };
        add("missing: ", missing);
        add("unknown to the model: ", unexpected);
        add("", wrong);
        return text;
    }
};

} // namespace

WeightsFile readWeights(const std::filesystem::path& file)
{
    WeightsFile weights {.file = file, .contents = readSafetensors(file), .hash = {}};
    weights.isCheckpoint = isCheckpoint(weights.contents);
    std::erase_if(weights.contents.tensors, [&weights](const StoredTensor& tensor) {
        return weights.isCheckpoint && tensor.name.starts_with(optimizerPrefix);
    });
    weights.hash = hashOf(weights.contents);
    return weights;
}

WeightsFile pinnedWeights(LaneConfig& lane, const std::filesystem::path& directory)
{
    const std::filesystem::path file = (directory / lane.model.weights).lexically_normal();
    WeightsFile weights;
    try {
        weights = readWeights(file);
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("model.weights of lane \"{}\": {}", lane.name, error.what()));
    }
    if (!lane.model.weightsHash.empty() && lane.model.weightsHash != weights.hash) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{}: holds other weights than those that lane \"{}\" started from (hash {}, now {}). Put the "
                        "former file back, or remove model.weights_hash to start from what it holds now.",
                file.string(), lane.name, lane.model.weightsHash, weights.hash));
    }
    lane.model.weights = file.string();
    lane.model.weightsHash = weights.hash;
    lane.document["model"]["weights"] = lane.model.weights;
    lane.document["model"]["weights_hash"] = lane.model.weightsHash;
    return weights;
}

FittedWeights fitWeights(const WeightsFile& weights, const Graph& graph, const Shape& sample)
{
    const Safetensors& contents = weights.contents;
    const std::vector<const Value*> wanted = wantedBy(graph);
    const std::string prefix = prefixOf(contents, wanted);
    FittedWeights fitted;
    Misfits misfits;
    std::set<const StoredTensor*> used;
    for (const Value* value : wanted) {
        const StoredTensor* tensor = findTensor(contents, prefix + value->name);
        if (tensor == nullptr) {
            misfits.missing.push_back(value->name);
            continue;
        }
        used.insert(tensor);
        std::string wrong = whyNot(*tensor, *value);
        if (wrong.empty()) {
            std::vector<float> values = valuesOf(*tensor);
            const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
            if (bad != values.end()) {
                wrong = fmt::format("element {} of {} is {}", bad - values.begin(), value->name, *bad);
            }
            fitted.values[value->name] = std::move(values);
        }
        if (!wrong.empty()) {
            misfits.wrong.push_back(std::move(wrong));
        }
    }
    for (const StoredTensor& tensor : contents.tensors) {
        if (!used.contains(&tensor) && !tensor.name.ends_with(batchCount)) {
            misfits.unexpected.push_back(tensor.name.substr(prefix.size()));
        }
    }
    if (const std::string text = misfits.text(); !text.empty()) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{}: these weights do not fit the model; {}.", weights.file.string(), text));
    }
    if (!prefix.empty()) {
        fitted.note = fmt::format("\"{}\" dropped from its names", prefix);
    }
    if (!weights.isCheckpoint) {
        const std::vector<FlattenedImages> flattened = flattenedImages(graph, sample);
        for (const FlattenedImages& layer : flattened) {
            toChannelsLast(fitted.values.at(layer.weight), layer);
            fitted.note += fmt::format("{}columns of {} brought from PyTorch's order into ours",
                fitted.note.empty() ? "" : "; ", layer.weight);
        }
    }
    return fitted;
}

} // namespace mantissa
