#include "ui/views/main_window.h"

#include "engine/autocast/policy.h"
#include "engine/core/error.h"
#include "engine/train/sample_corridor.h"
#include "ui/compare/compare_panel.h"
#include "ui/gradients/gradients_panel.h"
#include "ui/graph/op_map_panel.h"
#include "ui/layers/layers_panel.h"
#include "ui/lesson/control_locks.h"
#include "ui/lesson/lesson_panel.h"
#include "ui/models/run_cells.h"
#include "ui/plots/dashboard.h"
#include "ui/ranks/ranks_panel.h"
#include "ui/session/app_paths.h"
#include "ui/session/run_loader.h"
#include "ui/session/shipped_texts.h"
#include "ui/start/start_page.h"
#include "ui/style/number_format.h"
#include "ui/style/theme.h"
#include "ui/sweep/sweep_panel.h"
#include "ui/time/time_panel.h"
#include "ui/views/code_view.h"
#include "ui/views/events_view.h"
#include "ui/views/experiments_view.h"
#include "ui/views/findings_panel.h"
#include "ui/views/icon.h"
#include "ui/views/lane_list.h"
#include "ui/views/lane_words.h"
#include "ui/views/live_change.h"
#include "ui/views/message_bar.h"
#include "ui/views/restart_command.h"
#include "ui/views/run_bar.h"
#include "ui/views/runs_view.h"
#include "ui/views/setup_panel.h"
#include "ui/views/status_line.h"
#include "ui/views/step_panel.h"

#include <QApplication>
#include <QDockWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QThread>
#include <QTimer>
#include <QUndoStack>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int healthIntervalMs = 500;
constexpr double spareCoreShare = 0.5; // of the UI thread's time for curves that grow
constexpr double busyCoreShare = 0.008;
const QString sessionTopic = QStringLiteral("session");
const QString databaseTopic = QStringLiteral("database");
const QString commandTopic = QStringLiteral("command");

DType computeFormat(const LaneConfig& config)
{
    return policyNamed(config.precision.policy).lower;
}

} // namespace

MainWindow::MainWindow(const Options& options, QWidget* parent)
    : QMainWindow(parent)
    , m_controller(new SessionController(options.database, this))
    , m_loader(new RunLoader(options.database, this))
    , m_dashboard(new Dashboard)
    , m_gradients(new GradientsPanel(m_controller))
    , m_layers(new LayersPanel(m_controller))
    , m_time(new TimePanel(m_controller))
    , m_ranks(new RanksPanel(m_controller))
    , m_compare(new ComparePanel(m_controller, m_loader))
    , m_sweep(new SweepPanel(m_controller))
    , m_opMap(new OpMapPanel(m_controller))
    , m_tabs(new QTabWidget)
    , m_messages(new MessageBar)
    , m_runBar(new RunBar(m_controller))
    , m_lanes(new LaneList(m_controller))
    , m_experiments(new ExperimentsView)
    , m_setup(new SetupPanel)
    , m_runs(new RunsView(options.database))
    , m_events(new EventsView)
    , m_code(new CodeView)
    , m_stepPanel(new StepPanel(m_controller))
    , m_findings(new FindingsPanel(m_controller, m_loader))
    , m_changes(new LiveChanges(m_controller, m_dashboard->undoStack(), this))
    , m_statusLine(new StatusLine(m_controller))
    , m_start(new StartPage)
    , m_lesson(new LessonPanel)
    , m_locks(new ControlLocks(this))
    , m_remembersState(options.remembersState)
{
    setObjectName(QStringLiteral("mainWindow"));
    setWindowIcon(applicationIcon());
    setAcceptDrops(true);
    setDockOptions(AnimatedDocks | AllowTabbedDocks | AllowNestedDocks);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);

    m_tabs->setDocumentMode(true);
    m_tabs->setAccessibleName(tr("Views of the experiment"));
    m_tabs->addTab(m_dashboard, tr("Dashboard"));
    m_tabs->addTab(m_gradients, tr("Gradients"));
    m_tabs->addTab(m_layers, tr("Layers"));
    m_tabs->addTab(m_opMap, tr("Graph"));
    m_tabs->addTab(m_time, tr("Time"));
    m_tabs->addTab(m_ranks, tr("Ranks"));
    m_tabs->addTab(m_compare, tr("Compare"));
    m_tabs->addTab(m_sweep, tr("Sweep"));
    auto* centre = new QWidget;
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_messages);
    column->addWidget(m_tabs, 1);
    makeStart(column);
    setCentralWidget(centre);
    addToolBar(Qt::TopToolBarArea, m_runBar);
    statusBar()->addPermanentWidget(m_statusLine);
    statusBar()->setSizeGripEnabled(false);

    makeDocks();
    makeLessons();
    makeMenus();
    makeLocks();
    connectSession();
    connectLanes();
    connectOpMap();
    connectFindings();
    connectLayers();
    connectTime();
    connectRanks();
    connectCompare();
    connectRuns();
    connectSweep();
    qApp->installEventFilter(this);
    resize(1280, 800);
    if (m_remembersState) {
        restoreState();
        m_controller->setCheckpoints(readCheckpointSettings());
    }
    updateTitle();
}

