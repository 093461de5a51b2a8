/// How a lane's matrix products are to be computed.
#pragma once

#include "engine/backends/backend.h"
#include "engine/train/experiment.h"

namespace mantissa {

/// precision.tf32 and precision.reduced_sums. Throws Error (InvalidArgument) with the reason if the device does not
/// have such products.
ProductPrecision productsOn(const Backend& backend, const LaneConfig& lane);

} // namespace mantissa
