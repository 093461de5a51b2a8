#include "engine/train/session_worker.h"

#include "engine/core/clock.h"
#include "engine/core/error.h"

#include <chrono>
#include <utility>

namespace mantissa {

namespace {

/// Five seconds of records at 50,000 steps a second in all.
constexpr std::size_t ringCapacity = std::size_t {1} << 16U;
/// Steps with several ranks are slower.
constexpr std::size_t rankRingCapacity = std::size_t {1} << 14U;
constexpr double publishInterval = 1.0 / 60;
constexpr std::size_t mostSamples = 64;

} // namespace

Session::Worker::Worker(Experiment experiment, SessionOptions options)
    : m_options(std::move(options))
    , m_records(ringCapacity)
    , m_rankRecords(rankRingCapacity)
    , m_status(std::make_shared<SessionStatus>())
    , m_thread([this, document = std::move(experiment)]() mutable { work(std::move(document)); })
{
}

Session::Worker::~Worker()
{
    {
        const std::lock_guard lock(m_mutex);
        m_quit.store(true);
        m_interrupt.store(true);
    }
    m_wake.notify_all();
}

// --- the controlling thread ---

std::uint64_t Session::Worker::post(Command command, Urgency urgency)
{
    std::uint64_t id = 0;
    {
        const std::lock_guard lock(m_mutex);
        id = ++m_lastPosted;
        m_queue.push_back({id, std::move(command)});
        m_hasCommands.store(true, std::memory_order_release);
        if (urgency == Urgency::CutsValidationsShort) {
            m_interrupt.store(true);
        }
    }
    m_wake.notify_all();
    return id;
}

std::size_t Session::Worker::takeEvents(std::vector<Event>& into)
{
    const std::lock_guard lock(m_mutex);
    const std::size_t count = m_events.size();
    into.insert(into.end(), std::make_move_iterator(m_events.begin()), std::make_move_iterator(m_events.end()));
    m_events.clear();
    return count;
}

std::size_t Session::Worker::takeSamples(std::vector<std::shared_ptr<const StepSample>>& into)
{
    const std::lock_guard lock(m_mutex);
    const std::size_t count = m_samples.size();
    into.insert(into.end(), std::make_move_iterator(m_samples.begin()), std::make_move_iterator(m_samples.end()));
    m_samples.clear();
    return count;
}

std::shared_ptr<const SessionStatus> Session::Worker::status() const
{
    const std::lock_guard lock(m_mutex);
    return m_status;
}

void Session::Worker::waitUntilIdle()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] {
        const SessionState state = m_status->state;
        const bool isBusy = state == SessionState::Preparing || state == SessionState::Running;
        return !isBusy && m_status->appliedCommands == m_lastPosted;
    });
}

// --- the worker thread ---

void Session::Worker::work(Experiment experiment)
{
    if (prepare(std::move(experiment))) {
        loop();
        m_lanes->stopAll();
        return;
    }
    while (!m_quit.load()) {
        // Nothing can be done, but every command is answered, so that nobody waits for it in vain.
        applyCommands();
        publish();
        waitForCommand(std::nullopt);
    }
}

bool Session::Worker::prepare(Experiment experiment)
{
    try {
        m_lanes = std::make_unique<LaneGroup>(
            std::move(experiment), m_options, [this](const Event& event) { note(event); }, m_interrupt);
        m_state = SessionState::Ready;
    } catch (const Error& error) {
        fail(error.code(), error.what());
    } catch (const std::exception& error) {
        fail(ErrorCode::Internal, error.what());
    }
    publish();
    return m_state == SessionState::Ready;
}

void Session::Worker::fail(ErrorCode code, const std::string& message)
{
    m_state = SessionState::Failed;
    m_error = code;
    m_message = message;
}

void Session::Worker::loop()
{
    while (!m_quit.load(std::memory_order_acquire)) {
        if (m_hasCommands.load(std::memory_order_acquire)) {
            if (m_lanes->hasBegun()) {
                trainOneStep();
            }
            applyCommands();
            publish();
        }
        if (m_state != SessionState::Running) {
            waitForCommand(std::nullopt);
            continue;
        }
        if (m_speedLimit > 0 && steadySeconds() < m_nextStepAt) {
            publishIfDue();
            waitForCommand(std::min(m_nextStepAt - steadySeconds(), publishInterval));
            continue;
        }
        if (m_speedLimit > 0) {
            m_nextStepAt = std::max(m_nextStepAt + 1 / m_speedLimit, steadySeconds());
        }
        trainOneStep();
    }
}

void Session::Worker::waitForCommand(std::optional<double> seconds)
{
    std::unique_lock lock(m_mutex);
    const auto isDue = [this] { return !m_queue.empty() || m_quit.load(); };
    if (seconds) {
        m_wake.wait_for(lock, std::chrono::duration<double>(*seconds), isDue);
    } else {
        m_wake.wait(lock, isDue);
    }
}

