/// The start page, and lessons: what they open, lock and hide.
#include "engine/lesson/lesson.h"
#include "engine/verify/shipped_experiments.h"
#include "ui/compare/compare_panel.h"
#include "ui/gradients/gradients_panel.h"
#include "ui/graph/op_map_panel.h"
#include "ui/language/language.h"
#include "ui/layers/layers_panel.h"
#include "ui/lesson/control_locks.h"
#include "ui/lesson/handout_dialog.h"
#include "ui/lesson/lesson_panel.h"
#include "ui/plots/curve_export.h"
#include "ui/plots/dashboard.h"
#include "ui/ranks/ranks_panel.h"
#include "ui/session/app_paths.h"
#include "ui/session/shipped_texts.h"
#include "ui/start/start_page.h"
#include "ui/sweep/sweep_panel.h"
#include "ui/time/time_panel.h"
#include "ui/views/experiments_view.h"
#include "ui/views/lane_list.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/run_bar.h"

#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QSlider>
#include <QStatusBar>
#include <QTabWidget>
#include <QTreeWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace mantissa {

namespace {

const QString lessonTopic = QStringLiteral("lesson");
constexpr std::int64_t trainsOn = -1; ///< in the place of a step: lanes train behind the start page

bool isShippedLesson(const std::filesystem::path& file)
{
    std::error_code ignored;
    const std::vector<std::filesystem::path> shipped = shippedLessons();
    return std::ranges::find(shipped, std::filesystem::canonical(file, ignored)) != shipped.end();
}

/// Of its experiments, each once, numbered in their order.
std::vector<HandoutItem> handoutsOf(const Lesson& lesson)
{
    std::vector<HandoutItem> items;
    std::vector<std::string> known;
    for (const LessonStep& step : lesson.steps) {
        const bool isRepeated = !step.shipped.empty() && std::ranges::find(known, step.shipped) != known.end();
        if (!step.hasExperiment() || isRepeated) {
            continue;
        }
        known.push_back(step.shipped);
        HandoutItem item = handoutOf(experimentOf(step), step.shipped);
        item.experiment = withShownTexts(shippedFileOf(step), std::move(item.experiment));
        item.reference = referenceOf(step);
        item.fileName.prepend(QStringLiteral("%1_").arg(items.size() + 1, 2, 10, QLatin1Char('0')));
        items.push_back(std::move(item));
    }
    return items;
}

std::vector<HandoutItem> handoutsOfGallery()
{
    std::vector<HandoutItem> items;
    for (const std::filesystem::path& file : shippedExperiments()) {
        if (isInGallery(file)) {
            HandoutItem item = handoutOf(loadExperiment(file), file);
            item.experiment = withShownTexts(file, std::move(item.experiment));
            items.push_back(std::move(item));
        }
    }
    return items;
}

void writeLesson(const Lesson& lesson, const QString& file)
{
    const std::string text = lessonText(lesson);
    parseLesson(text, file.toStdString()); // what is written is to be opened again
    writeFile(file, [&text](QIODevice& device) {
        return device.write(text.data(), static_cast<qint64>(text.size())) == static_cast<qint64>(text.size());
    });
}

/// Empty if nobody wants to save after all.
QString askForLessonFile(QWidget* parent, const QString& title)
{
    QString file = QFileDialog::getSaveFileName(
        parent, title, MainWindow::tr("lesson.mantissa-lesson"), MainWindow::tr("Lessons (*.mantissa-lesson *.json)"));
    if (!file.isEmpty() && QFileInfo(file).suffix().isEmpty()) {
        file += QStringLiteral(".mantissa-lesson");
    }
    return file;
}

QString lessonTitle(const std::filesystem::path& file)
{
    try {
        return QString::fromStdString(loadLessonInPresentLanguage(file).name);
    } catch (const std::exception&) {
        return QString::fromStdString(file.filename().string()); // opening it says what is wrong
    }
}

} // namespace

void MainWindow::makeStart(QVBoxLayout* column)
{
    m_start->hide();
    column->addWidget(m_start, 1);
    connect(m_start, &StartPage::closeRequested, this, &MainWindow::leaveStart);
    connect(m_start, &StartPage::chooseRequested, this, &MainWindow::chooseFile);
    connect(m_start, &StartPage::openRequested, this, [this](const QString& file) { openFile(file); });
    connect(m_start, &StartPage::trainDefaultRequested, this, [this] {
        const std::filesystem::path file = shippedExperimentsFolder() / "default.json";
        if (m_controller->document().file() == file || openFile(QString::fromStdString(file.string()))) {
            train();
            leaveStart();
        }
    });
    // Whatever begins to train, or is opened, is to be seen.
    connect(m_controller, &SessionController::statusChanged, this, [this] {
        const bool isAtRest = m_startedAt && *m_startedAt != trainsOn;
        if (isAtRest && (m_controller->isRunning() || m_controller->status()->step != *m_startedAt)) {
            leaveStart();
        }
    });
    connect(m_controller, &SessionController::sessionReplaced, this, &MainWindow::leaveStart);
}

