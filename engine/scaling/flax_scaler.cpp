// flax's DynamicScale (JAX), in float32: the counter is compared before it counts, so the scale grows every N + 1
// finite steps; clamped to FLT_MAX above and a minimum below.
// Source: google/flax, flax/training/dynamic_scale.py.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <algorithm>
#include <array>
#include <cfloat>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("scale", 65536, MANTISSA_PHRASE("The first scale")),
    rows::growthFactor("growth_factor", MANTISSA_PHRASE("Multiplies the scale when it grows")),
    rows::backoffFactor("backoff_factor", MANTISSA_PHRASE("Multiplies the scale at each overflow")),
    rows::growthInterval("growth_interval", 2000,
        MANTISSA_PHRASE("Finite steps in a row that fill the counter; the scale grows at the one after")),
    rows::minScale("minimum_scale", FLT_MIN, rows::zeroOrScale,
        MANTISSA_PHRASE("The scale backs off no further than this; 0: no floor")),
};

class FlaxScaler final : public ScalerMachine
{
public:
    explicit FlaxScaler(const ScalerConfig& config)
        : ScalerMachine(config, flaxFamily, {{"_growth_tracker", &m_finiteSteps}})
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_finiteSteps; }

private:
    std::string move(const ScalerInput& step) override
    {
        const auto present = static_cast<float>(scale());
        if (step.foundInf) {
            const auto lowest = static_cast<float>(number("min_scale"));
            moveTo(std::max(present * static_cast<float>(number("backoff_factor")), lowest));
            m_finiteSteps = 0;
        } else if (m_finiteSteps == whole("growth_interval")) {
            moveTo(std::min(present * static_cast<float>(number("growth_factor")), FLT_MAX));
            m_finiteSteps = 0;
        } else {
            ++m_finiteSteps;
        }
        return {};
    }

    std::int64_t m_finiteSteps = 0;
};

} // namespace

constinit const ScalerFamily flaxFamily {.name = "flax",
    .title = MANTISSA_PHRASE("flax (JAX)"),
    .summary = MANTISSA_PHRASE("flax: grows every N + 1 finite steps, up to the largest float32."),
    .parameters = parameters,
    .make = makeMachine<FlaxScaler>};

} // namespace mantissa
