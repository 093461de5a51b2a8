/// Menus, their keys, and what they do.
#include "ui/compare/compare_panel.h"
#include "ui/gradients/gradients_panel.h"
#include "ui/graph/op_map_panel.h"
#include "ui/language/language.h"
#include "ui/layers/layers_panel.h"
#include "ui/plots/dashboard.h"
#include "ui/predict/predict_dialog.h"
#include "ui/protocol/protocol_dialog.h"
#include "ui/ranks/ranks_panel.h"
#include "ui/session/app_paths.h"
#include "ui/sweep/sweep_panel.h"
#include "ui/time/time_panel.h"
#include "ui/views/command_palette.h"
#include "ui/views/experiments_view.h"
#include "ui/views/format_explorer.h"
#include "ui/views/help_dialogs.h"
#include "ui/views/icon.h"
#include "ui/views/lane_list.h"
#include "ui/views/main_window.h"
#include "ui/views/memory_planner_dialog.h"
#include "ui/views/order_strip.h"
#include "ui/views/pytorch_export.h"
#include "ui/views/run_bar.h"
#include "ui/views/scaler_lab.h"
#include "ui/views/status_line.h"
#include "ui/views/step_panel.h"
#include "ui/views/step_walk_view.h"
#include "ui/views/watch_dialog.h"

#include <QActionGroup>
#include <QApplication>
#include <QDesktopServices>
#include <QDockWidget>
#include <QFileInfo>
#include <QInputDialog>
#include <QMenuBar>
#include <QTabWidget>
#include <QUndoStack>
#include <QUrl>

#include <algorithm>

namespace mantissa {

namespace {

constexpr int mostNumberKeys = 9;

} // namespace

QAction* MainWindow::add(QMenu* menu, const QString& objectName, const QString& text, const QKeySequence& key,
    std::function<void()> work, const QString& tip)
{
    QAction* action = menu->addAction(text);
    action->setObjectName(objectName);
    action->setShortcut(key);
    if (!tip.isEmpty()) {
        action->setToolTip(tip);
        action->setStatusTip(tip);
    }
    connect(action, &QAction::triggered, this, [work = std::move(work)] { work(); });
    return action;
}

QAction* MainWindow::actionNamed(const QString& objectName) const
{
    return findChild<QAction*>(objectName);
}

void MainWindow::makeMenus()
{
    makeFileMenu();
    makeEditMenu();
    makeViewMenu();
    makeRunMenu();
    makeLanesMenu();
    makePlotMenu();
    makeToolsMenu();
    makeLessonMenu();
    makeHelpMenu();
    // Presenter mode hides the menu bar; as the window's own actions they keep their keys.
    for (const Command& command : collectCommands(menuBar()->actions())) {
        addAction(command.action);
    }
}

void MainWindow::makeFileMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("&File"));
    add(
        menu, QStringLiteral("new"), tr("&New experiment"), QKeySequence::New, [this] { newExperiment(); },
        tr("The default experiment, without a file of its own"));
    add(menu, QStringLiteral("open"), tr("&Open\u2026"), QKeySequence::Open, [this] {
        chooseFile();
    })->setIcon(lineIcon(QStringLiteral("open")));
    m_recentMenu = menu->addMenu(tr("Open &recent"));
    connect(m_recentMenu, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    fillRecentMenu();
    add(
        menu, QStringLiteral("openCheckpoint"), tr("Open &checkpoint\u2026"), {}, [this] { chooseCheckpoint(); },
        tr("A lane goes on from a .safetensors file, to the same bits"));
    add(
        menu, QStringLiteral("startFromWeights"), tr("Start from &weights\u2026"), {}, [this] { chooseWeights(); },
        tr("Fresh lanes with the weights in a .safetensors file, as PyTorch names them"));
    add(
        menu, QStringLiteral("importLog"), tr("&Import log\u2026"), {}, [this] { chooseLog(); },
        tr("A training log of another program: TensorBoard event files, CSV, JSON lines"));
    m_watchedMenu = menu->addMenu(tr("Watched &logs"));
    m_watchedMenu->setEnabled(false);
    menu->addSeparator();
    add(menu, QStringLiteral("save"), tr("&Save"), QKeySequence::Save, [this] {
        save();
    })->setIcon(lineIcon(QStringLiteral("save")));
    add(menu, QStringLiteral("saveAs"), tr("Save &as\u2026"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S),
        [this] { saveAs(); });
    menu->addSeparator();
    add(
        menu, QStringLiteral("export"), tr("&Export plots or graph\u2026"), QKeySequence(Qt::CTRL | Qt::Key_E),
        [this] {
            showsOpMap()           ? m_opMap->showExportDialog()
                : showsGradients() ? m_gradients->showExportDialog()
                : showsLayers()    ? m_layers->showExportDialog()
                : showsTime()      ? m_time->showExportDialog()
                : showsRanks()     ? m_ranks->showExportDialog()
                : showsCompare()   ? m_compare->showExportDialog()
                : showsSweep()     ? m_sweep->showExportDialog()
                                   : m_dashboard->showExportDialog();
        },
        tr("What the open tab shows, as PNG, PDF, SVG or CSV"));
    add(
        menu, QStringLiteral("handouts"), tr("&Hand-outs\u2026"), {}, [this] { showHandouts(); },
        tr("A PDF for each experiment, of a lesson or the whole gallery: claim, plots, text, numbers"));
    add(
        menu, QStringLiteral("exportPytorch"), tr("Export lane to &PyTorch\u2026"), {},
        [this] {
            if (const auto selected = m_lanes->selected()) {
                choosePytorchFolder(
                    m_controller->document().experiment(), m_controller->laneName(*selected), m_messages);
            }
        },
        tr("The selected lane as a folder: script, model, initial weights, batches, and a comparer"));
    menu->addSeparator();
    add(menu, QStringLiteral("quit"), tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), [this] { close(); });
}

