// torch.amp.GradScaler's state machine.
// Source: pytorch/pytorch, torch/amp/grad_scaler.py and aten/src/ATen/native/cpu/AmpGradScalerKernels.cpp.
#include "engine/scaling/families.h"
#include "engine/scaling/scaler_state.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace mantissa {

namespace {

class PytorchScaler final : public LossScaler
{
public:
    explicit PytorchScaler(const ScalerConfig& config)
        : m_state(initialScalerState(config))
        , m_frozen(config.frozen)
    {
    }

    [[nodiscard]] double scale() const override { return m_state.scale; }

    [[nodiscard]] bool skipsOnNonFinite() const override { return true; }

    [[nodiscard]] std::int64_t growthTracker() const override { return m_state.growthTracker; }

    ScalerVerdict update(const ScalerInput& step) override
    {
        if (!m_frozen) {
            if (step.foundInf) {
                backOff();
            } else {
                countFiniteStep();
            }
        }
        return {.skip = step.foundInf, .raised = {}};
    }

    void setScale(double scale) override { m_state.scale = usableScale(scale, "scaler.scale"); }

    void configure(const ScalerConfig& config) override
    {
        requireFamily(config, "pytorch");
        m_state = withSettings(m_state, config);
        m_frozen = config.frozen;
    }

    [[nodiscard]] nlohmann::json state() const override { return toJson(m_state); }

    void loadState(const nlohmann::json& state) override { m_state = scalerStateFromJson(state); }

private:
    /// The scale times `factor` as PyTorch rounds it: the product in double, then once to float32.
    [[nodiscard]] float scaleTimes(double factor) const
    {
        return static_cast<float>(static_cast<double>(m_state.scale) * factor);
    }

    /// No floor: the scale can reach 0 and then stays there.
    void backOff()
    {
        m_state.scale = scaleTimes(m_state.backoffFactor);
        m_state.growthTracker = 0;
    }

    void countFiniteStep()
    {
        ++m_state.growthTracker;
        // Equality, as in PyTorch: a tracker already past a lowered interval waits for an overflow to reset it.
        if (m_state.growthTracker == m_state.growthInterval) {
            const float grown = scaleTimes(m_state.growthFactor);
            if (std::isfinite(grown)) {
                m_state.scale = grown;
            }
            m_state.growthTracker = 0;
        }
    }

    ScalerState m_state;
    bool m_frozen;
};

} // namespace

std::unique_ptr<LossScaler> makePytorchScaler(const ScalerConfig& config)
{
    requireFamily(config, "pytorch");
    return std::make_unique<PytorchScaler>(config);
}

} // namespace mantissa
