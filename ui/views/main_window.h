/// The window: docks, menus and the wiring between session, dashboard, lanes, runs and events.
#pragma once

#include "engine/store/run_store.h"
#include "ui/language/language.h"
#include "ui/session/session_controller.h"

#include <QList>
#include <QMainWindow>
#include <QPalette>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>

class QAction;
class QActionGroup;
class QDockWidget;
class QMenu;
class QTabWidget;
class QVBoxLayout;

namespace mantissa {

class Dashboard;
class CodeView;
class ComparePanel;
class ControlLocks;
class EventsView;
class ExperimentsView;
class FindingsPanel;
class GradientsPanel;
class ImportJob;
class LaneList;
class LayersPanel;
class LessonPanel;
class LiveChanges;
class MessageBar;
class OpMapPanel;
class ResumeDialog;
class RankJob;
class RanksPanel;
class RunBar;
class RunLoader;
class RunsView;
class SetupPanel;
class StartPage;
class StepPanel;
class StatusLine;
class SweepPanel;
class TimePanel;
struct LessonStep;
struct ReferenceRun;
struct ShippedText;
struct StoredCurves;
struct StoredLook;

class MainWindow : public QMainWindow
{
    Q_OBJECT
public:
    enum class Theme { System, Light, Dark };

    struct Options
    {
        std::filesystem::path database; ///< empty: runs are not stored
        bool remembersState = true; ///< layout, theme, recent files
    };

