/// A lesson in the real window: its steps open experiments, lock and hide controls, and leaving it brings all back.
#include "engine/lesson/lesson.h"
#include "tests/ui/open_window.h"
#include "tests/ui/small_experiment.h"
#include "ui/lesson/lesson_panel.h"
#include "ui/lesson/reference_view.h"
#include "ui/session/app_paths.h"
#include "ui/views/lane_list.h"
#include "ui/views/message_bar.h"
#include "ui/views/run_bar.h"
#include "ui/views/setup_panel.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDockWidget>
#include <QDropEvent>
#include <QHelpEvent>
#include <QMimeData>
#include <QPushButton>
#include <QSlider>
#include <QTabWidget>
#include <QTest>
#include <QToolTip>

using namespace mantissa;

namespace {

constexpr int patienceMs = 120'000;

/// Two steps of its own, and one that ships.
std::string lessonText()
{
    return R"({"mantissa_lesson": 1, "name": "A short lesson", "text": "Welcome.", "lock": ["settings", "lanes", "device"],
        "hide": ["setup", "graph", "experiments"],
        "steps": [
          {"title": "Small", "minutes": 3, "experiment": )"
        + test::smallExperimentText()
        + R"(, "predict": "Which one?", "do": "Press Space.", "see": "This one.", "ask": "Why?"},
          {"title": "Free", "minutes": 2, "do": "Play.", "lock": [], "hide": []},
          {"title": "Shipped", "minutes": 5, "experiment": "c18_clip_before_unscale", "predict": "Explode?", "lock": ["runs"]}]})";
}

} // namespace

class TestLessonInWindow : public QObject
{
    Q_OBJECT

private slots:

