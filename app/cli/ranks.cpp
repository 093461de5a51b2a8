#include "app/cli/ranks.h"

#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/outcome.h"
#include "engine/core/error.h"
#include "engine/parallel/broadcast_text.h"
#include "engine/train/checkpoint.h"
#include "engine/train/lane_document.h"

#ifdef MANTISSA_HAS_MPI
#include "engine/parallel/mpi/mpi_world.h"
#endif

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace mantissa::cli {

namespace {

/// As mpirun tells the processes that it starts; 1 without it.
int ranksStarted()
{
    const char* const text = std::getenv("OMPI_COMM_WORLD_SIZE");
    return text == nullptr ? 1 : std::atoi(text);
}

std::unique_ptr<World> join(bool isAsked)
{
    const int started = ranksStarted();
    if (started <= 1 && !isAsked) {
        return nullptr;
    }
#ifdef MANTISSA_HAS_MPI
    // From the beginning: mpirun tells all ranks to end before it kills them.
    catchInterrupts();
    return joinMpiWorld({.isInterrupted = wasInterrupted});
#else
    throw BadInput(fmt::format("{}, but mantissa-cli was built without MPI. Install libopenmpi-dev and build again",
        isAsked ? std::string("--mpi was given") : fmt::format("mpirun started {} processes", started)));
#endif
}

std::string readAll(const std::filesystem::path& file)
{
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// What rank 0's `read` says, as a text for all. Throws AgreedEnd on all ranks if it fails.
std::string sharedText(World& world, const std::function<std::string()>& read)
{
    const std::shared_ptr<Communicator> ranks = world.communicator();
    nlohmann::json failure;
    std::string text;
    if (world.rank() == 0) {
        try {
            text = read();
        } catch (...) {
            const Outcome outcome = outcomeOf(std::current_exception());
            failure = {{"code", outcome.code}, {"text", outcome.text}};
        }
    }
    failure = nlohmann::json::parse(broadcastText(*ranks, failure.dump(), 0));
    if (!failure.is_null()) {
        throw AgreedEnd(failure.at("code").get<int>(), failure.at("text").get<std::string>());
    }
    return broadcastText(*ranks, std::move(text), 0);
}

/// Throws BadInput for a lane that asks for another number of ranks.
void spreadOver(Experiment& experiment, int ranks)
{
    for (LaneConfig& lane : experiment.lanes) {
        const nlohmann::json* const wanted = valueAt(lane.document, "parallel.ranks");
        if (wanted != nullptr && *wanted != ranks) {
            throw BadInput(
                fmt::format("lane \"{}\": parallel.ranks is {}, but mpirun started {} processes. Start {}, "
                            "leave parallel.ranks out to use all there are, or choose other lanes with --lane",
                    lane.name, wanted->dump(), ranks, wanted->dump()));
        }
        try {
            lane = withOverrides(lane, {{"parallel.ranks", ranks}});
        } catch (const Error& error) {
            throw BadInput(fmt::format("lane \"{}\" over {} processes: {}", lane.name, ranks, error.what()));
        }
    }
    experiment.document = composeExperiment(experiment);
}

/// Removed at the end of its life.
class TemporaryFile
{
public:
    explicit TemporaryFile(const std::string& contents)
        : m_path((std::filesystem::temp_directory_path() / "mantissa-XXXXXX").string())
    {
        const int descriptor = ::mkstemp(m_path.data());
        std::ofstream stream(m_path, std::ios::binary);
        stream.write(contents.data(), static_cast<std::streamsize>(contents.size()));
        stream.close();
        if (descriptor < 0 || !stream) {
            throw Error(ErrorCode::Io, "cannot write the temporary file " + m_path + "; is the disk full?");
        }
        ::close(descriptor);
    }

    ~TemporaryFile()
    {
        std::error_code ignored;
        std::filesystem::remove(m_path, ignored);
    }

    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    [[nodiscard]] const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

} // namespace

void addRanksOption(CLI::App& command, bool& isAsked)
{
    command.add_flag("--mpi", isAsked,
        "Train over the processes of an MPI job. Not needed under mpirun, which is noticed; for launchers such as "
        "srun");
}

int withRanks(bool isAsked, const std::function<int(World*)>& work)
{
    const std::unique_ptr<World> world = join(isAsked);
    if (!world) {
        return work(nullptr);
    }
    Outcome outcome {exitFailed, {}};
    try {
        outcome.code = work(world.get());
    } catch (const AgreedEnd& end) {
        outcome = {end.code(), world->rank() == 0 ? end.what() : ""};
    } catch (...) {
        outcome = outcomeOf(std::current_exception());
        world->leave(outcome.text);
    }
    if (world->rank() == 0 && !outcome.text.empty()) {
        std::fprintf(stderr, "mantissa-cli: %s\n", outcome.text.c_str());
    }
    std::fflush(nullptr);
    if (world->finish()) {
        return outcome.code;
    }
    if (world->rank() != 0) {
        world->awaitLeader();
        std::fprintf(stderr, "mantissa-cli, %s: %s\n", world->nameOf(world->rank()).c_str(), outcome.text.c_str());
    }
    const int code = outcome.code == exitDone ? exitFailed : outcome.code;
    world->abort(code);
    return code;
}

Experiment sharedExperiment(World& world, const std::function<Experiment()>& read)
{
    const std::string text = sharedText(world, [&] {
        Experiment experiment = read();
        spreadOver(experiment, world.size());
        return nlohmann::json {{"document", experiment.document},
            {"folder", (std::filesystem::current_path() / experiment.directory).string()}}
            .dump();
    });
    const auto shared = nlohmann::json::parse(text);
    Experiment experiment = parseExperiment(shared.at("document").dump(), "the experiment");
    experiment.directory = shared.at("folder").get<std::string>();
    return experiment;
}

ResumedLane sharedCheckpoint(World& world, const std::function<ResumedLane()>& read)
{
    ResumedLane lane;
    const std::string contents = sharedText(world, [&] {
        lane = read();
        const std::int64_t ranks = lane.checkpoint->state.config.parallel.ranks;
        if (ranks != world.size()) {
            throw BadInput(fmt::format("{}: this lane is trained by {} rank{}, but mpirun started {} processes. Start "
                                       "{}, or resume it without mpirun",
                lane.file.string(), ranks, ranks == 1 ? "" : "s", world.size(), ranks));
        }
        return readAll(lane.file);
    });
    if (world.rank() != 0) {
        const TemporaryFile copy(contents);
        lane.checkpoint = std::make_shared<const Checkpoint>(readCheckpoint(copy.path()));
        lane.file = copy.path();
    }
    return lane;
}

} // namespace mantissa::cli
