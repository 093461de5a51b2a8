/// Trains stored runs again with other seeds and stores what comes out: so that it is known how much of a difference is
/// chance.
#pragma once

#include "engine/store/run_store.h"
#include "ui/session/background_runs.h"

#include <filesystem>
#include <vector>

namespace mantissa {

/// Each of the runs with `count` further seeds, those behind the largest that a stored run has.
BackgroundRuns::Work seedRuns(const std::filesystem::path& database, const std::vector<RunId>& runs, int count);

} // namespace mantissa
