/// The whole window, driven as a person would: keys, clicks, files. What it shows is compared with what the session and
/// the database hold.
#include "engine/store/run_store.h"
#include "engine/verify/shipped_experiments.h"
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/plots/dashboard.h"
#include "ui/views/code_view.h"
#include "ui/views/command_palette.h"
#include "ui/views/events_view.h"
#include "ui/views/experiments_view.h"
#include "ui/views/lane_list.h"
#include "ui/views/lane_words.h"
#include "ui/views/log_slider.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/number_field.h"
#include "ui/views/run_bar.h"
#include "ui/views/runs_view.h"
#include "ui/views/setup_panel.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QDropEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QRandomGenerator>
#include <QSlider>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>
#include <QUndoStack>

#include <SQLiteCpp/SQLiteCpp.h>

using namespace mantissa;
using mantissa::test::smallExperimentText;

namespace {

constexpr int patienceMs = 120'000;

SessionState stateOf(const MainWindow& window)
{
    const auto status = window.controller()->status();
    return status ? status->state : SessionState::Preparing;
}

std::int64_t stepOf(const MainWindow& window)
{
    const auto status = window.controller()->status();
    return status ? status->step : -1;
}

/// Trains a stored run's replay to its end, without a window; returns the hash of its weights.
std::string replayHash(const nlohmann::json& document)
{
    Session session(parseExperiment(document.dump(), "replay"), {});
    session.run();
    session.waitUntilIdle();
    const auto status = session.status();
    return status->lanes.size() == 1 && status->lanes[0].summary ? status->lanes[0].summary->weightsHash : "none";
}

} // namespace

class TestMainWindow : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();

    void opensAnExperimentAndShowsItsText();
    void listsWhatShipsAndOpensTheGallery();
    void spaceRunsAndPauses();
    void keysStepResetAndUndo();
    void runNAndStop();
    void ctrlRTrainsAFinishedExperimentAgain();
    void speedLimitSlowsTraining();
    void numberKeysSelectAndHide();
    void noTwoCommandsShareAKey();
    void typedScaleIsMarkedAndStored();
    void setupStartsNewRunsAndUndoBringsTheOldOnesBack();
    void moreStepsTrainOn();
    void aLaneMovesToAnotherDevice();
    void badFileIsExplainedAndThePresentOneStays();
    void droppedFileOpens();
    void saveWritesAnExperimentThatReadsBack();
    void paletteRunsACommand();
    void presenterHidesAndBringsBack();
    void dataProblemIsShown();
    void divergedLaneSaysSo();
    void letterKeysAreTextWhileTyping();
    void spacePressesAFocusedButton();
    void resizesWhileTraining();
    void twoWindowsShareADatabase();
    void aStoredRunIsShownAndRepeatedExactly();
    void runsTrainedInTheOpenWindowAreListed();
    void lanesThatLearnNothingSaySo();
    void theCodeFollowsTheSelectedLane();
    void ctrlZTakesBackADeletion();
    void aLockedDatabaseIsExplainedAndNothingIsLost();
    void knobsTurnedAtRandomReplayExactly();

private:
    void open(const std::string& text);
    void trainToTheEnd();
    void selectRow(int row);

    [[nodiscard]] std::filesystem::path database() const
    {
        return m_folder->filePath(QStringLiteral("runs.db")).toStdString();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
};

void TestMainWindow::initTestCase()
{
    test::useOwnHome();
}

void TestMainWindow::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_window = test::openWindow(*m_folder);
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void TestMainWindow::cleanup()
{
    m_window.reset();
    m_folder.reset();
}

void TestMainWindow::open(const std::string& text)
{
    const QString file = test::writeFileIn(*m_folder, QStringLiteral("experiment.json"), text);
    QVERIFY2(m_window->openFile(file), qPrintable(m_window->messageBar()->text()));
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Ready, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->dashboard()->laneKeys().size() >= 2, patienceMs);
}