MainWindow::~MainWindow()
{
    qApp->removeEventFilter(this);
    // The controller's last signals must not reach views that are already gone.
    m_controller->disconnect();
}

QDockWidget* MainWindow::makeDock(const QString& name, const QString& title, QWidget* content, Qt::DockWidgetArea area)
{
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(content);
    addDockWidget(area, dock);
    // The tab says the name already; a title bar is only needed to move the panel.
    dock->setTitleBarWidget(new QWidget(dock));
    return dock;
}

void MainWindow::setTitleBarsVisible(bool isVisible)
{
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
        QWidget* before = dock->titleBarWidget();
        dock->setTitleBarWidget(isVisible ? nullptr : new QWidget(dock));
        delete before;
    }
}

void MainWindow::makeDocks()
{
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    m_experimentsDock
        = makeDock(QStringLiteral("experiments"), tr("Experiments"), m_experiments, Qt::LeftDockWidgetArea);
    m_setupDock = makeDock(QStringLiteral("setup"), tr("Setup"), m_setup, Qt::LeftDockWidgetArea);
    tabifyDockWidget(m_experimentsDock, m_setupDock);
    m_experimentsDock->raise();
    m_lanesDock = makeDock(QStringLiteral("lanes"), tr("Lanes"), m_lanes, Qt::RightDockWidgetArea);
    m_eventsDock = makeDock(QStringLiteral("events"), tr("Events"), m_events, Qt::BottomDockWidgetArea);
    m_runsDock = makeDock(QStringLiteral("runs"), tr("Runs"), m_runs, Qt::BottomDockWidgetArea);
    tabifyDockWidget(m_eventsDock, m_runsDock);
    m_codeDock = makeDock(QStringLiteral("code"), tr("Code (PyTorch)"), m_code, Qt::BottomDockWidgetArea);
    tabifyDockWidget(m_runsDock, m_codeDock);
    m_stepDock = makeDock(QStringLiteral("step"), tr("Step"), m_stepPanel, Qt::BottomDockWidgetArea);
    tabifyDockWidget(m_codeDock, m_stepDock);
    m_findingsDock = makeDock(QStringLiteral("findings"), tr("Findings"), m_findings, Qt::BottomDockWidgetArea);
    tabifyDockWidget(m_stepDock, m_findingsDock);
    m_eventsDock->raise();
    const int letter = fontMetrics().averageCharWidth();
    resizeDocks({m_experimentsDock, m_lanesDock}, {letter * 32, letter * 42}, Qt::Horizontal);
    resizeDocks({m_eventsDock}, {fontMetrics().height() * 8}, Qt::Vertical);
}

