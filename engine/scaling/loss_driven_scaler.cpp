// A home-made scaler, to be seen failing: it watches the loss instead of the gradients. The loss does not know whether
// a gradient overflowed, so nothing is ever skipped: while the loss falls the scale doubles until the gradients become
// infinite, and these are applied; while the loss is noisy the scale sinks until small gradients are flushed.
//
// After a step with the loss L and the moving average A of those before:
//   L not finite, or L > A:  scale = max(scale * backoff_factor, min_scale), counter = 0
//   otherwise:               counter += 1; at growth_interval: scale = scale * growth_factor, counter = 0
//   then, if L is finite:    A = loss_decay * A + (1 - loss_decay) * L
// The first finite loss becomes A itself and counts as not risen. A step whose loss is not known changes nothing. The
// scale is a float32 and may grow to infinity; A is a double.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("init_scale", 65536, MANTISSA_PHRASE("The first scale")),
    rows::growthFactor(
        "growth_factor", MANTISSA_PHRASE("Multiplies the scale after growth_interval steps without a rise")),
    rows::backoffFactor(
        "backoff_factor", MANTISSA_PHRASE("Multiplies the scale when the loss rises over its moving average")),
    rows::growthInterval("growth_interval", 20, MANTISSA_PHRASE("Steps in a row without a rise until the scale grows")),
    rows::minScale(
        "min_scale", 1, rows::zeroOrScale, MANTISSA_PHRASE("The scale backs off no further than this; 0: no floor")),
    ScalerParameter {"loss_decay", "loss_decay", ScalerParameterKind::Number, 0.9, {0, 1, true, false},
        MANTISSA_PHRASE("What the moving average of the loss keeps of itself at each step")},
};

class LossDrivenScaler final : public ScalerMachine
{
public:
    explicit LossDrivenScaler(const ScalerConfig& config)
        : ScalerMachine(config, lossDrivenFamily, {{"_growth_tracker", &m_counter}, {"_average_loss", &m_average}})
    {
    }

    [[nodiscard]] bool skipsOnNonFinite() const override { return false; }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_counter; }

private:
    std::string move(const ScalerInput& step) override
    {
        if (!step.loss) {
            return {};
        }
        const double loss = *step.loss;
        const bool isFinite = std::isfinite(loss);
        if (!isFinite || loss > m_average) {
            const double lowest = number("min_scale");
            moveTo(std::max(scale() * number("backoff_factor"), lowest));
            m_counter = 0;
        } else if (++m_counter == whole("growth_interval")) {
            moveTo(scale() * number("growth_factor"));
            m_counter = 0;
        }
        if (isFinite) {
            const double decay = number("loss_decay");
            m_average = std::isnan(m_average) ? loss : decay * m_average + (1 - decay) * loss;
        }
        return {};
    }

    std::int64_t m_counter = 0;
    double m_average = std::numeric_limits<double>::quiet_NaN(); ///< until the first finite loss
};

} // namespace

constinit const ScalerFamily lossDrivenFamily {.name = "loss-driven",
    .title = MANTISSA_PHRASE("loss-driven"),
    .summary = MANTISSA_PHRASE(
        "Home-made: watches the loss instead of the gradients and never skips; there to be seen failing."),
    .parameters = parameters,
    .make = makeMachine<LossDrivenScaler>};

} // namespace mantissa
