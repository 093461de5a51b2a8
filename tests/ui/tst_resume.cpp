/// Checkpoints and weights in the real window: what it writes by itself, how a lane goes on, and what is refused.
#include "engine/store/run_checkpoints.h"
#include "engine/train/checkpoint_folder.h"
#include "tests/ui/small_experiment.h"
#include "ui/plots/dashboard.h"
#include "ui/session/checkpoint_settings.h"
#include "ui/views/checkpoint_dialog.h"
#include "ui/views/events_view.h"
#include "ui/views/main_window.h"
#include "ui/views/message_bar.h"
#include "ui/views/number_field.h"
#include "ui/views/resume_dialog.h"
#include "ui/views/runs_view.h"
#include "ui/views/setup_panel.h"

#include <QAction>
#include <QCheckBox>
#include <QDockWidget>
#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>
#include <QUrl>

#include <fstream>

using namespace mantissa;
using mantissa::test::smallExperimentText;

namespace {

constexpr int patienceMs = 120'000;

void writeText(const std::filesystem::path& file, const std::string& text)
{
    std::ofstream(file, std::ios::binary) << text;
}

/// Trains to the end without a window.
std::string hashAfter(Experiment experiment)
{
    SessionOptions options;
    options.threads = 1;
    Session session(std::move(experiment), options);
    session.run();
    session.waitUntilIdle();
    return session.status()->lanes.at(0).summary->weightsHash;
}

} // namespace

class TestResume : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void cleanup();

    void theWindowWritesCheckpointsByItself();
    void aRunGoesOnToTheSameBits();
    void theRateIsLowerForAWhileAndTheScalerForgotten();
    void aDamagedCheckpointIsListedWithTheReason();
    void aRunWithoutCheckpointsSaysSo();
    void aDroppedCheckpointAsksHowToGoOn();
    void foreignFilesAreRefused();
    void aLaneIsSavedWhereAPersonWants();
    void settingsAreKept();
    void oldSessionsGoFirst();
    void lanesStartFromWeights();

private:
    void open(const std::string& text);
    void train(std::int64_t steps);
    ResumeDialog* resumeNewestRun();
    ResumeDialog* waitForDialog();
    [[nodiscard]] QString sessionMessage() const;

    [[nodiscard]] std::filesystem::path database() const
    {
        return m_folder->filePath(QStringLiteral("runs.db")).toStdString();
    }

    [[nodiscard]] SessionState state() const
    {
        const auto status = m_window->controller()->status();
        return status ? status->state : SessionState::Preparing;
    }

    [[nodiscard]] RunId newestRun() const { return RunStore(database(), StoreAccess::ReadOnly).runs().front().id; }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
};

void TestResume::initTestCase()
{
    static QTemporaryDir home;
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"}) {
        qputenv(name, home.path().toUtf8());
    }
}

void TestResume::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    MainWindow::Options options;
    options.database = database();
    options.remembersState = false;
    m_window = std::make_unique<MainWindow>(options);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void TestResume::cleanup()
{
    m_window.reset();
    m_folder.reset();
}

void TestResume::open(const std::string& text)
{
    const std::filesystem::path file = m_folder->filePath(QStringLiteral("experiment.json")).toStdString();
    writeText(file, text);
    QVERIFY2(m_window->openFile(QString::fromStdString(file.string())), qPrintable(m_window->messageBar()->text()));
    QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Ready, patienceMs);
}

/// Stops there, with everything in the database.
void TestResume::train(std::int64_t steps)
{
    m_window->controller()->runSteps(steps);
    QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Paused || state() == SessionState::Finished, patienceMs);
    m_window->controller()->stop();
    QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Finished, patienceMs);
    m_window->controller()->writer()->flush();
}

ResumeDialog* TestResume::waitForDialog()
{
    const auto dialog = [this] { return m_window->findChild<ResumeDialog*>(); };
    const auto isListed = [&dialog] {
        return dialog() != nullptr && (dialog()->resumeButton()->isEnabled() || !dialog()->problems().isEmpty());
    };
    return QTest::qWaitFor(isListed, patienceMs) ? dialog() : nullptr;
}

