/// Something that trains and stores runs in the background, on a thread of its own: one at a time, with progress and a
/// way to cancel it.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>

#include <atomic>
#include <functional>

namespace mantissa {

class BackgroundRuns : public QObject
{
    Q_OBJECT
public:
    /// Takes how many of how many pieces of work are done, and the share of the present one. False: leave off, soon.
    using GoOn = std::function<bool(int done, int total, double share)>;
    /// Runs on the thread; returns, or throws, what went wrong in words for a person.
    using Work = std::function<QString(const GoOn&)>;

    explicit BackgroundRuns(QObject* parent = nullptr);
    ~BackgroundRuns() override; ///< cancels, and waits for a step

    /// Answered by finished(). Does nothing while it is running.
    void start(Work work);
    void cancel(); ///< what is trained now ends as stopped

    [[nodiscard]] bool isRunning() const { return m_isRunning; }

signals:
    void progressed(int done, int total, double share);
    void finished(const QString& problem); ///< empty: all of it is stored, or it was cancelled

private:
    QThreadPool m_pool;
    bool m_isRunning = false;
    std::atomic<bool> m_isCancelled = false;
};

} // namespace mantissa
