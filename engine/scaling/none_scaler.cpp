// No scaling: the loss as it is, every step applied, whatever its gradients hold.
#include "engine/core/error.h"
#include "engine/core/phrase.h"
#include "engine/scaling/families.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mantissa {

namespace {

class NoneScaler final : public LossScaler
{
public:
    [[nodiscard]] double scale() const override { return 1; }

    [[nodiscard]] bool skipsOnNonFinite() const override { return false; }

    ScalerVerdict update(const ScalerInput& /*step*/) override { return {}; }

    void setScale(double scale) override
    {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format(
                "scaler.scale cannot be set to {}: there is no scaler; choose a family such as fixed or pytorch",
                scale));
    }

    void configure(const ScalerConfig& config) override { requireValid(config, noneFamily); }

    [[nodiscard]] nlohmann::json state() const override { return nlohmann::json::object(); }

    void loadState(const nlohmann::json& state) override
    {
        if (!state.is_object() || !state.empty()) {
            throw Error(ErrorCode::InvalidArgument,
                fmt::format(
                    "scaler state: there is no scaler to load {} into; choose the family it came from", state.dump()));
        }
    }
};

std::unique_ptr<LossScaler> makeNone(const ScalerConfig& /*config*/)
{
    return std::make_unique<NoneScaler>();
}

} // namespace

constinit const ScalerFamily noneFamily {.name = "none",
    .title = MANTISSA_PHRASE("none"),
    .summary = MANTISSA_PHRASE("The loss as it is; every step is applied."),
    .parameters = {},
    .make = makeNone};

} // namespace mantissa
