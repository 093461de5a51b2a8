/// The five numbers of torch.amp.GradScaler, checked, and their JSON form.
/// Source: pytorch/pytorch, torch/amp/grad_scaler.py, state_dict() and load_state_dict().
#pragma once

#include "engine/scaling/loss_scaler.h"

namespace mantissa {

struct ScalerState
{
    float scale = 1; ///< any float32: backing off can reach 0, and a negative factor below 0
    double growthFactor = 2;
    double backoffFactor = 0.5;
    std::int64_t growthInterval = 2000;
    std::int64_t growthTracker = 0; ///< finite steps since the last growth or overflow; an int32 in PyTorch
};

/// `scale` rounded to float32. Throws Error (InvalidArgument), naming the value `what`, unless `scale` is above 0 and
/// the result is neither 0 nor infinite.
float usableScale(double scale, std::string_view what);

/// A fresh state. Throws Error (InvalidArgument) naming the setting, its value and what is allowed.
ScalerState initialScalerState(const ScalerConfig& config);

/// `state` with the factors and the interval of `config`; scale and tracker stay. Throws like initialScalerState().
ScalerState withSettings(ScalerState state, const ScalerConfig& config);

nlohmann::json toJson(const ScalerState& state);

/// Throws Error (InvalidArgument) naming the key that is missing, unknown or has a wrong value.
ScalerState scalerStateFromJson(const nlohmann::json& json);

} // namespace mantissa
