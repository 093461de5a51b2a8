// fairseq's DynamicLossScaler: backs off when the share of overflowing steps since the last change reaches a tolerance,
// clamps at a threshold if there is one, and ends the training at or below a minimum. The scale is a double. Defaults
// are those of the class; fairseq's training configuration has an init_scale of 128 and a shorter window instead.
// Source: facebookresearch/fairseq, fairseq/optim/dynamic_loss_scaler.py.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("init_scale", 32768, MANTISSA_PHRASE("The first scale; fairseq's training configuration sets 128")),
    rows::growthFactor(
        "scale_factor", MANTISSA_PHRASE("Multiplies the scale when it grows, and divides it when it backs off")),
    rows::growthInterval("scale_window", 2000, MANTISSA_PHRASE("Finite steps in a row until the scale grows")),
    ScalerParameter {"tolerance", "tolerance", ScalerParameterKind::Number, 0, {0, 1},
        MANTISSA_PHRASE(
            "The scale backs off once this share of the steps since its last change overflowed; 0: at each overflow")},
    ScalerParameter {"threshold", "threshold", ScalerParameterKind::Number, {}, rows::anyScale,
        MANTISSA_PHRASE("The scale backs off no further than this")},
    rows::minScale("min_loss_scale", 1e-4, rows::zeroOrScale,
        MANTISSA_PHRASE("The training ends where the scale would back off to this or less")),
};

class FairseqScaler final : public ScalerMachine
{
public:
    explicit FairseqScaler(const ScalerConfig& config)
        : ScalerMachine(config, fairseqFamily,
            {{"_iteration", &m_iteration}, {"_last_overflow", &m_lastOverflow, -1},
                {"_last_rescale", &m_lastRescale, -1}, {"_overflows", &m_overflows}},
            Storage::Double)
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override
    {
        // Where the training ended, the iteration did not advance.
        return std::max<std::int64_t>(0, m_iteration - 1 - m_lastOverflow) % whole("growth_interval");
    }

private:
    std::string move(const ScalerInput& step) override
    {
        if (step.foundInf) {
            std::string raised = countOverflow();
            if (!raised.empty()) {
                return raised;
            }
        } else if ((m_iteration - m_lastOverflow) % whole("growth_interval") == 0) {
            moveTo(scale() * number("growth_factor"));
            m_lastRescale = m_iteration; // the count of overflows goes on
        }
        ++m_iteration;
        return {};
    }

    std::string countOverflow()
    {
        const double before = scale();
        const auto steps = static_cast<double>(m_iteration - m_lastRescale);
        m_lastOverflow = m_iteration;
        ++m_overflows;
        if (static_cast<double>(m_overflows) / steps >= number("tolerance")) {
            moveTo(std::max(before / number("growth_factor"), limit("threshold").value_or(0)));
            m_lastRescale = m_iteration;
            m_overflows = 0;
        }
        const double lowest = number("min_scale");
        if (scale() > lowest) {
            return {};
        }
        moveTo(before);
        return fmt::format("fairseq's scaler ends the training: the scale would fall to its minimum of {}. The loss is "
                           "probably exploding; lower the learning rate, clip the gradients or raise the batch size.",
            lowest);
    }

    std::int64_t m_iteration = 0;
    std::int64_t m_lastOverflow = -1;
    std::int64_t m_lastRescale = -1;
    std::int64_t m_overflows = 0; ///< since the last change, or since before the last growth
};

} // namespace

constinit const ScalerFamily fairseqFamily {.name = "fairseq",
    .title = MANTISSA_PHRASE("fairseq"),
    .summary
    = MANTISSA_PHRASE("fairseq: tolerates a share of overflowing steps, and ends the training at its minimum."),
    .parameters = parameters,
    .make = makeMachine<FairseqScaler>};

} // namespace mantissa
