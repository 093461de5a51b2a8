/// Processes started by mpirun.
#pragma once

#include "engine/parallel/world.h"

#include <functional>
#include <memory>

namespace mantissa {

struct MpiOptions
{
    /// A stop was asked for: a rank that waits, and does not get what it waits for at once, gives up (Error,
    /// Cancelled). Called often, from several threads.
    std::function<bool()> isInterrupted = [] { return false; };
    double patience = 10; ///< seconds without any sign of life after which a rank counts as lost
};

/// Joins the others; blocks until all have come. At most once in a process. Throws Error (BackendUnavailable).
std::unique_ptr<World> joinMpiWorld(MpiOptions options);

} // namespace mantissa
