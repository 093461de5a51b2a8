/// Training a sweep in the background of the window.
#pragma once

#include "engine/sweep/sweep.h"
#include "ui/session/background_runs.h"

#include <filesystem>
#include <string>

namespace mantissa {

/// Trains the points that are not stored yet, one after another, on the device. What it returns at the end says how
/// many failed, and why.
BackgroundRuns::Work sweepRuns(const std::filesystem::path& database, const std::string& device, const Sweep& sweep);

} // namespace mantissa
