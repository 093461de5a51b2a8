/// What all families with a scale share: checked settings, the scale, counters, and their state as JSON. A family adds
/// its parameters, its counters and the rule that moves the scale.
#pragma once

#include "engine/scaling/families.h"

#include <variant>
#include <vector>

namespace mantissa {

class ScalerMachine : public LossScaler
{
public:
    [[nodiscard]] double scale() const override { return m_scale; }

    [[nodiscard]] bool skipsOnNonFinite() const override { return true; }

    ScalerVerdict update(const ScalerInput& step) override;
    void setScale(double scale) override;
    void configure(const ScalerConfig& config) override;
    [[nodiscard]] nlohmann::json state() const override;
    void loadState(const nlohmann::json& state) override;

protected:
    /// What the family keeps its scale in.
    enum class Storage : std::uint8_t { Float32, Double };

    /// One number of the state beyond scale and parameters.
    struct Counter
    {
        std::string_view key; ///< in state(), with "_" in front
        std::variant<std::int64_t*, double*> value; ///< a member of the family's class
        std::int64_t lowest = 0; ///< that a state may hold
    };

    /// `config` must be valid for the family.
    ScalerMachine(const ScalerConfig& config, const ScalerFamily& family, std::vector<Counter> counters,
        Storage storage = Storage::Float32);

    /// Moves the scale after a step. Returns why training ends here, or an empty text.
    virtual std::string move(const ScalerInput& step) = 0;

    /// A parameter of the family; `number` and `whole` are for those that always have a value.
    [[nodiscard]] double number(std::string_view key) const { return *limit(key); }

    [[nodiscard]] std::int64_t whole(std::string_view key) const { return static_cast<std::int64_t>(number(key)); }

    [[nodiscard]] std::optional<double> limit(std::string_view key) const;

    [[nodiscard]] bool isFrozen() const { return m_config.frozen; }

    /// Rounds to what the family keeps.
    void moveTo(double scale);

private:
    void setConfig(ScalerConfig config);
    [[nodiscard]] double scaleFrom(const nlohmann::json& state) const;
    void checkKeys(const nlohmann::json& state) const;

    const ScalerFamily& m_family;
    ScalerConfig m_config;
    std::vector<std::optional<double>> m_values; ///< of the family's parameters, in their order
    std::vector<Counter> m_counters;
    Storage m_storage;
    double m_scale = 1;
};

/// The `make` of a family whose machine is T.
template <typename T> std::unique_ptr<LossScaler> makeMachine(const ScalerConfig& config)
{
    return std::make_unique<T>(config);
}

} // namespace mantissa