void MainWindow::connectSession()
{
    connect(m_controller, &SessionController::sessionReplaced, this, &MainWindow::replaced);
    connect(m_controller, &SessionController::statusChanged, this, &MainWindow::followStatus);
    connect(m_controller, &SessionController::lanesChanged, this, &MainWindow::followLanes);
    connect(m_controller, &SessionController::documentChanged, this, &MainWindow::updateTitle);
    connect(m_controller, &SessionController::recordsTaken, m_dashboard,
        [this](const std::vector<StepRecord>& records) { m_dashboard->append(records); });
    connect(m_controller, &SessionController::eventTaken, this, &MainWindow::noteEvent);
    connect(m_controller, &SessionController::sampled, this, &MainWindow::drawCorridors);
    connect(m_controller, &SessionController::refused, this,
        [this](const QString& why) { m_messages->post(commandTopic, Tone::Notice, why); });
    connect(m_controller, &SessionController::polled, this, &MainWindow::frame);
    connect(m_runBar, &RunBar::resetWanted, this, &MainWindow::reset);
    connect(m_runBar, &RunBar::finishedRunWanted, this, &MainWindow::finishedRun);
    connect(m_setup, &SetupPanel::applied, this,
        [this](const ExperimentDocument& document) { restart(document, tr("new settings")); });
    connect(m_setup, &SetupPanel::extendWanted, this, [this](qint64 steps) {
        m_controller->extend(steps);
        m_setup->show(m_controller->document());
    });
    auto* health = new QTimer(this);
    health->setInterval(healthIntervalMs);
    connect(health, &QTimer::timeout, this, &MainWindow::checkHealth);
    health->start();
}

void MainWindow::connectLanes()
{
    connect(
        m_lanes, &LaneList::selectionChanged, this, [this](std::uint32_t lane) { m_dashboard->highlightLane(lane); });
    connect(m_lanes, &LaneList::visibilityToggled, this,
        [this](std::uint32_t lane) { m_dashboard->setLaneVisible(lane, !m_dashboard->isLaneVisible(lane)); });
    connect(m_dashboard, &Dashboard::laneVisibilityChanged, this, [this](quint64 key, bool isVisible) {
        if (key <= Event::allLanes) {
            m_lanes->setShown(static_cast<std::uint32_t>(key), isVisible);
        }
    });
    connect(m_dashboard, &Dashboard::laneActivated, this, [this](quint64 key) {
        if (key <= Event::allLanes) {
            m_lanes->select(static_cast<std::uint32_t>(key));
        } else {
            m_loader->loadSamples(Dashboard::runOf(key));
        }
    });
    connect(
        m_dashboard, &Dashboard::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 5000); });
    connect(m_experiments, &ExperimentsView::openRequested, this, [this](const QString& file) { openFile(file); });
}

void MainWindow::connectOpMap()
{
    connect(m_lanes, &LaneList::selectionChanged, m_opMap, &OpMapPanel::setLane);
    connect(m_lanes, &LaneList::selectionChanged, this, &MainWindow::showSelected);
    connect(m_lanes, &LaneList::goBackWanted, this, &MainWindow::goBack);
    // Queued: the card whose menu asks goes with the lanes that are replaced.
    connect(m_lanes, &LaneList::deviceWanted, this, &MainWindow::moveLane, Qt::QueuedConnection);
    connect(m_opMap, &OpMapPanel::laneChosen, m_lanes, &LaneList::select);
    connect(m_gradients, &GradientsPanel::notice, this,
        [this](const QString& text) { statusBar()->showMessage(text, 5000); });
    connect(m_opMap, &OpMapPanel::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 5000); });
}

bool MainWindow::showsGradients() const
{
    return m_tabs->currentWidget() == m_gradients;
}

void MainWindow::drawCorridors()
{
    for (const std::uint32_t lane : m_lanes->lanes()) {
        const auto [known, isNew] = m_corridorsUpTo.try_emplace(lane, -1);
        for (const SamplePtr& sample : m_controller->samples(lane)) {
            if (sample->step <= known->second) {
                continue;
            }
            known->second = sample->step;
            if (const auto corridor = corridorOf(*sample, harmlessFlushedShare)) {
                m_dashboard->addCorridor(lane, sample->step, corridor->floor, corridor->ceiling);
            }
        }
    }
}

