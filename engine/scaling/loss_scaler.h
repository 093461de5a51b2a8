/// A gradient scaler: multiplies the loss, judges each step, moves the scale.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace mantissa {

struct ScalerConfig
{
    std::string family = "pytorch"; ///< a name of scalerFamilies()
    double initScale = 65536;
    double growthFactor = 2;
    double backoffFactor = 0.5;
    std::int64_t growthInterval = 2000;
    bool frozen = false; ///< judge and skip as usual, but never move the scale
    bool operator==(const ScalerConfig&) const = default;
};

/// What a scaler decided about one step.
struct ScalerVerdict
{
    bool skip = false;
    std::string raised; ///< some families end by raising at a minimum scale: their message; empty otherwise
};

class LossScaler
{
public:
    virtual ~LossScaler() = default;
    /// The factor for the next step's loss; exactly 1 for "none".
    [[nodiscard]] virtual double scale() const = 0;
    /// True if a step with a non-finite gradient must not be applied. "none" never skips.
    [[nodiscard]] virtual bool skipsOnNonFinite() const = 0;
    /// Judges a finished step and moves the scale.
    virtual ScalerVerdict update(bool foundInf) = 0;
    [[nodiscard]] virtual std::int64_t growthTracker() const { return 0; }
    [[nodiscard]] virtual std::optional<int> hysteresisLeft() const { return std::nullopt; }
    /// Sets the scale as a person would with GradScaler.update(new_scale): the tracker is untouched.
    /// Throws Error (InvalidArgument) unless finite and > 0, or for a family without a scale.
    virtual void setScale(double scale) = 0;
    /// Takes over new settings, keeping scale and counters. Throws Error (InvalidArgument) for invalid ones.
    virtual void configure(const ScalerConfig& config) = 0;
    /// The keys of torch.amp.GradScaler.state_dict(): scale, growth_factor, backoff_factor, growth_interval,
    /// _growth_tracker. Empty object for "none".
    [[nodiscard]] virtual nlohmann::json state() const = 0;
    virtual void loadState(const nlohmann::json& state) = 0;
};

/// The families that exist: "none", "fixed", "pytorch", ...
std::vector<std::string> scalerFamilies();

/// Throws Error (InvalidArgument) naming the setting, its value and what is allowed.
std::unique_ptr<LossScaler> makeScaler(const ScalerConfig& config);

} // namespace mantissa
