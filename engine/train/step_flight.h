/// A step on its way, from its first batch until its record is there.
#pragma once

#include "engine/train/step_record.h"

#include <cstdint>

namespace mantissa {

struct StepFlight
{
    StepRecord record; ///< as far as it is known; times are added to it
    std::uint64_t batchesBefore = 0; ///< fingerprint of all batches of the steps before
};

} // namespace mantissa