    void initTestCase() { test::useOwnHome(); }

    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_window = test::openWindow(*m_folder);
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
        m_file = test::writeFileIn(*m_folder, QStringLiteral("short.mantissa-lesson"), lessonText());
        m_window->openFirst(m_file);
        QTRY_VERIFY_WITH_TIMEOUT(isReady(), patienceMs);
    }

    void cleanup() { m_window.reset(); }

    void aFileOnTheCommandLineBegins()
    {
        QVERIFY(panel()->isVisible());
        QCOMPARE(panel()->step(), 0);
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("Small")));
        QVERIFY(panel()->text().contains(QStringLiteral("Welcome.")));
        QVERIFY(panel()->text().contains(QStringLiteral("Which one?")));
        QVERIFY(!panel()->text().contains(QStringLiteral("This one.")));
    }

    void keysWalkThroughIt()
    {
        QTest::keyClick(m_window.get(), Qt::Key_Down, Qt::AltModifier);
        QVERIFY(panel()->isRevealed());
        QVERIFY(panel()->text().contains(QStringLiteral("This one.")));
        QVERIFY(panel()->text().contains(QStringLiteral("Why?")));
        QTest::keyClick(m_window.get(), Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(panel()->step(), 1);
        QVERIFY(!panel()->isRevealed());
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("Small"))); // what was open stays
        QTest::keyClick(m_window.get(), Qt::Key_Right, Qt::AltModifier);
        QCOMPARE(panel()->step(), 2);
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("C18")));
        QVERIFY(!panel()->nextButton()->isEnabled());
        QVERIFY(!action("lessonNext")->isEnabled());
        QTest::keyClick(m_window.get(), Qt::Key_Left, Qt::AltModifier);
        QCOMPARE(panel()->step(), 1);
    }

    void revealShowsTheReferenceRunAndTheExplanation()
    {
        panel()->go(2);
        QVERIFY(!panel()->reference()->isVisible());
        panel()->reveal();
        QVERIFY(panel()->reference()->isVisible());
        QVERIFY(panel()->reference()->legend().contains(QStringLiteral("SGD: clip, unscale, step")));
        QVERIFY(panel()->text().contains(QStringLiteral("What happened, and why.")));
        QVERIFY(!panel()->text().contains(QStringLiteral("Before you press Space")));
        QVERIFY(!panel()->text().contains(QStringLiteral("Explode?"))); // was the question before
        panel()->back();
        QVERIFY(!panel()->reference()->isVisible());
    }

    void lockedControlsAreThereCannotBeUsedAndSayWhy()
    {
        const LaneCard* card = m_window->laneList()->card(m_window->laneList()->lanes().front());
        auto* settings = card->findChild<QWidget*>(QStringLiteral("laneSettings"));
        QVERIFY(settings != nullptr);
        QVERIFY(!settings->isEnabled());
        QTRY_VERIFY(settings->isVisible());
        QVERIFY(!m_window->runBar()->speedSlider()->isEnabled());
        QVERIFY(!action("duplicateLane")->isEnabled());
        QVERIFY(action("duplicateLane")->toolTip().contains(QStringLiteral("A short lesson")));
        // Keys of a locked command do nothing.
        const std::size_t lanes = m_window->laneList()->lanes().size();
        QTest::keyClick(m_window.get(), Qt::Key_D, Qt::ControlModifier);
        QTest::qWait(50);
        QCOMPARE(m_window->laneList()->lanes().size(), lanes);
        // What lies in a locked panel says that the lesson locked it, whatever its own tooltip is.
        QWidget* slider = m_window->runBar()->speedSlider();
        QHelpEvent help(QEvent::ToolTip, QPoint(3, 3), slider->mapToGlobal(QPoint(3, 3)));
        QApplication::sendEvent(slider, &help);
        QVERIFY2(QToolTip::text().contains(QStringLiteral("A short lesson")), qPrintable(QToolTip::text()));
        QToolTip::hideText();
        // Lanes that come later are locked as well.
        m_window->controller()->addLane(m_window->controller()->document().lanes().front());
        QTRY_COMPARE_WITH_TIMEOUT(m_window->laneList()->lanes().size(), lanes + 1, patienceMs);
        for (QWidget* each : m_window->laneList()->findChildren<QWidget*>(QStringLiteral("laneSettings"))) {
            QVERIFY(!each->isEnabled());
        }
    }

    void hiddenControlsAreNotThere()
    {
        auto* tabs = m_window->findChild<QTabWidget*>();
        const auto isShown = [tabs](const QString& name) {
            for (int i = 0; i < tabs->count(); ++i) {
                if (tabs->tabText(i) == name) {
                    return tabs->isTabVisible(i);
                }
            }
            return false;
        };
        auto* setup = m_window->findChild<QDockWidget*>(QStringLiteral("setup"));
        QVERIFY(setup->isHidden());
        QVERIFY(!setup->toggleViewAction()->isVisible());
        QVERIFY(!isShown(QStringLiteral("Graph")));
        QVERIFY(!action("gallery")->isEnabled());
        QTest::keyClick(m_window.get(), Qt::Key_G);
        QVERIFY(!m_window->showsStart());
        panel()->next(); // this step hides nothing
        QVERIFY(!setup->isHidden());
        QVERIFY(isShown(QStringLiteral("Graph")));
        QVERIFY(action("gallery")->isEnabled());
        panel()->back();
        QVERIFY(setup->isHidden());
    }

    void leavingBringsEverythingBack()
    {
        auto* runs = m_window->findChild<QDockWidget*>(QStringLiteral("runs"));
        panel()->go(2);
        QVERIFY(!runs->widget()->isEnabled());
        QTest::mouseClick(panel()->leaveButton(), Qt::LeftButton);
        QVERIFY(!panel()->isVisible());
        QVERIFY(!panel()->lesson().has_value());
        QVERIFY(runs->widget()->isEnabled());
        QVERIFY(!m_window->findChild<QDockWidget*>(QStringLiteral("setup"))->isHidden());
        QVERIFY(m_window->runBar()->speedSlider()->isEnabled());
        QVERIFY(action("duplicateLane")->isEnabled());
        QCOMPARE(action("duplicateLane")->toolTip(), QStringLiteral("A copy as it stands: weights, optimizer, scaler"));
        QVERIFY(action("open")->isVisible() && action("open")->isEnabled());
        for (QWidget* each : m_window->laneList()->findChildren<QWidget*>(QStringLiteral("laneSettings"))) {
            QVERIFY(each->isEnabled());
        }
        QVERIFY(!action("lessonNext")->isEnabled());
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("C18"))); // stays open
    }

    void presenterKeepsTheLessonInViewAndWhatIsHiddenHidden()
    {
        auto* setup = m_window->findChild<QDockWidget*>(QStringLiteral("setup"));
        m_window->setPresenting(true);
        QVERIFY(panel()->isVisible());
        QVERIFY(setup->isHidden());
        QTest::keyClick(m_window.get(), Qt::Key_Down, Qt::AltModifier);
        QVERIFY(panel()->isRevealed());
        m_window->setPresenting(false);
        QVERIFY(panel()->isVisible());
        QVERIFY(setup->isHidden());
        m_window->setPresenting(true);
        m_window->leaveLesson();
        QVERIFY(setup->isHidden());
        m_window->setPresenting(false);
        QVERIFY(!setup->isHidden());
        QVERIFY(!panel()->isVisible());
    }

    void itFitsAProjectorInLargeType()
    {
        panel()->go(2);
        panel()->reveal();
        m_window->setPresenting(true);
        QTest::qWait(100);
        QVERIFY2(m_window->minimumSizeHint().width() <= 1280,
            qPrintable(QString::number(m_window->minimumSizeHint().width())));
        QVERIFY2(m_window->minimumSizeHint().height() <= 800,
            qPrintable(QString::number(m_window->minimumSizeHint().height())));
        m_window->setPresenting(false);
    }

    void closingTheWindowRemembersItsOwnLayout()
    {
        m_window.reset();
        const MainWindow::Options options {m_folder->filePath(QStringLiteral("runs.db")).toStdString(), true};
        for (const bool fromStart : {false, true}) {
            MainWindow window(options);
            window.resize(1280, 800);
            window.show();
            window.openFirst(m_file);
            window.lessonPanel()->go(1); // hides nothing, so that the start page can be shown
            if (fromStart) {
                window.showStart();
                QVERIFY(window.showsStart());
            } else {
                window.lessonPanel()->go(0);
                window.setPresenting(true);
            }
            window.close();
            MainWindow again(options);
            again.show();
            again.openFirst();
            QVERIFY(!again.findChild<QDockWidget*>(QStringLiteral("setup"))->isHidden());
            QVERIFY(!again.findChild<QDockWidget*>(QStringLiteral("events"))->isHidden());
            QVERIFY(again.findChild<QDockWidget*>(QStringLiteral("lesson"))->isHidden());
        }
        QVERIFY(recentExperiments().contains(m_file));
    }

    void droppedAndWrongFiles()
    {
        QMimeData locked;
        locked.setUrls({QUrl::fromLocalFile(m_file)});
        QDragEnterEvent refused(QPoint(10, 10), Qt::CopyAction, &locked, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &refused);
        QVERIFY(!refused.isAccepted()); // this step hides what opens experiments
        m_window->leaveLesson();
        const QString wrong = test::writeFileIn(
            *m_folder, QStringLiteral("wrong.json"), R"({"mantissa_lesson": 1, "name": "x", "stepps": []})");
        QVERIFY(!m_window->openFile(wrong));
        QVERIFY2(m_window->messageBar()->text().contains(QStringLiteral("stepps is not a key of a lesson")),
            qPrintable(m_window->messageBar()->text()));
        QVERIFY(!panel()->lesson().has_value());
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(m_file)});
        QDragEnterEvent enter(QPoint(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &drop);
        QVERIFY(panel()->lesson().has_value());
        QVERIFY(!m_window->messageBar()->text().contains(QStringLiteral("stepps")));
    }

    void aLessonIsMadeOfWhatIsOpenAndWhatCameOut()
    {
        m_window->leaveLesson();
        const QString before = m_folder->filePath(QStringLiteral("before.mantissa-lesson"));
        QVERIFY(m_window->saveLesson(before));
        QVERIFY(!loadLesson(before.toStdString()).steps[0].reference.has_value());
        m_window->controller()->run();
        QTRY_VERIFY_WITH_TIMEOUT(m_window->controller()->status()->state == SessionState::Finished, patienceMs);
        const QString after = m_folder->filePath(QStringLiteral("after.mantissa-lesson"));
        QVERIFY(m_window->saveLesson(after));
        const Lesson lesson = loadLesson(after.toStdString());
        QCOMPARE(lesson.steps.size(), std::size_t {1});
        QCOMPARE(lesson.steps[0].own->name, std::string("Small"));
        QVERIFY(lesson.steps[0].reference.has_value());
        QCOMPARE(lesson.steps[0].reference->lanes.size(), std::size_t {2});
        QCOMPARE(lesson.steps[0].reference->lanes[0].steps, std::int64_t {60});
        QCOMPARE(lesson.steps[0].reference->lanes[0].loss.size(), std::size_t {60});
        QVERIFY(m_window->openFile(after));
        panel()->reveal();
        QVERIFY(panel()->reference()->legend().contains(QStringLiteral("FP16 AMP")));
        QVERIFY(!m_window->saveLesson(QStringLiteral("/nowhere/x.mantissa-lesson")));
        QVERIFY(m_window->messageBar()->text().contains(QStringLiteral("/nowhere")));
    }

    void aLessonIsSavedWithEverythingInIt()
    {
        const QString file = m_folder->filePath(QStringLiteral("whole.json"));
        QVERIFY(action("saveLesson")->isEnabled());
        QVERIFY(m_window->saveWholeLesson(file));
        QVERIFY(m_window->openFile(file));
        panel()->go(2);
        QVERIFY(m_window->windowTitle().startsWith(QStringLiteral("C18")));
        QVERIFY(panel()->lesson()->steps[2].own.has_value());
        panel()->reveal();
        QVERIFY(panel()->reference()->isVisible());
        m_window->leaveLesson();
        QVERIFY(!action("saveLesson")->isEnabled());
    }

    void everyStepOfTheLessonsThatShipOpens()
    {
        for (const std::filesystem::path& file : shippedLessons()) {
            QVERIFY(m_window->openFile(QString::fromStdString(file.string())));
            const int steps = static_cast<int>(panel()->lesson()->steps.size());
            for (int step = 0; step < steps; ++step) {
                panel()->go(step);
                QVERIFY2(m_window->messageBar()->text().isEmpty(), qPrintable(m_window->messageBar()->text()));
                panel()->reveal();
                QVERIFY(panel()->reference()->isVisible());
            }
        }
    }

private:
    [[nodiscard]] LessonPanel* panel() const { return m_window->lessonPanel(); }

    [[nodiscard]] QAction* action(const char* name) const { return m_window->actionNamed(QString::fromLatin1(name)); }

    [[nodiscard]] bool isReady() const
    {
        const auto status = m_window->controller()->status();
        return status && status->state == SessionState::Ready && !m_window->laneList()->lanes().empty();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<MainWindow> m_window;
    QString m_file;
};

QTEST_MAIN(TestLessonInWindow)
#include "tst_lesson_panel.moc"