void MainWindow::connectFindings()
{
    connect(m_findings, &FindingsPanel::stepWanted, this, [this](qint64 step) {
        m_tabs->setCurrentWidget(m_dashboard);
        m_dashboard->showStep(step);
    });
    connect(m_findings, &FindingsPanel::opWanted, this, [this](const QString& value) {
        m_tabs->setCurrentWidget(m_opMap);
        if (!m_opMap->showValue(value)) {
            statusBar()->showMessage(tr("%1 is not in the graph as it is now.").arg(value), 5000);
        }
    });
    connect(m_findings, &FindingsPanel::layerWanted, this, [this](const QString& layer, LayerMeasure measure) {
        m_tabs->setCurrentWidget(m_layers);
        m_layers->showLayer(layer, measure);
    });
    connect(m_findings, &FindingsPanel::gradientWanted, this, [this](const QString& layer) {
        m_tabs->setCurrentWidget(m_gradients);
        m_gradients->showTensor(TensorRole::Scaled, layer + QStringLiteral(".weight"));
    });
    connect(m_findings, &FindingsPanel::notice, this,
        [this](const QString& text) { statusBar()->showMessage(text, 8000); });
}

void MainWindow::connectLayers()
{
    connect(m_lanes, &LaneList::selectionChanged, m_layers, &LayersPanel::setLane);
    connect(m_layers, &LayersPanel::laneChosen, m_lanes, &LaneList::select);
    connect(m_layers, &LayersPanel::stepChosen, m_dashboard, &Dashboard::showStep);
    connect(
        m_layers, &LayersPanel::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 5000); });
    connect(m_loader, &RunLoader::laneLoaded, m_layers,
        [this](std::uint32_t lane, const std::shared_ptr<const StoredCurves>& curves) {
            m_layers->setColumns(lane, curves->columns);
        });
}

bool MainWindow::showsLayers() const
{
    return m_tabs->currentWidget() == m_layers;
}

bool MainWindow::showsOpMap() const
{
    return m_tabs->currentWidget() == m_opMap;
}

void MainWindow::connectTime()
{
    connect(m_lanes, &LaneList::selectionChanged, m_time, &TimePanel::setLane);
    connect(m_time, &TimePanel::laneChosen, m_lanes, &LaneList::select);
    connect(m_time, &TimePanel::stepChosen, m_dashboard, &Dashboard::showStep);
    connect(m_time, &TimePanel::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 5000); });
}

bool MainWindow::showsTime() const
{
    return m_tabs->currentWidget() == m_time;
}

void MainWindow::connectRanks()
{
    connect(m_lanes, &LaneList::selectionChanged, m_ranks, &RanksPanel::setLane);
    connect(m_ranks, &RanksPanel::laneChosen, m_lanes, &LaneList::select);
    connect(m_ranks, &RanksPanel::stepChosen, m_dashboard, &Dashboard::showStep);
    connect(m_ranks, &RanksPanel::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 5000); });
}

bool MainWindow::showsRanks() const
{
    return m_tabs->currentWidget() == m_ranks;
}

void MainWindow::connectCompare()
{
    connect(m_compare, &ComparePanel::stepChosen, m_dashboard, &Dashboard::showStep);
    connect(
        m_compare, &ComparePanel::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 8000); });
    connect(m_runs, &RunsView::compareRequested, this, [this](RunId a, RunId b) {
        m_tabs->setCurrentWidget(m_compare);
        m_compare->compare(a, b);
    });
}

void MainWindow::compareWithBaseline()
{
    m_tabs->setCurrentWidget(m_compare);
    const auto baseline = m_controller->baseline();
    const auto selected = m_lanes->selected();
    if (baseline && selected && *baseline != *selected) {
        m_compare->compare(*baseline, *selected);
    }
}

bool MainWindow::showsCompare() const
{
    return m_tabs->currentWidget() == m_compare;
}

