#include "engine/train/lane_group.h"

#include "engine/backends/backend_registry.h"
#include "engine/core/clock.h"
#include "engine/core/error.h"
#include "engine/train/lane_member.h"
#include "engine/train/model_task.h"
#include "engine/train/weights_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

namespace mantissa {

namespace {

/// Absolute from the start, so that it means the same to whoever reads the stored runs, from wherever.
std::filesystem::path absolutePath(const std::filesystem::path& path)
{
    std::error_code ignored; // the working directory may be gone, which matters only to relative data paths
    const std::filesystem::path here = std::filesystem::current_path(ignored);
    return (here / path).lexically_normal();
}

CheckpointPlan withAbsoluteFolder(CheckpointPlan plan)
{
    if (!plan.folder.empty()) {
        plan.folder = absolutePath(plan.folder);
    }
    return plan;
}

/// As it is stored: not relative to the folder of an experiment file that a replay will not come from.
LaneConfig withAbsoluteData(LaneConfig config, const std::filesystem::path& folder)
{
    const std::filesystem::path data = config.data.path;
    if (!data.empty() && data.is_relative()) {
        config.data.path = (folder / data).lexically_normal().string();
        config.document["data"]["path"] = config.data.path;
    }
    return config;
}

/// One per lane unless asked otherwise, so that results do not depend on the machine's size.
int threadsFor(const SessionOptions& options, std::size_t lanes)
{
    if (options.threads > 0) {
        return options.threads;
    }
    const auto cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
    return static_cast<int>(std::clamp<std::size_t>(lanes, 1, cores));
}

/// One where processes train together: they have to exchange their lanes' numbers in one order.
int lanesAtOnce(const SessionOptions& options, int threads, std::size_t lanes)
{
    return options.ranks ? 1 : std::min(threads, static_cast<int>(std::max<std::size_t>(lanes, 1)));
}

/// Where the lane trains: on the session's device unless it names another.
Backend& backendFor(const LaneConfig& lane, Backend& ofSession)
{
    if (lane.device == "session") {
        return ofSession;
    }
    try {
        return backendByName(lane.device);
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("The lane \"{}\" cannot train: {}", lane.name, error.what()));
    }
}

} // namespace

LaneGroup::LaneGroup(
    Experiment experiment, const SessionOptions& options, EventSink onEvent, const std::atomic<bool>& interrupt)
    : m_experiment(std::move(experiment))
    , m_options(options)
    , m_onEvent(std::move(onEvent))
    , m_interrupt(interrupt)
    , m_backend(backendByName(options.device))
    , m_threads(threadsFor(options, m_experiment.lanes.size()))
    , m_threadsPerLane(std::max(1, m_threads / static_cast<int>(std::max<std::size_t>(m_experiment.lanes.size(), 1))))
    , m_pool(lanesAtOnce(options, m_threads, m_experiment.lanes.size()), m_threadsPerLane)
    , m_datasets(absolutePath(m_experiment.directory))
    , m_checkpoints(withAbsoluteFolder(m_options.checkpoints))
    , m_startedAt(steadySeconds())
{
    m_experiment.directory = absolutePath(m_experiment.directory);
    m_saves = !m_checkpoints.plan().folder.empty();
    if (!m_options.ranks) {
        makeMembers();
        return;
    }
    m_lockstep = std::make_unique<RankLockstep>(m_options.ranks);
    std::string failure;
    try {
        makeMembers();
    } catch (const std::exception& error) {
        failure = error.what();
    }
    agree(failure);
}

void LaneGroup::makeMembers()
{
    keepStatesForForks();
    for (const LaneConfig& config : m_experiment.lanes) {
        const auto resumed = std::ranges::find_if(m_options.resumed,
            [&config](const ResumedLane& lane) { return lane.checkpoint->initial.name == config.name; });
        m_members.push_back(resumed == m_options.resumed.end() ? makeMember(m_nextId, config, scriptFor(config.name))
                                                               : resumeMember(m_nextId, *resumed));
        ++m_nextId;
    }
}

LaneGroup::~LaneGroup() = default;

