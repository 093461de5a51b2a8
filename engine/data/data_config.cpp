#include "engine/data/data_config.h"

#include "engine/core/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace mantissa {

namespace {

void requireBetween(std::string_view name, std::int64_t value, std::int64_t lowest, std::int64_t highest)
{
    if (value < lowest || value > highest) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{} is {}; it must be a whole number from {} to {}", name, value, lowest, highest));
    }
}

std::int64_t numbersInGeneratedSample(const DataConfig& config)
{
    if (config.kind == "regression") {
        return config.features;
    }
    if (config.kind == "copy" || config.kind == "sort") {
        return 2 * config.length;
    }
    return config.kind == "brackets" ? config.length + 1 : 1;
}

} // namespace

bool DataKind::reads(std::string_view setting) const
{
    return std::ranges::find(settings, setting) != settings.end();
}

std::optional<DataFault> findDataFault(const DataConfig& config)
{
    const DataKind& kind = dataKind(config.kind);
    if (kind.path != DataPath::None && config.path.empty()) {
        return DataFault {"path",
            fmt::format("is missing; {} is read from a {} of yours: name the one with {}", kind.name,
                kind.path == DataPath::Folder ? "folder" : "file", kind.contents)};
    }
    if (config.kind == "brackets" && config.length % 2 != 0) {
        return DataFault {
            "length", fmt::format("is {}; it must be even, since every bracket has its partner", config.length)};
    }
    constexpr std::int64_t mostGenerated = 100'000'000;
    const std::int64_t each = numbersInGeneratedSample(config);
    if (kind.reads("samples") && config.samples * each > mostGenerated) {
        return DataFault {"samples",
            fmt::format("is {}, which makes {} numbers with the {} of each sample; at most {} are generated",
                config.samples, config.samples * each, each, mostGenerated)};
    }
    return {};
}

void checkData(const DataConfig& config)
{
    dataKind(config.kind);
    // Bounds that keep a mistyped number from asking for all memory; each is far above what trains here.
    requireBetween("data.batch", config.batch, 1, 1'000'000);
    requireBetween("data.samples", config.samples, 2, 10'000'000);
    requireBetween("data.classes", config.classes, 2, 1000);
    requireBetween("data.features", config.features, 1, 10'000);
    requireBetween("data.context", config.context, 1, 8192);
    requireBetween("data.stride", config.stride, 0, 8192);
    requireBetween("data.modulus", config.modulus, 2, 1000);
    requireBetween("data.length", config.length, 2, 1024);
    requireBetween("data.symbols", config.symbols, 2, 1000);
    if (!std::isfinite(config.noise) || config.noise < 0) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("data.noise is {}; it must be a finite number of 0 or more", config.noise));
    }
    if (!(config.validationShare >= 0 && config.validationShare < 1)) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("data.validation_share is {}; it must be 0 or more and below 1", config.validationShare));
    }
    if (const auto fault = findDataFault(config)) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("data.{} {}", fault->setting, fault->text));
    }
}

} // namespace mantissa
