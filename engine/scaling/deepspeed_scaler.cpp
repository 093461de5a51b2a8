// DeepSpeed's DynamicLossScaler, as ZeRO 1 to 3 use it. Three things of its own: the first overflows are absorbed
// (hysteresis); an overflow at the minimum ends the training; and a step moves the scale before it divides by it, so
// that a step at which the scale grows applies gradients that are too small by the growth factor.
// Source: deepspeedai/DeepSpeed, deepspeed/runtime/fp16/loss_scaler.py and deepspeed/runtime/zero/stage_1_and_2.py;
// defaults of its configuration file, deepspeed/runtime/precision_config.py.
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
    rows::initScale(
        "init_scale", 65536, MANTISSA_PHRASE("The first scale: 2 to the configuration's initial_scale_power")),
    rows::growthFactor(
        "scale_factor", MANTISSA_PHRASE("Multiplies the scale when it grows, and divides it when it backs off")),
    rows::growthInterval("loss_scale_window", 1000,
        MANTISSA_PHRASE("Finite steps from one growth to the next; the first after an overflow takes one more")),
    rows::minScale("min_loss_scale", 1, rows::anyScale, MANTISSA_PHRASE("The scale backs off no further than this")),
    rows::hysteresis("hysteresis", 2,
        MANTISSA_PHRASE(
            "At this many overflows the scale backs off; those before are skipped only. Refilled when the scale grows"),
        0),
    rows::flag("consecutive_hysteresis", "consecutive_hysteresis", false,
        MANTISSA_PHRASE("Whether every finite step refills the hysteresis, so that only overflows in a row count")),
    rows::flag("raise_at_min", "raise_error_at_min_scale", true,
        MANTISSA_PHRASE("Whether an overflow at the minimum scale ends the training, as DeepSpeed does")),
};

class DeepspeedScaler final : public ScalerMachine
{
public:
    explicit DeepspeedScaler(const ScalerConfig& config)
        : ScalerMachine(config, deepspeedFamily,
            {{"_hysteresis_tracker", &m_hysteresis, std::numeric_limits<std::int32_t>::min()},
                {"_iteration", &m_iteration}, {"_last_overflow", &m_lastOverflow, -1}},
            Storage::Double)
        , m_hysteresis(whole("hysteresis"))
    {
    }

    [[nodiscard]] double unscaleBy() const override { return !isFrozen() && isGrowthDue() ? grown() : scale(); }

    [[nodiscard]] std::int64_t growthTracker() const override
    {
        const std::int64_t window = whole("growth_interval");
        const std::int64_t finite = finiteSteps();
        return finite <= window ? finite : (finite - 1) % window;
    }

    [[nodiscard]] std::optional<int> hysteresisLeft() const override { return static_cast<int>(m_hysteresis); }

private:
    [[nodiscard]] std::int64_t finiteSteps() const { return m_iteration - m_lastOverflow - 1; }

    [[nodiscard]] bool isGrowthDue() const
    {
        return finiteSteps() > 0 && finiteSteps() % whole("growth_interval") == 0;
    }

    [[nodiscard]] double grown() const { return scale() * number("growth_factor"); }

    std::string move(const ScalerInput& step) override
    {
        if (step.foundInf) {
            std::string raised = absorbOrBackOff();
            if (!raised.empty()) {
                return raised;
            }
            m_lastOverflow = m_iteration;
        } else {
            const bool isConsecutive = number("consecutive_hysteresis") != 0;
            const bool grows = isGrowthDue();
            if (isConsecutive || grows) {
                m_hysteresis = whole("hysteresis");
            }
            if (grows) {
                moveTo(grown());
            }
        }
        ++m_iteration;
        return {};
    }

    std::string absorbOrBackOff()
    {
        if (whole("hysteresis") != 1 && m_hysteresis != 1) {
            --m_hysteresis;
            return {};
        }
        const double lowest = number("min_scale");
        if (scale() == lowest && number("raise_at_min") != 0) {
            return fmt::format("DeepSpeed's scaler ends the training: an overflow at its minimum scale of {}. The "
                               "gradients overflow without help from the scale; look for an infinite loss or a "
                               "learning rate that is too high.",
                lowest);
        }
        moveTo(std::max(scale() / number("growth_factor"), lowest));
        return {};
    }

    std::int64_t m_hysteresis;
    std::int64_t m_iteration = 0;
    std::int64_t m_lastOverflow = -1;
};

} // namespace

constinit const ScalerFamily deepspeedFamily {.name = "deepspeed",
    .title = MANTISSA_PHRASE("DeepSpeed"),
    .summary = MANTISSA_PHRASE(
        "DeepSpeed's ZeRO: absorbs a first overflow, ends the training at its minimum, and unscales a step that "
        "grows by the grown scale."),
    .parameters = parameters,
    .make = makeMachine<DeepspeedScaler>};

} // namespace mantissa