void MainWindow::showStart()
{
    if (showsStart() || m_locks->isLocked(ControlGroup::Experiments)) {
        return;
    }
    const auto status = m_controller->status();
    m_startedAt = m_controller->isRunning() ? trainsOn : status ? status->step : 0;
    m_locks->whileReleased([this] { m_layoutBeforeStart = saveState(); });
    for (QDockWidget* dock : findChildren<QDockWidget*>()) {
        dock->hide();
    }
    m_tabs->hide();
    m_start->reload(m_remembersState);
    m_start->show();
    m_start->focusCards();
}

void MainWindow::leaveStart()
{
    if (!showsStart()) {
        return;
    }
    m_startedAt.reset();
    m_start->hide();
    m_tabs->show();
    QMainWindow::restoreState(m_layoutBeforeStart);
    m_locks->reapply();
    m_dashboard->setFocus();
}

bool MainWindow::showsStart() const
{
    return m_startedAt.has_value();
}

// --- lessons ---

void MainWindow::makeLessons()
{
    m_lessonDock = makeDock(QStringLiteral("lesson"), tr("Lesson"), m_lesson, Qt::LeftDockWidgetArea);
    tabifyDockWidget(m_experimentsDock, m_lessonDock);
    m_lessonDock->hide();
    m_lessonDock->toggleViewAction()->setVisible(false);
    m_experimentsDock->raise();
    connect(m_lesson, &LessonPanel::stepEntered, this, &MainWindow::enterStep);
    connect(m_lesson, &LessonPanel::leaveRequested, this, &MainWindow::leaveLesson);
    connect(m_lesson, &LessonPanel::changed, this, &MainWindow::followLesson);
}

void MainWindow::makeLessonMenu()
{
    QMenu* menu = menuBar()->addMenu(tr("Le&sson"));
    QMenu* begin = menu->addMenu(tr("&Begin"));
    const auto fill = [this, begin] {
        qDeleteAll(begin->actions());
        for (const std::filesystem::path& file : shippedLessons()) {
            begin->addAction(
                lessonTitle(file), this, [this, path = QString::fromStdString(file.string())] { openFile(path); });
        }
    };
    fill();
    whenLanguageChanges(begin, fill);
    begin->setEnabled(!begin->isEmpty());
    menu->addSeparator();
    add(
        menu, QStringLiteral("lessonNext"), tr("&Next step"), QKeySequence(Qt::ALT | Qt::Key_Right),
        [this] { m_lesson->next(); }, tr("Opens its experiment"));
    add(menu, QStringLiteral("lessonBack"), tr("&Step before"), QKeySequence(Qt::ALT | Qt::Key_Left),
        [this] { m_lesson->back(); });
    add(
        menu, QStringLiteral("lessonReveal"), tr("&Reveal"), QKeySequence(Qt::ALT | Qt::Key_Down),
        [this] { m_lesson->reveal(); }, tr("What to see and to ask, and what should come out"));
    menu->addSeparator();
    add(
        menu, QStringLiteral("makeLesson"), tr("&Make a lesson\u2026"), {}, [this] { makeLesson(); },
        tr("A file with the open experiment, and what came out of it if it has ended, to write the texts into"));
    add(
        menu, QStringLiteral("saveLesson"), tr("Save &this lesson as one file\u2026"), {},
        [this] {
            if (const QString file = askForLessonFile(this, tr("Save the lesson")); !file.isEmpty()) {
                saveWholeLesson(file);
            }
        },
        tr("With all its experiments and reference runs in it, to hand on or to edit"));
    add(
        menu, QStringLiteral("leaveLesson"), tr("&Leave lesson"), {}, [this] { leaveLesson(); },
        tr("Unlocks everything; the experiment stays open"));
}

