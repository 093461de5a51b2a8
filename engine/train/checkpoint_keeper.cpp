#include "engine/train/checkpoint_keeper.h"

#include "engine/core/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace mantissa {

namespace {

/// The file of the plan, or that name with a number where there is one already: another session's, which somebody may
/// want to resume.
std::filesystem::path freeFile(const std::filesystem::path& folder, const Checkpoint& checkpoint)
{
    const std::filesystem::path first = checkpointFile(folder, checkpoint.initial.name, checkpoint.state.nextStep);
    std::filesystem::path file = first;
    for (int number = 2; std::filesystem::exists(file); ++number) {
        file = first.parent_path() / fmt::format("{}-{}{}", first.stem().string(), number, first.extension().string());
    }
    return file;
}

} // namespace

CheckpointKeeper::CheckpointKeeper(CheckpointPlan plan)
    : m_plan(std::move(plan))
    , m_startedAt(steadySeconds())
    , m_thread([this] { work(); })
{
}

CheckpointKeeper::~CheckpointKeeper()
{
    {
        const std::lock_guard lock(m_mutex);
        m_quits = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

bool CheckpointKeeper::isDue(std::uint32_t lane, std::int64_t nextStep) const
{
    if (m_plan.folder.empty()) {
        return false;
    }
    if (m_plan.everySteps > 0 && nextStep % m_plan.everySteps == 0) {
        return true;
    }
    const auto last = m_lastAdded.find(lane);
    const double since = last == m_lastAdded.end() ? m_startedAt : last->second;
    return m_plan.everySeconds > 0 && steadySeconds() - since >= m_plan.everySeconds;
}

void CheckpointKeeper::add(std::uint32_t lane, Checkpoint checkpoint)
{
    m_lastAdded[lane] = steadySeconds();
    {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_waiting, [lane](const Job& job) { return job.lane == lane && job.file.empty(); });
        m_waiting.push_back({lane, std::move(checkpoint)});
    }
    m_changed.notify_all();
}

void CheckpointKeeper::addTo(const std::filesystem::path& file, std::uint32_t lane, Checkpoint checkpoint)
{
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back({lane, std::move(checkpoint), file});
    }
    m_changed.notify_all();
}

std::vector<Event> CheckpointKeeper::takeEvents()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_events, {});
}

void CheckpointKeeper::flush()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_waiting.empty() && !m_isWriting; });
}

void CheckpointKeeper::work()
{
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return !m_waiting.empty() || m_quits; });
        if (m_waiting.empty()) {
            return;
        }
        const Job job = std::move(m_waiting.front());
        m_waiting.pop_front();
        m_isWriting = true;
        lock.unlock();
        Event event = write(job);
        lock.lock();
        m_events.push_back(std::move(event));
        m_isWriting = false;
        m_changed.notify_all();
    }
}

Event CheckpointKeeper::write(const Job& job)
{
    Event event {.kind = EventKind::Checkpoint, .step = job.checkpoint.state.nextStep, .lane = job.lane};
    std::filesystem::path file = job.file;
    try {
        if (file.empty()) {
            file = freeFile(m_plan.folder, job.checkpoint);
            std::filesystem::create_directories(file.parent_path());
        }
        event.path = file.string();
        writeCheckpoint(file, job.checkpoint);
    } catch (const std::exception& error) {
        event.text = fmt::format("The checkpoint could not be written: {}", error.what());
        return event;
    }
    if (job.file.empty()) {
        m_kept[job.lane].push_back(file);
        removeOld(job.lane);
    }
    return event;
}

void CheckpointKeeper::removeOld(std::uint32_t lane)
{
    std::deque<std::filesystem::path>& files = m_kept[lane];
    while (static_cast<std::int64_t>(files.size()) > std::max<std::int64_t>(m_plan.kept, 1)) {
        std::error_code ignored; // somebody else removed it
        std::filesystem::remove(files.front(), ignored);
        files.pop_front();
    }
}

} // namespace mantissa
