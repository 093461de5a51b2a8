// Lanes trained by several processes, from the window: asked for, drawn while they train, stopped, and what is said
// when they fail.
#include "open_window.h"
#include "small_experiment.h"
#include "ui/plots/dashboard.h"
#include "ui/ranks/rank_job.h"
#include "ui/ranks/ranks_dialog.h"
#include "ui/views/message_bar.h"

#include <QAction>
#include <QLabel>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QtTest>

using namespace mantissa;

namespace {

constexpr int patienceMs = 120'000; // for a loaded machine

} // namespace

class TestRanksWindow : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
    QByteArray m_path;

    /// A program that mpirun is then taken to be.
    void standIn(const std::string& script)
    {
        const QString file = test::writeFileIn(*m_folder, "mpirun", "#!/bin/sh\n" + script);
        QVERIFY(QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        qputenv("PATH", m_folder->path().toUtf8() + ':' + m_path);
    }

    void open(int steps)
    {
        QVERIFY(m_window->openFile(test::writeFileIn(*m_folder, "small.json", test::smallExperimentText(steps))));
        QTRY_VERIFY(m_window->controller()->status()->state == SessionState::Ready);
    }

    RanksDialog* ask()
    {
        m_window->actionNamed("trainOnProcesses")->trigger();
        return m_window->findChild<RanksDialog*>();
    }

    [[nodiscard]] QMenu* jobs() const
    {
        for (QMenu* menu : m_window->findChildren<QMenu*>()) {
            if (menu->title().contains("processes")) {
                return menu;
            }
        }
        return nullptr;
    }

    [[nodiscard]] std::vector<RunInfo> runs() const
    {
        return RunStore(m_folder->filePath("runs.db").toStdString(), StoreAccess::ReadOnly).runs();
    }

    [[nodiscard]] static bool canTrain() { return RankJob::obstacle().isEmpty(); }

private slots:

    void initTestCase()
    {
        test::useOwnHome();
        m_path = qgetenv("PATH");
        qputenv("ASAN_OPTIONS", "detect_leaks=0"); // of Open MPI there would be many
        qputenv("OMPI_ALLOW_RUN_AS_ROOT", "1");
        qputenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_window = test::openWindow(*m_folder);
    }

    void cleanup()
    {
        qputenv("PATH", m_path);
        m_window.reset();
        m_folder.reset();
    }

    void saysWhatToInstall()
    {
        open(60);
        qputenv("PATH", m_folder->path().toUtf8());
        RanksDialog* dialog = ask();
        QVERIFY(dialog != nullptr);
        QVERIFY2(dialog->problem().contains("openmpi"), qPrintable(dialog->problem()));
        QVERIFY(!dialog->startButton()->isEnabled());
    }

    void refusesWhatCannotBeDivided()
    {
        if (!canTrain()) {
            QSKIP(qPrintable(RankJob::obstacle()));
        }
        open(60);
        RanksDialog* dialog = ask();
        QVERIFY(dialog->startButton()->isEnabled());
        dialog->ranks()->setValue(3);
        QVERIFY2(dialog->problem().contains("data.batch"), qPrintable(dialog->problem()));
        QVERIFY(!dialog->startButton()->isEnabled());
        dialog->ranks()->setValue(2);
        for (int i = 0; i < dialog->lanes()->count(); ++i) {
            dialog->lanes()->item(i)->setCheckState(Qt::Unchecked);
        }
        QVERIFY(!dialog->startButton()->isEnabled());
    }

    void drawsWhatProcessesTrain()
    {
        if (!canTrain()) {
            QSKIP(qPrintable(RankJob::obstacle()));
        }
        open(60);
        RanksDialog* dialog = ask();
        QCOMPARE(dialog->ranks()->value(), 2);
        for (int i = 0; i < dialog->lanes()->count(); ++i) {
            dialog->lanes()->item(i)->setCheckState(Qt::Checked);
        }
        dialog->startButton()->click();
        QVERIFY(jobs() != nullptr);
        QCOMPARE(jobs()->actions().size(), 1);
        QTRY_VERIFY_WITH_TIMEOUT(jobs()->isEmpty(), patienceMs);
        QVERIFY2(m_window->messageBar()->text().isEmpty(), qPrintable(m_window->messageBar()->text()));
        const std::vector<RunInfo> stored = runs();
        QCOMPARE(stored.size(), std::size_t {2});
        for (const RunInfo& run : stored) {
            QCOMPARE(run.status, RunStatus::Finished);
            QTRY_VERIFY(m_window->dashboard()->laneKeys().contains(Dashboard::storedKey(run.id)));
        }
    }

    void stopsThem()
    {
        if (!canTrain()) {
            QSKIP(qPrintable(RankJob::obstacle()));
        }
        open(100'000'000);
        ask()->startButton()->click();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->dashboard()->laneKeys().size() > 2, patienceMs); // drawn while it trains
        QCOMPARE(runs().size(), std::size_t {1});
        QCOMPARE(runs().front().status, RunStatus::Running);
        const std::int64_t before = runs().front().steps;
        QTRY_VERIFY_WITH_TIMEOUT(runs().front().steps > before, patienceMs);
        jobs()->actions().front()->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(jobs()->isEmpty(), patienceMs);
        QCOMPARE(runs().front().status, RunStatus::Stopped);
        QVERIFY2(m_window->messageBar()->text().isEmpty(), qPrintable(m_window->messageBar()->text()));
    }

    void stopsThemWithTheWindow()
    {
        if (!canTrain()) {
            QSKIP(qPrintable(RankJob::obstacle()));
        }
        open(100'000'000);
        ask()->startButton()->click();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->dashboard()->laneKeys().size() > 2, patienceMs);
        m_window.reset();
        QTRY_VERIFY_WITH_TIMEOUT(runs().front().status != RunStatus::Running, patienceMs);
        QCOMPARE(runs().front().status, RunStatus::Stopped);
    }

    void tellsOfFailures_data()
    {
        QTest::addColumn<std::string>("script");
        QTest::addColumn<QString>("words");
        QTest::newRow("words of ours") << std::string(
            "echo noise >&2; echo 'mantissa-cli: rank 1 fell asleep' >&2; exit 1\n")
                                       << "rank 1 fell asleep";
        QTest::newRow("words of mpirun") << std::string("echo 'no slots' >&2; exit 1\n") << "no slots";
        QTest::newRow("silence") << std::string("exit 3\n") << "exit code 3";
        QTest::newRow("a lane") << std::string(
            "echo '{\"experiment\":\"x\",\"runs\":[{\"lane\":\"FP32\",\"status\":\"failed\",\"message\":"
            "\"rank 1 is gone\"}]}'; exit 1\n")
                                << "FP32: rank 1 is gone";
    }

    void tellsOfFailures()
    {
        if (!canTrain()) {
            QSKIP(qPrintable(RankJob::obstacle()));
        }
        QFETCH(const std::string, script);
        QFETCH(const QString, words);
        open(60);
        standIn(script);
        ask()->startButton()->click();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->messageBar()->text().contains(words), patienceMs);
        QVERIFY(jobs()->isEmpty());
    }
};

QTEST_MAIN(TestRanksWindow)
#include "tst_ranks_window.moc"