void MainWindow::connectRuns()
{
    m_runs->setUndoStack(m_dashboard->undoStack());
    connect(m_runs, &RunsView::showRunRequested, this, [this](RunId run, bool isWanted) {
        m_sweep->setShown(run, isWanted);
        showStoredCurves(run, isWanted);
    });
    connect(m_runs, &RunsView::rerunRequested, m_loader, &RunLoader::loadReplay);
    connect(m_runs, &RunsView::lookRequested, this, [this](RunId run) {
        m_tabs->setCurrentWidget(m_gradients);
        m_loader->loadSamples(run);
    });
    connect(m_runs, &RunsView::findingsRequested, this, [this](RunId run) {
        m_findingsDock->show();
        m_findingsDock->raise();
        m_loader->diagnoseRun(run);
    });
    connect(m_loader, &RunLoader::runDiagnosed, this,
        [this](const RunInfo& info, const std::shared_ptr<const std::vector<Finding>>& findings) {
            m_findings->showRun(info, *findings);
        });
    connect(m_loader, &RunLoader::samplesLoaded, this, &MainWindow::showStored);
    connect(m_runs, &RunsView::resumeRequested, this, &MainWindow::resumeRun);
    connect(m_loader, &RunLoader::columnsLoaded, this,
        [this](const RunInfo& info, const std::shared_ptr<const StoredCurves>& curves) { showRun(info, *curves); });
    connect(m_loader, &RunLoader::laneLoaded, this,
        [this](std::uint32_t lane, const std::shared_ptr<const StoredCurves>& curves) { showCurves(lane, *curves); });
    connect(m_loader, &RunLoader::replayLoaded, this, [this](RunId run, const QByteArray& text) {
        try {
            openExperiment(parseExperiment(text.toStdString(), tr("run %1").arg(run).toStdString()), {});
            statusBar()->showMessage(tr("Run %1 is ready to be run again exactly: Space trains it.").arg(run), 8000);
        } catch (const std::exception& error) {
            m_messages->post(commandTopic, Tone::Problem, QString::fromUtf8(error.what()));
        }
    });
    connect(m_loader, &RunLoader::failed, this,
        [this](const QString& why) { m_messages->post(commandTopic, Tone::Problem, why); });
}

void MainWindow::showStoredCurves(RunId run, bool isWanted)
{
    if (isWanted) {
        m_loader->loadColumns(run);
    } else {
        m_dashboard->removeLane(Dashboard::storedKey(run));
    }
}

void MainWindow::connectSweep()
{
    connect(m_sweep, &SweepPanel::showRunRequested, this, [this](RunId run, bool isWanted) {
        m_runs->setShown(run, isWanted);
        showStoredCurves(run, isWanted);
    });
    connect(m_sweep, &SweepPanel::notice, this, [this](const QString& text) { statusBar()->showMessage(text, 8000); });
    connect(m_sweep, &SweepPanel::problem, this,
        [this](const QString& why) { m_messages->post(commandTopic, Tone::Problem, why); });
}

bool MainWindow::showsSweep() const
{
    return m_tabs->currentWidget() == m_sweep;
}

void MainWindow::replaced(SessionController::Replacement reason)
{
    m_messages->retract(sessionTopic);
    m_messages->retract(commandTopic);
    m_droppedSeen = 0;
    m_baselineShown.reset();
    m_corridorsUpTo.clear();
    m_wantsCurves = reason == SessionController::Replacement::Restored;
    if (reason == SessionController::Replacement::Opened) {
        m_dashboard->clear();
        m_events->model()->clear();
    } else {
        for (const quint64 key : m_dashboard->laneKeys()) {
            if (key <= Event::allLanes) {
                m_dashboard->removeLane(key);
            }
        }
    }
    const ExperimentDocument& document = m_controller->document();
    m_setup->show(document);
    showTexts();
    m_dashboard->setEmptyText(tr("Preparing\u2026"));
}

void MainWindow::showTexts()
{
    const ShippedText texts = shownTexts();
    m_experiments->showText(QString::fromStdString(texts.name), QString::fromStdString(texts.text));
}