void TestMainWindow::opensAnExperimentAndShowsItsText()
{
    open(smallExperimentText());
    QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("Small")));
    QVERIFY(m_window->experimentsView()->text().contains(QStringLiteral("Look at this.")));
    QCOMPARE(m_window->laneList()->lanes().size(), std::size_t {2});
    QCOMPARE(m_window->dashboard()->laneKeys().size(), 2);
    QVERIFY(!m_window->isWindowModified());
}

void TestMainWindow::listsWhatShipsAndOpensTheGallery()
{
    m_window->openFirst();
    const QTreeWidget* list = m_window->experimentsView()->list();
    QStringList files;
    for (int section = 0; section < 2; ++section) {
        for (int i = 0; i < list->topLevelItem(section)->childCount(); ++i) {
            const QString file = list->topLevelItem(section)->child(i)->data(0, Qt::UserRole).toString();
            QCOMPARE(isInGallery(file.toStdString()), section == 1);
            files.append(file);
        }
    }
    QCOMPARE(static_cast<std::size_t>(files.size()), shippedExperiments().size());
    QVERIFY(files.first().endsWith(QStringLiteral("/default.json")));
    emit m_window->experimentsView()->openRequested(files.last());
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Ready, patienceMs);
    QTRY_VERIFY(m_window->experimentsView()->text().contains(QStringLiteral("What to do in PyTorch")));
    QCOMPARE(m_window->experimentsView()->list()->currentItem()->data(0, Qt::UserRole).toString(), files.last());
}

void TestMainWindow::spaceRunsAndPauses()
{
    open(smallExperimentText(1'000'000));
    QTest::keyClick(m_window.get(), Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(stepOf(*m_window) > 5, patienceMs);
    QVERIFY(m_window->controller()->isRunning());
    QTRY_COMPARE_WITH_TIMEOUT(m_window->runBar()->runAction()->text(), QStringLiteral("Pause"), patienceMs);
    QTest::keyClick(m_window.get(), Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Paused, patienceMs);
    const std::int64_t step = stepOf(*m_window);
    QTest::qWait(50);
    QCOMPARE(stepOf(*m_window), step);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->runBar()->runAction()->text(), QStringLiteral("Run"), patienceMs);
}

void TestMainWindow::keysStepResetAndUndo()
{
    open(smallExperimentText());
    QTest::keyClick(m_window.get(), Qt::Key_S);
    QTRY_COMPARE_WITH_TIMEOUT(stepOf(*m_window), std::int64_t {1}, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Paused, patienceMs);
    QTest::keyClick(m_window.get(), Qt::Key_S);
    QTRY_COMPARE_WITH_TIMEOUT(stepOf(*m_window), std::int64_t {2}, patienceMs);
    QTest::keyClick(m_window.get(), Qt::Key_R);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Ready, patienceMs);
    QCOMPARE(stepOf(*m_window), std::int64_t {0});
    QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(stepOf(*m_window), std::int64_t {2}, patienceMs);
    QTest::keyClick(m_window.get(), Qt::Key_Y, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(stepOf(*m_window), std::int64_t {0}, patienceMs);
}

void TestMainWindow::runNAndStop()
{
    open(smallExperimentText(1000));
    m_window->runBar()->stepCount()->setValue(7);
    m_window->runBar()->runStepsAction()->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Paused, patienceMs);
    QCOMPARE(stepOf(*m_window), std::int64_t {7});
    QTRY_VERIFY_WITH_TIMEOUT(m_window->runBar()->stopAction()->isEnabled(), patienceMs);
    m_window->runBar()->stopAction()->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(m_window->controller()->status()->lanes.at(0).status == RunStatus::Stopped, patienceMs);
    m_window->controller()->writer()->flush();
    const RunStore store(database(), StoreAccess::ReadOnly);
    for (const RunInfo& run : store.runs()) {
        QVERIFY(run.status == RunStatus::Stopped);
        QCOMPARE(run.steps, std::int64_t {7});
    }
}

