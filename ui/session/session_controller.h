/// The window's face of a Session, on the GUI thread: owns the session and its writer, polls them on a timer, and turns
/// what it finds into signals that carry values. Nothing here waits for a step, a file or a thread.
#pragma once

#include "engine/store/run_store.h"
#include "engine/train/session.h"
#include "ui/session/checkpoint_settings.h"
#include "ui/session/experiment_document.h"
#include "ui/session/lane_monitor.h"
#include "ui/session/sample_history.h"

#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mantissa {

class SessionController : public QObject
{
    Q_OBJECT
public:
    /// Why another session is shown.
    enum class Replacement {
        Opened,
        Reset, ///< fresh lanes of the same experiment
        Restored ///< the lanes of before a reset: their curves are wanted back
    };
    Q_ENUM(Replacement)

    /// Runs are stored in `database`; an empty path stores nothing.
    explicit SessionController(std::filesystem::path database, QObject* parent = nullptr);
    /// Waits for the sessions to end (each within one step).
    ~SessionController() override;

    /// Starts a session for the experiment; the one before ends as stopped, in the background.
    void open(ExperimentDocument document);

    /// The same for a lane that goes on from a checkpoint.
    void resume(const ResumedLane& lane);

    [[nodiscard]] bool isOpen() const { return m_live != nullptr; }

    [[nodiscard]] const ExperimentDocument& document() const;
    /// Writes the experiment with the present settings of its lanes. Throws Error (Io).
    void save(const std::filesystem::path& file);

    [[nodiscard]] const std::filesystem::path& database() const { return m_database; }

    // --- running ---
    void run();
    void pause();
    void toggleRun();
    void runSteps(std::int64_t steps);
    void stop();
    /// Prepares fresh lanes with the present settings; the trained ones wait, paused, until undoReset() or the next
    /// reset or open.
    void reset();
    /// As reset(), with other settings.
    void restart(ExperimentDocument document);

    [[nodiscard]] bool canUndoReset() const { return m_previous != nullptr; }

    /// Swaps the fresh lanes and those before the reset; a second call swaps them back.
    void undoReset();

    /// Counts resets that undoReset() could take back.
    [[nodiscard]] std::uint64_t restartSerial() const { return m_restartSerial; }

    void extend(std::int64_t totalSteps);
    void setSpeedLimit(double stepsPerSecond); ///< 0: none

    [[nodiscard]] double speedLimit() const { return m_speedLimit; }

    /// Restarts the lanes on another device ("auto", "cpu", ...).
    void setDevice(const std::string& device);

    [[nodiscard]] const std::string& device() const { return m_device; }

    /// How sessions that begin from now on write checkpoints.
    void setCheckpoints(const CheckpointSettings& settings) { m_checkpoints = settings; }

    [[nodiscard]] const CheckpointSettings& checkpoints() const { return m_checkpoints; }

    // --- lanes ---
    /// Takes effect at the next step boundary; pendingValue() holds the value until then. Returns the id of the
    /// command, which its event will name; 0 without a session.
    std::uint64_t set(std::uint32_t lane, const std::string& path, const nlohmann::json& value);
    [[nodiscard]] std::optional<nlohmann::json> pendingValue(std::uint32_t lane, const std::string& path) const;
    void addLane(const LaneConfig& config);
    /// A copy as it stands, perhaps with other settings from its next step on.
    void duplicateLane(std::uint32_t lane, const std::vector<std::pair<std::string, nlohmann::json>>& changes = {});
    void goBack(std::uint32_t lane, std::int64_t step); ///< a copy of the lane as it was before the step
    /// The lane's next step, taken apart; not valid without a session. See Session::walkStep().
    [[nodiscard]] std::future<StepWalk> walkStep(std::uint32_t lane);
    /// The lane's next step at each of these scales; not valid without a session. See Session::tryScales().
    [[nodiscard]] std::future<std::vector<ScaleTrial>> tryScales(std::uint32_t lane, std::vector<double> scales);
    /// Why the lane's step was not finite; not valid without a session. See Session::blame().
    [[nodiscard]] std::future<Blame> blame(std::uint32_t lane, std::int64_t step);
    /// Which steps are looked at tensor by tensor, in this session and those to come.
    void setSampling(const SamplingPlan& plan);

    [[nodiscard]] const SamplingPlan& sampling() const { return m_sampling; }

