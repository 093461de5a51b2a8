/// Where a session's checkpoints go unless a person says otherwise. What is named so may be removed when disk runs
/// short.
#pragma once

#include <filesystem>
#include <string>

namespace mantissa {

/// Beside the database of runs; empty if that is.
std::filesystem::path checkpointsFolder(const std::filesystem::path& database);

/// Of a session that begins now, to be made in checkpointsFolder(): "2026-11-30_21-44-42-123_Digits-underflow" (UTC).
/// Names sort by time.
std::string sessionFolderName(const std::string& experiment);

} // namespace mantissa
