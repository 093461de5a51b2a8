/// Some of a stored run's sampled steps, spread over the run: a long run of a large model has gigabytes of them.
#pragma once

#include "engine/store/run_store.h"

#include <vector>

namespace mantissa {

/// At most `most`, the first and the last among them.
std::vector<StepSample> spreadSamples(const RunStore& store, RunId id, std::size_t most);

} // namespace mantissa
