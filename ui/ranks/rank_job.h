/// Lanes trained by several processes on this machine: mpirun and mantissa-cli under it, on their way. Their runs go
/// into the database as they train. Nothing here waits, but for the end of a job whose window is closed.
#pragma once

#include "engine/store/run_store.h"
#include "engine/train/checkpoint.h"

#include <QByteArray>
#include <QList>
#include <QObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTimer>

#include <filesystem>
#include <string>

namespace mantissa {

struct RankPlan
{
    int ranks = 2;
    std::string experiment; ///< rankExperiment()
    std::string device = "auto";
    std::filesystem::path database;
    CheckpointPlan checkpoints;
};

/// The experiment with only these lanes, each over so many ranks, as text that means the same in any folder. Throws
/// Error (InvalidArgument) for a lane that cannot be divided so.
std::string rankExperiment(const Experiment& experiment, const QStringList& lanes, int ranks);

class RankJob : public QObject
{
    Q_OBJECT
public:
    /// Why processes cannot be started here, and what to install; empty if they can.
    static QString obstacle();

    /// Begins at once.
    explicit RankJob(RankPlan plan, QObject* parent = nullptr);
    ~RankJob() override; ///< stops, and waits a few seconds for what was trained to be saved

    /// All ranks end at the next step, and keep what there is; those that hang are ended after some seconds.
    void stop();

    [[nodiscard]] int ranks() const { return m_plan.ranks; }

    [[nodiscard]] const QList<RunId>& runs() const { return m_runs; } ///< that have begun

signals:
    void runStarted(mantissa::RunId run, const QString& lane);
    /// The last signal. `problem` says what went wrong; empty: all lanes ended, or were stopped, as wanted.
    void ended(const QString& problem);

private:
    void readOutput();
    void readLine(const QByteArray& line);
    void endHarder();
    void finish();
    [[nodiscard]] QString problem() const;

    RankPlan m_plan;
    QTemporaryDir m_folder;
    QProcess m_process;
    QTimer m_patience; ///< once it is to stop
    QByteArray m_output; ///< of the line that is not complete
    QByteArray m_messages; ///< the newest of standard error
    QList<RunId> m_runs;
    QStringList m_failures; ///< of lanes
    bool m_hasResult = false;
    bool m_isStopping = false;
    bool m_hasEnded = false;
};

} // namespace mantissa
