#include "ui/session/background_runs.h"

#include <QMetaObject>

#include <exception>

namespace mantissa {

BackgroundRuns::BackgroundRuns(QObject* parent)
    : QObject(parent)
{
    m_pool.setMaxThreadCount(1);
}

BackgroundRuns::~BackgroundRuns()
{
    cancel();
    m_pool.waitForDone();
}

void BackgroundRuns::start(Work work)
{
    if (m_isRunning) {
        return;
    }
    m_isRunning = true;
    m_isCancelled = false;
    m_pool.start([this, work = std::move(work)] {
        QString problem;
        try {
            problem = work([this](int done, int total, double share) {
                QMetaObject::invokeMethod(
                    this, [this, done, total, share] { emit progressed(done, total, share); }, Qt::QueuedConnection);
                return !m_isCancelled;
            });
        } catch (const std::exception& error) {
            problem = QString::fromUtf8(error.what());
        }
        QMetaObject::invokeMethod(
            this,
            [this, problem] {
                m_isRunning = false;
                emit finished(problem);
            },
            Qt::QueuedConnection);
    });
}

void BackgroundRuns::cancel()
{
    m_isCancelled = true;
}

} // namespace mantissa