void MainWindow::followLanes()
{
    const std::vector<std::uint32_t> lanes = m_lanes->lanes();
    for (const quint64 key : m_dashboard->laneKeys()) {
        const bool isLive = key <= Event::allLanes;
        if (isLive && std::find(lanes.begin(), lanes.end(), static_cast<std::uint32_t>(key)) == lanes.end()) {
            m_dashboard->removeLane(key);
        }
    }
    const auto status = m_controller->status();
    const std::vector<LaneChoice> looks = m_lanes->choices();
    for (const LaneChoice& look : looks) {
        const std::uint32_t lane = look.id;
        LaneCurve curve;
        curve.key = lane;
        curve.name = look.name;
        curve.color = look.color;
        curve.style = look.style;
        for (const LaneStatus& candidate : status->lanes) {
            if (candidate.id == lane) {
                curve.computeFormat = computeFormat(*candidate.config);
            }
        }
        m_dashboard->addLane(curve);
        if (!m_lanes->isShown(lane)) {
            m_dashboard->setLaneVisible(lane, false);
        }
    }
    m_locks->reapply();
    m_opMap->setLanes(looks);
    m_layers->setLanes(looks);
    m_time->setLanes(looks);
    m_ranks->setLanes(looks);
    m_compare->setLanes(looks);
    if (const auto selected = m_lanes->selected()) {
        m_opMap->setLane(*selected);
        m_layers->setLane(*selected);
        m_time->setLane(*selected);
        m_ranks->setLane(*selected);
    }
    if (m_wantsCurves && !lanes.empty()) {
        m_wantsCurves = false;
        restoreCurves();
    }
    if (!m_setup->isEdited()) {
        m_setup->show(m_controller->document());
    }
}

void MainWindow::followStatus()
{
    const auto status = m_controller->status();
    m_dashboard->setExpectedSteps(status->totalSteps);
    showSelected();
    if (!status->lanes.empty() && m_baselineShown != status->baseline) {
        m_baselineShown = status->baseline;
        m_dashboard->setBaseline(status->baseline);
        m_dashboard->setDistanceReference(status->baseline);
    }
    if (status->state == SessionState::Failed) {
        const QString why = QString::fromStdString(status->message);
        m_messages->post(sessionTopic, Tone::Problem, why);
        m_dashboard->setEmptyText(
            tr("This experiment can't be trained.\n%1\nSetup changes it; Ctrl+O opens another.").arg(why));
    } else if (status->state != SessionState::Preparing) {
        const auto count = static_cast<qlonglong>(status->lanes.size());
        m_dashboard->setEmptyText(
            count == 1 ? tr("Space trains the lane") : tr("Space trains the %1 lanes").arg(formatCount(count)));
    }
}

void MainWindow::showSelected()
{
    const auto selected = m_lanes->selected();
    const LaneStatus* lane = selected ? m_controller->laneStatus(*selected) : nullptr;
    m_code->show(lane != nullptr ? lane->config : nullptr);
    m_stepPanel->setLane(selected);
    m_findings->setLane(selected);
    m_gradients->setLane(selected, selected ? m_lanes->look(*selected).color : QColor());
}

void MainWindow::noteEvent(const Event& event)
{
    const bool isForAll = event.lane == Event::allLanes;
    const QString lane = isForAll ? tr("all") : m_controller->laneName(event.lane);
    const QString what = eventSentence(event);
    m_events->add({event, lane, what});
    if (isForAll) {
        return;
    }
    m_changes->note(event, tr("%1: %2").arg(lane, what));
    switch (event.kind) {
    case EventKind::Set:
    case EventKind::LaneAdded:
        m_dashboard->addMark(event.lane, event.step, what);
        break;
    case EventKind::Watch:
        m_dashboard->addMark(event.lane, event.step, what);
        m_messages->post(commandTopic, Tone::Notice, tr("%1, step %2: %3").arg(lane, formatCount(event.step), what));
        break;
    case EventKind::Resumed:
        m_dashboard->addSeam(event.lane, event.step, what);
        break;
    case EventKind::Checkpoint:
        noteCheckpoint(event);
        break;
    case EventKind::Diverged:
    case EventKind::Failed:
        m_dashboard->endLane(event.lane, event.step, what);
        break;
    default:
        break;
    }
}

