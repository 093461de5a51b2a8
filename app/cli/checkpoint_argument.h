/// A checkpoint as the commands name it: a file, or a run, which means its newest that can be read.
#pragma once

#include "engine/train/session.h"

#include <string>

namespace mantissa::cli {

/// `database` holds the runs; empty: the default one. Throws BadInput and what readCheckpoint() throws.
ResumedLane checkpointFrom(const std::string& runOrFile, const std::string& database);

} // namespace mantissa::cli
