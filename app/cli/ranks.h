/// The processes that mpirun started to run one command together. Rank 0 alone speaks and stores: what goes wrong at
/// another rank is told by it.
#pragma once

#include "engine/parallel/world.h"
#include "engine/train/session.h"

#include <CLI/CLI.hpp>

#include <exception>
#include <functional>
#include <string>

namespace mantissa::cli {

/// A failure that all ranks know of: each ends by itself.
class AgreedEnd : public std::exception
{
public:
    AgreedEnd(int code, std::string text)
        : m_code(code)
        , m_text(std::move(text))
    {
    }

    [[nodiscard]] int code() const { return m_code; }

    [[nodiscard]] const char* what() const noexcept override { return m_text.c_str(); }

private:
    int m_code;
    std::string m_text;
};

/// --mpi
void addRanksOption(CLI::App& command, bool& isAsked);

/// Joins the other processes, if mpirun started this one with others or `isAsked`, does the work, and leaves them; the
/// work gets null if this process is alone. Returns the exit code. Throws what the work does, if alone, and BadInput if
/// this program was built without MPI.
int withRanks(bool isAsked, const std::function<int(World*)>& work);

/// Rank 0's experiment, for all ranks; what `read` throws on rank 0 ends the command everywhere. All ranks train each
/// lane, whose parallel.ranks must say so, or nothing.
Experiment sharedExperiment(World& world, const std::function<Experiment()>& read);

/// The same for the lane that rank 0 goes on from, whose file the others may not have.
ResumedLane sharedCheckpoint(World& world, const std::function<ResumedLane()>& read);

} // namespace mantissa::cli
