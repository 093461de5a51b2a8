#include "ui/compare/seed_runs.h"

#include "engine/train/train_to_end.h"

#include <QMetaObject>

#include <algorithm>
#include <exception>

namespace mantissa {

SeedRuns::SeedRuns(std::filesystem::path database, QObject* parent)
    : QObject(parent)
    , m_database(std::move(database))
{
    m_pool.setMaxThreadCount(1);
}

SeedRuns::~SeedRuns()
{
    cancel();
    m_pool.waitForDone();
}

void SeedRuns::start(const std::vector<RunId>& runs, int count)
{
    if (m_isRunning) {
        return;
    }
    m_isRunning = true;
    m_isCancelled = false;
    m_pool.start([this, runs, count] {
        QString problem;
        try {
            problem = train(runs, count);
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

void SeedRuns::cancel()
{
    m_isCancelled = true;
}

/// On the pool's thread.
QString SeedRuns::train(const std::vector<RunId>& runs, int count)
{
    std::vector<nlohmann::json> documents;
    std::uint64_t seed = 0;
    {
        const RunStore store(m_database, StoreAccess::ReadOnly);
        for (const RunId run : runs) {
            documents.push_back(store.replayExperiment(run));
        }
        for (const RunInfo& run : store.runs()) {
            seed = std::max(seed, run.seed);
        }
    }
    const int total = count * static_cast<int>(runs.size());
    int done = 0;
    for (int i = 1; i <= count; ++i) {
        for (nlohmann::json& document : documents) {
            document["seed"] = seed + static_cast<std::uint64_t>(i);
            RunWriter writer(m_database);
            SessionOptions options;
            options.observers = {&writer};
            Session session(parseExperiment(document.dump(), "a stored run"), options);
            trainToEnd(session, [this, done, total](const SessionStatus& status) {
                const double share = static_cast<double>(status.step)
                    / static_cast<double>(std::max<std::int64_t>(status.totalSteps, 1));
                QMetaObject::invokeMethod(
                    this, [this, done, total, share] { emit progressed(done, total, share); }, Qt::QueuedConnection);
                return !m_isCancelled;
            });
            if (m_isCancelled) {
                return {};
            }
            ++done;
            writer.flush();
            if (const std::string problem = writer.problem(); !problem.empty()) {
                return QString::fromStdString(problem);
            }
        }
    }
    return {};
}

} // namespace mantissa
