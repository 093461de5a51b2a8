/// One factory per scaler family; scaler_registry.cpp gives each its name. Each throws Error (InvalidArgument) naming
/// the setting that is wrong.
#pragma once

#include "engine/scaling/loss_scaler.h"

namespace mantissa {

std::unique_ptr<LossScaler> makeNoneScaler(const ScalerConfig& config);
std::unique_ptr<LossScaler> makeFixedScaler(const ScalerConfig& config);
std::unique_ptr<LossScaler> makePytorchScaler(const ScalerConfig& config);

/// Throws Error (InvalidArgument) if `config` names another family than `family`.
void requireFamily(const ScalerConfig& config, std::string_view family);

} // namespace mantissa