std::vector<ScriptedEvent> LaneGroup::scriptFor(const std::string& lane) const
{
    std::vector<ScriptedEvent> events;
    for (const ScriptedEvent& event : m_experiment.events) {
        if (event.lane.empty() || event.lane == lane) {
            events.push_back(event);
            events.back().lane = lane;
        }
    }
    return events;
}

std::unique_ptr<LaneGroup::Member> LaneGroup::makeMember(
    std::uint32_t id, LaneConfig config, std::vector<ScriptedEvent> events)
{
    std::optional<WeightsFile> weights;
    if (!config.model.weights.empty()) {
        weights = pinnedWeights(config, m_experiment.directory);
    }
    auto made = std::make_unique<Member>();
    made->initialConfig = config;
    const std::shared_ptr<const Dataset> data = m_datasets.get(config);
    made->lane = std::make_unique<Lane>(id, std::move(config), std::move(events), data,
        backendFor(made->initialConfig, m_backend), m_threadsPerLane, m_options.ranks);
    if (weights) {
        const Shape sample = trainingTask(made->initialConfig, *data).sample.shape;
        const FittedWeights fitted = fitWeights(*weights, *made->lane->graph(), sample);
        made->lane->startFrom(fitted.values);
        emit(made.get(), {.kind = EventKind::Weights, .path = made->initialConfig.model.weights, .text = fitted.note});
    }
    made->initialWeightsHash = made->lane->initialWeightsHash();
    made->summary.minLoss = std::numeric_limits<double>::infinity();
    made->watch = watchOf(*made, m_experiment.watchpoints, false);
    return made;
}

std::unique_ptr<LaneGroup::Member> LaneGroup::resumeMember(std::uint32_t id, const ResumedLane& resumed)
{
    const Checkpoint& checkpoint = *resumed.checkpoint;
    auto made = std::make_unique<Member>();
    made->initialConfig = checkpoint.initial;
    const LaneConfig& config = checkpoint.state.config;
    made->lane = std::make_unique<Lane>(
        id, checkpoint.state, m_datasets.get(config), backendFor(config, m_backend), m_threadsPerLane, m_options.ranks);
    // The hash is of rank 0's weights; other ranks may have drifted from them.
    if (leads() && made->lane->weightsHash() != checkpoint.weightsHash) {
        throw Error(ErrorCode::InvalidArgument,
            fmt::format("{}: its weights are not those that were saved (hash {}, saved as {}); it is damaged. Resume "
                        "from an older checkpoint.",
                resumed.file.string(), made->lane->weightsHash(), checkpoint.weightsHash));
    }
    made->initialWeightsHash = made->lane->initialWeightsHash();
    made->summary.minLoss = std::numeric_limits<double>::infinity();
    made->savedAt = made->lane->nextStep();
    made->watch = watchOf(*made, m_experiment.watchpoints, false);
    made->watch.noteTrue(checkpoint.trueConditions);
    made->notePast();
    emit(made.get(),
        {.kind = EventKind::Resumed, .step = made->lane->nextStep(), .path = absolutePath(resumed.file).string()});
    return made;
}

LaneGroup::Member& LaneGroup::member(std::uint32_t lane)
{
    const auto found
        = std::ranges::find_if(m_members, [lane](const auto& candidate) { return candidate->lane->id() == lane; });
    if (found == m_members.end()) {
        throw Error(ErrorCode::InvalidArgument, fmt::format("There is no lane {}; it may have been removed.", lane));
    }
    return **found;
}

void LaneGroup::emit(Member* member, Event event)
{
    event.unixSeconds = unixSeconds();
    if (member != nullptr) {
        event.lane = member->lane->id();
    }
    m_onEvent(event);
    if (member != nullptr && !member->isStarted) {
        member->early.push_back(std::move(event));
        return;
    }
    for (RunObserver* observer : m_options.observers) {
        observer->eventHappened(event);
    }
}