void MainWindow::fillRecentMenu()
{
    m_recentMenu->clear();
    const QStringList files = m_remembersState ? recentExperiments() : QStringList();
    for (const QString& file : files) {
        QAction* action = m_recentMenu->addAction(QFileInfo(file).fileName());
        action->setToolTip(file);
        connect(action, &QAction::triggered, this, [this, file] { openFile(file); });
    }
    m_recentMenu->setEnabled(!files.isEmpty());
}

void MainWindow::makeEditMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("&Edit"));
    QUndoStack* stack = m_dashboard->undoStack();
    QAction* undo = stack->createUndoAction(menu, tr("&Undo"));
    undo->setObjectName(QStringLiteral("undo"));
    undo->setShortcuts(QKeySequence::Undo);
    QAction* redo = stack->createRedoAction(menu, tr("&Redo"));
    redo->setObjectName(QStringLiteral("redo"));
    redo->setShortcuts({QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)});
    menu->addActions({undo, redo});
    menu->addSeparator();
    add(menu, QStringLiteral("copyPicture"), tr("Copy &picture"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C),
        [this] {
            showsOpMap()           ? m_opMap->copyPicture()
                : showsGradients() ? m_gradients->copyPicture()
                : showsLayers()    ? m_layers->copyPicture()
                : showsTime()      ? m_time->copyPicture()
                : showsRanks()     ? m_ranks->copyPicture()
                : showsCompare()   ? m_compare->copyPicture()
                : showsSweep()     ? m_sweep->copyPicture()
                                   : m_dashboard->copyPicture();
        });
    add(
        menu, QStringLiteral("copyData"), tr("Copy &data"), {}, [this] { m_dashboard->copyData(); },
        tr("The steps in view, tab-separated"));
    menu->addSeparator();
    add(
        menu, QStringLiteral("findOp"), tr("&Find an op\u2026"), QKeySequence::Find,
        [this] {
            m_tabs->setCurrentWidget(m_opMap);
            m_opMap->focusSearch();
        },
        tr("By name or kind, in the graph of the selected lane"));
}

