/// Reads stored runs on a thread of its own, so that a million steps never stall the window. Results arrive as signals
/// on the GUI thread.
#pragma once

#include "engine/diagnose/finding.h"
#include "engine/scaling/scaler_play.h"
#include "engine/store/run_comparison.h"
#include "ui/session/sample_history.h"

#include <QObject>
#include <QThreadPool>

#include <filesystem>
#include <memory>
#include <variant>
#include <vector>

namespace mantissa {

struct StoredCurves
{
    RunColumns columns;
    std::vector<Event> seams; ///< where the lane was resumed
};

/// A stored run whose sampled steps can be looked at.
struct StoredLook
{
    RunInfo info;
    RunColumns columns;
    std::vector<SamplePtr> samples; ///< some hundreds at most, spread over the run
};

using StoredLookPtr = std::shared_ptr<const StoredLook>;

using RunOrLane = std::variant<RunId, std::uint32_t>; ///< a stored run, or a lane of the present session

class RunLoader : public QObject
{
    Q_OBJECT
public:
    explicit RunLoader(std::filesystem::path database, QObject* parent = nullptr);
    ~RunLoader() override;

    void loadColumns(RunId run);
    void loadSamples(RunId run);
    /// The experiment that replays the run, as JSON text.
    void loadReplay(RunId run);
    /// What scalers need of the run's steps to play them again.
    void loadGradients(RunId run);
    /// Writes out what `writer` still holds, then reads the run of a session's lane.
    void loadLane(std::shared_ptr<RunWriter> writer, std::uint32_t lane);
    /// As loadLane(), then says what is wrong with the run.
    void diagnoseLane(std::shared_ptr<RunWriter> writer, std::uint32_t lane);
    /// Says what is wrong with a stored run.
    void diagnoseRun(RunId run);
    /// Two runs side by side; `writer` is the session's whose lanes are meant, and may be null where none is. Answered
    /// by compared() or comparisonFailed().
    void compare(std::shared_ptr<RunWriter> writer, const RunOrLane& a, const RunOrLane& b);

signals:
    void columnsLoaded(const mantissa::RunInfo& info, std::shared_ptr<const mantissa::StoredCurves> curves);
    void laneLoaded(std::uint32_t lane, std::shared_ptr<const mantissa::StoredCurves> curves);
    void samplesLoaded(std::shared_ptr<const mantissa::StoredLook> look);
    void replayLoaded(mantissa::RunId run, const QByteArray& experiment);
    void gradientsLoaded(mantissa::RunId run, std::shared_ptr<const std::vector<mantissa::PlayStep>> steps);
    void laneDiagnosed(std::uint32_t lane, std::shared_ptr<const std::vector<mantissa::Finding>> findings);
    void runDiagnosed(const mantissa::RunInfo& info, std::shared_ptr<const std::vector<mantissa::Finding>> findings);
    void compared(std::shared_ptr<const mantissa::RunComparison> comparison);
    void comparisonFailed(const QString& why);
    void failed(const QString& why);

private:
    template <typename Work> void start(Work work);

    std::filesystem::path m_database;
    QThreadPool m_pool;
};

} // namespace mantissa
