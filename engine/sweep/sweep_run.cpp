#include "engine/sweep/sweep_run.h"

#include "engine/backends/backend_registry.h"
#include "engine/core/error.h"
#include "engine/store/run_store.h"
#include "engine/sweep/sweep_table.h"
#include "engine/train/train_to_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

namespace mantissa {

namespace {

/// What the database says about a point; nothing: it is to be trained.
std::optional<PointState> storedState(const Sweep& sweep, const SweepPoint& point, const RunStore& store)
{
    Sweep alone {sweep.name, {}, sweep.experiment, {point}};
    const SweepTable table = tableOf(alone, store.runs());
    const auto all = [&table](auto&& is) {
        return std::ranges::all_of(table.rows, [&](const SweepRow& row) { return row.run && is(*row.run); });
    };
    const auto any = [&table](auto&& is) {
        return std::ranges::any_of(table.rows, [&](const SweepRow& row) { return row.run && is(*row.run); });
    };
    if (all(hasEnded)) {
        return PointState::WasDone;
    }
    return any([](const RunInfo& run) { return run.status == RunStatus::Running; })
        ? std::optional(PointState::IsElsewhere)
        : std::nullopt;
}

/// Blocks until the runs are in the file. Throws Error (Io) if they don't get there.
void waitForStore(RunWriter& writer)
{
    // Another program may hold the file for a moment.
    constexpr int attempts = 10;
    for (int i = 0; i < attempts; ++i) {
        writer.flush();
        if (writer.problem().empty()) {
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    throw Error(ErrorCode::Io, writer.problem());
}

/// What the threads that train points share.
class Work
{
public:
    Work(const Sweep& sweep, const SweepPlan& plan, const std::function<void(const PointNews&)>& tell,
        const std::function<bool()>& goOn)
        : m_sweep(sweep)
        , m_plan(plan)
        , m_tell(tell)
        , m_goOn(goOn)
        , m_points(plan.points)
    {
        if (m_points.empty()) {
            for (const SweepPoint& point : sweep.points) {
                m_points.push_back(point.number);
            }
        }
    }

    void run()
    {
        const auto helpers = std::min<std::size_t>(m_points.size(), static_cast<std::size_t>(std::max(m_plan.jobs, 1)));
        std::vector<std::jthread> threads;
        for (std::size_t i = 1; i < helpers; ++i) {
            threads.emplace_back([this] { work(); });
        }
        work();
        threads.clear();
        if (m_failure) {
            std::rethrow_exception(m_failure);
        }
    }

    [[nodiscard]] const SweepOutcome& outcome() const { return m_outcome; }

private:
    void work()
    {
        try {
            for (std::size_t at = m_next++; at < m_points.size(); at = m_next++) {
                const int number = m_points[at];
                if (!goOn()) {
                    const std::lock_guard lock(m_mutex);
                    m_outcome.isStopped = true;
                    return;
                }
                tell(look(m_sweep.points[static_cast<std::size_t>(number) - 1]));
            }
        } catch (...) {
            const std::lock_guard lock(m_mutex);
            m_failure = std::current_exception();
            m_isOver = true;
        }
    }

    /// Trains the point, if it has to be.
    PointNews look(const SweepPoint& point)
    {
        if (const auto state = storedState(m_sweep, point, RunStore(m_plan.database, StoreAccess::ReadOnly))) {
            return {point.number, *state, 1};
        }
        RunWriter writer(m_plan.database);
        writer.setSweepPoint(point);
        SessionOptions options;
        options.device = m_plan.device;
        options.threads = m_plan.threads;
        options.observers = {&writer};
        options.sampling = {.every = SamplingPlan::usually, .thins = true};
        PointNews news {point.number, PointState::Trains, 0};
        tell(news);
        try {
            Session session(experimentAt(m_sweep, point), options);
            const auto status = trainToEnd(session, [&](const SessionStatus& now) {
                news.share
                    = static_cast<double>(now.step) / static_cast<double>(std::max<std::int64_t>(now.totalSteps, 1));
                tell(news);
                return goOn();
            });
            news.state = stateOf(*status, news.message);
        } catch (const std::exception& error) {
            news.state = PointState::Failed;
            news.message = error.what();
        }
        waitForStore(writer);
        return news;
    }

    static PointState stateOf(const SessionStatus& status, std::string& message)
    {
        PointState state = PointState::Done;
        for (const LaneStatus& lane : status.lanes) {
            const RunStatus ended = lane.summary ? lane.summary->status : lane.status;
            if (ended == RunStatus::Failed || ended == RunStatus::Diverged) {
                message += fmt::format("{}{}: {}", message.empty() ? "" : "; ", lane.config->name,
                    lane.summary ? lane.summary->message : lane.message);
            }
            if (ended == RunStatus::Failed) {
                state = PointState::Failed;
            } else if (ended != RunStatus::Finished && ended != RunStatus::Diverged && state == PointState::Done) {
                state = PointState::Stopped;
            }
        }
        return state;
    }

    bool goOn() { return !m_isOver && m_goOn(); }

    void tell(const PointNews& news)
    {
        const std::lock_guard lock(m_mutex);
        switch (news.state) {
        case PointState::WasDone:
            ++m_outcome.wereDone;
            break;
        case PointState::IsElsewhere:
            ++m_outcome.elsewhere;
            break;
        case PointState::Trains:
            break;
        case PointState::Done:
            ++m_outcome.trained;
            break;
        case PointState::Failed:
            ++m_outcome.failed;
            break;
        case PointState::Stopped:
            m_outcome.isStopped = true;
            break;
        }
        m_tell(news);
    }

    const Sweep& m_sweep;
    const SweepPlan& m_plan;
    const std::function<void(const PointNews&)>& m_tell;
    const std::function<bool()>& m_goOn;
    std::vector<int> m_points;
    std::atomic<std::size_t> m_next {0};
    std::atomic<bool> m_isOver {false};
    std::mutex m_mutex;
    SweepOutcome m_outcome;
    std::exception_ptr m_failure;
};

} // namespace

SweepOutcome runSweep(const Sweep& sweep, const SweepPlan& plan, const std::function<void(const PointNews&)>& tell,
    const std::function<bool()>& goOn)
{
    static_cast<void>(backendByName(plan.device)); // that there is none is no point's failure
    {
        const RunStore made(plan.database, StoreAccess::ReadWrite);
    }
    Work work(sweep, plan, tell, goOn);
    work.run();
    return work.outcome();
}

} // namespace mantissa