void TestMainWindow::ctrlRTrainsAFinishedExperimentAgain()
{
    open(smallExperimentText(20));
    QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Finished, patienceMs);
    const std::string hash = m_window->controller()->status()->lanes.at(0).summary->weightsHash;
    QTest::keyClick(m_window.get(), Qt::Key_R, Qt::ControlModifier);
    QVERIFY(stateOf(*m_window) != SessionState::Finished || stepOf(*m_window) == 0);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Finished, patienceMs);
    QCOMPARE(m_window->controller()->status()->lanes.at(0).summary->weightsHash, hash);
}

void TestMainWindow::speedLimitSlowsTraining()
{
    open(smallExperimentText(1'000'000));
    m_window->runBar()->speedSlider()->setValue(0);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->controller()->status()->speedLimit, 1.0, patienceMs);
    m_window->runBar()->speedSlider()->setValue(m_window->runBar()->speedSlider()->maximum());
    QTRY_COMPARE_WITH_TIMEOUT(m_window->controller()->status()->speedLimit, 0.0, patienceMs);
}

void TestMainWindow::numberKeysSelectAndHide()
{
    open(smallExperimentText());
    const auto lanes = m_window->laneList()->lanes();
    QTest::keyClick(m_window.get(), Qt::Key_2);
    QCOMPARE(m_window->laneList()->selected().value_or(99), lanes[1]);
    QVERIFY(m_window->laneList()->card(lanes[1])->isSelected());
    QVERIFY(m_window->dashboard()->isLaneVisible(lanes[0]));
    QTest::keyClick(m_window.get(), Qt::Key_1, Qt::ShiftModifier);
    QVERIFY(!m_window->dashboard()->isLaneVisible(lanes[0]));
    QVERIFY(!m_window->laneList()->isShown(lanes[0]));
    QTest::keyClick(m_window.get(), Qt::Key_1, Qt::ShiftModifier);
    QVERIFY(m_window->dashboard()->isLaneVisible(lanes[0]));
}

/// Qt answers a key of two commands with neither.
void TestMainWindow::noTwoCommandsShareAKey()
{
    QMap<QString, QStringList> commandsOf;
    for (const QAction* action : m_window->findChildren<QAction*>()) {
        // What belongs to one panel hears its keys there only.
        if (action->shortcutContext() != Qt::WindowShortcut || action->objectName().isEmpty()) {
            continue;
        }
        for (const QKeySequence& keys : action->shortcuts()) {
            commandsOf[keys.toString()] << action->objectName();
        }
    }
    QVERIFY(commandsOf.contains("Ctrl+R"));
    for (auto keys = commandsOf.begin(); keys != commandsOf.end(); ++keys) {
        QVERIFY2(keys->size() == 1, qPrintable(keys.key() + ": " + keys->join(", ")));
    }
}

void TestMainWindow::typedScaleIsMarkedAndStored()
{
    open(smallExperimentText(30));
    m_window->controller()->runSteps(10);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Paused, patienceMs);
    const std::uint32_t lane = m_window->laneList()->lanes().at(1);
    LaneCard* card = m_window->laneList()->card(lane);
    card->setDetail(LaneCard::Detail::Settings);
    auto* field = card->findChild<LogSlider*>()->field();
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, QStringLiteral("2^8"));
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->controller()->status()->lanes.at(1).scale, 256.0, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->eventsView()->selectionAsText().contains(QStringLiteral("scale: 2^10 \u2192 2^8")), patienceMs);
    m_window->controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Finished, patienceMs);
    m_window->controller()->writer()->flush();

    const RunStore store(database(), StoreAccess::ReadOnly);
    const RunId run = m_window->controller()->writer()->runOf(lane);
    const std::vector<Event> events = store.events(run);
    const auto changed = std::find_if(events.begin(), events.end(),
        [](const Event& event) { return event.kind == EventKind::Set && event.path == "scaler.scale"; });
    QVERIFY(changed != events.end());
    QCOMPARE(changed->step, std::int64_t {10});
    const RunColumns columns = store.columns(run);
    QCOMPARE(columns.scale.at(9), 1024.0);
    QCOMPARE(columns.scale.at(10), 256.0);
}