void MainWindow::makeLocks()
{
    const auto actions = [this](ControlGroup group, std::initializer_list<const char*> names) {
        for (const char* name : names) {
            m_locks->addAction(group, actionNamed(QString::fromLatin1(name)));
        }
    };
    const auto named = [](QWidget* parent, const QString& name) {
        return [parent, name] { return parent->findChildren<QWidget*>(name); };
    };
    m_locks->addDock(ControlGroup::Experiments, m_experimentsDock);
    actions(ControlGroup::Experiments, {"new", "open", "openCheckpoint", "startFromWeights", "importLog", "gallery"});
    m_locks->addAction(ControlGroup::Experiments, m_recentMenu->menuAction());
    m_locks->addDock(ControlGroup::Setup, m_setupDock);
    actions(ControlGroup::Setup, {"showSetup"});
    m_locks->addWidgets(ControlGroup::Lanes, named(m_lanes, QStringLiteral("addLane")));
    m_locks->addWidgets(ControlGroup::Lanes, named(m_lanes, QStringLiteral("laneMenu")));
    actions(ControlGroup::Lanes, {"duplicateLane", "goBack", "removeLane"});
    m_locks->addAction(ControlGroup::Lanes, m_lanes->addMenu()->menuAction());
    m_locks->addWidgets(ControlGroup::Settings, named(m_lanes, QStringLiteral("laneSettings")));
    m_locks->addDock(ControlGroup::Step, m_stepDock);
    actions(ControlGroup::Step, {"showStep"});
    const std::initializer_list<std::tuple<ControlGroup, QWidget*, const char*>> tabs {
        {ControlGroup::Gradients, m_gradients, "showGradients"}, {ControlGroup::Layers, m_layers, "showLayers"},
        {ControlGroup::Graph, m_opMap, "showGraph"}, {ControlGroup::Time, m_time, "showTime"},
        {ControlGroup::Ranks, m_ranks, "showRanks"}, {ControlGroup::Compare, m_compare, "showCompare"},
        {ControlGroup::Compare, m_sweep, "showSweep"}};
    for (const auto& [group, page, action] : tabs) {
        m_locks->addTab(group, m_tabs, page);
        actions(group, {action});
    }
    m_locks->addDock(ControlGroup::Findings, m_findingsDock);
    actions(ControlGroup::Findings, {"showFindings"});
    m_locks->addDock(ControlGroup::Events, m_eventsDock);
    m_locks->addDock(ControlGroup::Runs, m_runsDock);
    m_locks->addDock(ControlGroup::Code, m_codeDock);
    actions(ControlGroup::Code, {"showCode"});
    m_locks->addWidgets(ControlGroup::Device, [this] {
        return QList<QWidget*> {m_runBar->speedSlider(), m_runBar->deviceCombo()};
    });
    actions(ControlGroup::Tools, {"scalerLab", "formatExplorer", "memoryPlanner", "checkpoints"});
    followLesson();
}

bool MainWindow::openLesson(const QString& file)
{
    try {
        Lesson lesson = loadLessonInPresentLanguage(file.toStdString());
        m_messages->retract(lessonTopic);
        leaveStart();
        m_lesson->begin(std::move(lesson));
    } catch (const std::exception& error) {
        m_messages->post(lessonTopic, Tone::Problem, QString::fromUtf8(error.what()));
        return false;
    }
    m_lessonDock->toggleViewAction()->setVisible(true);
    m_lessonDock->show();
    m_lessonDock->raise();
    if (m_remembersState && !isShippedLesson(file.toStdString())) {
        addRecentExperiment(file);
    }
    return true;
}

void MainWindow::enterStep(const LessonStep& step)
{
    const Lesson& lesson = *m_lesson->lesson();
    const QString reason = tr("The lesson \u201C%1\u201D has locked this; Lesson > Leave lesson unlocks everything.")
                               .arg(QString::fromStdString(lesson.name));
    m_locks->apply(reason, step.locks.value_or(lesson.locks), step.hides.value_or(lesson.hides));
    if (m_isPresenting) {
        hideForPresenting(); // what the step before had hidden came back
    }
    m_messages->retract(lessonTopic);
    if (step.hasExperiment()) {
        try {
            openExperiment(step.own ? *step.own : loadInPresentLanguage(shippedFileOf(step)), {});
            m_experiments->reload({});
        } catch (const std::exception& error) {
            m_messages->post(lessonTopic, Tone::Problem, QString::fromUtf8(error.what()));
        }
    }
}

void MainWindow::leaveLesson()
{
    if (!m_lesson->lesson()) {
        return;
    }
    leaveStart();
    m_locks->release();
    m_messages->retract(lessonTopic);
    m_lessonDock->hide();
    m_lessonDock->toggleViewAction()->setVisible(false);
    m_lesson->end();
    if (m_isPresenting) {
        hideForPresenting(); // what the lesson had hidden came back
    }
    statusBar()->showMessage(tr("The lesson is over; everything is unlocked."), 5000);
}