ResumeDialog* TestResume::resumeNewestRun()
{
    auto* dock = m_window->findChild<QDockWidget*>(QStringLiteral("runs"));
    dock->show();
    dock->raise();
    m_window->runsView()->refresh();
    auto* table = m_window->runsView()->findChild<QTableView*>();
    if (!QTest::qWaitFor([table] { return table->model()->rowCount() > 0; }, patienceMs)) {
        return nullptr;
    }
    table->selectRow(0);
    m_window->runsView()->findChild<QAction*>(QStringLiteral("resume"))->trigger();
    return waitForDialog();
}

QString TestResume::sessionMessage() const
{
    return m_window->messageBar()->text();
}

void TestResume::theWindowWritesCheckpointsByItself()
{
    open(smallExperimentText(30));
    train(12);
    const RunStore store(database(), StoreAccess::ReadOnly);
    for (const RunInfo& run : store.runs()) {
        const std::vector<WrittenCheckpoint> written = checkpointsOf(store, run.id);
        QCOMPARE(written.size(), std::size_t {1});
        QCOMPARE(written.front().step, std::int64_t {12});
        QVERIFY(written.front().file.string().starts_with(checkpointsFolder(database()).string()));
    }
}

void TestResume::aRunGoesOnToTheSameBits()
{
    open(smallExperimentText(30));
    train(12);
    const RunId before = newestRun();
    const std::string whole = hashAfter(parseExperiment(RunStore(database()).experiment(before).dump(), "whole"));

    ResumeDialog* dialog = resumeNewestRun();
    QVERIFY(dialog != nullptr);
    QCOMPARE(dialog->list()->topLevelItemCount(), 1);
    QCOMPARE(dialog->list()->selectedItems().size(), 1);
    QCOMPARE(dialog->stepsField()->value(), 18.0);
    QTest::mouseClick(dialog->resumeButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->controller()->status()->step == 12 && state() == SessionState::Ready, patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<ResumeDialog*>() == nullptr, patienceMs);
    // What came before is beside it, and the seam is told.
    QTRY_VERIFY_WITH_TIMEOUT(m_window->dashboard()->laneKeys().contains(Dashboard::storedKey(before)), patienceMs);
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->eventsView()->selectionAsText().contains(QStringLiteral("resumed from")), patienceMs);
    m_window->controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Finished, patienceMs);
    m_window->controller()->writer()->flush();

    const RunStore store(database(), StoreAccess::ReadOnly);
    const RunInfo after = store.runs().front();
    QVERIFY(after.id != before);
    QCOMPARE(after.steps, std::int64_t {30});
    QCOMPARE(store.columns(after.id).step.front(), std::int64_t {12});
    if (after.lane == "FP32") {
        QCOMPARE(after.weightsHash, whole);
    } else {
        QCOMPARE(after.weightsHash, hashAfter(parseExperiment(store.replayExperiment(after.id).dump(), "replay")));
    }
}

void TestResume::theRateIsLowerForAWhileAndTheScalerForgotten()
{
    open(smallExperimentText(30));
    train(25); // its scale has grown once
    ResumeDialog* dialog = resumeNewestRun();
    QVERIFY(dialog != nullptr);
    QVERIFY(dialog->scalerBox()->isEnabled());
    QVERIFY2(dialog->scalerBox()->text().contains(QStringLiteral("2^11")), qPrintable(dialog->scalerBox()->text()));
    dialog->scalerBox()->setChecked(false);
    const auto type = [](NumberField* field, const QString& text) {
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, text);
        QTest::keyClick(field, Qt::Key_Return);
    };
    QVERIFY(!dialog->factorStepsField()->isEnabled());
    type(dialog->factorField(), QStringLiteral("0.1"));
    type(dialog->factorStepsField(), QStringLiteral("3"));
    type(dialog->stepsField(), QStringLiteral("10"));
    QTest::mouseClick(dialog->resumeButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->controller()->status()->step == 25 && state() == SessionState::Ready, patienceMs);
    m_window->controller()->run();
    QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Finished, patienceMs);
    m_window->controller()->writer()->flush();
    const RunStore store(database(), StoreAccess::ReadOnly);
    const RunInfo run = store.runs().front();
    const std::vector<StepRecord> records = store.records(run.id);
    QCOMPARE(records.size(), std::size_t {10});
    for (const StepRecord& record : records) {
        QCOMPARE(record.lr, record.step < 28 ? 0.002 * 0.1 : 0.002);
        QCOMPARE(record.scale, 1024.0);
    }
    QCOMPARE(hashAfter(parseExperiment(store.replayExperiment(run.id).dump(), "replay")), run.weightsHash);
}

