#include "engine/data/dataset.h"

#include "engine/core/error.h"
#include "engine/core/hash.h"
#include "engine/core/text.h"
#include "engine/data/sources.h"
#include "engine/data/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

namespace mantissa {

namespace {

struct Source
{
    DataKind kind;
    Dataset (*load)(const DataRequest&);
};

const std::vector<Source>& sources()
{
    constexpr std::string_view idxFiles = "train-images-idx3-ubyte and train-labels-idx1-ubyte (plain or .gz)";
    static const std::vector<Source> table {
        {{.name = "digits"}, loadDigits},
        {{.name = "spirals", .settings = {"samples", "classes", "noise"}}, makeSpirals},
        {{.name = "moons", .settings = {"samples", "noise"}}, makeMoons},
        {{.name = "regression", .settings = {"samples", "features", "noise"}}, makeRegression},
        {{.name = "modular_addition", .isTokens = true, .settings = {"modulus"}}, makeModularAddition},
        {{.name = "copy", .isTokens = true, .settings = {"samples", "length", "symbols"}}, makeCopy},
        {{.name = "sort", .isTokens = true, .settings = {"samples", "length", "symbols"}}, makeSort},
        {{.name = "brackets", .isTokens = true, .settings = {"samples", "length"}}, makeBrackets},
        {{.name = "mnist", .path = DataPath::Folder, .contents = idxFiles}, loadMnist},
        {{.name = "fashion_mnist", .path = DataPath::Folder, .contents = idxFiles}, loadFashionMnist},
        {{.name = "cifar10",
             .path = DataPath::Folder,
             .contents = "data_batch_1.bin to data_batch_5.bin (plain or .gz)"},
            loadCifar10},
        {{.name = "csv",
             .path = DataPath::File,
             .contents = "a table (.csv, .tsv; plain or .gz)",
             .settings = {"header", "target", "standardise"}},
            loadCsv},
        {{.name = "text",
             .path = DataPath::File,
             .contents = "a text in UTF-8 (plain or .gz)",
             .isTokens = true,
             .settings = {"context", "stride"}},
            loadText},
    };
    return table;
}

const Source& sourceOf(const std::string& name)
{
    for (const Source& source : sources()) {
        if (source.kind.name == name) {
            return source;
        }
    }
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("data.kind is \"{}\"; it must be one of {}", name, joined(dataKinds())));
}

/// Row i begins at i stride and is written as write(number) of each of its `width` numbers.
template <typename From, typename To, typename Write>
void gatherRows(std::span<const From> rows, std::int64_t stride, std::int64_t width,
    std::span<const std::uint32_t> indices, std::span<To> into, Write write)
{
    const auto length = static_cast<std::size_t>(width);
    if (into.size() != indices.size() * length) {
        throw Error(ErrorCode::ShapeMismatch,
            fmt::format("[gather] expected room for {} samples of {} numbers, got room for {} numbers", indices.size(),
                length, into.size()));
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const auto row = rows.subspan(indices[i] * static_cast<std::size_t>(stride), length);
        std::ranges::transform(row, into.begin() + static_cast<std::ptrdiff_t>(i * length), write);
    }
}

} // namespace

std::vector<std::string> dataKinds()
{
    std::vector<std::string> names;
    for (const Source& source : sources()) {
        names.emplace_back(source.kind.name);
    }
    return names;
}

const DataKind& dataKind(const std::string& name)
{
    return sourceOf(name).kind;
}

Dataset loadDataset(const DataConfig& config, std::uint64_t seed, const std::filesystem::path& directory)
{
    checkData(config);
    const std::filesystem::path path = (directory / config.path).lexically_normal();
    Dataset dataset = sourceOf(config.kind).load({.config = config, .seed = seed, .path = path});
    dataset.name = config.kind;
    if (dataset.train.empty()) {
        splitAtRandom(dataset, config.validationShare, seed);
    }
    return dataset;
}

void labelsToTargets(Dataset& dataset)
{
    if (dataset.labels.empty() || dataset.labelsTokens) {
        return;
    }
    if (!dataset.targets.empty()) {
        const bool areClasses = std::ranges::all_of(dataset.targets, [](float x) { return x == 0 || x == 1; });
        if (!areClasses) {
            dataset.labels.clear();
            dataset.classNames.clear();
            dataset.classes = 0;
        }
        return;
    }
    const std::int64_t width = dataset.classes == 2 ? 1 : dataset.classes;
    dataset.targets.assign(static_cast<std::size_t>(dataset.samples * width), 0.0F);
    for (std::int64_t i = 0; i < dataset.samples; ++i) {
        const std::int32_t label = dataset.labels[static_cast<std::size_t>(i)];
        if (width == 1) {
            dataset.targets[static_cast<std::size_t>(i)] = static_cast<float>(label);
        } else {
            dataset.targets[static_cast<std::size_t>(i * width + label)] = 1;
        }
    }
    dataset.targetWidth = width;
}

void gatherInputs(const Dataset& dataset, std::span<const std::uint32_t> indices, std::span<float> into)
{
    const std::int64_t width = dataset.features;
    if (dataset.pixels.empty()) {
        gatherRows<float>(dataset.inputs, width, width, indices, into, std::identity {});
    } else {
        gatherRows<std::uint8_t>(dataset.pixels, width, width, indices, into,
            [brightest = dataset.brightest](std::uint8_t pixel) { return static_cast<float>(pixel) / brightest; });
    }
}

void gatherTokens(const Dataset& dataset, std::span<const std::uint32_t> indices, std::span<std::int32_t> into)
{
    gatherRows<std::int32_t>(dataset.tokens, dataset.tokenStride, dataset.features, indices, into, std::identity {});
}

void gatherLabels(const Dataset& dataset, std::span<const std::uint32_t> indices, std::span<std::int32_t> into)
{
    const std::int64_t stride = dataset.labelsTokens ? dataset.tokenStride : 1;
    gatherRows<std::int32_t>(dataset.labels, stride, dataset.labelsPerSample(), indices, into, std::identity {});
}

void gatherTargets(const Dataset& dataset, std::span<const std::uint32_t> indices, std::span<float> into)
{
    gatherRows<float>(dataset.targets, dataset.targetWidth, dataset.targetWidth, indices, into, std::identity {});
}

std::uint64_t contentsHash(const Dataset& dataset)
{
    std::uint64_t hash = fnvOffset;
    const auto add = [&hash](const auto& values) { hash = fnv1a(std::as_bytes(std::span(values)), hash); };
    add(dataset.inputs);
    add(dataset.pixels);
    add(dataset.tokens);
    add(dataset.labels);
    add(dataset.targets);
    add(dataset.train);
    add(dataset.validation);
    return hash;
}

} // namespace mantissa
