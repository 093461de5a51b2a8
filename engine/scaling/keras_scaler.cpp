// Keras 3's LossScaleOptimizer: factors of 2 and 0.5 in float32 without floor, ceiling or guard. Once infinite, the
// scale stays so.
// Source: keras-team/keras, keras/src/optimizers/loss_scale_optimizer.py.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <array>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("initial_scale", 32768, MANTISSA_PHRASE("The first scale")),
    rows::growthInterval(
        "dynamic_growth_steps", 2000, MANTISSA_PHRASE("Finite steps in a row until the scale doubles")),
};

class KerasScaler final : public ScalerMachine
{
public:
    explicit KerasScaler(const ScalerConfig& config)
        : ScalerMachine(config, kerasFamily, {{"_growth_tracker", &m_counter}})
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_counter; }

private:
    std::string move(const ScalerInput& step) override
    {
        if (step.foundInf) {
            moveTo(scale() * 0.5);
            m_counter = 0;
        } else if (m_counter == whole("growth_interval") - 1) {
            moveTo(scale() * 2);
            m_counter = 0;
        } else {
            ++m_counter;
        }
        return {};
    }

    std::int64_t m_counter = 0;
};

} // namespace

constinit const ScalerFamily kerasFamily {.name = "keras",
    .title = MANTISSA_PHRASE("Keras 3"),
    .summary = MANTISSA_PHRASE(
        "Keras 3's LossScaleOptimizer: no floor and no ceiling; it can grow to infinity and stays there."),
    .parameters = parameters,
    .make = makeMachine<KerasScaler>};

} // namespace mantissa
