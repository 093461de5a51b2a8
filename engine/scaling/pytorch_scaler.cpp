// torch.amp.GradScaler's state machine.
// Source: pytorch/pytorch, torch/amp/grad_scaler.py; its rule is in pytorch_rule.h.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <array>

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

    [[nodiscard]] std::optional<PytorchRule> deviceRule() const override
    {
        return PytorchRule {number("growth_factor"), number("backoff_factor"), number("growth_interval"), isFrozen()};
    }

private:
    std::string move(const ScalerInput& step) override
    {
        const PytorchScale now {static_cast<float>(scale()), static_cast<double>(m_tracker)};
        const PytorchScale next = moved(now, *deviceRule(), step.foundInf);
        moveTo(next.scale);
        m_tracker = static_cast<std::int64_t>(next.tracker);
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