nlohmann::json LaneGroup::document() const
{
    Experiment present = m_experiment;
    present.lanes.clear();
    present.events.clear();
    for (const auto& member : m_members) {
        present.lanes.push_back(withAbsoluteData(member->initialConfig, m_experiment.directory));
        for (ScriptedEvent event : member->lane->history()) {
            event.lane = member->initialConfig.name;
            present.events.push_back(std::move(event));
        }
    }
    std::erase_if(present.watchpoints, [&present](const Watchpoint& watchpoint) {
        return !watchpoint.lane.empty()
            && std::ranges::find(present.lanes, watchpoint.lane, &LaneConfig::name) == present.lanes.end();
    });
    return composeExperiment(present);
}

void LaneGroup::start(Member& member)
{
    member.isStarted = true;
    if (m_options.snapshotInterval > 0) {
        try {
            member.keepState();
        } catch (const std::exception& error) {
            member.failure = error.what(); // the device
        }
    }
    const DeviceInfo& info = member.lane->device();
    const RunStart start {.lane = member.lane->id(),
        .config = withAbsoluteData(member.initialConfig, m_experiment.directory),
        .experimentName = m_experiment.name,
        .experiment = document(),
        .device = info.name,
        .backend = info.backend,
        .instructionSet = info.instructionSet,
        .threads = m_threads,
        .threadsPerLane = m_threadsPerLane,
        .initialWeightsHash = member.initialWeightsHash,
        .unixSeconds = unixSeconds()};
    for (RunObserver* observer : m_options.observers) {
        observer->runStarted(start);
        for (Event& event : member.early) {
            // The document that the run started from has it already.
            event.scripted = true;
            observer->eventHappened(event);
        }
    }
    member.early.clear();
}

// --- stepping ---

bool LaneGroup::isActive() const
{
    return std::ranges::any_of(m_members, [](const auto& member) { return member->canStep(); });
}

std::int64_t LaneGroup::nextStep() const
{
    std::int64_t behind = std::numeric_limits<std::int64_t>::max();
    std::int64_t reached = 0;
    for (const auto& member : m_members) {
        reached = std::max(reached, member->lane->nextStep());
        if (member->canStep()) {
            behind = std::min(behind, member->lane->nextStep());
        }
    }
    return isActive() ? behind : reached;
}

std::int64_t LaneGroup::totalSteps() const
{
    std::int64_t total = 0;
    for (const auto& member : m_members) {
        total = std::max(total, member->lane->config()->steps);
    }
    return total;
}

void LaneGroup::stepMember(std::size_t index)
{
    Member& stepping = *m_stepping[index];
    const double before = steadySeconds();
    try {
        const bool isSampled = m_options.sampling.isDue(stepping.lane->nextStep()) || stepping.samplesNext;
        if (!stepping.lane->hasBegun()) {
            stepping.lane->setCounting(isSampled || m_options.sampling.countsEveryStep);
        }
        if (isSampled) {
            stepping.sample = std::make_shared<StepSample>();
            const bool keepsElements = m_options.sampling.keepsElementsOf == stepping.lane->nextStep();
            m_records[index] = stepping.sampler.step(*stepping.lane, *stepping.sample, keepsElements);
            stepping.samplesNext = false;
        } else {
            m_records[index] = stepping.train();
        }
        stepping.trainingSeconds += steadySeconds() - before;
        stepping.lane->validateIfDue(m_records[index], m_interrupt);
    } catch (const Error& error) {
        stepping.failure = error.what();
        stepping.isCancelled = error.code() == ErrorCode::Cancelled;
    } catch (const std::exception& error) {
        stepping.failure = error.what();
    }
}

bool LaneGroup::hasBegun() const
{
    return std::ranges::any_of(m_members, [](const auto& member) { return member->lane->hasBegun(); });
}

/// Nothing looks at the lane, or changes it, between its next step and the one behind that.
bool LaneGroup::mayRunAhead(const Member& member) const
{
    const Lane& lane = *member.lane;
    const std::int64_t now = lane.nextStep();
    const auto isMultiple = [](std::int64_t step, std::int64_t every) { return every > 0 && step % every == 0; };
    const bool isLookedInto = m_options.sampling.isDue(now) || m_options.sampling.isDue(now + 1) || member.samplesNext;
    const bool isLookedAt = isMultiple(now, m_options.baselineInterval)
        || isMultiple(now + 1, m_options.snapshotInterval) || isMultiple(now + 1, lane.config()->evaluation.every)
        || m_checkpoints.isDue(lane.id(), now + 1);
    return lane.canRunAhead() && now + 1 < lane.config()->steps && !lane.isScriptDue(now + 1) && !isLookedInto
        && !isLookedAt && member.watch.isEmpty() && !m_lockstep;
}