void TestResume::aDamagedCheckpointIsListedWithTheReason()
{
    CheckpointSettings settings;
    settings.everySteps = 10;
    m_window->controller()->setCheckpoints(settings);
    open(smallExperimentText(40));
    train(10);
    // A second one, cut off.
    const auto written = checkpointsOf(RunStore(database()), newestRun());
    QCOMPARE(written.size(), std::size_t {1});
    std::filesystem::resize_file(written.front().file, std::filesystem::file_size(written.front().file) - 100);
    ResumeDialog* dialog = resumeNewestRun();
    QVERIFY(dialog != nullptr);
    QCOMPARE(dialog->list()->topLevelItemCount(), 1);
    QVERIFY(!dialog->list()->topLevelItem(0)->flags().testFlag(Qt::ItemIsSelectable));
    QVERIFY(!dialog->resumeButton()->isEnabled());
    QVERIFY2(dialog->problems().contains(QStringLiteral("cut off")), qPrintable(dialog->problems()));
    dialog->reject();
    QCOMPARE(RunStore(database()).runs().size(), std::size_t {2});
}

void TestResume::aRunWithoutCheckpointsSaysSo()
{
    CheckpointSettings settings;
    settings.isOn = false;
    m_window->controller()->setCheckpoints(settings);
    open(smallExperimentText(10));
    train(5);
    QVERIFY(!std::filesystem::exists(checkpointsFolder(database())));
    ResumeDialog* dialog = resumeNewestRun();
    QVERIFY(dialog != nullptr);
    QVERIFY2(dialog->problems().contains(QStringLiteral("no checkpoints")), qPrintable(dialog->problems()));
    QVERIFY(!dialog->resumeButton()->isEnabled());
}

