/// One object per scaler family, each in a file of its own; scaler_registry.cpp lists them.
#pragma once

#include "engine/scaling/loss_scaler.h"

namespace mantissa {

extern const ScalerFamily noneFamily;
extern const ScalerFamily fixedFamily;
extern const ScalerFamily pytorchFamily;
extern const ScalerFamily tensorflowFamily;
extern const ScalerFamily kerasFamily;
extern const ScalerFamily mxnetFamily;
extern const ScalerFamily apexFamily;
extern const ScalerFamily deepspeedFamily;
extern const ScalerFamily megatronFamily;
extern const ScalerFamily fairseqFamily;
extern const ScalerFamily jmpFamily;
extern const ScalerFamily flaxFamily;
extern const ScalerFamily paddleFamily;
extern const ScalerFamily lossDrivenFamily;

/// Throws Error (InvalidArgument) if the settings name another family, or are not valid for it.
void requireValid(const ScalerConfig& config, const ScalerFamily& family);

} // namespace mantissa
