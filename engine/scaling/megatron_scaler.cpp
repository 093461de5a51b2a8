// Megatron-LM's DynamicGradScaler: overflows are counted since the last growth, in a row or not, and those before the
// hysteresis is used up are absorbed. From then on each one backs off; only a growth refills it. All in float32, with
// a floor and no ceiling.
// Source: NVIDIA/Megatron-LM, megatron/core/optimizer/grad_scaler.py; defaults of optimizer_config.py.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("initial_loss_scale", 0x1p32, MANTISSA_PHRASE("The first scale")),
    rows::growthFactor(
        "growth_factor", MANTISSA_PHRASE("Multiplies the scale after loss_scale_window finite steps in a row")),
    rows::backoffFactor(
        "backoff_factor", MANTISSA_PHRASE("Multiplies the scale once the hysteresis is used up"), {0, 1, false, false}),
    rows::growthInterval("loss_scale_window", 1000, MANTISSA_PHRASE("Finite steps in a row until the scale grows")),
    rows::minScale("min_loss_scale", 1, rows::anyScale, MANTISSA_PHRASE("The scale backs off no further than this")),
    rows::hysteresis("hysteresis", 2,
        MANTISSA_PHRASE(
            "At this many overflows since the last growth the scale backs off, and then at each one until it grows")),
};

class MegatronScaler final : public ScalerMachine
{
public:
    explicit MegatronScaler(const ScalerConfig& config)
        : ScalerMachine(config, megatronFamily,
            {{"_growth_tracker", &m_tracker},
                {"_hysteresis_tracker", &m_hysteresis, std::numeric_limits<std::int32_t>::min()}})
        , m_hysteresis(whole("hysteresis"))
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_tracker; }

    [[nodiscard]] std::optional<int> hysteresisLeft() const override { return static_cast<int>(m_hysteresis); }

private:
    std::string move(const ScalerInput& step) override
    {
        const auto present = static_cast<float>(scale());
        if (step.foundInf) {
            m_tracker = 0;
            if (--m_hysteresis <= 0) {
                const auto lowest = static_cast<float>(number("min_scale"));
                moveTo(std::max(present * static_cast<float>(number("backoff_factor")), lowest));
            }
        } else if (++m_tracker == whole("growth_interval")) {
            m_tracker = 0;
            m_hysteresis = whole("hysteresis");
            moveTo(present * static_cast<float>(number("growth_factor")));
        }
        return {};
    }

    std::int64_t m_tracker = 0;
    std::int64_t m_hysteresis;
};

std::optional<ScalerFault> check(const ScalerConfig& config)
{
    const double first = *valueOf(config, "init_scale");
    const double lowest = *valueOf(config, "min_scale");
    if (first >= lowest) {
        return {};
    }
    const bool isMinimumGiven = config.parameters.contains("min_scale");
    return isMinimumGiven ? ScalerFault {"min_scale", fmt::format("is {}, above init_scale ({})", lowest, first)}
                          : ScalerFault {"init_scale", fmt::format("is {}, below min_scale ({})", first, lowest)};
}

} // namespace

constinit const ScalerFamily megatronFamily {.name = "megatron",
    .title = MANTISSA_PHRASE("Megatron-LM"),
    .summary
    = MANTISSA_PHRASE("Megatron-LM: starts at 2^32, absorbs a first overflow, then backs off at each until it grows."),
    .parameters = parameters,
    .make = makeMachine<MegatronScaler>,
    .check = check};

} // namespace mantissa