void TestMainWindow::setupStartsNewRunsAndUndoBringsTheOldOnesBack()
{
    open(smallExperimentText(40));
    m_window->controller()->runSteps(12);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Paused, patienceMs);
    SetupPanel* setup = m_window->setupPanel();
    QVERIFY(!setup->applyButton()->isEnabled());
    auto* batch = qobject_cast<NumberField*>(setup->control("data.batch"));
    batch->selectAll();
    QTest::keyClicks(batch, QStringLiteral("32"));
    QTest::keyClick(batch, Qt::Key_Return);
    QVERIFY(setup->isEdited());
    QCOMPARE(m_window->controller()->document().lanes().front().data.batch, std::int64_t {16});
    QTest::mouseClick(setup->applyButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Ready, patienceMs);
    QCOMPARE(stepOf(*m_window), std::int64_t {0});
    for (const LaneStatus& lane : m_window->controller()->status()->lanes) {
        QCOMPARE(lane.config->data.batch, std::int64_t {32});
    }
    QVERIFY(m_window->isWindowModified());
    m_window->dashboard()->undoStack()->undo();
    QTRY_COMPARE_WITH_TIMEOUT(stepOf(*m_window), std::int64_t {12}, patienceMs);
    QCOMPARE(m_window->controller()->status()->lanes.front().config->data.batch, std::int64_t {16});
}

void TestMainWindow::moreStepsTrainOn()
{
    open(smallExperimentText(10));
    m_window->controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Finished, patienceMs);
    auto* steps = qobject_cast<NumberField*>(m_window->setupPanel()->control("steps"));
    steps->selectAll();
    QTest::keyClicks(steps, QStringLiteral("25"));
    QTest::keyClick(steps, Qt::Key_Return);
    QTest::mouseClick(m_window->setupPanel()->applyButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->controller()->status()->totalSteps, std::int64_t {25}, patienceMs);
    m_window->controller()->run();
    QTRY_COMPARE_WITH_TIMEOUT(stepOf(*m_window), std::int64_t {25}, patienceMs);
}

void TestMainWindow::aLaneMovesToAnotherDevice()
{
    open(test::smallExperimentText(5));
    trainToTheEnd();
    SessionController* const controller = m_window->controller();
    const auto choose = [this, controller](const QString& device) {
        const std::uint32_t second = controller->status()->lanes.at(1).id;
        auto* const button = m_window->laneList()->card(second)->findChild<QToolButton*>(QStringLiteral("laneMenu"));
        for (QMenu* const menu : button->menu()->findChildren<QMenu*>()) {
            emit menu->aboutToShow(); // it is filled then
            for (QAction* const action : menu->actions()) {
                if (action->text() == device && action->isEnabled()) {
                    action->trigger();
                    return true;
                }
            }
        }
        return false;
    };
    const auto isOn = [controller](std::size_t lane, const std::string& backend) {
        const auto status = controller->status();
        return status && status->state == SessionState::Ready && status->lanes.at(lane).device.backend == backend;
    };
    QVERIFY(choose(QStringLiteral("reference")));
    QTRY_VERIFY_WITH_TIMEOUT(isOn(1, "reference"), patienceMs);
    QVERIFY(isOn(0, "cpu"));
    QCOMPARE(controller->document().lanes().at(1).device, std::string("reference"));
    QVERIFY(controller->document().isModified());
    trainToTheEnd();
    QVERIFY(!choose(QStringLiteral("cuda"))); // here it is shown, but cannot be chosen
    m_window->actionNamed(QStringLiteral("undo"))->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(controller->document().lanes().at(1).device, std::string("session"), patienceMs);
}

void TestMainWindow::badFileIsExplainedAndThePresentOneStays()
{
    open(smallExperimentText());
    std::string text = smallExperimentText();
    text.replace(text.find("\"hidden\""), 8, "\"hiden\"");
    QVERIFY(!m_window->openFile(test::writeFileIn(*m_folder, QStringLiteral("bad.json"), text)));
    const QString message = m_window->messageBar()->text();
    QVERIFY(m_window->messageBar()->isVisible());
    for (const QString& part : {QStringLiteral("bad.json"), QStringLiteral("model.hiden"), QStringLiteral("hidden")}) {
        QVERIFY2(message.contains(part), qPrintable(message));
    }
    QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("Small")));
    QVERIFY(!m_window->openFile(m_folder->filePath(QStringLiteral("missing.json"))));
    QVERIFY(m_window->openFile(m_folder->filePath(QStringLiteral("experiment.json"))));
    QVERIFY(!m_window->messageBar()->isVisible());
}

