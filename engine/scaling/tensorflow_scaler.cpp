// The dynamic loss scale of TensorFlow: tf_keras LossScaleOptimizer and tf.train.experimental.DynamicLossScale, which
// has the multiplier as an argument. All in float32; the floor is 1, and a growth that is not finite is dropped.
// Source: keras-team/tf-keras, tf_keras/mixed_precision/loss_scale_optimizer.py; tensorflow/tensorflow,
// tensorflow/python/training/experimental/loss_scale.py.
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
    rows::initScale("initial_scale", 32768, MANTISSA_PHRASE("The first scale")),
    rows::growthFactor("multiplier",
        MANTISSA_PHRASE("Multiplies the scale when it grows, and divides it at each overflow, down to 1")),
    rows::growthInterval("dynamic_growth_steps", 2000, MANTISSA_PHRASE("Finite steps in a row until the scale grows")),
};

class TensorflowScaler final : public ScalerMachine
{
public:
    explicit TensorflowScaler(const ScalerConfig& config)
        : ScalerMachine(config, tensorflowFamily, {{"_growth_tracker", &m_tracker}})
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_tracker; }

private:
    std::string move(const ScalerInput& step) override
    {
        const auto present = static_cast<float>(scale());
        const auto multiplier = static_cast<float>(number("growth_factor"));
        if (step.foundInf) {
            moveTo(std::max(present / multiplier, 1.0F));
            m_tracker = 0;
        } else if (++m_tracker >= whole("growth_interval")) {
            const float grown = present * multiplier;
            if (std::isfinite(grown)) {
                moveTo(grown);
            }
            m_tracker = 0;
        }
        return {};
    }

    std::int64_t m_tracker = 0;
};

} // namespace

constinit const ScalerFamily tensorflowFamily {.name = "tensorflow",
    .title = MANTISSA_PHRASE("TensorFlow"),
    .summary = MANTISSA_PHRASE("tf_keras and TensorFlow's DynamicLossScale: never below 1."),
    .parameters = parameters,
    .make = makeMachine<TensorflowScaler>};

} // namespace mantissa
