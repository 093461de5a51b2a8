/// Sampled steps as rows of step_samples and tensor_samples.
#pragma once

#include "engine/train/step_sample.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace mantissa {

/// Within the caller's transaction; a step that was written before is written anew.
void writeSamples(
    SQLite::Database& connection, std::int64_t run, std::span<const std::shared_ptr<const StepSample>> samples);

/// Those of the steps first .. last, in order; nothing if a row is damaged.
std::optional<std::vector<StepSample>> readSamples(
    SQLite::Database& connection, std::int64_t run, std::int64_t first, std::int64_t last);

} // namespace mantissa
