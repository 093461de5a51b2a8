// The only list of scaler families: a new one is its file and one row here.
#include "engine/core/error.h"
#include "engine/scaling/families.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace mantissa {

namespace {

void requireNoFault(const ScalerConfig& config)
{
    if (const auto fault = findScalerFault(config)) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("scaler.{} {}", fault->key, fault->text));
    }
}

} // namespace

std::span<const ScalerFamily* const> scalerFamilyTable()
{
    static constexpr std::array families {&noneFamily, &fixedFamily, &pytorchFamily, &tensorflowFamily, &kerasFamily,
        &mxnetFamily, &apexFamily, &deepspeedFamily, &megatronFamily, &fairseqFamily, &jmpFamily, &flaxFamily,
        &paddleFamily, &lossDrivenFamily};
    return families;
}

bool isUsableScale(double scale)
{
    const auto rounded = static_cast<float>(scale);
    return std::isfinite(rounded) && rounded > 0;
}

std::unique_ptr<LossScaler> makeScaler(const ScalerConfig& config)
{
    requireNoFault(config);
    return findScalerFamily(config.family)->make(config);
}

void requireValid(const ScalerConfig& config, const ScalerFamily& family)
{
    if (config.family != family.name) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("scaler.family is \"{}\", but this scaler is a \"{}\"; make a new scaler to change the family",
                config.family, family.name));
    }
    requireNoFault(config);
}

} // namespace mantissa
