// MXNet's AMP LossScaler: a new scale is published one step late, so that one overflow that lasts costs two skipped
// steps and two halvings. The scale is a double; factors of 2.
// Source: apache/mxnet, python/mxnet/amp/loss_scaler.py and python/mxnet/gluon/trainer.py.
#include "engine/core/phrase.h"
#include "engine/scaling/scaler_machine.h"
#include "engine/scaling/scaler_parameters.h"

#include <algorithm>
#include <array>

namespace mantissa {

namespace {

namespace rows = scaler_parameters;

constexpr std::array parameters {
    rows::initScale("loss_scale", 65536, MANTISSA_PHRASE("The first scale")),
    rows::growthInterval("scale_seq_len", 2000,
        MANTISSA_PHRASE("Finite steps in a row until the scale doubles, which shows one step later")),
    rows::maxScale("max_loss_scale", 0x1p24, MANTISSA_PHRASE("The scale grows no further than this")),
};

class MxnetScaler final : public ScalerMachine
{
public:
    explicit MxnetScaler(const ScalerConfig& config)
        : ScalerMachine(
            config, mxnetFamily, {{"_growth_tracker", &m_unskipped}, {"_next_scale", &m_next}}, Storage::Double)
        , m_next(scale())
    {
    }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_unskipped; }

    void setScale(double scale) override
    {
        ScalerMachine::setScale(scale);
        m_next = scale;
    }

private:
    std::string move(const ScalerInput& step) override
    {
        moveTo(m_next);
        if (step.foundInf) {
            m_next = scale() / 2;
            m_unskipped = 0;
        } else if (++m_unskipped == whole("growth_interval")) {
            m_next = std::min(number("max_scale"), scale() * 2);
            m_unskipped = 0;
        }
        return {};
    }

    std::int64_t m_unskipped = 0;
    double m_next;
};

} // namespace

constinit const ScalerFamily mxnetFamily {.name = "mxnet",
    .title = MANTISSA_PHRASE("MXNet"),
    .summary = MANTISSA_PHRASE("MXNet's AMP: a new scale takes effect one step late; at most 2^24."),
    .parameters = parameters,
    .make = makeMachine<MxnetScaler>};

} // namespace mantissa