void TestMainWindow::droppedFileOpens()
{
    const QString file = test::writeFileIn(*m_folder, QStringLiteral("dropped.json"), smallExperimentText());
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(file)});
    QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(m_window.get(), &drop);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Ready, patienceMs);
    QCOMPARE(m_window->controller()->document().file(), std::filesystem::path(file.toStdString()));
}

void TestMainWindow::saveWritesAnExperimentThatReadsBack()
{
    open(smallExperimentText());
    const std::uint32_t lane = m_window->laneList()->lanes().at(0);
    m_window->controller()->set(lane, "optimizer.lr", 0.03125);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->isWindowModified(), patienceMs);
    const QString file = m_folder->filePath(QStringLiteral("saved.json"));
    QVERIFY(m_window->saveTo(file));
    QVERIFY(!m_window->isWindowModified());
    QCOMPARE(loadExperiment(file.toStdString()).lanes.at(0).optimizer.lr, 0.03125);
    QVERIFY(!m_window->saveTo(m_folder->filePath(QStringLiteral("no/such/folder/x.json"))));
    QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("no/such/folder")));
}

void TestMainWindow::paletteRunsACommand()
{
    open(smallExperimentText());
    QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
    auto* palette = m_window->findChild<CommandPalette*>();
    QVERIFY(palette && palette->isVisible());
    QVERIFY(palette->list()->count() > 40);
    QTest::keyClicks(palette->input(), QStringLiteral("difference"));
    QCOMPARE(palette->list()->count(), 1);
    QTest::keyClick(palette->input(), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->dashboard()->isDifferenceVisible(), patienceMs);
    QVERIFY(m_window->actionNamed(QStringLiteral("difference"))->isChecked());
}

void TestMainWindow::presenterHidesAndBringsBack()
{
    open(smallExperimentText());
    const qreal before = QApplication::font().pointSizeF();
    auto* events = m_window->findChild<QDockWidget*>(QStringLiteral("events"));
    QVERIFY(events->isVisible());
    QTest::keyClick(m_window.get(), Qt::Key_F11);
    QVERIFY(m_window->isPresenting());
    QVERIFY(!events->isVisible());
    QVERIFY(m_window->laneList()->isVisible());
    QCOMPARE(QApplication::font().pointSizeF(), before * 1.6);
    QTest::keyClick(m_window.get(), Qt::Key_S);
    QTRY_COMPARE_WITH_TIMEOUT(stepOf(*m_window), std::int64_t {1}, patienceMs);
    QTest::keyClick(m_window.get(), Qt::Key_F11);
    QVERIFY(!m_window->isPresenting());
    QVERIFY(events->isVisible());
    QCOMPARE(QApplication::font().pointSizeF(), before);
}

void TestMainWindow::dataProblemIsShown()
{
    std::string text = smallExperimentText();
    text.replace(text.find("\"kind\": \"digits\""), 16, "\"kind\": \"mnist\", \"path\": \"/nowhere/at/all\"");
    QVERIFY(m_window->openFile(test::writeFileIn(*m_folder, QStringLiteral("mnist.json"), text)));
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Failed, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->messageBar()->isVisible(), patienceMs);
    QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("/nowhere/at/all")),
        qPrintable(m_window->messageBar()->text()));
    QVERIFY(!m_window->runBar()->runAction()->isEnabled());
}

void TestMainWindow::divergedLaneSaysSo()
{
    open(smallExperimentText(60));
    const std::uint32_t lane = m_window->laneList()->lanes().at(0);
    m_window->controller()->set(lane, "optimizer.lr", 1e6);
    m_window->controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(m_window->controller()->status()->lanes.at(0).status == RunStatus::Diverged, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->eventsView()->selectionAsText().contains(QStringLiteral("diverged")), patienceMs);
    m_window->controller()->writer()->flush();
    const RunStore store(database(), StoreAccess::ReadOnly);
    QVERIFY(store.run(m_window->controller()->writer()->runOf(lane))->status == RunStatus::Diverged);
}

