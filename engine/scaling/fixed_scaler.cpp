// A constant scale that skips steps with a non-finite gradient.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <array>

namespace mantissa {

namespace {

constexpr std::array parameters {
    scaler_parameters::initScale("init_scale", 65536, "The scale, which never moves"),
};

class FixedScaler final : public ScalerMachine
{
public:
    explicit FixedScaler(const ScalerConfig& config)
        : ScalerMachine(config, fixedFamily, {})
    {
    }

    [[nodiscard]] std::optional<PytorchRule> deviceRule() const override { return PytorchRule {.isFrozen = true}; }

private:
    std::string move(const ScalerInput& /*step*/) override { return {}; }
};

} // namespace

constinit const ScalerFamily fixedFamily {.name = "fixed",
    .title = MANTISSA_PHRASE("fixed"),
    .summary = MANTISSA_PHRASE("A constant scale; steps with a gradient that is not finite are skipped."),
    .parameters = parameters,
    .make = makeMachine<FixedScaler>};

} // namespace mantissa