void TestResume::aDroppedCheckpointAsksHowToGoOn()
{
    open(smallExperimentText(20));
    train(20);
    const auto written = checkpointsOf(RunStore(database()), newestRun());
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(QString::fromStdString(written.front().file.string()))});
    QDragEnterEvent enter(QPoint(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_window.get(), &enter);
    QDropEvent drop(QPointF(400, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(m_window.get(), &drop);
    ResumeDialog* dialog = waitForDialog();
    QVERIFY(dialog != nullptr);
    // It is at its end: as many steps again.
    QCOMPARE(dialog->stepsField()->value(), 20.0);
    QTest::mouseClick(dialog->resumeButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->controller()->status()->totalSteps == 40, patienceMs);
    QCOMPARE(m_window->controller()->status()->step, std::int64_t {20});
}

void TestResume::foreignFilesAreRefused()
{
    open(smallExperimentText(10));
    const QString file = m_folder->filePath(QStringLiteral("foreign.safetensors"));
    writeText(file.toStdString(), std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10));
    m_window->openFile(file);
    ResumeDialog* dialog = waitForDialog();
    QVERIFY(dialog != nullptr);
    QVERIFY2(dialog->problems().contains(QStringLiteral("foreign.safetensors")), qPrintable(dialog->problems()));
    QVERIFY(!dialog->resumeButton()->isEnabled());
    dialog->reject();
    QCOMPARE(m_window->controller()->status()->lanes.size(), std::size_t {2});
}

void TestResume::aLaneIsSavedWhereAPersonWants()
{
    open(smallExperimentText(30));
    m_window->controller()->runSteps(4);
    QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Paused, patienceMs);
    const QString file = m_folder->filePath(QStringLiteral("mine.safetensors"));
    m_window->controller()->saveCheckpoint(1, file.toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(m_window->eventsView()->selectionAsText().contains(file), patienceMs);
    QCOMPARE(readCheckpoint(file.toStdString()).state.nextStep, std::int64_t {4});
    m_window->controller()->saveCheckpoint(1, "/proc/none/mine.safetensors");
    QTRY_VERIFY_WITH_TIMEOUT(sessionMessage().contains(QStringLiteral("could not be written")), patienceMs);
}

void TestResume::settingsAreKept()
{
    m_window->actionNamed(QStringLiteral("checkpoints"))->trigger();
    auto* dialog = m_window->findChild<CheckpointDialog*>();
    QVERIFY(dialog != nullptr);
    QCOMPARE(dialog->settings(), CheckpointSettings {});
    dialog->findChild<QCheckBox*>()->setChecked(false);
    dialog->accept();
    QVERIFY(!m_window->controller()->checkpoints().isOn);

    CheckpointSettings changed;
    changed.everySteps = 7;
    changed.kept = 5;
    changed.mostGib = 0.5;
    writeCheckpointSettings(changed);
    QCOMPARE(readCheckpointSettings(), changed);
    writeCheckpointSettings({});
}

void TestResume::oldSessionsGoFirst()
{
    const std::filesystem::path folder = m_folder->filePath(QStringLiteral("checkpoints")).toStdString();
    const auto make = [&folder](const std::string& session) {
        const std::filesystem::path file = folder / session / "FP32" / "step-00000001.safetensors";
        std::filesystem::create_directories(file.parent_path());
        writeText(file, std::string(1000, 'x'));
        return file;
    };
    const auto oldest = make("2026-01-01_00-00-00-000_a");
    const auto middle = make("2026-01-02_00-00-00-000_a");
    const auto newest = make("2026-01-03_00-00-00-000_a");
    const auto mine = make("my own");
    writeText(oldest.parent_path() / "notes.txt", "keep");
    removeOldCheckpoints(folder, 2000);
    QVERIFY(!std::filesystem::exists(oldest));
    QVERIFY(std::filesystem::exists(oldest.parent_path() / "notes.txt"));
    QVERIFY(std::filesystem::exists(middle));
    removeOldCheckpoints(folder, 1);
    QVERIFY(!std::filesystem::exists(middle.parent_path().parent_path()));
    QVERIFY(std::filesystem::exists(newest));
    QVERIFY(std::filesystem::exists(mine));
}

void TestResume::lanesStartFromWeights()
{
    open(smallExperimentText(10));
    train(10);
    const auto written = checkpointsOf(RunStore(database()), newestRun());
    const Safetensors contents = readSafetensors(written.front().file);
    Safetensors plain;
    for (const StoredTensor& tensor : contents.tensors) {
        if (!tensor.name.starts_with(optimizerPrefix)) {
            plain.tensors.push_back(tensor);
            plain.tensors.back().name = "module." + tensor.name;
        }
    }
    const QString file = m_folder->filePath(QStringLiteral("plain.safetensors"));
    writeSafetensors(file.toStdString(), plain);
    m_window->startFromWeights(file);
    QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Ready && m_window->controller()->status()->step == 0, patienceMs);
    QCOMPARE(m_window->controller()->document().lanes().at(1).model.weights, file.toStdString());
    QTRY_VERIFY_WITH_TIMEOUT(
        m_window->eventsView()->selectionAsText().contains(QStringLiteral("\"module.\" dropped")), patienceMs);

    // What does not fit is told, and the lanes stay.
    plain.tensors.front().name = "module.other.weight";
    writeSafetensors(file.toStdString(), plain);
    m_window->controller()->runSteps(3);
    QTRY_VERIFY_WITH_TIMEOUT(state() == SessionState::Paused, patienceMs);
    m_window->startFromWeights(file);
    QTRY_VERIFY_WITH_TIMEOUT(
        sessionMessage().contains(QStringLiteral("unknown to the model: other.weight")), patienceMs);
    QCOMPARE(m_window->controller()->status()->step, std::int64_t {3});
}

QTEST_MAIN(TestResume)
#include "tst_resume.moc"