void TestMainWindow::letterKeysAreTextWhileTyping()
{
    open(smallExperimentText());
    const std::uint32_t lane = m_window->laneList()->lanes().at(0);
    auto* name = m_window->laneList()->card(lane)->findChild<QLineEdit*>();
    name->setFocus();
    name->selectAll();
    QTest::keyClicks(name, QStringLiteral("sr 1"));
    QTest::keyClick(name, Qt::Key_Return);
    QCOMPARE(m_window->controller()->laneName(lane), QStringLiteral("sr 1"));
    QCOMPARE(stepOf(*m_window), std::int64_t {0});
    QVERIFY(!m_window->controller()->isRunning());
}

void TestMainWindow::spacePressesAFocusedButton()
{
    open(smallExperimentText());
    LaneCard* card = m_window->laneList()->card(m_window->laneList()->lanes().at(0));
    card->setDetail(LaneCard::Detail::Values);
    auto* combo = m_window->runBar()->deviceCombo();
    combo->setFocus(Qt::TabFocusReason);
    QTest::keyClick(combo, Qt::Key_Space);
    QTest::qWait(20);
    QVERIFY(!m_window->controller()->isRunning());
    combo->hidePopup();
}

void TestMainWindow::resizesWhileTraining()
{
    open(smallExperimentText(1'000'000));
    m_window->controller()->run();
    QRandomGenerator random(5);
    for (int round = 0; round < 25; ++round) {
        m_window->resize(random.bounded(640, 2200), random.bounded(480, 1400));
        QTest::qWait(10);
    }
    QTRY_VERIFY_WITH_TIMEOUT(stepOf(*m_window) > 20, patienceMs);
    QVERIFY(m_window->minimumSizeHint().width() <= 1280);
    QVERIFY(m_window->minimumSizeHint().height() <= 800);
}

void TestMainWindow::twoWindowsShareADatabase()
{
    open(smallExperimentText(50));
    MainWindow::Options options;
    options.database = database();
    options.remembersState = false;
    MainWindow other(options);
    other.show();
    QVERIFY(other.openFile(m_folder->filePath(QStringLiteral("experiment.json"))));
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(other) == SessionState::Ready, patienceMs);
    m_window->controller()->run();
    other.controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Finished, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(other) == SessionState::Finished, patienceMs);
    m_window->controller()->writer()->flush();
    other.controller()->writer()->flush();
    QCOMPARE(m_window->controller()->databaseProblem(), QString());
    QCOMPARE(other.controller()->databaseProblem(), QString());
    const RunStore store(database(), StoreAccess::ReadOnly);
    QCOMPARE(store.runs().size(), std::size_t {4});
    for (const RunInfo& run : store.runs()) {
        QCOMPARE(store.columns(run.id).step.size(), std::size_t {50});
    }
}

void TestMainWindow::trainToTheEnd()
{
    m_window->controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Finished, patienceMs);
    m_window->controller()->writer()->flush();
}

/// Selects a row of the runs browser; the newest run is in row 0.
void TestMainWindow::selectRow(int row)
{
    m_window->findChild<QDockWidget*>(QStringLiteral("runs"))->raise();
    auto* table = m_window->runsView()->findChild<QTableView*>();
    QTRY_VERIFY_WITH_TIMEOUT(table->model()->rowCount() > row, patienceMs);
    table->selectRow(row);
}

void TestMainWindow::runsTrainedInTheOpenWindowAreListed()
{
    open(smallExperimentText(20));
    auto* table = m_window->runsView()->findChild<QTableView*>();
    const int lanes = static_cast<int>(m_window->laneList()->lanes().size());
    QCOMPARE(table->model()->rowCount(), 0);
    m_window->findChild<QDockWidget*>(QStringLiteral("runs"))->raise();
    trainToTheEnd();
    QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), lanes, patienceMs);
    m_window->findChild<QDockWidget*>(QStringLiteral("events"))->raise();
    QVERIFY(m_window->runsView()->visibleRegion().isEmpty());
    m_window->controller()->reset();
    trainToTheEnd();
    m_window->findChild<QDockWidget*>(QStringLiteral("runs"))->raise();
    QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 2 * lanes, patienceMs);
}