void MainWindow::frame()
{
    m_statusLine->noteFrame();
    if (const auto status = m_controller->status()) {
        // Where the lanes keep every core busy, the time spent drawing is taken from training.
        const int busy = status->state == SessionState::Running ? status->threads * status->threadsPerLane : 0;
        m_dashboard->setDrawingShare(busy < QThread::idealThreadCount() ? spareCoreShare : busyCoreShare);
    }
    m_dashboard->refresh();
}

void MainWindow::checkHealth()
{
    const QString problem = m_controller->databaseProblem();
    if (problem.isEmpty()) {
        m_messages->retract(databaseTopic);
    } else {
        m_messages->post(databaseTopic, Tone::Problem, problem);
    }
    // A window that was blocked for long has holes in its curves; the database has none.
    const std::uint64_t dropped = m_controller->droppedRecords();
    if (dropped != m_droppedSeen && !m_controller->isRunning()) {
        m_droppedSeen = dropped;
        restoreCurves();
    }
}

void MainWindow::restoreCurves()
{
    const auto writer = m_controller->writer();
    if (!writer) {
        return;
    }
    for (const std::uint32_t lane : m_lanes->lanes()) {
        if (writer->hasRun(lane)) {
            m_loader->loadLane(writer, lane);
        }
    }
}

void MainWindow::restart(ExperimentDocument document, const QString& text)
{
    const auto status = m_controller->status();
    if (status && status->step > 0) {
        m_dashboard->undoStack()->push(new RestartCommand(m_controller, std::move(document), text));
    } else {
        m_controller->restart(std::move(document));
    }
}

void MainWindow::moveLane(std::uint32_t lane, const QString& device)
{
    const LaneStatus* const moved = m_controller->laneStatus(lane);
    if (moved == nullptr || moved->config->device == device.toStdString()) {
        return;
    }
    try {
        restart(m_controller->withDevice(lane, device.toStdString()), tr("another device"));
    } catch (const Error& error) {
        statusBar()->showMessage(QString::fromUtf8(error.what()), 8000);
    }
}

void MainWindow::reset()
{
    restart(m_controller->document(), tr("reset"));
    statusBar()->showMessage(tr("Back at step 0. Ctrl+Z brings the trained lanes back."), 6000);
}

void MainWindow::train()
{
    const auto status = m_controller->status();
    if (status && status->state == SessionState::Finished) {
        reset();
    }
    if (!m_controller->isRunning()) {
        m_controller->run();
    }
}

void MainWindow::finishedRun()
{
    statusBar()->showMessage(tr("Every lane is at its end. R starts over, Ctrl+R trains again; a higher number of "
                                "steps under Setup trains on."),
        8000);
}

void MainWindow::showStored(const std::shared_ptr<const StoredLook>& look)
{
    if (look->samples.empty()) {
        statusBar()->showMessage(tr("No step of run %1 was looked at tensor by tensor.").arg(look->info.id), 8000);
        return;
    }
    m_gradients->showStored(look, colorOf(look->info));
    m_layers->showStored(look);
}

QColor MainWindow::colorOf(const RunInfo& info) const
{
    const QColor color(QString::fromStdString(info.color));
    return color.isValid() ? color : laneColor(static_cast<int>(info.id % 6), isDark(palette()));
}

void MainWindow::showRun(const RunInfo& info, const StoredCurves& curves)
{
    const quint64 key = Dashboard::storedKey(info.id);
    LaneCurve curve;
    curve.key = key;
    curve.name = runName(info);
    curve.color = colorOf(info);
    curve.live = false;
    const auto policies = policyNames();
    const bool isKnown = std::ranges::find(policies, info.policy) != policies.end();
    curve.computeFormat = isKnown ? policyNamed(info.policy).lower : DType::Float32;
    curve.knowsSkips = !info.imported || info.imported->knows("skipped");
    m_dashboard->addLane(curve);
    m_dashboard->truncateLane(key, 0); // a watched log is read again and again
    showCurves(key, curves);
}

void MainWindow::showCurves(quint64 key, const StoredCurves& curves)
{
    m_dashboard->setColumns(key, curves.columns);
    for (const Event& seam : curves.seams) {
        m_dashboard->addSeam(key, seam.step, eventSentence(seam));
    }
}

} // namespace mantissa