    explicit MainWindow(const Options& options, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Opens an experiment file; what is wrong with it is said in the message bar and the present one stays. Asks how
    /// to resume, if it is a checkpoint.
    bool openFile(const QString& file);
    /// Begins a lesson at its first step; openFile() does so for a lesson's file.
    bool openLesson(const QString& file);
    /// Writes the open experiment, and what came out of it if it has ended, as a lesson of one step.
    bool saveLesson(const QString& file);
    /// Writes the lesson that is under way with all that it needs. There must be one.
    bool saveWholeLesson(const QString& file);
    /// Unlocks and shows everything again.
    void leaveLesson();
    /// The gallery as cards, lessons and recent files, in the place of plots and panels, until something is opened or
    /// trained.
    void showStart();
    void leaveStart();
    [[nodiscard]] bool showsStart() const;
    /// Asks how to resume the lane in the file, or from which of a stored run's checkpoints.
    void openCheckpoint(const QString& file);
    void resumeRun(RunId run);
    /// Fresh lanes of the present experiment with the weights in a .safetensors file; those that do not fit are told in
    /// the message bar and nothing changes.
    void startFromWeights(const QString& file);
    /// Asks what the columns of a training log are and imports it.
    void openLogFile(const QString& file);
    /// `wanted`, or the default experiment if none is or it can't be opened (the message bar says why). A checkpoint is
    /// asked about over the default experiment.
    void openFirst(const QString& wanted = {});
    bool saveTo(const QString& file);
    void setTheme(Theme theme);
    /// Of every window, at once; nothing that is trained is lost.
    void setLanguage(Language language);

    [[nodiscard]] SessionController* controller() const { return m_controller; }

    [[nodiscard]] Dashboard* dashboard() const { return m_dashboard; }

    [[nodiscard]] GradientsPanel* gradients() const { return m_gradients; }

    [[nodiscard]] OpMapPanel* opMap() const { return m_opMap; }

    [[nodiscard]] LayersPanel* layers() const { return m_layers; }

    [[nodiscard]] TimePanel* timePanel() const { return m_time; }

    [[nodiscard]] RanksPanel* ranksPanel() const { return m_ranks; }

    [[nodiscard]] ComparePanel* comparePanel() const { return m_compare; }

    [[nodiscard]] SweepPanel* sweepPanel() const { return m_sweep; }

    [[nodiscard]] LaneList* laneList() const { return m_lanes; }

    [[nodiscard]] RunBar* runBar() const { return m_runBar; }

    [[nodiscard]] SetupPanel* setupPanel() const { return m_setup; }

    [[nodiscard]] RunsView* runsView() const { return m_runs; }

    [[nodiscard]] EventsView* eventsView() const { return m_events; }

    [[nodiscard]] CodeView* codeView() const { return m_code; }

    [[nodiscard]] StepPanel* stepPanel() const { return m_stepPanel; }

    [[nodiscard]] FindingsPanel* findings() const { return m_findings; }

    [[nodiscard]] ExperimentsView* experimentsView() const { return m_experiments; }

    [[nodiscard]] StartPage* startPage() const { return m_start; }

    [[nodiscard]] LessonPanel* lessonPanel() const { return m_lesson; }

    [[nodiscard]] MessageBar* messageBar() const { return m_messages; }

    [[nodiscard]] StatusLine* statusLine() const { return m_statusLine; }

    [[nodiscard]] bool isPresenting() const { return m_isPresenting; }

    [[nodiscard]] QAction* actionNamed(const QString& objectName) const;

public slots:
    void setPresenting(bool isPresenting);
    void showPalette();
    void showScalerLab();

protected:
    void closeEvent(QCloseEvent* event) override;
    void changeEvent(QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    // main_window.cpp
    void makeDocks();
    QDockWidget* makeDock(const QString& name, const QString& title, QWidget* content, Qt::DockWidgetArea area);
    void setTitleBarsVisible(bool isVisible);
    void connectSession();
    void connectLanes();
    void connectOpMap();
    void connectFindings();
    void connectLayers();
    void connectTime();
    void connectRanks();
    void connectCompare();
    void compareWithBaseline();
    void connectRuns();
    void connectSweep();
    void replaced(SessionController::Replacement reason);
    void showTexts();
    void followStatus();
    void showSelected();
    void goBack(std::uint32_t lane);
    void moveLane(std::uint32_t lane, const QString& device);
    void followLanes();
    [[nodiscard]] bool showsOpMap() const;
    [[nodiscard]] bool showsGradients() const;
    void drawCorridors();
    [[nodiscard]] bool showsLayers() const;
    [[nodiscard]] bool showsTime() const;
    [[nodiscard]] bool showsRanks() const;
    [[nodiscard]] bool showsCompare() const;
    [[nodiscard]] bool showsSweep() const;
    void noteEvent(const Event& event);
    void frame();
    void checkHealth();
    void restoreCurves();
    void restart(ExperimentDocument document, const QString& text);
    void reset();
    void train();
    void finishedRun();
    void showStored(const std::shared_ptr<const StoredLook>& look);
    [[nodiscard]] QColor colorOf(const RunInfo& info) const;
    void showStoredCurves(RunId run, bool isWanted);
    void showRun(const RunInfo& info, const StoredCurves& curves);
    void showCurves(quint64 key, const StoredCurves& curves);

    // main_window_menus.cpp
    QAction* add(QMenu* menu, const QString& objectName, const QString& text, const QKeySequence& key,
        std::function<void()> work, const QString& tip = {});
    void makeMenus();
    void makeFileMenu();
    void makeEditMenu();
    void makeViewMenu();
    void makeRunMenu();
    void makeLanesMenu();
    void makePlotMenu();
    void makeToolsMenu();
    void makeHelpMenu();
    void fillRecentMenu();
    void selectNumber(int number);
    void toggleNumber(int number);

    // main_window_checkpoints.cpp
    [[nodiscard]] static bool isTensorFile(const QString& file);
    void chooseCheckpoint();
    [[nodiscard]] QString checkpointsHome() const;
    void askHowToResume(ResumeDialog* dialog, std::optional<RunId> run);
    void saveCheckpoint();
    void noteCheckpoint(const Event& event);
    void showCheckpointSettings();
    void chooseWeights();
    void useWeights(const QString& file, const QString& problem);

    // main_window_lessons.cpp
    void makeStart(QVBoxLayout* column);
    void makeLessons();
    void makeLessonMenu();
    void makeLocks();
    void enterStep(const LessonStep& step);
    void followLesson();
    void showHandouts();
    void makeLesson();
    [[nodiscard]] std::optional<ReferenceRun> finishedReference() const;
    // main_window_logs.cpp
    void chooseLog();
    void showImported(const QList<RunId>& runs, const QStringList& notes);
    void watchLog(ImportJob* job);

    // main_window_ranks.cpp
    void askForRanks();
    void watchRanks(RankJob* job, const QString& what);

    // main_window_files.cpp
    void hideForPresenting();
    void openExperiment(Experiment experiment, const std::filesystem::path& file);
    void newExperiment();
    void chooseFile();
    bool save();
    bool saveAs();
    bool mayDiscard();
    void restoreState();
    void storeState();
    void updateTitle();
    void retranslate();
    [[nodiscard]] static QString languageAction(Language language); ///< its object name
    [[nodiscard]] ShippedText shownTexts() const; ///< of the experiment

    SessionController* m_controller;
    RunLoader* m_loader;
    Dashboard* m_dashboard;
    GradientsPanel* m_gradients;
    LayersPanel* m_layers;
    TimePanel* m_time;
    RanksPanel* m_ranks;
    ComparePanel* m_compare;
    SweepPanel* m_sweep;
    OpMapPanel* m_opMap;
    QTabWidget* m_tabs;
    MessageBar* m_messages;
    RunBar* m_runBar;
    LaneList* m_lanes;
    ExperimentsView* m_experiments;
    SetupPanel* m_setup;
    RunsView* m_runs;
    EventsView* m_events;
    CodeView* m_code;
    StepPanel* m_stepPanel;
    FindingsPanel* m_findings;
    LiveChanges* m_changes;
    StatusLine* m_statusLine;
    StartPage* m_start;
    LessonPanel* m_lesson;
    ControlLocks* m_locks;
    QDockWidget* m_experimentsDock = nullptr;
    QDockWidget* m_setupDock = nullptr;
    QDockWidget* m_lanesDock = nullptr;
    QDockWidget* m_eventsDock = nullptr;
    QDockWidget* m_runsDock = nullptr;
    QDockWidget* m_codeDock = nullptr;
    QDockWidget* m_stepDock = nullptr;
    QDockWidget* m_findingsDock = nullptr;
    QDockWidget* m_lessonDock = nullptr;
    QMenu* m_recentMenu = nullptr;
    QMenu* m_watchedMenu = nullptr;
    QMenu* m_ranksMenu = nullptr;
    QActionGroup* m_themes = nullptr;
    QActionGroup* m_languages = nullptr;
    QAction* m_presenter = nullptr;
    QByteArray m_layoutBeforePresenting;
    qreal m_pointSizeBeforePresenting = 0;
    bool m_isPresenting = false;
    QByteArray m_layoutBeforeStart;
    std::optional<std::int64_t> m_startedAt; ///< the step at which the start page was shown, -1: while lanes train;
                                             ///< nothing: it is not shown
    bool m_remembersState = true;
    std::uint64_t m_droppedSeen = 0;
    bool m_wantsCurves = false; ///< curves are to be read from the database as soon as lanes are known
    std::optional<std::uint32_t> m_baselineShown;
    std::map<std::uint32_t, std::int64_t> m_corridorsUpTo; ///< step, by lane
};

} // namespace mantissa
