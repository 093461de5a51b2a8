// torch.amp.GradScaler's state machine.
// Source: pytorch/pytorch, torch/amp/grad_scaler.py and aten/src/ATen/native/cpu/AmpGradScalerKernels.cpp.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <array>
#include <cmath>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("init_scale", 65536, MANTISSA_PHRASE("The first scale")),
    rows::growthFactor(
        "growth_factor", MANTISSA_PHRASE("Multiplies the scale after growth_interval finite steps in a row")),
    rows::backoffFactor("backoff_factor", MANTISSA_PHRASE("Multiplies the scale at each overflow")),
    rows::growthInterval(
        "growth_interval", 2000, MANTISSA_PHRASE("Finite steps in a row until the scale grows; 0: it never does"), 0),
};

class PytorchScaler final : public ScalerMachine
{
public:
    explicit PytorchScaler(const ScalerConfig& config)
        : ScalerMachine(config, pytorchFamily, {{"_growth_tracker", &m_tracker}})
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_tracker; }

private:
    std::string move(const ScalerInput& step) override
    {
        if (step.foundInf) {
            moveTo(scale() * number("backoff_factor")); // no floor: the scale can reach 0 and then stays there
            m_tracker = 0;
            return {};
        }
        // Equality: a tracker already past a lowered interval waits for an overflow to reset it.
        if (++m_tracker == whole("growth_interval")) {
            // The product in double, rounded once.
            const auto grown = static_cast<float>(scale() * number("growth_factor"));
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

constinit const ScalerFamily pytorchFamily {.name = "pytorch",
    .title = MANTISSA_PHRASE("PyTorch"),
    .summary = MANTISSA_PHRASE("torch.amp.GradScaler: no floor, and a growth to infinity is dropped."),
    .parameters = parameters,
    .make = makeMachine<PytorchScaler>};

} // namespace mantissa
