#include "engine/store/pending_runs.h"
#include "engine/store/writer_lock.h"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <variant>

namespace mantissa {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto transactionInterval = std::chrono::milliseconds(500);

/// Records kept in memory while the file cannot be written, about 130 MB. What comes after is counted and let go: the
/// computer of a person whose disk is full should not run out of memory as well.
constexpr std::size_t maxHeldRecords = std::size_t {1} << 19;

constexpr std::size_t maxHeldSamples = 512;

struct LaneEnd
{
    std::uint32_t lane = 0;
    RunSummary summary;
};

struct LaneStart
{
    RunStart start;
    RunOrigin origin;
};

struct Learned
{
    std::uint32_t lane = 0;
    ImportSource source;
};

using Sample = std::shared_ptr<const StepSample>;
using Report = std::variant<StepRecord, RankRecord, std::unique_ptr<LaneStart>, Event, Sample, std::unique_ptr<Learned>,
    LaneEnd>;

std::string hostName()
{
    std::array<char, 256> name {};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

} // namespace

struct RunWriter::Impl
{
    explicit Impl(const std::filesystem::path& path)
        : file(path)
        , thread([this] { loop(); })
    {
    }

    // Session's side; all of it under `mutex`, which the writer holds only to swap the queue.
    template <typename MakeReport> void hand(MakeReport&& makeReport);
    void handStart(LaneStart start);
    template <typename Record> void handRecords(std::span<const Record> records);
    std::uint64_t requestWrite();
    void waitForWrite(std::unique_lock<std::mutex>& lock);

    // Writer's side.
    void loop();
    bool waitForReports(std::unique_lock<std::mutex>& lock);
    void sort(std::vector<Report>& reports, const std::map<std::uint32_t, std::int64_t>& lost);
    std::string tryToWrite();
    void openDatabase();

    const std::filesystem::path file;
    std::optional<SweepPoint> sweep; ///< of runs that start

    std::mutex mutex;
    std::condition_variable wake; ///< for the writer
    std::condition_variable answered; ///< for those who wait for the writer
    std::vector<Report> queue;
    std::map<std::uint32_t, std::int64_t> lostSteps; ///< since the last swap
    std::map<std::uint32_t, std::uint64_t> started; ///< runs handed over, per lane
    std::map<std::uint32_t, PendingRuns::Created> created;
    std::size_t held = 0; ///< records that the writer keeps
    std::size_t queuedSamples = 0;
    std::size_t heldSamples = 0; ///< samples that the writer keeps
    std::uint64_t writesRequested = 0;
    std::uint64_t writesAnswered = 0;
    bool stopping = false;
    std::string problem;

    PendingRuns pending;
    std::unique_ptr<RunDatabase> database;
    std::unique_ptr<WriterLock> aliveLock;
    std::int64_t writerId = 0;
    Clock::time_point nextWrite = Clock::now();

