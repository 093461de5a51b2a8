/// The checkpoints that a run has written, as far as they are still there.
#pragma once

#include "engine/store/run_store.h"

#include <filesystem>
#include <vector>

namespace mantissa {

struct WrittenCheckpoint
{
    std::filesystem::path file;
    std::int64_t step = 0; ///< the next one of the lane in it
    double unixSeconds = 0; ///< when it was written
};

/// Newest first; whether they can be read is not looked at. Throws what RunStore::events() throws.
std::vector<WrittenCheckpoint> checkpointsOf(const RunStore& store, RunId run);

} // namespace mantissa