std::span<const StepRecord> LaneGroup::step(Next next)
{
    m_pauseReason.clear();
    m_stepping.clear();
    if (m_lockstep && !takeWord()) {
        m_rankRecords.clear();
        m_samples.clear();
        return {};
    }
    const std::int64_t now = nextStep();
    for (const auto& member : m_members) {
        if (member->canStep() && member->lane->nextStep() == now) {
            if (!member->isStarted) {
                start(*member);
            }
            if (!member->failure.empty()) {
                endIfDone(*member);
                continue;
            }
            for (Event& event : member->lane->applyScripted()) {
                emit(member.get(), std::move(event));
            }
            if (!member->canStep()) {
                endIfDone(*member); // a script ended it here
                continue;
            }
            member->goesOn = next == Next::Step && mayRunAhead(*member);
            m_stepping.push_back(member.get());
        }
    }
    m_records.assign(m_stepping.size(), {});
    m_pool.run(m_stepping.size(), [this](std::size_t index) { stepMember(index); });
    if (m_options.baselineInterval > 0 && now % m_options.baselineInterval == 0) {
        measureDistances();
    } else {
        for (StepRecord& record : m_records) {
            record.baselineDistance = std::numeric_limits<double>::quiet_NaN();
        }
    }
    std::size_t good = 0;
    for (std::size_t i = 0; i < m_stepping.size(); ++i) {
        if (m_stepping[i]->failure.empty()) {
            StepRecord record = m_records[i];
            record.generation = m_generation;
            record.wallSeconds = steadySeconds() - m_startedAt;
            m_stepping[i]->note(record);
            m_stepping[i]->newest = record;
            m_records[good++] = record;
        }
    }
    const std::span<const StepRecord> records(m_records.data(), good);
    reportRanks();
    for (RunObserver* observer : m_options.observers) {
        observer->stepsRecorded(records);
    }
    reportSamples();
    for (Member* stepped : m_stepping) {
        if (auto exchange = stepped->lane->takeExchange()) {
            emit(stepped, std::move(*exchange));
        }
        if (auto origin = stepped->lane->takeOrigin()) {
            emit(stepped, std::move(*origin));
        }
        if (stepped->failure.empty()) {
            watch(*stepped, stepped->newest);
        }
        endIfDone(*stepped);
        keepIfDue(*stepped);
    }
    reportCheckpoints();
    return records;
}

void LaneGroup::reportRanks()
{
    m_rankRecords.clear();
    for (const Member* stepped : m_stepping) {
        if (stepped->failure.empty()) {
            for (RankRecord record : stepped->lane->rankRecords()) {
                record.generation = m_generation;
                m_rankRecords.push_back(record);
            }
        }
    }
    if (!m_rankRecords.empty()) {
        for (RunObserver* observer : m_options.observers) {
            observer->ranksRecorded(m_rankRecords);
        }
    }
}

void LaneGroup::reportSamples()
{
    m_samples.clear();
    for (Member* stepped : m_stepping) {
        if (std::shared_ptr<StepSample> sample = std::exchange(stepped->sample, nullptr);
            sample && stepped->failure.empty()) {
            sample->generation = m_generation;
            m_samples.push_back(std::move(sample));
        }
    }
    for (RunObserver* observer : m_options.observers) {
        for (const auto& sample : m_samples) {
            observer->stepSampled(sample);
        }
    }
}

void LaneGroup::sampleNext()
{
    for (const auto& member : m_members) {
        member->samplesNext = true;
    }
}

