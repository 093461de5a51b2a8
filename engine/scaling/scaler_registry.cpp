// The only list of scaler families: a new one is its file and one row here.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/scaling/families.h"

#include <fmt/format.h>

#include <array>

namespace mantissa {

namespace {

struct Family
{
    std::string_view name;
    std::unique_ptr<LossScaler> (*make)(const ScalerConfig&);
};

constexpr std::array families {
    Family {"none", makeNoneScaler},
    Family {"fixed", makeFixedScaler},
    Family {"pytorch", makePytorchScaler},
};

} // namespace

std::vector<std::string> scalerFamilies()
{
    std::vector<std::string> names;
    for (const Family& family : families) {
        names.emplace_back(family.name);
    }
    return names;
}

std::unique_ptr<LossScaler> makeScaler(const ScalerConfig& config)
{
    for (const Family& family : families) {
        if (config.family == family.name) {
            return family.make(config);
        }
    }
    throw Error(ErrorCode::InvalidArgument,
        fmt::format("scaler.family is \"{}\"; it must be one of {}", config.family, joined(scalerFamilies())));
}

void requireFamily(const ScalerConfig& config, std::string_view family)
{
    if (config.family != family) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("scaler.family is \"{}\", but this scaler is a \"{}\"; make a new scaler to change the family",
                config.family, family));
    }
}

} // namespace mantissa
