#include "ui/session/session_controller.h"

#include "engine/core/error.h"
#include "engine/train/checkpoint_folder.h"

#include <QThread>

#include <algorithm>
#include <set>
#include <utility>

namespace mantissa {

namespace {

constexpr int quickIntervalMs = 16;
constexpr std::int64_t snapshotInterval = 20; // least steps; those between are trained again when a lane goes back
constexpr int calmIntervalMs = 100;
constexpr double bytesPerGib = 1024.0 * 1024.0 * 1024.0;

} // namespace

/// A session and what belongs to it. Members die in reverse order: the session before the writer it reports to.
struct SessionController::Live
{
    ExperimentDocument document;
    std::shared_ptr<RunWriter> writer;
    QString writerProblem;
    std::unique_ptr<Session> session;
    std::shared_ptr<const SessionStatus> status;
    std::vector<std::uint32_t> laneIds; ///< document lane by index -> session's lane id
    LaneMonitor monitor;
    SampleHistory samples;

    [[nodiscard]] std::optional<std::size_t> indexOf(std::uint32_t lane) const
    {
        const auto found = std::find(laneIds.begin(), laneIds.end(), lane);
        return found == laneIds.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - laneIds.begin()));
    }
};

SessionController::SessionController(std::filesystem::path database, QObject* parent)
    : QObject(parent)
    , m_database(std::move(database))
{
    m_reaper.setMaxThreadCount(1);
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setInterval(quickIntervalMs);
    connect(&m_timer, &QTimer::timeout, this, &SessionController::poll);
    m_timer.start();
}

SessionController::~SessionController()
{
    m_timer.stop();
    retire(std::move(m_previous));
    retire(std::move(m_live));
    m_reaper.waitForDone();
}

std::unique_ptr<SessionController::Live> SessionController::makeLive(
    ExperimentDocument document, const std::optional<ResumedLane>& resumed)
{
    auto live = std::make_unique<Live>();
    live->document = std::move(document);
    if (!m_database.empty()) {
        try {
            live->writer = std::make_shared<RunWriter>(m_database);
        } catch (const std::exception& error) {
            live->writerProblem = QString::fromUtf8(error.what());
        }
    }
    SessionOptions options;
    options.device = m_device;
    options.snapshotInterval = snapshotInterval;
    options.sampling = m_sampling;
    if (live->writer) {
        options.observers.push_back(live->writer.get());
    }
    options.checkpoints = checkpointPlan(m_checkpoints, m_database, live->document.name());
    if (resumed) {
        options.resumed = {*resumed};
        options.threads = resumed->checkpoint->threadsPerLane; // another number would give other bits
    }
    live->session = std::make_unique<Session>(live->document.experiment(), options);
    if (m_speedLimit > 0) {
        live->session->setSpeedLimit(m_speedLimit);
    }
    return live;
}

void SessionController::retire(std::unique_ptr<Live> live)
{
    if (!live) {
        return;
    }
    live->session->stop();
    // A pool job must be copyable, so the session travels in a shared pointer that only the job holds.
    std::shared_ptr<Live> last = std::move(live);
    const auto mostBytes = static_cast<std::uintmax_t>(m_checkpoints.mostGib * bytesPerGib);
    m_reaper.start([last = std::move(last), folder = checkpointsFolder(m_database), mostBytes]() mutable {
        last.reset();
        if (!folder.empty()) {
            removeOldCheckpoints(folder, mostBytes);
        }
    });
}

void SessionController::resume(const ResumedLane& lane)
{
    const Checkpoint& checkpoint = *lane.checkpoint;
    Experiment experiment;
    experiment.name = checkpoint.experimentName;
    experiment.text = checkpoint.experimentText;
    experiment.lanes = {checkpoint.state.config};
    experiment.watchpoints = checkpoint.watchpoints;
    experiment.events = checkpoint.state.script;
    retire(std::move(m_previous));
    retire(std::move(m_live));
    show(makeLive(ExperimentDocument(std::move(experiment)), lane), Replacement::Opened);
}

void SessionController::show(std::unique_ptr<Live> live, Replacement reason)
{
    m_live = std::move(live);
    m_pending.clear();
    emit sessionReplaced(reason);
    emit documentChanged();
    followStatus();
    if (reason == Replacement::Restored) {
        emit lanesChanged();
        emit statusChanged();
    }
}

void SessionController::open(ExperimentDocument document)
{
    retire(std::move(m_previous));
    retire(std::move(m_live));
    show(makeLive(std::move(document)), Replacement::Opened);
}