/// What the lanes did, read from the database; nothing if they have not ended, or were steered by hand.
std::optional<ReferenceRun> MainWindow::finishedReference() const
{
    constexpr std::int64_t mostSteps = 20'000; // more would hold up the window
    const auto status = m_controller->status();
    const auto writer = m_controller->writer();
    const bool isWhole = status && writer && status->state == SessionState::Finished
        && !m_controller->document().isModified() && status->totalSteps <= mostSteps;
    if (!isWhole) {
        return {};
    }
    writer->flush();
    const RunStore store(m_controller->database(), StoreAccess::ReadOnly);
    std::vector<LaneOutcome> outcomes;
    for (const LaneStatus& lane : status->lanes) {
        if (!lane.summary || !writer->hasRun(lane.id)) {
            return {};
        }
        outcomes.push_back({.lane = lane.config->name, .summary = *lane.summary});
        outcomes.back().records = store.records(writer->runOf(lane.id));
    }
    const Experiment experiment = m_controller->document().experiment();
    ReferenceRun reference = makeReference(experiment, outcomes, status->device.name);
    if (samplingFor(experiment).every > 0) {
        reference.judgements.clear(); // they ask about layers that nobody looked at
    }
    return reference;
}

bool MainWindow::saveLesson(const QString& file)
{
    const ExperimentDocument& document = m_controller->document();
    constexpr qsizetype longestTitle = 60;
    const QString name = QString::fromStdString(document.name()).simplified().left(longestTitle);
    LessonStep step {.title = (name.isEmpty() ? tr("First step") : name).toStdString()};
    constexpr double usualMinutes = 10;
    step.minutes = usualMinutes;
    step.own = document.experiment();
    step.predict = tr("What will happen, and in which lane?").toStdString();
    step.todo = tr("Press Space.").toStdString();
    step.see = tr("What to look at.").toStdString();
    step.ask = tr("What would you do about it?").toStdString();
    try {
        step.reference = finishedReference();
        if (!step.reference && !document.file().empty()) {
            step.reference = shippedReference(document.file(), *step.own);
        }
        Lesson lesson {.name = step.title, .text = tr("A lesson to be written: edit this file.").toStdString()};
        lesson.steps.push_back(std::move(step));
        writeLesson(lesson, file);
    } catch (const std::exception& error) {
        m_messages->post(lessonTopic, Tone::Problem, QString::fromUtf8(error.what()));
        return false;
    }
    statusBar()->showMessage(tr("Saved %1. It is text: add steps to it.").arg(file), 8000);
    return true;
}

void MainWindow::makeLesson()
{
    if (const QString file = askForLessonFile(this, tr("Make a lesson")); !file.isEmpty()) {
        saveLesson(file);
    }
}

bool MainWindow::saveWholeLesson(const QString& file)
{
    try {
        writeLesson(selfContained(m_lesson->lesson().value()), file);
    } catch (const std::exception& error) {
        m_messages->post(lessonTopic, Tone::Problem, QString::fromUtf8(error.what()));
        return false;
    }
    statusBar()->showMessage(tr("Saved %1").arg(file), 5000);
    return true;
}

void MainWindow::showHandouts()
{
    std::vector<HandoutChoice> choices;
    if (m_controller->isOpen()) {
        choices.push_back({tr("this experiment"),
            [experiment = m_controller->document().experiment(), file = m_controller->document().file()] {
                return std::vector {handoutOf(experiment, file)};
            }});
    }
    if (m_lesson->lesson()) {
        choices.push_back({tr("this lesson"), [lesson = *m_lesson->lesson()] { return handoutsOf(lesson); }});
    }
    for (const std::filesystem::path& file : shippedLessons()) {
        choices.push_back({lessonTitle(file), [file] { return handoutsOf(loadLessonInPresentLanguage(file)); }});
    }
    choices.push_back({tr("the whole gallery"), handoutsOfGallery});
    auto* dialog = new HandoutDialog(std::move(choices), m_controller->device(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show();
}

void MainWindow::followLesson()
{
    const bool isOn = m_lesson->lesson().has_value();
    actionNamed(QStringLiteral("lessonNext"))->setEnabled(m_lesson->hasNext());
    actionNamed(QStringLiteral("lessonBack"))->setEnabled(m_lesson->hasBack());
    actionNamed(QStringLiteral("lessonReveal"))->setEnabled(isOn && !m_lesson->isRevealed());
    actionNamed(QStringLiteral("saveLesson"))->setEnabled(isOn);
    actionNamed(QStringLiteral("leaveLesson"))->setEnabled(isOn);
}

} // namespace mantissa
