// PaddlePaddle's GradScaler in the dynamic graph: backs off at every so many overflows in a row; float32 without floor
// or ceiling.
// Source: PaddlePaddle/Paddle, python/paddle/amp/grad_scaler.py.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <array>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("init_loss_scaling", 65536, MANTISSA_PHRASE("The first scale")),
    rows::growthFactor(
        "incr_ratio", MANTISSA_PHRASE("Multiplies the scale after incr_every_n_steps finite steps in a row")),
    rows::backoffFactor(
        "decr_ratio", MANTISSA_PHRASE("Multiplies the scale after decr_every_n_nan_or_inf overflows in a row")),
    rows::growthInterval("incr_every_n_steps", 2000, MANTISSA_PHRASE("Finite steps in a row until the scale grows")),
    rows::hysteresis("decr_every_n_nan_or_inf", 1, MANTISSA_PHRASE("Overflows in a row until the scale backs off")),
};

class PaddleScaler final : public ScalerMachine
{
public:
    explicit PaddleScaler(const ScalerConfig& config)
        : ScalerMachine(config, paddleFamily, {{"_growth_tracker", &m_finiteSteps}, {"_overflows", &m_overflows}})
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_finiteSteps; }

    [[nodiscard]] std::optional<int> hysteresisLeft() const override
    {
        return static_cast<int>(whole("hysteresis") - m_overflows);
    }

private:
    std::string move(const ScalerInput& step) override
    {
        const auto present = static_cast<float>(scale());
        if (step.foundInf) {
            m_finiteSteps = 0;
            if (++m_overflows == whole("hysteresis")) {
                moveTo(present * static_cast<float>(number("backoff_factor")));
                m_overflows = 0;
            }
        } else {
            m_overflows = 0;
            if (++m_finiteSteps == whole("growth_interval")) {
                moveTo(present * static_cast<float>(number("growth_factor")));
                m_finiteSteps = 0;
            }
        }
        return {};
    }

    std::int64_t m_finiteSteps = 0;
    std::int64_t m_overflows = 0; ///< in a row
};

} // namespace

constinit const ScalerFamily paddleFamily {.name = "paddle",
    .title = MANTISSA_PHRASE("PaddlePaddle"),
    .summary
    = MANTISSA_PHRASE("Paddle's GradScaler: backs off after so many overflows in a row; no floor and no ceiling."),
    .parameters = parameters,
    .make = makeMachine<PaddleScaler>};

} // namespace mantissa
