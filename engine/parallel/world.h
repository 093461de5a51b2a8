/// The processes that train one experiment together, as something outside this program started them.
#pragma once

#include "engine/parallel/communicator.h"

#include <memory>
#include <string>

namespace mantissa {

/// Rank 0 leads: it alone stores, reports and decides when to stop; the others follow.
class World
{
public:
    virtual ~World() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;

    /// "rank 1 (process 4711 on node7)"
    [[nodiscard]] virtual std::string nameOf(int rank) const = 0;

    /// For one thread at a time; all ranks must share the calls.
    [[nodiscard]] virtual std::shared_ptr<Communicator> communicator() = 0;

    /// Tells the others that this rank takes part no more and why: who waits for it, or comes to, gets an Error.
    virtual void leave(const std::string& why) = 0;

    /// Ends the membership when the work is done; returns once all ranks have come here. False if one did not: then
    /// abort() is the only way out.
    [[nodiscard]] virtual bool finish() = 0;

    /// For a rank other than 0 that cannot go on: blocks as long as rank 0 lives, a minute at most. It saves what there
    /// is and then ends all ranks, this one too.
    virtual void awaitLeader() = 0;

    /// Ends this process and those of all other ranks, also such as hang.
    [[noreturn]] virtual void abort(int exitCode) = 0;
};

} // namespace mantissa