void LaneGroup::measureDistances()
{
    const auto base = std::ranges::find_if(
        m_stepping, [this](const Member* candidate) { return candidate->lane->id() == m_baseline; });
    m_pool.run(m_stepping.size(), [this](std::size_t i) {
        Member& stepped = *m_stepping[i];
        stepped.weights.clear();
        try {
            if (stepped.failure.empty()) {
                stepped.lane->readWeights(stepped.weights);
            }
        } catch (const std::exception& error) {
            stepped.failure = error.what(); // the device, after it trained the step
        }
    });
    m_pool.run(m_stepping.size(), [this, base](std::size_t i) {
        const std::vector<float>& weights = m_stepping[i]->weights;
        if (base == m_stepping.end() || (*base)->weights.size() != weights.size()) {
            m_records[i].baselineDistance = std::numeric_limits<double>::quiet_NaN();
            return;
        }
        double difference = 0;
        double norm = 0;
        for (std::size_t j = 0; j < weights.size(); ++j) {
            const double reference = (*base)->weights[j];
            difference += (weights[j] - reference) * (weights[j] - reference);
            norm += reference * reference;
        }
        m_records[i].baselineDistance = difference == 0 ? 0 : std::sqrt(difference / norm);
    });
}

// --- checkpoints ---

void LaneGroup::keepIfDue(Member& member)
{
    if (member.lane->hasBegun()) {
        return; // what is due by the clock is so behind the next step too, of which it lets no other be begun
    }
    try {
        saveIfDue(member);
        if (member.failure.empty()) {
            member.snapshotIfDue(m_options.snapshotInterval);
        }
    } catch (const std::exception& error) {
        if (!member.isEnded) {
            end(member, RunStatus::Failed, error.what());
        }
    }
}

void LaneGroup::saveIfDue(Member& member)
{
    if (!m_lockstep && !member.isEnded && m_checkpoints.isDue(member.lane->id(), member.lane->nextStep())) {
        save(member);
    }
}

void LaneGroup::save(Member& member)
{
    if (member.savedAt != member.lane->nextStep()) {
        member.savedAt = member.lane->nextStep();
        Checkpoint checkpoint = checkpointOf(member); // over several processes: with all of them
        if (leads()) {
            m_checkpoints.add(member.lane->id(), std::move(checkpoint));
        }
    }
}

void LaneGroup::saveTo(std::uint32_t lane, const std::filesystem::path& file)
{
    m_checkpoints.addTo(absolutePath(file), lane, checkpointOf(member(lane)));
    m_checkpoints.flush();
    reportCheckpoints();
}

Checkpoint LaneGroup::checkpointOf(Member& member) const
{
    std::vector<Watchpoint> watchpoints = m_experiment.watchpoints;
    std::erase_if(watchpoints, [&name = member.initialConfig.name](const Watchpoint& watchpoint) {
        return !watchpoint.lane.empty() && watchpoint.lane != name;
    });
    return {.experimentName = m_experiment.name,
        .experimentText = m_experiment.text,
        .initial = withAbsoluteData(member.initialConfig, m_experiment.directory),
        .state = member.lane->state(),
        .weightsHash = member.lane->weightsHash(),
        .instructionSet = member.lane->device().instructionSet,
        .threadsPerLane = m_threadsPerLane,
        .watchpoints = std::move(watchpoints),
        .trueConditions = member.watch.trueConditions(),
        .plan = m_checkpoints.plan()};
}

void LaneGroup::reportCheckpoints()
{
    for (Event& event : m_checkpoints.takeEvents()) {
        const auto found = std::ranges::find_if(
            m_members, [&event](const auto& candidate) { return candidate->lane->id() == event.lane; });
        if (found != m_members.end()) {
            emit(found->get(), std::move(event));
        }
    }
}

// --- ends ---

void LaneGroup::endIfDone(Member& member)
{
    if (!member.failure.empty()) {
        end(member, member.isCancelled ? RunStatus::Stopped : RunStatus::Failed, member.failure);
    } else if (member.lane->hasDiverged()) {
        end(member, RunStatus::Diverged,
            fmt::format("The weights are not finite any more since step {}.", member.lane->nextStep() - 1));
    } else if (member.lane->nextStep() >= member.lane->config()->steps) {
        // A script may move the end: that is how an extended run is replayed.
        for (Event& event : member.lane->applyScripted()) {
            emit(&member, std::move(event));
        }
        if (!member.canStep()) {
            end(member, RunStatus::Finished, {});
        }
    }
}