    std::thread thread; ///< last: starts when all else is there
};

template <typename MakeReport> void RunWriter::Impl::hand(MakeReport&& makeReport)
{
    const std::lock_guard lock(mutex);
    const bool wasEmpty = queue.empty();
    queue.push_back(makeReport());
    if (wasEmpty) {
        wake.notify_one();
    }
}

template <typename Record> void RunWriter::Impl::handRecords(std::span<const Record> records)
{
    const std::lock_guard lock(mutex);
    const bool wasEmpty = queue.empty();
    for (const Record& record : records) {
        if (queue.size() + held >= maxHeldRecords) {
            // What a rank had to say of a step is lost with the step.
            lostSteps[record.lane] += std::is_same_v<Record, StepRecord> ? 1 : 0;
        } else {
            queue.emplace_back(record);
        }
    }
    if (wasEmpty) {
        wake.notify_one();
    }
}

void RunWriter::Impl::handStart(LaneStart start)
{
    hand([&] {
        ++started[start.start.lane];
        return Report(std::make_unique<LaneStart>(std::move(start)));
    });
}

std::uint64_t RunWriter::Impl::requestWrite()
{
    wake.notify_one();
    return ++writesRequested;
}

void RunWriter::Impl::waitForWrite(std::unique_lock<std::mutex>& lock)
{
    const std::uint64_t ticket = requestWrite();
    answered.wait(lock, [&] { return writesAnswered >= ticket; });
}

void RunWriter::Impl::loop()
{
    ::pthread_setname_np(::pthread_self(), "run writer"); // for debuggers, and for bench_window
    std::vector<Report> reports;
    std::unique_lock lock(mutex);
    while (true) {
        const bool last = waitForReports(lock);
        const std::uint64_t ticket = writesRequested;
        reports.clear();
        reports.swap(queue);
        // What was swapped out still counts until the new figure is known.
        held += reports.size();
        heldSamples += std::exchange(queuedSamples, 0);
        const auto lost = std::exchange(lostSteps, {});
        lock.unlock();

        sort(reports, lost);
        std::string trouble = tryToWrite();
        nextWrite = Clock::now() + transactionInterval;

        lock.lock();
        held = pending.heldRecords();
        heldSamples = pending.heldSamples();
        problem = std::move(trouble);
        created = pending.created();
        writesAnswered = ticket;
        answered.notify_all();
        if (last) {
            return;
        }
    }
}

/// Returns true if this is the last time.
bool RunWriter::Impl::waitForReports(std::unique_lock<std::mutex>& lock)
{
    const auto urgent = [this] { return stopping || writesRequested > writesAnswered; };
    if (!pending.hasWork()) {
        wake.wait(lock, [&] { return urgent() || !queue.empty(); });
    }
    wake.wait_until(lock, nextWrite, urgent);
    return stopping;
}

void RunWriter::Impl::sort(std::vector<Report>& reports, const std::map<std::uint32_t, std::int64_t>& lost)
{
    for (Report& report : reports) {
        if (const auto* record = std::get_if<StepRecord>(&report)) {
            pending.record(*record);
        } else if (const auto* rank = std::get_if<RankRecord>(&report)) {
            pending.record(*rank);
        } else if (const auto* event = std::get_if<Event>(&report)) {
            pending.happened(*event);
        } else if (auto* sample = std::get_if<Sample>(&report)) {
            pending.sampled(std::move(*sample));
        } else if (auto* start = std::get_if<std::unique_ptr<LaneStart>>(&report)) {
            pending.start(std::move((*start)->start), std::move((*start)->origin));
        } else if (auto* learned = std::get_if<std::unique_ptr<Learned>>(&report)) {
            pending.learn((*learned)->lane, std::move((*learned)->source));
        } else if (auto* end = std::get_if<LaneEnd>(&report)) {
            pending.end(end->lane, std::move(end->summary));
        }
    }
    for (const auto& [lane, steps] : lost) {
        pending.lost(lane, steps);
    }
}

/// Returns why it did not work, or nothing.
std::string RunWriter::Impl::tryToWrite()
{
    try {
        openDatabase();
        if (pending.hasWork()) {
            pending.write(*database, writerId);
        }
        return {};
    } catch (const std::exception& exception) {
        return exception.what();
    }
}

void RunWriter::Impl::openDatabase()
{
    if (!database) {
        database = std::make_unique<RunDatabase>(file, StoreAccess::ReadWrite);
    }
    if (aliveLock) {
        return;
    }
    database->guarded("registering this program", [this] {
        SQLite::Statement insert(
            database->connection(), "INSERT INTO writers (pid, host, started_at) VALUES (?, ?, unixepoch())");
        insert.bind(1, static_cast<std::int64_t>(::getpid()));
        insert.bind(2, hostName());
        insert.exec();
        writerId = database->connection().getLastInsertRowid();
    });
    aliveLock = std::make_unique<WriterLock>(file, writerId);
}

RunWriter::RunWriter(const std::filesystem::path& file)
    : m_impl(std::make_unique<Impl>(file))
{
}

RunWriter::~RunWriter()
{
    {
        const std::lock_guard lock(m_impl->mutex);
        m_impl->stopping = true;
        m_impl->wake.notify_one();
    }
    m_impl->thread.join();
}

void RunWriter::setSweepPoint(const SweepPoint& point)
{
    m_impl->sweep = point;
}

void RunWriter::runStarted(const RunStart& start)
{
    m_impl->handStart({start, {{}, m_impl->sweep}});
}

void RunWriter::importStarted(const RunStart& start, const ImportSource& source)
{
    m_impl->handStart({start, {source, {}}});
}

void RunWriter::importLearned(std::uint32_t lane, const ImportSource& source)
{
    m_impl->hand([&] { return Report(std::make_unique<Learned>(Learned {lane, source})); });
}

void RunWriter::stepsRecorded(std::span<const StepRecord> records)
{
    m_impl->handRecords(records);
}

void RunWriter::ranksRecorded(std::span<const RankRecord> records)
{
    m_impl->handRecords(records);
}

void RunWriter::eventHappened(const Event& event)
{
    m_impl->hand([&] { return Report(event); });
}

void RunWriter::stepSampled(const std::shared_ptr<const StepSample>& sample)
{
    const std::lock_guard lock(m_impl->mutex);
    // What a step looked like is the first thing to let go where the file cannot be written.
    if (m_impl->queuedSamples + m_impl->heldSamples < maxHeldSamples) {
        ++m_impl->queuedSamples;
        m_impl->queue.emplace_back(sample);
        m_impl->wake.notify_one();
    }
}

void RunWriter::runEnded(std::uint32_t lane, const RunSummary& summary)
{
    m_impl->hand([&] { return Report(LaneEnd {lane, summary}); });
}

bool RunWriter::hasRun(std::uint32_t lane)
{
    const std::lock_guard lock(m_impl->mutex);
    return m_impl->started[lane] > 0;
}

RunId RunWriter::runOf(std::uint32_t lane)
{
    std::unique_lock lock(m_impl->mutex);
    const auto isThere = [&] { return m_impl->created[lane].count == m_impl->started[lane]; };
    if (m_impl->started[lane] == 0) {
        throw Error(
            ErrorCode::InvalidArgument, "Lane " + std::to_string(lane) + " has not started, so it has no run yet.");
    }
    if (!isThere()) {
        m_impl->waitForWrite(lock);
    }
    if (!isThere()) {
        throw Error(ErrorCode::Io, m_impl->problem);
    }
    return m_impl->created[lane].newest;
}

void RunWriter::flush()
{
    std::unique_lock lock(m_impl->mutex);
    m_impl->waitForWrite(lock);
}

std::string RunWriter::problem() const
{
    const std::lock_guard lock(m_impl->mutex);
    return m_impl->problem;
}

} // namespace mantissa
