/// From the arguments of `run` to the experiment that is trained.
#pragma once

#include "app/cli/training.h"
#include "engine/train/lane_changes.h"

#include <string>
#include <utility>
#include <vector>

namespace mantissa::cli {

struct RunOptions
{
    std::string file;
    std::vector<std::string> lanes; ///< names; empty: all
    std::string steps; ///< as given; empty: as the file says
    std::string seed;
    std::string weights; ///< a file, relative to the working directory; empty: as the experiment says
    std::vector<std::string> set; ///< "optimizer.lr=0.1"
    bool printsGraph = false; ///< instead of training
    TrainingOptions training;
};

/// "optimizer.lr=0.1"; what is no JSON is meant as a text.
/// Throws BadInput where there is no "=".
std::pair<std::string, nlohmann::json> changeFrom(const std::string& assignment);

/// Loads the file, keeps the chosen lanes, applies --steps, --seed and --set. Throws BadInput in words for the user.
Experiment experimentFor(const RunOptions& options);

} // namespace mantissa::cli