    /// Looks at the next step of every lane; trains it, if the lanes rest.
    void sampleNow();
    void removeLane(std::uint32_t lane);
    /// Writes a checkpoint of the lane as it stands; eventTaken() tells how it went.
    void saveCheckpoint(std::uint32_t lane, const std::filesystem::path& file);
    /// The document with another device for a lane; to be restarted with. Throws Error (InvalidArgument).
    [[nodiscard]] ExperimentDocument withDevice(std::uint32_t lane, const std::string& device) const;
    void setWatchpoints(const std::vector<Watchpoint>& watchpoints);
    void setBaseline(std::uint32_t lane); ///< the lane that others are compared with
    void renameLane(std::uint32_t lane, const QString& name);
    void recolorLane(std::uint32_t lane, const QString& color);
    /// Name as shown: a person may have renamed it since the session began.
    [[nodiscard]] QString laneName(std::uint32_t lane) const;
    [[nodiscard]] QString laneColor(std::uint32_t lane) const; ///< "#RRGGBB", or empty for the window's choice

    // --- observing ---
    /// What statusChanged() last spoke of: never ahead of what the document and the lane names know. Null before
    /// open().
    [[nodiscard]] std::shared_ptr<const SessionStatus> status() const;
    /// That of a lane in status(), as long as this is the newest; null if there is no such lane.
    [[nodiscard]] const LaneStatus* laneStatus(std::uint32_t lane) const;
    [[nodiscard]] const LaneFacts& facts(std::uint32_t lane) const;
    [[nodiscard]] const std::vector<SamplePtr>& samples(std::uint32_t lane) const;
    [[nodiscard]] std::optional<std::uint32_t> baseline() const;
    [[nodiscard]] bool isRunning() const;
    /// Why runs are not being written at present; empty if they are.
    [[nodiscard]] QString databaseProblem() const;
    /// Records that came too fast for the window; they are in the database.
    [[nodiscard]] std::uint64_t droppedRecords() const;
    /// The writer of the present session; null without a database. May be used on any thread.
    [[nodiscard]] std::shared_ptr<RunWriter> writer() const;
    /// Looks 60 times a second with focus; 30 without, and where training has every core of the machine.
    void setFocused(bool isFocused);
    /// What the timer does; for tests and screenshots.
    void poll();

signals:
    void sessionReplaced(mantissa::SessionController::Replacement reason);
    void recordsTaken(const std::vector<mantissa::StepRecord>& records);
    void rankRecordsTaken(const std::vector<mantissa::RankRecord>& records); ///< of data-parallel lanes
    void eventTaken(const mantissa::Event& event);
    void sampled(); ///< samples() has more
    void statusChanged();
    void lanesChanged(); ///< lanes came, went, or changed name or colour
    void documentChanged(); ///< title, file, modified mark
    void pendingChanged(std::uint32_t lane);
    void refused(const QString& why);
    void polled(); ///< after everything new was passed on: time to draw

private:
    struct Live;

    struct Pending
    {
        std::uint64_t command = 0;
        nlohmann::json value;
    };

    std::unique_ptr<Live> makeLive(ExperimentDocument document, const std::optional<ResumedLane>& resumed = {});
    void show(std::unique_ptr<Live> live, Replacement reason);
    void retire(std::unique_ptr<Live> live);
    void choosePace();
    void followStatus();
    void followLanes(const SessionStatus& status);
    void settlePending(const SessionStatus& status);
    void applyToDocument(const Event& event);
    [[nodiscard]] QString freeName(const QString& wish) const;

    std::filesystem::path m_database;
    CheckpointSettings m_checkpoints;
    std::string m_device = "auto";
    double m_speedLimit = 0;
    bool m_isFocused = true;
    std::uint64_t m_restartSerial = 0;
    std::unique_ptr<Live> m_live;
    std::unique_ptr<Live> m_previous; ///< what a reset put aside
    std::map<std::pair<std::uint32_t, std::string>, Pending> m_pending;
    std::vector<StepRecord> m_records;
    std::vector<RankRecord> m_rankRecords;
    std::vector<Event> m_events;
    std::vector<SamplePtr> m_newSamples;
    SamplingPlan m_sampling {.every = SamplingPlan::usually};
    QTimer m_timer;
    QThreadPool m_reaper; ///< ends sessions, whose last step may take a while, and removes old checkpoints
};

} // namespace mantissa