const ExperimentDocument& SessionController::document() const
{
    static const ExperimentDocument none;
    return m_live ? m_live->document : none;
}

void SessionController::save(const std::filesystem::path& file)
{
    if (m_live) {
        m_live->document.save(file);
        emit documentChanged();
    }
}

void SessionController::run()
{
    if (m_live) {
        m_live->session->run();
    }
}

void SessionController::pause()
{
    if (m_live) {
        m_live->session->pause();
    }
}

void SessionController::toggleRun()
{
    if (isRunning()) {
        pause();
    } else {
        run();
    }
}

void SessionController::runSteps(std::int64_t steps)
{
    if (m_live) {
        m_live->session->runSteps(steps);
    }
}

void SessionController::stop()
{
    if (m_live) {
        m_live->session->stop();
    }
}

void SessionController::reset()
{
    if (m_live) {
        restart(m_live->document);
    }
}

void SessionController::restart(ExperimentDocument document)
{
    if (!m_live) {
        open(std::move(document));
        return;
    }
    const bool hasTrained = m_live->session->status()->step > 0;
    m_live->session->pause();
    if (hasTrained) {
        ++m_restartSerial;
        retire(std::exchange(m_previous, std::move(m_live)));
    } else {
        retire(std::move(m_live));
    }
    show(makeLive(std::move(document)), Replacement::Reset);
}

void SessionController::undoReset()
{
    if (!m_previous) {
        return;
    }
    if (m_live) {
        m_live->session->pause();
    }
    std::unique_ptr<Live> before = std::exchange(m_previous, nullptr);
    m_previous = std::exchange(m_live, nullptr);
    show(std::move(before), Replacement::Restored);
}

void SessionController::extend(std::int64_t totalSteps)
{
    if (!m_live) {
        return;
    }
    m_live->session->extend(totalSteps);
    m_live->document.setSteps(totalSteps);
    emit documentChanged();
}

void SessionController::setSpeedLimit(double stepsPerSecond)
{
    m_speedLimit = stepsPerSecond;
    if (m_live) {
        m_live->session->setSpeedLimit(stepsPerSecond);
    }
}

void SessionController::setDevice(const std::string& device)
{
    if (device == m_device) {
        return;
    }
    m_device = device;
    if (m_live) {
        reset();
    }
}

std::uint64_t SessionController::set(std::uint32_t lane, const std::string& path, const nlohmann::json& value)
{
    if (!m_live) {
        return 0;
    }
    const std::uint64_t command = m_live->session->set(lane, path, value);
    m_pending[{lane, path}] = {command, value};
    emit pendingChanged(lane);
    return command;
}

std::optional<nlohmann::json> SessionController::pendingValue(std::uint32_t lane, const std::string& path) const
{
    const auto found = m_pending.find({lane, path});
    return found == m_pending.end() ? std::nullopt : std::optional(found->second.value);
}

void SessionController::addLane(const LaneConfig& config)
{
    if (m_live) {
        LaneConfig named = config;
        named.name = freeName(QString::fromStdString(config.name)).toStdString();
        named.document["name"] = named.name;
        m_live->session->addLane(named);
    }
}

void SessionController::duplicateLane(
    std::uint32_t lane, const std::vector<std::pair<std::string, nlohmann::json>>& changes)
{
    if (m_live) {
        m_live->session->duplicateLane(lane, freeName(laneName(lane)).toStdString(), std::nullopt, changes);
    }
}

void SessionController::setWatchpoints(const std::vector<Watchpoint>& watchpoints)
{
    if (m_live) {
        m_live->session->setWatchpoints(watchpoints);
        m_live->document.setWatchpoints(watchpoints);
        emit documentChanged();
    }
}

void SessionController::goBack(std::uint32_t lane, std::int64_t step)
{
    if (m_live) {
        const QString wish = tr("%1 from step %2").arg(laneName(lane)).arg(step);
        m_live->session->duplicateLane(lane, freeName(wish).toStdString(), step);
    }
}

std::future<std::vector<ScaleTrial>> SessionController::tryScales(std::uint32_t lane, std::vector<double> scales)
{
    return m_live ? m_live->session->tryScales(lane, std::move(scales)) : std::future<std::vector<ScaleTrial>> {};
}

std::future<Blame> SessionController::blame(std::uint32_t lane, std::int64_t step)
{
    return m_live ? m_live->session->blame(lane, step) : std::future<Blame> {};
}