void TestMainWindow::lanesThatLearnNothingSaySo()
{
    open(R"({"mantissa": 1, "name": "t", "steps": 8, "data": {"kind": "digits", "batch": 16},
        "model": {"kind": "mlp", "hidden": [8]}, "precision": {"policy": "fp16"},
        "lanes": [{"name": "too small", "loss_weight": 1e-8},
                  {"name": "too large", "scaler": {"family": "fixed", "init_scale": 1e20}}]})");
    trainToTheEnd();
    const auto sentence = [this](std::size_t lane) {
        const LaneStatus status = m_window->controller()->status()->lanes.at(lane);
        return laneSentence(status, m_window->controller()->facts(status.id), SessionState::Finished);
    };
    QTRY_VERIFY_WITH_TIMEOUT(sentence(0).text.contains(QStringLiteral("Its gradient is zero")), patienceMs);
    QVERIFY2(sentence(0).text.contains(QStringLiteral("flushed to zero of")), qPrintable(sentence(0).text));
    QVERIFY2(sentence(1).text.contains(QStringLiteral("every step was skipped")), qPrintable(sentence(1).text));
    QVERIFY2(sentence(1).text.contains(QStringLiteral("overflowed of")), qPrintable(sentence(1).text));
    QVERIFY(sentence(0).tone == Tone::Problem && sentence(1).tone == Tone::Problem);
}

void TestMainWindow::theCodeFollowsTheSelectedLane()
{
    open(smallExperimentText(20));
    const auto lanes = m_window->laneList()->lanes();
    m_window->laneList()->select(lanes.at(0));
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->codeView()->code().contains(QStringLiteral("for step in range(20)")), patienceMs);
    QVERIFY(!m_window->codeView()->code().contains(QStringLiteral("GradScaler")));
    m_window->laneList()->select(lanes.at(1));
    QTRY_VERIFY_WITH_TIMEOUT(m_window->codeView()->code().contains(QStringLiteral("GradScaler")), patienceMs);
    QVERIFY(!m_window->codeView()->code().contains(QStringLiteral("WRONG")));
    const nlohmann::json clip {{"order", "clip-then-unscale"}, {"max_norm", 1.5}};
    m_window->controller()->set(lanes.at(1), "clip", clip);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->codeView()->code().contains(QStringLiteral("WRONG ORDER")), patienceMs);
    QVERIFY(m_window->codeView()->code().contains(QStringLiteral("clip_grad_norm_(model.parameters(), 1.5)")));
}

void TestMainWindow::aStoredRunIsShownAndRepeatedExactly()
{
    open(smallExperimentText(40));
    m_window->controller()->set(1, "scaler.scale", 4096);
    trainToTheEnd();
    QVERIFY(m_window->saveTo(m_folder->filePath(QStringLiteral("edited.json"))));
    open(smallExperimentText(30));
    selectRow(0);
    m_window->runsView()->findChild<QAction*>(QStringLiteral("showCurves"))->trigger();
    const RunId run = m_window->runsView()->selectedRuns().front();
    const quint64 key = Dashboard::storedKey(run);
    const RunInfo stored = RunStore(database(), StoreAccess::ReadOnly).run(run).value();
    QVERIFY(!stored.weightsHash.empty());
    QTRY_VERIFY_WITH_TIMEOUT(m_window->dashboard()->laneKeys().contains(key), patienceMs);

    m_window->runsView()->findChild<QAction*>(QStringLiteral("rerun"))->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(m_window->laneList()->lanes().size(), std::size_t {1}, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Ready, patienceMs);
    trainToTheEnd();
    const auto status = m_window->controller()->status();
    QVERIFY(status->lanes[0].summary);
    QCOMPARE(status->lanes[0].summary->weightsHash, stored.weightsHash);
    QCOMPARE(status->lanes[0].summary->finalScale, stored.finalScale);
}