void Session::Worker::applyCommands()
{
    std::vector<Posted> due;
    {
        const std::lock_guard lock(m_mutex);
        due.swap(m_queue);
        m_hasCommands.store(false, std::memory_order_release);
    }
    for (const Posted& posted : due) {
        m_currentCommand = posted.id;
        try {
            if (!m_lanes) {
                throw Error(m_error, m_message);
            }
            posted.command(*this);
            if (m_state == SessionState::Finished && m_lanes->isActive()) {
                m_state = SessionState::Paused; // a lane came, or has steps again
            }
        } catch (const std::exception& error) {
            note({.kind = EventKind::Refused, .step = m_lanes ? m_lanes->nextStep() : 0, .text = error.what()});
        }
        m_applied = posted.id;
    }
    m_currentCommand = 0;
    const std::lock_guard lock(m_mutex);
    if (m_queue.empty() && !m_quit.load()) {
        m_interrupt.store(false);
    }
}

void Session::Worker::trainOneStep()
{
    const bool pausesBehind = m_pauseAt && m_lanes->nextStep() + 1 >= *m_pauseAt;
    const bool goesOn = !pausesBehind && m_speedLimit == 0 && !m_hasCommands.load(std::memory_order_acquire)
        && !m_quit.load(std::memory_order_acquire);
    for (const StepRecord& record : m_lanes->step(goesOn ? LaneGroup::Next::Step : LaneGroup::Next::Anything)) {
        m_records.push(record);
    }
    for (const RankRecord& record : m_lanes->rankRecords()) {
        m_rankRecords.push(record);
    }
    for (const auto& sample : m_lanes->samples()) {
        keep(sample);
    }
    ++m_rateSteps;
    if (m_lanes->wantsPause()) {
        pause();
    } else if (!m_lanes->isActive() || (m_pauseAt && m_lanes->nextStep() >= *m_pauseAt)) {
        settle();
    }
    publishIfDue();
}

/// Leaves Running: for good when no lane has a step left.
void Session::Worker::settle()
{
    m_pauseAt.reset();
    m_state = m_lanes->isActive() ? SessionState::Paused : SessionState::Finished;
    m_rate = 0;
    publish();
}

void Session::Worker::note(Event event)
{
    if (event.unixSeconds == 0) {
        event.unixSeconds = unixSeconds();
    }
    event.command = m_currentCommand;
    const std::lock_guard lock(m_mutex);
    m_events.push_back(std::move(event));
}

void Session::Worker::keep(std::shared_ptr<const StepSample> sample)
{
    const std::lock_guard lock(m_mutex);
    m_samples.push_back(std::move(sample));
    if (m_samples.size() > mostSamples) {
        m_samples.pop_front();
    }
}

void Session::Worker::publishIfDue()
{
    const double time = steadySeconds();
    if (time - m_rateSince >= 1) {
        m_rate = static_cast<double>(m_rateSteps) / (time - m_rateSince);
        m_rateSince = time;
        m_rateSteps = 0;
    }
    if (time - m_lastPublished >= publishInterval) {
        publish();
    }
}

void Session::Worker::publish()
{
    auto status = std::make_shared<SessionStatus>();
    status->state = m_state;
    status->message = m_message;
    status->error = m_error;
    status->speedLimit = m_speedLimit;
    status->appliedCommands = m_applied;
    if (m_lanes) {
        status->generation = m_lanes->generation();
        status->step = m_lanes->nextStep();
        status->totalSteps = m_lanes->totalSteps();
        status->stepsPerSecond = m_rate;
        status->device = m_lanes->device();
        status->threads = m_lanes->threads();
        status->threadsPerLane = m_lanes->threadsPerLane();
        status->baseline = m_lanes->baseline();
        status->sampling = m_lanes->sampling();
        status->lanes = m_lanes->statuses();
    }
    {
        const std::lock_guard lock(m_mutex);
        m_status = std::move(status);
    }
    m_changed.notify_all();
    m_lastPublished = steadySeconds();
}

// --- commands ---

void Session::Worker::run(std::optional<std::int64_t> steps)
{
    if (!m_lanes->isActive()) {
        throw Error(ErrorCode::InvalidArgument, "All lanes have ended; reset to train again.");
    }
    m_pauseAt.reset();
    if (steps) {
        m_pauseAt = m_lanes->nextStep() + *steps;
    }
    if (m_state != SessionState::Running) {
        m_state = SessionState::Running;
        m_nextStepAt = steadySeconds();
        m_rateSince = steadySeconds();
        m_rateSteps = 0;
        note({.kind = EventKind::Started, .step = m_lanes->nextStep()});
    }
}

void Session::Worker::pause()
{
    if (m_state == SessionState::Running) {
        note({.kind = EventKind::Paused, .step = m_lanes->nextStep()});
        settle();
    }
}

void Session::Worker::stop()
{
    m_lanes->stopAll();
    settle();
}

void Session::Worker::reset()
{
    m_lanes->reset();
    m_pauseAt.reset();
    m_rate = 0;
    m_state = SessionState::Ready;
}

void Session::Worker::extend(std::int64_t totalSteps)
{
    m_lanes->extend(totalSteps);
}

void Session::Worker::setSpeedLimit(double stepsPerSecond)
{
    m_speedLimit = stepsPerSecond;
    m_nextStepAt = steadySeconds();
}

} // namespace mantissa
