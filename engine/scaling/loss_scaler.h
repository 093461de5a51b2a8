/// A gradient scaler: multiplies the loss, judges each step, moves the scale.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

struct ScalerConfig
{
    std::string family = "pytorch"; ///< a name of scalerFamilies()
    double initScale = 65536; ///< above 0, a float32 that is neither 0 nor infinite
    double growthFactor = 2; ///< finite, above 1
    double backoffFactor = 0.5; ///< finite, below 1; 0 and negatives are allowed, as in PyTorch
    std::int64_t growthInterval = 2000; ///< finite steps to the next growth; 0 or less: never grows, as in PyTorch
    bool frozen = false; ///< judge and skip as usual, but never move the scale
    bool operator==(const ScalerConfig&) const = default;
};

/// What a scaler learns about a finished step. A bool converts to it, since most families look at nothing else.
struct ScalerInput
{
    ScalerInput(bool stepFoundInf, double stepLoss = std::numeric_limits<double>::quiet_NaN())
        : foundInf(stepFoundInf)
        , loss(stepLoss)
    {
    }

    bool foundInf; ///< at least one gradient element was infinite or NaN
    double loss; ///< unscaled; NaN where the caller does not tell
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
    /// The factor for the next step's loss, a float32 value; exactly 1 for "none". It is what the state machine says,
    /// also where that is no longer usable: backing off without end reaches 0, whose inverse is infinite.
    [[nodiscard]] virtual double scale() const = 0;
    /// True if a step with a non-finite gradient must not be applied. "none" never skips.
    [[nodiscard]] virtual bool skipsOnNonFinite() const = 0;
    /// Judges a finished step and moves the scale.
    virtual ScalerVerdict update(const ScalerInput& step) = 0;

    [[nodiscard]] virtual std::int64_t growthTracker() const { return 0; }

    [[nodiscard]] virtual std::optional<int> hysteresisLeft() const { return std::nullopt; }

    /// Sets the scale as a person would with GradScaler.update(new_scale): the tracker is untouched.
    /// Throws Error (InvalidArgument) unless it is above 0 and a float32 that is neither 0 nor infinite, or for a
    /// family without a scale. Works on a frozen scaler too.
    virtual void setScale(double scale) = 0;
    /// Takes over new settings, keeping scale and counters. Throws Error (InvalidArgument) for invalid ones or another
    /// family; nothing has changed then.
    virtual void configure(const ScalerConfig& config) = 0;
    /// The keys of torch.amp.GradScaler.state_dict(): scale, growth_factor, backoff_factor, growth_interval,
    /// _growth_tracker. Empty object for "none". A scale that is not finite is the string "inf", "-inf" or "nan".
    [[nodiscard]] virtual nlohmann::json state() const = 0;
    /// Takes over a state() of the same family. Throws Error (InvalidArgument) naming the key that is missing, unknown
    /// or wrong; nothing has changed then.
    virtual void loadState(const nlohmann::json& state) = 0;
};

/// The families that exist: "none", "fixed", "pytorch", ...
std::vector<std::string> scalerFamilies();

/// Throws Error (InvalidArgument) naming the setting, its value and what is allowed.
[[nodiscard]] std::unique_ptr<LossScaler> makeScaler(const ScalerConfig& config);

} // namespace mantissa
