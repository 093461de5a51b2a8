// jmp's DynamicLossScale (JAX), with a float32 scale. jmp has no default for the first scale; ours is the one of its
// documentation. The counter wraps around the period, also where the growth is dropped for not being finite.
// Source: google-deepmind/jmp, jmp/_src/loss_scale.py.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("loss_scale", 32768, MANTISSA_PHRASE("The first scale")),
    rows::growthFactor(
        "factor", MANTISSA_PHRASE("Multiplies the scale when it grows, and divides it at each overflow")),
    rows::growthInterval("period", 2000, MANTISSA_PHRASE("Finite steps in a row until the scale grows")),
    rows::minScale(
        "min_loss_scale", 1, rows::zeroOrScale, MANTISSA_PHRASE("An overflow does not divide below this; 0: no floor")),
};

class JmpScaler final : public ScalerMachine
{
public:
    explicit JmpScaler(const ScalerConfig& config)
        : ScalerMachine(config, jmpFamily, {{"_growth_tracker", &m_counter}})
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_counter; }

private:
    std::string move(const ScalerInput& step) override
    {
        const auto present = static_cast<float>(scale());
        const auto factor = static_cast<float>(number("growth_factor"));
        if (step.foundInf) {
            moveTo(std::max(static_cast<float>(number("min_scale")), present / factor));
            m_counter = 0;
            return {};
        }
        const std::int64_t period = whole("growth_interval");
        if (m_counter == period - 1 && std::isfinite(present * factor)) {
            moveTo(present * factor);
        }
        m_counter = (m_counter + 1) % period;
        return {};
    }

    std::int64_t m_counter = 0;
};

} // namespace

constinit const ScalerFamily jmpFamily {.name = "jmp",
    .title = MANTISSA_PHRASE("jmp (JAX)"),
    .summary = MANTISSA_PHRASE("DeepMind's jmp: never below 1, and a growth to infinity is dropped."),
    .parameters = parameters,
    .make = makeMachine<JmpScaler>};

} // namespace mantissa
