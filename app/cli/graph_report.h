/// What a lane's training step computes, op by op: its formats, its casts, and why each op runs in its format.
#pragma once

#include "app/cli/output.h"
#include "engine/train/experiment.h"

namespace mantissa::cli {

/// {"experiment", "lanes": [{"lane", "policy", "casts_per_step", "ops_by_format": {...}, "nodes": [{"name", "op",
/// "phase", "cast", "inputs": [{"name", "kind", "dtype", "shape"}], "outputs": [...], "reason"}]}]}.
/// Loads the data sets, because they decide shapes. Throws Error as preparing the lanes would.
Json graphJson(const Experiment& experiment);
/// The same as a table for people.
std::string graphText(const Experiment& experiment);

} // namespace mantissa::cli
