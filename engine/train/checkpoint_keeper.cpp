#include "engine/train/checkpoint_keeper.h"

#include "engine/core/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace mantissa {

namespace {

constexpr std::size_t kept = 2;

/// A lane's name as a folder's: letters, digits, and "-" for all else.
std::string folderName(const std::string& lane)
{
    std::string name;
    for (const char c : lane) {
        const bool isPlain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (isPlain || (!name.empty() && name.back() != '-')) {
            name += isPlain ? c : '-';
        }
    }
    return name.empty() ? "lane" : name;
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
        std::erase_if(m_waiting, [lane](const Job& job) { return job.lane == lane; });
        m_waiting.push_back({lane, std::move(checkpoint)});
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
    const std::filesystem::path folder = m_plan.folder / folderName(job.checkpoint.initial.name);
    const std::filesystem::path file = folder / fmt::format("step-{:08}.safetensors", job.checkpoint.state.nextStep);
    Event event {
        .kind = EventKind::Checkpoint, .step = job.checkpoint.state.nextStep, .lane = job.lane, .path = file.string()};
    try {
        std::filesystem::create_directories(folder);
        writeCheckpoint(file, job.checkpoint);
    } catch (const std::exception& error) {
        event.text = fmt::format("The checkpoint could not be written: {}", error.what());
        return event;
    }
    std::deque<std::filesystem::path>& files = m_kept[job.lane];
    if (std::ranges::find(files, file) == files.end()) {
        files.push_back(file);
    }
    while (files.size() > kept) {
        std::error_code ignored; // somebody else removed it
        std::filesystem::remove(files.front(), ignored);
        files.pop_front();
    }
    return event;
}

} // namespace mantissa
