/// One log on its way into the database, on a thread of its own; then followed, if that is wanted, until it is stopped.
#pragma once

#include "engine/import/log_import.h"

#include <QList>
#include <QObject>
#include <QStringList>

#include <filesystem>
#include <stop_token>
#include <thread>

namespace mantissa {

class ImportJob : public QObject
{
    Q_OBJECT
public:
    /// Begins at once. Signals come on the thread of the job.
    ImportJob(
        std::filesystem::path log, LogImportOptions options, std::filesystem::path database, QObject* parent = nullptr);
    ~ImportJob() override; ///< stops, and waits until what was read is written

    /// Ends the watching, or the import: of one that is still reading nothing is stored.
    void stop();

    [[nodiscard]] const std::filesystem::path& log() const { return m_log; }

    [[nodiscard]] bool isWatching() const { return m_isWatching; }

signals:
    void progressed(double share);
    void imported(const QList<mantissa::RunId>& runs, const QStringList& notes);
    void grew(const QList<mantissa::RunId>& runs);
    /// The log was begun anew: it goes on as other runs.
    void restarted(const QList<mantissa::RunId>& runs);
    void failed(const QString& why);
    void ended(); ///< the last signal, however it went

private:
    void work(const std::stop_token& stop);
    QList<RunId> importOnce(LogImport& log, RunWriter& writer, std::uint32_t& nextLane, const std::stop_token& stop);
    void watch(std::unique_ptr<LogImport> log, RunWriter& writer, std::uint32_t nextLane, QList<RunId> runs,
        const std::stop_token& stop);
    template <typename Emit> void post(Emit emitSignal);

    std::filesystem::path m_log;
    LogImportOptions m_options;
    std::filesystem::path m_database;
    bool m_isWatching = false; ///< of the job's thread
    std::jthread m_thread; ///< last: starts when all else is there
};

} // namespace mantissa
