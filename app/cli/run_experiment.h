/// From the arguments of `run` to the experiment that is trained.
#pragma once

#include "engine/train/experiment.h"

#include <string>
#include <vector>

namespace mantissa::cli {

struct RunOptions
{
    std::string file;
    std::vector<std::string> lanes; ///< names; empty: all
    std::string steps; ///< as given; empty: as the file says
    std::string seed;
    std::vector<std::string> set; ///< "optimizer.lr=0.1"
    std::string device = "auto";
    int threads = 0; ///< 0: the session chooses
    std::string database; ///< empty: the default one
    bool noDatabase = false;
    std::string metrics; ///< file, "-" for stdout, empty for none
    bool printsGraph = false; ///< instead of training
    bool json = false;
};

/// Loads the file, keeps the chosen lanes, applies --steps, --seed and --set. Throws BadInput in words for the user.
Experiment experimentFor(const RunOptions& options);

} // namespace mantissa::cli
