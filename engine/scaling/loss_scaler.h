/// A gradient scaler: multiplies the loss, judges each step, moves the scale.
#pragma once

#include "engine/scaling/pytorch_rule.h"
#include "engine/scaling/scaler_family.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mantissa {

/// What a scaler learns about a finished step. A bool converts to it, since most families look at nothing else.
struct ScalerInput
{
    ScalerInput(bool stepFoundInf, std::optional<double> stepLoss = {})
        : foundInf(stepFoundInf)
        , loss(stepLoss)
    {
    }

    bool foundInf; ///< at least one gradient element was infinite or NaN
    std::optional<double> loss; ///< unscaled; nothing where the caller does not know it
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
    /// The factor for the next step's loss; exactly 1 for "none". A float32 value, or in families that keep a double
    /// that double, of which the loss gets the nearest float32. It is what the state machine says, also where that is
    /// no longer usable: backing off without end reaches 0, whose inverse is infinite.
    [[nodiscard]] virtual double scale() const = 0;

    /// What the next step's gradients are divided by: scale(), but for families that move it before they unscale.
    [[nodiscard]] virtual double unscaleBy() const { return scale(); }

    /// True if a step with a non-finite gradient must not be applied.
    [[nodiscard]] virtual bool skipsOnNonFinite() const = 0;
    /// Judges a finished step and moves the scale.
    virtual ScalerVerdict update(const ScalerInput& step) = 0;

    /// Finite steps since the last growth or overflow, as the family counts them.
    [[nodiscard]] virtual std::int64_t growthTracker() const { return 0; }

    /// Overflows until the scale backs off; 0 or less where every further one makes it. Nothing in families that never
    /// wait.
    [[nodiscard]] virtual std::optional<int> hysteresisLeft() const { return std::nullopt; }

    /// The rule by which it moves, with its present settings, if a device can follow it by itself: then scale() and
    /// growthTracker() are all of its state, and the loss is nothing to it.
    [[nodiscard]] virtual std::optional<PytorchRule> deviceRule() const { return std::nullopt; }

    /// Sets the scale as a person would with GradScaler.update(new_scale): the counters are untouched.
    /// Throws Error (InvalidArgument) unless isUsableScale(scale), or for a family without a scale. Works on a frozen
    /// scaler too.
    virtual void setScale(double scale) = 0;
    /// Takes over new settings, keeping scale and counters. Throws Error (InvalidArgument) for invalid ones or another
    /// family; nothing has changed then.
    virtual void configure(const ScalerConfig& config) = 0;
    /// "scale", the parameters by their keys but for init_scale, and the counters with a "_" in front. For "pytorch"
    /// these are the keys of torch.amp.GradScaler.state_dict(): scale, growth_factor, backoff_factor, growth_interval,
    /// _growth_tracker. Empty object for "none". A number that is not finite is the string "inf", "-inf" or "nan", a
    /// limit that there is not is null.
    [[nodiscard]] virtual nlohmann::json state() const = 0;
    /// Takes over a state() of the same family. Throws Error (InvalidArgument) naming the key that is missing, unknown
    /// or wrong; nothing has changed then.
    virtual void loadState(const nlohmann::json& state) = 0;
};

/// Above 0 and, as a float32, neither 0 nor infinite.
[[nodiscard]] bool isUsableScale(double scale);

/// Throws Error (InvalidArgument) naming the setting, its value and what is allowed.
[[nodiscard]] std::unique_ptr<LossScaler> makeScaler(const ScalerConfig& config);

} // namespace mantissa
