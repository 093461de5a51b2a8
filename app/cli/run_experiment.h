/// From the arguments of `run` to the experiment that is trained.
#pragma once

#include "engine/train/experiment.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mantissa::cli {

struct RunOptions
{
    std::string file;
    std::vector<std::string> lanes; ///< names; empty: all
    std::optional<std::int64_t> steps;
    std::optional<std::uint64_t> seed;
    std::vector<std::string> set; ///< "optimizer.lr=0.1"
    std::string device = "auto";
    int threads = 0; ///< 0: the session chooses
    std::string database; ///< empty: the default one
    bool noDatabase = false;
    std::string metrics; ///< file, "-" for stdout, empty for none
    bool json = false;
};

/// Loads the file, keeps the chosen lanes, applies --steps, --seed and --set. Throws BadInput in words for the user.
Experiment experimentFor(const RunOptions& options);

} // namespace mantissa::cli