void MainWindow::makeViewMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("&View"));
    add(menu, QStringLiteral("showDashboard"), tr("&Dashboard"), QKeySequence(Qt::CTRL | Qt::Key_1),
        [this] { m_tabs->setCurrentWidget(m_dashboard); });
    add(
        menu, QStringLiteral("showGraph"), tr("G&raph"), QKeySequence(Qt::CTRL | Qt::Key_2),
        [this] {
            m_tabs->setCurrentWidget(m_opMap);
            m_opMap->view()->setFocus();
        },
        tr("What a step of the selected lane executes, in which formats"));
    add(
        menu, QStringLiteral("showGradients"), tr("Gr&adients of the selected lane"),
        QKeySequence(Qt::CTRL | Qt::Key_6),
        [this] {
            m_tabs->setCurrentWidget(m_gradients);
            m_gradients->plot()->setFocus();
        },
        tr("Their magnitudes against the zones of the lane's format, and what another scale would do"));
    add(
        menu, QStringLiteral("showLayers"), tr("&Layers"), QKeySequence(Qt::CTRL | Qt::Key_7),
        [this] {
            m_tabs->setCurrentWidget(m_layers);
            m_layers->table()->setFocus();
        },
        tr("The selected lane's sampled steps, layer by layer"));
    add(
        menu, QStringLiteral("showTime"), tr("T&ime of the lanes"), QKeySequence(Qt::CTRL | Qt::Key_8),
        [this] {
            m_tabs->setCurrentWidget(m_time);
            m_time->table()->setFocus();
        },
        tr("Where a step's time goes, phase by phase"));
    add(
        menu, QStringLiteral("showRanks"), tr("Ran&ks of a lane"), QKeySequence(Qt::CTRL | Qt::Key_0),
        [this] {
            m_tabs->setCurrentWidget(m_ranks);
            m_ranks->chart()->setFocus();
        },
        tr("Gradient norms, scales and skips of a data-parallel lane's ranks"));
    add(
        menu, QStringLiteral("showCompare"), tr("Com&pare two runs"), QKeySequence(Qt::CTRL | Qt::Key_9),
        [this] { compareWithBaseline(); }, tr("The selected lane with the baseline, or any two lanes or stored runs"));
    add(
        menu, QStringLiteral("showSweep"), tr("S&weeps"), QKeySequence(Qt::CTRL | Qt::Key_G),
        [this] {
            m_tabs->setCurrentWidget(m_sweep);
            m_sweep->table()->setFocus();
        },
        tr("What an experiment comes to with many settings: table, parallel coordinates, curves"));
    add(
        menu, QStringLiteral("showCode"), tr("&Code of the selected lane"), QKeySequence(Qt::CTRL | Qt::Key_3),
        [this] {
            m_codeDock->show();
            m_codeDock->raise();
        },
        tr("Its training loop in PyTorch"));
    add(
        menu, QStringLiteral("showStep"), tr("S&tep of the selected lane"), QKeySequence(Qt::CTRL | Qt::Key_4),
        [this] {
            m_stepDock->show();
            m_stepDock->raise();
            m_stepPanel->strip()->setFocus();
        },
        tr("The order of its blocks, its switches, and faults to inject"));
    add(
        menu, QStringLiteral("showFindings"), tr("&Findings on the selected lane"), QKeySequence(Qt::CTRL | Qt::Key_5),
        [this] {
            m_findingsDock->show();
            m_findingsDock->raise();
        },
        tr("What is wrong with it, and what to try"));
    menu->addSeparator();
    for (QDockWidget* dock : {m_experimentsDock, m_setupDock, m_lanesDock, m_eventsDock, m_runsDock, m_codeDock,
             m_stepDock, m_findingsDock}) {
        QAction* toggle = dock->toggleViewAction();
        toggle->setObjectName(dock->objectName() + QStringLiteral("Toggle"));
        menu->addAction(toggle);
    }
    QAction* titles = add(menu, QStringLiteral("titleBars"), tr("Title &bars, to move panels"), {}, [] {});
    titles->setCheckable(true);
    connect(titles, &QAction::toggled, this, &MainWindow::setTitleBarsVisible);
    menu->addSeparator();
    add(
        menu, QStringLiteral("gallery"), tr("Start and &gallery"), Qt::Key_G, [this] { showStart(); },
        tr("Claims about AMP as cards, lessons, recent files"));
    add(menu, QStringLiteral("showSetup"), tr("&Setup of the experiment"),
        QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E), [this] {
            m_setupDock->show();
            m_setupDock->raise();
        });
    menu->addSeparator();
    QMenu* themes = menu->addMenu(tr("&Theme"));
    m_themes = new QActionGroup(this);
    const QList<std::pair<QString, Theme>> choices {
        {tr("As the system"), Theme::System}, {tr("Light"), Theme::Light}, {tr("Dark"), Theme::Dark}};
    for (const auto& [name, theme] : choices) {
        QAction* action = add(themes, QStringLiteral("theme%1").arg(static_cast<int>(theme)), name, {},
            [this, theme = theme] { setTheme(theme); });
        action->setCheckable(true);
        action->setData(static_cast<int>(theme));
        action->setChecked(theme == Theme::System);
        m_themes->addAction(action);
    }
    QMenu* languages = menu->addMenu(tr("&Language"));
    m_languages = new QActionGroup(this);
    for (const Language language : {Language::System, Language::English, Language::Chinese}) {
        QAction* action = add(languages, languageAction(language),
            language == Language::System ? tr("As the system") : languageName(language), {},
            [this, language] { setLanguage(language); });
        action->setCheckable(true);
        action->setChecked(language == chosenLanguage());
        m_languages->addAction(action);
    }
    m_presenter = add(
        menu, QStringLiteral("presenter"), tr("&Presenter layout"), Qt::Key_F11, [] {},
        tr("Plots, lanes and run controls only, in larger type"));
    m_presenter->setCheckable(true);
    connect(m_presenter, &QAction::toggled, this, &MainWindow::setPresenting);
    QAction* frames = add(
        menu, QStringLiteral("frameTimes"), tr("&Frame times"), {}, [] {},
        tr("How long the window takes for a frame, last and worst"));
    frames->setCheckable(true);
    connect(frames, &QAction::toggled, this, [this](bool isOn) {
        m_statusLine->setFrameTimesVisible(isOn);
        m_dashboard->setFrameTimeVisible(isOn);
    });
}

