#include "ui/import_log/import_job.h"

#include "engine/core/error.h"

#include <QMetaObject>

#include <chrono>
#include <exception>
#include <utility>

namespace mantissa {

namespace {

constexpr auto pollInterval = std::chrono::milliseconds(500);
constexpr auto stopInterval = std::chrono::milliseconds(50); // that a person waits for at most

QStringList textsOf(const LogImport& log)
{
    QStringList texts;
    for (const std::string& note : log.notes()) {
        texts << QString::fromStdString(note);
    }
    for (const ImportedRun& run : log.runs()) {
        for (const std::string& note : run.notes) {
            texts << ImportJob::tr("%1: %2").arg(QString::fromStdString(run.name), QString::fromStdString(note));
        }
    }
    return texts;
}

} // namespace

ImportJob::ImportJob(
    std::filesystem::path log, LogImportOptions options, std::filesystem::path database, QObject* parent)
    : QObject(parent)
    , m_log(std::move(log))
    , m_options(std::move(options))
    , m_database(std::move(database))
    , m_thread([this](const std::stop_token& stop) { work(stop); })
{
}

ImportJob::~ImportJob()
{
    m_thread.request_stop();
    m_thread.join();
}

void ImportJob::stop()
{
    m_thread.request_stop();
}

/// Runs on the job's own thread; a signal that is late for a job that is gone is dropped by Qt.
template <typename Emit> void ImportJob::post(Emit emitSignal)
{
    QMetaObject::invokeMethod(this, std::move(emitSignal), Qt::QueuedConnection);
}

QList<RunId> ImportJob::importOnce(
    LogImport& log, RunWriter& writer, std::uint32_t& nextLane, const std::stop_token& stop)
{
    while (log.readOn()) {
        if (stop.stop_requested()) {
            throw Error(ErrorCode::Cancelled, "");
        }
        post([this, share = log.progress()] { emit progressed(share); });
    }
    log.settle();
    log.write(writer, nextLane, [&stop] { return !stop.stop_requested(); });
    nextLane += static_cast<std::uint32_t>(log.runs().size());
    QList<RunId> runs;
    for (const ImportedRun& run : log.runs()) {
        if (writer.hasRun(run.lane)) {
            runs << writer.runOf(run.lane);
        }
    }
    return runs;
}

void ImportJob::work(const std::stop_token& stop)
{
    try {
        auto log = std::make_unique<LogImport>(m_log, m_options);
        RunWriter writer(m_database);
        std::uint32_t nextLane = 0;
        const QList<RunId> runs = importOnce(*log, writer, nextLane, stop);
        post([this, runs, notes = textsOf(*log), follows = m_options.follows] {
            m_isWatching = follows;
            emit imported(runs, notes);
        });
        if (m_options.follows) {
            watch(std::move(log), writer, nextLane, runs, stop);
        }
    } catch (const Error& error) {
        if (error.code() != ErrorCode::Cancelled) {
            post([this, why = QString::fromUtf8(error.what())] { emit failed(why); });
        }
    } catch (const std::exception& error) {
        post([this, why = QString::fromUtf8(error.what())] { emit failed(why); });
    }
    post([this] {
        m_isWatching = false;
        emit ended();
    });
}

void ImportJob::watch(std::unique_ptr<LogImport> log, RunWriter& writer, std::uint32_t nextLane, QList<RunId> runs,
    const std::stop_token& stop)
{
    auto next = std::chrono::steady_clock::now() + pollInterval;
    while (!stop.stop_requested()) {
        std::this_thread::sleep_for(stopInterval);
        if (std::chrono::steady_clock::now() < next) {
            continue;
        }
        next = std::chrono::steady_clock::now() + pollInterval;
        if (log->poll(writer) > 0) {
            writer.flush();
            post([this, runs] { emit grew(runs); });
        }
        if (const std::string problem = writer.problem(); !problem.empty()) {
            throw Error(ErrorCode::Io, problem);
        }
        if (log->isStale()) {
            log->end(writer, "The log was begun anew, or went back to an earlier step: it goes on as another run.");
            log = std::make_unique<LogImport>(m_log, m_options);
            runs = importOnce(*log, writer, nextLane, stop);
            post([this, runs] { emit restarted(runs); });
        }
    }
    log->end(writer);
}

} // namespace mantissa