void SessionController::setSampling(const SamplingPlan& plan)
{
    m_sampling = plan;
    if (m_live) {
        m_live->session->setSampling(plan);
    }
}

void SessionController::sampleNow()
{
    if (m_live) {
        m_live->session->sampleNext();
        if (!isRunning()) {
            runSteps(1);
        }
    }
}

const std::vector<SamplePtr>& SessionController::samples(std::uint32_t lane) const
{
    static const std::vector<SamplePtr> none;
    return m_live ? m_live->samples.of(lane) : none;
}

std::future<StepWalk> SessionController::walkStep(std::uint32_t lane)
{
    return m_live ? m_live->session->walkStep(lane) : std::future<StepWalk> {};
}

void SessionController::removeLane(std::uint32_t lane)
{
    if (m_live) {
        m_live->session->removeLane(lane);
    }
}

void SessionController::saveCheckpoint(std::uint32_t lane, const std::filesystem::path& file)
{
    if (m_live) {
        m_live->session->saveCheckpoint(lane, file);
    }
}

void SessionController::setBaseline(std::uint32_t lane)
{
    if (m_live) {
        m_live->session->setBaseline(lane);
    }
}

void SessionController::renameLane(std::uint32_t lane, const QString& name)
{
    const auto index = m_live ? m_live->indexOf(lane) : std::nullopt;
    const QString wish = name.simplified();
    if (!index || wish.isEmpty() || wish == laneName(lane)) {
        return;
    }
    m_live->document.renameLane(*index, freeName(wish).toStdString());
    emit lanesChanged();
    emit documentChanged();
}

void SessionController::recolorLane(std::uint32_t lane, const QString& color)
{
    const auto index = m_live ? m_live->indexOf(lane) : std::nullopt;
    if (!index) {
        return;
    }
    m_live->document.recolorLane(*index, color.toStdString());
    emit lanesChanged();
    emit documentChanged();
}

ExperimentDocument SessionController::withDevice(std::uint32_t lane, const std::string& device) const
{
    ExperimentDocument document = m_live->document;
    if (const auto index = m_live->indexOf(lane)) {
        document.setDevice(*index, device);
    }
    return document;
}

QString SessionController::laneName(std::uint32_t lane) const
{
    if (const auto index = m_live ? m_live->indexOf(lane) : std::nullopt) {
        return QString::fromStdString(m_live->document.lanes().at(*index).name);
    }
    return tr("lane %1").arg(lane);
}

QString SessionController::laneColor(std::uint32_t lane) const
{
    if (const auto index = m_live ? m_live->indexOf(lane) : std::nullopt) {
        return QString::fromStdString(m_live->document.lanes().at(*index).color);
    }
    return {};
}

QString SessionController::freeName(const QString& wish) const
{
    std::set<QString> taken;
    for (const LaneConfig& lane : document().lanes()) {
        taken.insert(QString::fromStdString(lane.name));
    }
    QString name = wish;
    for (int number = 2; taken.count(name) > 0; ++number) {
        name = QStringLiteral("%1 %2").arg(wish).arg(number);
    }
    return name;
}

std::shared_ptr<const SessionStatus> SessionController::status() const
{
    return m_live ? m_live->status : nullptr;
}

const LaneStatus* SessionController::laneStatus(std::uint32_t lane) const
{
    if (!m_live || !m_live->status) {
        return nullptr;
    }
    const std::vector<LaneStatus>& lanes = m_live->status->lanes;
    const auto found = std::ranges::find(lanes, lane, &LaneStatus::id);
    return found == lanes.end() ? nullptr : &*found;
}

const LaneFacts& SessionController::facts(std::uint32_t lane) const
{
    static const LaneFacts none;
    return m_live ? m_live->monitor.facts(lane) : none;
}

std::optional<std::uint32_t> SessionController::baseline() const
{
    return m_live ? m_live->monitor.baseline() : std::nullopt;
}

bool SessionController::isRunning() const
{
    const auto now = status();
    return now && now->state == SessionState::Running;
}

QString SessionController::databaseProblem() const
{
    if (!m_live) {
        return {};
    }
    return m_live->writer ? QString::fromStdString(m_live->writer->problem()) : m_live->writerProblem;
}

std::uint64_t SessionController::droppedRecords() const
{
    return m_live ? m_live->session->droppedRecords() : 0;
}

std::shared_ptr<RunWriter> SessionController::writer() const
{
    return m_live ? m_live->writer : nullptr;
}