void MainWindow::makeRunMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("&Run"));
    menu->addActions({m_runBar->runAction(), m_runBar->stepAction(), m_runBar->runStepsAction()});
    menu->addSeparator();
    add(
        menu, QStringLiteral("train"), tr("&Train the experiment"), QKeySequence(Qt::CTRL | Qt::Key_R),
        [this] { train(); }, tr("Runs it; from step 0 if it is finished"));
    add(
        menu, QStringLiteral("trainOnProcesses"), tr("Train on se&veral processes\u2026"), {},
        [this] { askForRanks(); },
        tr("Lanes that mpirun trains data-parallel on this machine, drawn beside the others"));
    m_ranksMenu = menu->addMenu(tr("St&op processes"));
    m_ranksMenu->setEnabled(false);
    menu->addSeparator();
    add(
        menu, QStringLiteral("watchpoints"), tr("&Watchpoints\u2026"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_W),
        [this] {
            auto* dialog = new WatchDialog(m_controller, this);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->show();
        },
        tr("Conditions that pause training, keep or copy a lane, or change its settings"));
    add(
        menu, QStringLiteral("predict"), tr("&Predict, then reveal\u2026"),
        QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P),
        [this] {
            auto* dialog = new PredictDialog(m_controller, m_loader, m_lanes->choices(), this);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->show();
        },
        tr("A room guesses which lane fails, when and why; after the run it is told"));
    add(
        menu, QStringLiteral("newSweep"), tr("New s&weep\u2026"), {},
        [this] {
            m_tabs->setCurrentWidget(m_sweep);
            if (m_controller->isOpen()) {
                m_sweep->newSweep();
            }
        },
        tr("The open experiment with other rates, precisions, scalers or seeds, in the background"));
    add(
        menu, QStringLiteral("openSweep"), tr("Open swee&p\u2026"), {},
        [this] {
            m_tabs->setCurrentWidget(m_sweep);
            m_sweep->openSweep();
        },
        tr("A sweep file: what is stored of it is not trained again"));
    add(
        menu, QStringLiteral("showProtocol"), tr("&Compare FP32 with AMP\u2026"), {},
        [this] {
            if (m_controller->isOpen()) {
                auto* dialog = new ProtocolDialog(
                    m_controller->document().experiment(), m_controller->device(), m_controller->isRunning(), this);
                dialog->setAttribute(Qt::WA_DeleteOnClose);
                dialog->show();
            }
        },
        tr("Trains 300 steps in FP32 and then with AMP, and says whether they are the same training"));
    menu->addSeparator();
    menu->addActions({m_runBar->stopAction(), m_runBar->resetAction()});
    m_runBar->stepAction()->setObjectName(QStringLiteral("step"));
    m_runBar->stopAction()->setObjectName(QStringLiteral("stop"));
    m_runBar->resetAction()->setObjectName(QStringLiteral("reset"));
}

