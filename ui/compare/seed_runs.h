/// Trains stored runs again with other seeds, in the background, and stores what comes out: so that it is known how
/// much of a difference is chance.
#pragma once

#include "engine/store/run_store.h"

#include <QObject>
#include <QThreadPool>

#include <atomic>
#include <filesystem>
#include <vector>

namespace mantissa {

class SeedRuns : public QObject
{
    Q_OBJECT
public:
    explicit SeedRuns(std::filesystem::path database, QObject* parent = nullptr);
    ~SeedRuns() override; ///< cancels, and waits for a step

    /// Each of the runs with `count` further seeds, those behind the largest that a stored run has. Answered by
    /// finished().
    void start(const std::vector<RunId>& runs, int count);
    void cancel(); ///< what is trained so far stays stored

    [[nodiscard]] bool isRunning() const { return m_isRunning; }

signals:
    void progressed(int done, int total, double share); ///< runs, and of the present one
    void finished(const QString& problem); ///< empty: all went well, or it was cancelled

private:
    [[nodiscard]] QString train(const std::vector<RunId>& runs, int count);

    std::filesystem::path m_database;
    std::atomic<bool> m_isCancelled = false;
    bool m_isRunning = false;
    QThreadPool m_pool;
};

} // namespace mantissa
