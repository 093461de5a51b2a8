/// Training the points of a sweep on this machine, each as ordinary runs in a database.
#pragma once

#include "engine/sweep/sweep.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace mantissa {

struct SweepPlan
{
    std::filesystem::path database {};
    std::string device {"auto"};
    int threads = 0; ///< of each point; 0: the session chooses
    int jobs = 1; ///< points at a time
    std::vector<int> points {}; ///< their numbers; empty: all
};

enum class PointState {
    WasDone, ///< its runs are stored and ended
    IsElsewhere, ///< another program trains it now
    Trains, ///< `share` of it is done
    Done, ///< finished or diverged
    Failed, ///< `message` says why; the others go on
    Stopped,
};

struct PointNews
{
    int number = 1;
    PointState state = PointState::Trains;
    double share = 0;
    std::string message {};
};

struct SweepOutcome
{
    int wereDone = 0;
    int elsewhere = 0;
    int trained = 0;
    int failed = 0;
    bool isStopped = false; ///< before all points were trained
};

/// Trains the points that the database does not hold yet and returns when that is done. A point that diverges or fails
/// does not end it. Once `goOn` says no, points end as stopped within a step; the same call later goes on from there:
/// points that ended are not trained again, those that were stopped begin anew.
/// `tell` and `goOn` are called from several threads, `tell` by one at a time.
/// Throws Error where runs cannot be stored, or a device can't be used.
SweepOutcome runSweep(const Sweep& sweep, const SweepPlan& plan, const std::function<void(const PointNews&)>& tell,
    const std::function<bool()>& goOn);

} // namespace mantissa