void TestMainWindow::ctrlZTakesBackADeletion()
{
    open(smallExperimentText(20));
    trainToTheEnd();
    selectRow(1);
    m_window->runsView()->findChild<QAction*>(QStringLiteral("delete"))->trigger();
    QTRY_COMPARE_WITH_TIMEOUT(RunStore(database(), StoreAccess::ReadOnly).runs().size(), std::size_t {1}, patienceMs);
    QTest::keyClick(m_window.get(), Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(RunStore(database(), StoreAccess::ReadOnly).runs().size(), std::size_t {2}, patienceMs);
}

void TestMainWindow::aLockedDatabaseIsExplainedAndNothingIsLost()
{
    open(smallExperimentText(40));
    {
        const RunStore created(database());
        SQLite::Database other(database().string(), SQLite::OPEN_READWRITE);
        other.exec("BEGIN EXCLUSIVE");
        m_window->controller()->run();
        QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Finished, patienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->messageBar()->text().contains(QStringLiteral("locked")), patienceMs);
    }
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->messageBar()->text().contains(QStringLiteral("locked")), patienceMs);
    m_window->controller()->writer()->flush();
    const RunStore store(database(), StoreAccess::ReadOnly);
    QCOMPARE(store.runs().size(), std::size_t {2});
    for (const RunInfo& run : store.runs()) {
        QCOMPARE(store.columns(run.id).step.size(), std::size_t {40});
        QVERIFY(run.status == RunStatus::Finished);
    }
}

void TestMainWindow::knobsTurnedAtRandomReplayExactly()
{
    constexpr int turns = 300;
    open(smallExperimentText(20'000));
    SessionController* controller = m_window->controller();
    controller->run();
    QRandomGenerator random(20260101);
    const QStringList policies {QStringLiteral("fp32"), QStringLiteral("fp16"), QStringLiteral("bf16")};
    for (int turn = 0; turn < turns; ++turn) {
        const auto lanes = m_window->laneList()->lanes();
        const std::uint32_t lane = lanes.at(random.bounded(static_cast<quint32>(lanes.size())));
        switch (random.bounded(9)) {
        case 0:
            controller->set(lane, "optimizer.lr", std::pow(10.0, -1.5 - random.bounded(3.0)));
            break;
        case 1:
            controller->set(lane, "scaler.scale", std::ldexp(1.0, random.bounded(24)));
            break;
        case 2:
            controller->set(lane, "precision.policy", policies[random.bounded(3)].toStdString());
            break;
        case 3:
            controller->set(lane, "scaler.family", random.bounded(2) == 0 ? "pytorch" : "fixed");
            break;
        case 4:
            controller->set(lane, "clip",
                {{"order", random.bounded(2) == 0 ? "unscale-then-clip" : "clip-then-unscale"}, {"max_norm", 0.5}});
            break;
        case 5:
            controller->set(lane, "scaler.growth_interval", random.bounded(1, 30));
            break;
        case 6:
            controller->toggleRun();
            break;
        case 7:
            controller->set(lane, "scaler.frozen", random.bounded(2) == 0);
            break;
        default:
            m_window->resize(random.bounded(800, 1600), random.bounded(600, 1000));
            break;
        }
        QTest::qWait(random.bounded(1, 12));
    }
    controller->run();
    QTRY_VERIFY_WITH_TIMEOUT(controller->status()->appliedCommands > 0, patienceMs);
    controller->stop();
    QTRY_VERIFY_WITH_TIMEOUT(stateOf(*m_window) == SessionState::Finished, patienceMs);
    controller->writer()->flush();

    const RunStore store(database(), StoreAccess::ReadOnly);
    QCOMPARE(store.runs().size(), std::size_t {2});
    for (const RunInfo& run : store.runs()) {
        QVERIFY(run.steps > 0);
        QCOMPARE(replayHash(store.replayExperiment(run.id)), run.weightsHash);
    }
}

QTEST_MAIN(TestMainWindow)
#include "tst_main_window.moc"