void LaneGroup::validate(Member& member)
{
    RunSummary& summary = member.summary;
    try {
        const Validation validation = member.lane->validate(m_interrupt);
        summary.validationLoss = validation.loss;
        summary.validationAccuracy = validation.accuracy;
    } catch (const Error& error) {
        summary.message += fmt::format("{}Validation failed: {}", summary.message.empty() ? "" : " ", error.what());
    }
}

void LaneGroup::end(Member& member, RunStatus status, const std::string& message)
{
    member.isEnded = true;
    RunSummary& summary = member.summary;
    summary.status = status;
    summary.message = message;
    summary.finalScale = member.lane->scale();
    try {
        member.lane->discard(); // a step that was begun before it was known that the lane ends here
        summary.weightsHash = member.lane->weightsHash();
    } catch (const std::exception&) {
        summary.weightsHash.clear(); // the device does not answer any more, which the message says
    }
    summary.stepsPerSecond
        = member.trainingSeconds > 0 ? static_cast<double>(summary.steps) / member.trainingSeconds : 0;
    summary.bytes = member.lane->bytes();
    summary.castsPerStep = member.lane->castsPerStep();
    summary.validationLoss = std::numeric_limits<double>::quiet_NaN();
    summary.validationAccuracy = std::numeric_limits<double>::quiet_NaN();
    // Whoever stops a run waits for it: going through a large validation set would take far longer than a step.
    // So does mpirun when a rank is lost, and not for long.
    const bool hasLostRanks = m_lockstep && !member.failure.empty();
    if (status != RunStatus::Stopped && !hasLostRanks && !summary.weightsHash.empty()) {
        validate(member);
    }
    summary.unixSeconds = unixSeconds();

    constexpr auto kindOf = [](RunStatus ended) {
        switch (ended) {
        case RunStatus::Finished:
            return EventKind::Finished;
        case RunStatus::Diverged:
            return EventKind::Diverged;
        case RunStatus::Failed:
            return EventKind::Failed;
        default:
            return EventKind::Stopped;
        }
    };
    const bool canGoOn = status == RunStatus::Finished || status == RunStatus::Stopped;
    if (hasLostRanks && m_saves) {
        saveKept(member);
    } else if (canGoOn && member.isStarted && m_saves) {
        saveAtEnd(member);
    }
    if (m_saves && member.isStarted) {
        m_checkpoints.flush(); // its event belongs to the run, which ends here
        reportCheckpoints();
    }
    emit(&member, {.kind = kindOf(status), .step = member.lane->nextStep(), .text = summary.message});
    if (member.isStarted) {
        for (RunObserver* observer : m_options.observers) {
            observer->runEnded(member.lane->id(), summary);
        }
    }
}

void LaneGroup::stopAll()
{
    if (m_lockstep && m_lockstep->leads() && isActive()) {
        try {
            m_lockstep->next({.stops = true});
        } catch (const std::exception& error) {
            for (const auto& member : m_members) {
                member->failure = error.what();
            }
        }
    }
    for (const auto& member : m_members) {
        if (!member->isEnded) {
            end(*member, RunStatus::Stopped, m_pauseReason);
        }
    }
}

void LaneGroup::reset()
{
    std::vector<std::unique_ptr<Member>> fresh;
    for (const auto& member : m_members) {
        const LaneConfig& config = *member->lane->config();
        fresh.push_back(makeMember(member->lane->id(), config, scriptFor(config.name)));
    }
    for (const auto& member : m_members) {
        if (member->isStarted && !member->isEnded) {
            end(*member, RunStatus::Stopped, {});
        }
    }
    m_members = std::move(fresh);
    ++m_generation;
    m_startedAt = steadySeconds();
    emit(nullptr, {.kind = EventKind::Reset});
}

} // namespace mantissa
