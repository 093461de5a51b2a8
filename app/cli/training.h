/// Training from the command line: what `run` and `resume` share.
#pragma once

#include "engine/parallel/world.h"
#include "engine/store/run_store.h"
#include "engine/train/session.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mantissa::cli {

struct TrainingOptions
{
    std::string device = "auto";
    int threads = 0; ///< 0: the session chooses
    std::string database; ///< empty: the default one
    bool noDatabase = false;
    std::string metrics; ///< file, "-" for stdout, empty for none
    std::string census; ///< as metrics
    bool noCounts = false;
    std::optional<std::int64_t> censusEvery; ///< nothing: as samplingFor() has it
    std::string dumpFolder; ///< empty: no tensors are dumped
    std::int64_t dumpStep = 0;
    CheckpointPlan checkpoints;
    std::vector<std::string> watch; ///< "scale < 1", "loss > 10 -> set optimizer.lr=0.001"
    bool json = false;
    bool overMpi = false; ///< even if mpirun is not noticed
    bool isAttached = false; ///< to the program that started this one
};

/// Throws BadInput for a device that there is not, Error for one that cannot be used.
void checkDevice(const std::string& name);

/// The experiment with --watch's watchpoints. Throws BadInput.
Experiment withWatchpoints(Experiment experiment, const std::vector<std::string>& texts);

/// Opens the file once, so that one that cannot be used is told before training rather than after. Throws Error.
std::unique_ptr<RunWriter> openWriter(const std::filesystem::path& file);

/// --device, --threads, --db, --no-db, --metrics, --census, --dump-tensors, --checkpoints and what belongs to them,
/// --watch, --json, --mpi, --attached.
void addTrainingOptions(CLI::App& command, TrainingOptions& options);

/// Trains to the end, until Ctrl+C or until a watchpoint pauses it, and prints the result; returns the exit code.
/// `source` names the experiment in messages. With a `world`, over its ranks, of which all but rank 0 only train.
/// Throws BadInput, Error, and AgreedEnd if the lanes cannot be prepared over ranks.
int train(const TrainingOptions& options, const Experiment& experiment, const std::string& source,
    std::vector<ResumedLane> resumed = {}, World* world = nullptr);

} // namespace mantissa::cli
