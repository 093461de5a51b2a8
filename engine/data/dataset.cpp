#include "engine/data/dataset.h"

#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/core/text.h"
#include "engine/data/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

namespace mantissa {

namespace {

struct Source
{
    std::string_view kind;
    Dataset (*load)(const DataRequest&);
};

constexpr std::array sources {
    Source {"digits", loadDigits},
    Source {"spirals", makeSpirals},
    Source {"moons", makeMoons},
    Source {"regression", makeRegression},
    Source {"mnist", loadMnist},
    Source {"fashion_mnist", loadFashionMnist},
};

const Source& sourceOf(const std::string& kind)
{
    for (const Source& source : sources) {
        if (source.kind == kind) {
            return source;
        }
    }
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("data.kind is \"{}\"; it must be one of {}", kind, joined(dataKinds())));
}

void requireBetween(std::string_view name, std::int64_t value, std::int64_t lowest, std::int64_t highest)
{
    if (value < lowest || value > highest) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} is {}; it must be a whole number from {} to {}", name, value, lowest, highest));
    }
}

void split(Dataset& dataset, double validationShare, std::uint64_t seed)
{
    const Philox random(seed, randomStream(RandomPurpose::Split));
    const std::vector<std::uint32_t> order = permutation(static_cast<std::uint32_t>(dataset.samples), random, 0);
    // Something must be left to train on.
    const std::int64_t heldOut = std::min<std::int64_t>(
        std::llround(validationShare * static_cast<double>(dataset.samples)), dataset.samples - 1);
    const auto border = order.begin() + heldOut;
    dataset.validation.assign(order.begin(), border);
    dataset.train.assign(border, order.end());
    std::sort(dataset.validation.begin(), dataset.validation.end());
    std::sort(dataset.train.begin(), dataset.train.end());
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
    std::vector<std::string> kinds;
    for (const Source& source : sources) {
        kinds.emplace_back(source.kind);
    }
    return kinds;
}

void checkData(const DataConfig& config)
{
    sourceOf(config.kind);
    // Bounds that keep a mistyped number from asking for all memory; each is far above what trains here.
    requireBetween("data.batch", config.batch, 1, 1'000'000);
    requireBetween("data.samples", config.samples, 2, 10'000'000);
    requireBetween("data.classes", config.classes, 2, 1000);
    requireBetween("data.features", config.features, 1, 10'000);
    constexpr std::int64_t mostNumbers = 100'000'000;
    if (config.kind == "regression" && config.samples * config.features > mostNumbers) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("data.samples is {} and data.features is {}; their product must be at most {}", config.samples,
                config.features, mostNumbers));
    }
    if (!std::isfinite(config.noise) || config.noise < 0) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("data.noise is {}; it must be a finite number of 0 or more", config.noise));
    }
    if (!(config.validationShare >= 0 && config.validationShare < 1)) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("data.validation_share is {}; it must be 0 or more and below 1", config.validationShare));
    }
}

Dataset loadDataset(const DataConfig& config, std::uint64_t seed, const std::filesystem::path& directory)
{
    checkData(config);
    Dataset dataset = sourceOf(config.kind).load({.config = config, .seed = seed, .folder = directory / config.path});
    dataset.name = config.kind;
    split(dataset, config.validationShare, seed);
    return dataset;
}

void labelsToTargets(Dataset& dataset)
{
    if (dataset.labels.empty() || dataset.labelsTokens || !dataset.targets.empty()) {
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

} // namespace mantissa