void SessionController::setFocused(bool isFocused)
{
    m_isFocused = isFocused;
    choosePace();
}

void SessionController::choosePace()
{
    // Where the lanes have all cores, every look at them takes time from training.
    const bool takesFromTraining = isRunning() && status()->threads >= QThread::idealThreadCount();
    const int interval = m_isFocused && !takesFromTraining ? quickIntervalMs : calmIntervalMs;
    if (interval != m_timer.interval()) {
        m_timer.setInterval(interval);
    }
}

void SessionController::poll()
{
    if (!m_live) {
        return;
    }
    // The status first: a record or an event must never belong to a lane that nobody was told about.
    followStatus();
    m_events.clear();
    if (m_live->status && m_live->status->state != SessionState::Preparing) {
        m_live->session->takeEvents(m_events);
    }
    for (const Event& event : m_events) {
        applyToDocument(event);
        m_live->monitor.add(event);
        emit eventTaken(event);
        if (event.kind == EventKind::Refused) {
            emit refused(QString::fromStdString(event.text));
        }
    }
    m_records.clear();
    m_live->session->takeRecords(m_records);
    if (!m_records.empty()) {
        m_live->monitor.add(m_records);
        emit recordsTaken(m_records);
    }
    m_rankRecords.clear();
    m_live->session->takeRankRecords(m_rankRecords);
    if (!m_rankRecords.empty()) {
        emit rankRecordsTaken(m_rankRecords);
    }
    m_newSamples.clear();
    m_live->session->takeSamples(m_newSamples);
    for (const SamplePtr& sample : m_newSamples) {
        m_live->samples.add(sample);
    }
    if (!m_newSamples.empty()) {
        emit sampled();
    }
    emit polled();
}

void SessionController::followStatus()
{
    const std::shared_ptr<const SessionStatus> now = m_live->session->status();
    if (!now || now == m_live->status) {
        return;
    }
    m_live->status = now;
    followLanes(*now);
    m_live->monitor.follow(*now);
    settlePending(*now);
    choosePace();
    emit statusChanged();
}

void SessionController::followLanes(const SessionStatus& status)
{
    if (status.lanes.empty()) {
        return;
    }
    bool isChanged = false;
    if (m_live->laneIds.empty()) {
        for (const LaneStatus& lane : status.lanes) {
            m_live->laneIds.push_back(lane.id);
        }
        isChanged = true;
    }
    for (std::size_t index = m_live->laneIds.size(); index-- > 0;) {
        const bool isAlive = std::any_of(status.lanes.begin(), status.lanes.end(),
            [&](const LaneStatus& lane) { return lane.id == m_live->laneIds[index]; });
        if (!isAlive) {
            m_live->document.removeLane(index);
            m_live->laneIds.erase(m_live->laneIds.begin() + static_cast<std::ptrdiff_t>(index));
            isChanged = true;
        }
    }
    for (const LaneStatus& lane : status.lanes) {
        if (m_live->indexOf(lane.id)) {
            continue;
        }
        m_live->laneIds.push_back(lane.id);
        if (m_live->document.lanes().size() < m_live->laneIds.size()) {
            m_live->document.addLane(*lane.config);
        }
        isChanged = true;
    }
    if (isChanged) {
        emit lanesChanged();
        emit documentChanged();
    }
}

void SessionController::settlePending(const SessionStatus& status)
{
    std::set<std::uint32_t> lanes;
    for (auto entry = m_pending.begin(); entry != m_pending.end();) {
        if (entry->second.command <= status.appliedCommands) {
            lanes.insert(entry->first.first);
            entry = m_pending.erase(entry);
        } else {
            ++entry;
        }
    }
    for (const std::uint32_t lane : lanes) {
        emit pendingChanged(lane);
    }
}

void SessionController::applyToDocument(const Event& event)
{
    if (event.kind != EventKind::Set || event.scripted) {
        return;
    }
    const nlohmann::json value = nlohmann::json::parse(event.after, nullptr, false);
    if (value.is_discarded()) {
        return;
    }
    for (std::size_t index = 0; index < m_live->laneIds.size(); ++index) {
        if (event.lane != Event::allLanes && event.lane != m_live->laneIds[index]) {
            continue;
        }
        try {
            m_live->document.set(index, event.path, value);
        } catch (const Error& error) {
            emit refused(QString::fromUtf8(error.what()));
        }
    }
    emit documentChanged();
}

} // namespace mantissa
