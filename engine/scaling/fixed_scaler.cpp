// A constant scale that skips steps with a non-finite gradient. Its state has PyTorch's keys, so that a run can change
// between fixed and pytorch and keep its scale.
#include "engine/scaling/families.h"
#include "engine/scaling/scaler_state.h"

#include <nlohmann/json.hpp>

namespace mantissa {

namespace {

class FixedScaler final : public LossScaler
{
public:
    explicit FixedScaler(const ScalerConfig& config)
        : m_state(initialScalerState(config))
    {
    }

    [[nodiscard]] double scale() const override { return m_state.scale; }

    [[nodiscard]] bool skipsOnNonFinite() const override { return true; }

    ScalerVerdict update(const ScalerInput& step) override { return {.skip = step.foundInf, .raised = {}}; }

    void setScale(double scale) override { m_state.scale = usableScale(scale, "scaler.scale"); }

    void configure(const ScalerConfig& config) override
    {
        requireFamily(config, "fixed");
        m_state = withSettings(m_state, config);
    }

    [[nodiscard]] nlohmann::json state() const override { return toJson(m_state); }

    void loadState(const nlohmann::json& state) override
    {
        m_state = scalerStateFromJson(state);
        m_state.growthTracker = 0;
    }

private:
    ScalerState m_state;
};

} // namespace

std::unique_ptr<LossScaler> makeFixedScaler(const ScalerConfig& config)
{
    requireFamily(config, "fixed");
    return std::make_unique<FixedScaler>(config);
}

} // namespace mantissa
