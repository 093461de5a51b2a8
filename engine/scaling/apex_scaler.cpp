// NVIDIA Apex's amp LossScaler, dynamic: a double, halved and doubled between an optional floor and a ceiling.
// Source: NVIDIA/apex, apex/amp/scaler.py.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("init_scale", 65536, MANTISSA_PHRASE("The first scale, or max_loss_scale if that is less")),
    rows::growthInterval("scale_window", 2000, MANTISSA_PHRASE("Finite steps in a row until the scale doubles")),
    rows::minScale(
        "min_loss_scale", {}, rows::zeroOrScale, MANTISSA_PHRASE("An overflow does not halve below this; 0: no floor")),
    rows::maxScale("max_loss_scale", 0x1p24, MANTISSA_PHRASE("The scale grows no further than this")),
};

class ApexScaler final : public ScalerMachine
{
public:
    explicit ApexScaler(const ScalerConfig& config)
        : ScalerMachine(config, apexFamily, {{"_growth_tracker", &m_unskipped}}, Storage::Double)
    {
        moveTo(std::min(number("max_scale"), scale())); // but not raised to the floor
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_unskipped; }

private:
    std::string move(const ScalerInput& step) override
    {
        if (step.foundInf) {
            moveTo(std::max(limit("min_scale").value_or(0), scale() / 2));
            m_unskipped = 0;
        } else if (++m_unskipped == whole("growth_interval")) {
            moveTo(std::min(number("max_scale"), scale() * 2));
            m_unskipped = 0;
        }
        return {};
    }

    std::int64_t m_unskipped = 0;
};

} // namespace

constinit const ScalerFamily apexFamily {.name = "apex",
    .title = MANTISSA_PHRASE("Apex"),
    .summary = MANTISSA_PHRASE("NVIDIA Apex's amp: at most 2^24, and a floor if one is wanted."),
    .parameters = parameters,
    .make = makeMachine<ApexScaler>};

} // namespace mantissa
