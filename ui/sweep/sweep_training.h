/// Training a sweep in the background of the window.
#pragma once

#include "engine/sweep/sweep.h"
#include "ui/session/background_runs.h"

#include <filesystem>

namespace mantissa {

/// Trains the points that are not stored yet, one after another. What it returns at the end says which points failed.
BackgroundRuns::Work sweepRuns(const std::filesystem::path& database, const Sweep& sweep);

} // namespace mantissa