void MainWindow::makeLanesMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("&Lanes"));
    menu->addMenu(m_lanes->addMenu());
    const auto selected = [this](auto work) {
        return [this, work] {
            if (const auto lane = m_lanes->selected()) {
                work(*lane);
            }
        };
    };
    add(menu, QStringLiteral("duplicateLane"), tr("&Duplicate the selected lane"), QKeySequence(Qt::CTRL | Qt::Key_D),
        selected([this](std::uint32_t lane) { m_controller->duplicateLane(lane); }),
        tr("A copy as it stands: weights, optimizer, scaler"));
    add(menu, QStringLiteral("goBack"), tr("&Go back\u2026"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_D),
        selected([this](std::uint32_t lane) { goBack(lane); }),
        tr("A copy of the selected lane as it was before an earlier step"));
    add(menu, QStringLiteral("removeLane"), tr("&Remove the selected lane"), {}, selected([this](std::uint32_t lane) {
        if (m_lanes->lanes().size() > 1) {
            m_controller->removeLane(lane);
        }
    }));
    add(
        menu, QStringLiteral("saveCheckpoint"), tr("Save a chec&kpoint of the selected lane\u2026"), {},
        [this] { saveCheckpoint(); }, tr("Weights, optimizer, scaler and settings, in a file that stays"));
    add(menu, QStringLiteral("baseline"), tr("&Compare others with the selected lane"), {},
        selected([this](std::uint32_t lane) { m_controller->setBaseline(lane); }));
    add(menu, QStringLiteral("stepThrough"), tr("Step &through\u2026"), QKeySequence(Qt::CTRL | Qt::Key_T),
        selected([this](std::uint32_t lane) {
            auto* walk = new StepWalkView(m_controller, lane, this);
            walk->resize(size());
            walk->show();
        }),
        tr("The selected lane's next step, stage by stage, in large type"));
    menu->addSeparator();
    add(menu, QStringLiteral("unfold"), tr("&Unfold all cards"), {}, [this] { m_lanes->unfoldAll(); });
    add(menu, QStringLiteral("fold"), tr("&Fold all cards"), {}, [this] { m_lanes->foldAll(); });
    menu->addSeparator();
    QMenu* select = menu->addMenu(tr("&Select"));
    QMenu* show = menu->addMenu(tr("S&how or hide"));
    for (int number = 1; number <= mostNumberKeys; ++number) {
        const auto key = static_cast<Qt::Key>(Qt::Key_0 + number);
        add(select, QStringLiteral("select%1").arg(number), tr("Lane %1").arg(number), key,
            [this, number] { selectNumber(number); });
        add(show, QStringLiteral("toggle%1").arg(number), tr("Show or hide lane %1").arg(number),
            QKeySequence(Qt::SHIFT | key), [this, number] { toggleNumber(number); });
    }
}

void MainWindow::goBack(std::uint32_t lane)
{
    const LaneStatus* now = m_controller->laneStatus(lane);
    if (now == nullptr) {
        return;
    }
    // What a person wants to go back from is the first step that was not finite.
    const LaneFacts& facts = m_controller->facts(lane);
    const std::int64_t wish = facts.nonFiniteSince >= 0           ? facts.nonFiniteSince
        : now->status == RunStatus::Diverged && now->nextStep > 0 ? now->nextStep - 1
                                                                  : now->nextStep;
    bool isWanted = false;
    const int step = QInputDialog::getInt(this, tr("Go back"),
        tr("A copy of \u201C%1\u201D as it was before step").arg(m_controller->laneName(lane)),
        static_cast<int>(std::clamp(wish, now->earliestStep, now->nextStep)), static_cast<int>(now->earliestStep),
        static_cast<int>(now->nextStep), 1, &isWanted);
    if (isWanted) {
        m_controller->goBack(lane, step);
    }
}

void MainWindow::selectNumber(int number)
{
    const auto lanes = m_lanes->lanes();
    if (number <= static_cast<int>(lanes.size())) {
        m_lanes->select(lanes[static_cast<std::size_t>(number - 1)]);
    }
}

void MainWindow::toggleNumber(int number)
{
    const auto lanes = m_lanes->lanes();
    if (number <= static_cast<int>(lanes.size())) {
        const std::uint32_t lane = lanes[static_cast<std::size_t>(number - 1)];
        m_dashboard->setLaneVisible(lane, !m_dashboard->isLaneVisible(lane));
    }
}

void MainWindow::makePlotMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("&Plot"));
    add(
        menu, QStringLiteral("fit"), tr("&Fit"), Qt::Key_F,
        [this] { showsOpMap() ? m_opMap->view()->fit() : m_dashboard->fit(); },
        tr("All axes follow the data again; the graph fits the width"));
    add(menu, QStringLiteral("fitHeight"), tr("Fit &height"), QKeySequence(Qt::SHIFT | Qt::Key_F),
        [this] { m_dashboard->fitHeight(); });
    add(menu, QStringLiteral("zoomIn"), tr("Zoom &in"), QKeySequence::ZoomIn,
        [this] { showsOpMap() ? m_opMap->view()->zoomIn() : m_dashboard->zoomIn(); });
    add(menu, QStringLiteral("zoomOut"), tr("Zoom &out"), QKeySequence::ZoomOut,
        [this] { showsOpMap() ? m_opMap->view()->zoomOut() : m_dashboard->zoomOut(); });
    menu->addSeparator();
    add(
        menu, QStringLiteral("log"), tr("&Log / linear"), Qt::Key_L, [this] { m_dashboard->toggleLog(); },
        tr("Of the plot under the pointer, or of the loss"));
    QAction* difference = add(
        menu, QStringLiteral("difference"), tr("&Difference to the baseline"), Qt::Key_D, [] {},
        tr("A fourth plot: how far each lane is from the baseline lane"));
    difference->setCheckable(true);
    connect(difference, &QAction::toggled, m_dashboard, &Dashboard::setDifferenceVisible);
    connect(m_dashboard, &Dashboard::differenceVisibleChanged, difference, &QAction::setChecked);
    QMenu* smoothing = menu->addMenu(tr("&Smoothing"));
    for (const double weight : {0.0, 0.6, 0.9, 0.97, 0.99}) {
        add(smoothing, QStringLiteral("smooth%1").arg(weight), weight == 0 ? tr("off") : locale().toString(weight), {},
            [this, weight] { m_dashboard->setSmoothing(weight); });
    }
}

void MainWindow::makeToolsMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("&Tools"));
    add(
        menu, QStringLiteral("palette"), tr("C&ommands\u2026"), QKeySequence(Qt::CTRL | Qt::Key_K),
        [this] { showPalette(); }, tr("Everything the window can do, by name"));
    add(
        menu, QStringLiteral("scalerLab"), tr("&Scaler lab\u2026"), {}, [this] { showScalerLab(); },
        tr("What each kind of gradient scaler would do with given steps, without training"));
    add(
        menu, QStringLiteral("formatExplorer"), tr("&Format explorer\u2026"), {},
        [this] {
            auto* dialog = new FormatExplorer(this);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->show();
        },
        tr("A number's bits, value and error in every format, and what sums do there"));
    add(
        menu, QStringLiteral("memoryPlanner"), tr("&Memory planner\u2026"), {},
        [this] {
            auto* dialog = new MemoryPlannerDialog(this);
            dialog->setAttribute(Qt::WA_DeleteOnClose);
            dialog->show();
        },
        tr("What training a decoder of so many parameters takes, by kind of memory and precision"));
    add(
        menu, QStringLiteral("checkpoints"), tr("&Checkpoints\u2026"), {}, [this] { showCheckpointSettings(); },
        tr("When the window writes some by itself, and how many are kept"));
    if (!m_controller->database().empty()) {
        add(menu, QStringLiteral("databaseFolder"), tr("Show the &database's folder"), {}, [this] {
            const QString file = QString::fromStdString(m_controller->database().string());
            QDesktopServices::openUrl(QUrl::fromLocalFile(QFileInfo(file).absolutePath()));
        });
    }
}

void MainWindow::showScalerLab()
{
    auto* lab = new ScalerLab(m_controller->database(), this);
    lab->setObjectName(QStringLiteral("scalerLab"));
    lab->setAttribute(Qt::WA_DeleteOnClose);
    lab->show();
}

void MainWindow::makeHelpMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("&Help"));
    QAction* keys = add(menu, QStringLiteral("shortcuts"), tr("&Keyboard shortcuts"), {},
        [this] { showShortcuts(collectCommands(menuBar()->actions()), this); });
    keys->setShortcuts({QKeySequence(Qt::Key_Question), QKeySequence(Qt::Key_F1)});
    add(menu, QStringLiteral("about"), tr("&About Mantissa"), {}, [this] { showAbout(this); });
}

void MainWindow::showPalette()
{
    auto* palette = new CommandPalette(collectCommands(menuBar()->actions()), this);
    palette->setObjectName(QStringLiteral("commandPalette"));
    palette->show();
}

} // namespace mantissa
