/// The dialog of watchpoints: what is typed is judged where it stands, and acts in the session that trains.
#include "tests/ui/small_experiment.h"
#include "ui/session/session_controller.h"
#include "ui/views/watch_dialog.h"
#include "ui/views/watch_field.h"

#include <QComboBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableWidget>
#include <QTest>

using namespace mantissa;
using mantissa::test::smallExperiment;

namespace {

constexpr int patienceMs = 60'000;

} // namespace

class TestWatchDialog : public QObject
{
    Q_OBJECT

private slots:

    void init()
    {
        m_controller = std::make_unique<SessionController>(std::filesystem::path());
        m_controller->open(ExperimentDocument(smallExperiment()));
        QTRY_VERIFY_WITH_TIMEOUT(
            m_controller->status() && m_controller->status()->state == SessionState::Ready, patienceMs);
        m_dialog = std::make_unique<WatchDialog>(m_controller.get());
        m_dialog->show();
    }

    void cleanup()
    {
        m_dialog.reset();
        m_controller.reset();
    }

    void whatIsTypedIsJudgedAtOnce()
    {
        QVERIFY(!m_dialog->addButton()->isEnabled() && m_dialog->problem().isEmpty());
        m_dialog->conditionField()->setText(QStringLiteral("scal < 1"));
        QVERIFY(
            m_dialog->problem().contains(QStringLiteral("column 1: \"scal\" is no metric; did you mean \"scale\"")));
        QVERIFY(!m_dialog->addButton()->isEnabled());
        m_dialog->conditionField()->setText(QStringLiteral("flushed(\"fc9\") > 3 %"));
        QVERIFY(m_dialog->problem().contains(QStringLiteral("no layer \"fc9\"; did you mean")));
        m_dialog->conditionField()->setText(QStringLiteral("scale < 1"));
        QVERIFY(m_dialog->problem().isEmpty());
        QVERIFY(m_dialog->addButton()->isEnabled() && !m_dialog->changeButton()->isEnabled());
        m_dialog->actionCombo()->setCurrentIndex(3);
        QVERIFY(m_dialog->problem().contains(QStringLiteral("Which setting")));
        m_dialog->settingField()->setText(QStringLiteral("optimizer.lrr=1"));
        QVERIFY(m_dialog->problem().contains(QStringLiteral("optimizer.lr")));
        m_dialog->settingField()->setText(QStringLiteral("optimizer.lr=0.01; clip.order=off"));
        QVERIFY2(m_dialog->problem().isEmpty(), qPrintable(m_dialog->problem()));
    }

    void addedChangedAndRemoved()
    {
        m_dialog->conditionField()->setText(QStringLiteral("step == 4"));
        m_dialog->addButton()->click();
        QCOMPARE(m_dialog->list()->rowCount(), 1);
        QCOMPARE(m_controller->document().watchpoints().size(), std::size_t {1});
        QVERIFY(m_controller->document().isModified());
        m_controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(m_controller->status()->state == SessionState::Paused, patienceMs);
        QCOMPARE(m_controller->status()->step, std::int64_t {5});

        m_dialog->list()->selectRow(0);
        m_dialog->conditionField()->setText(QStringLiteral("step == 9"));
        m_dialog->laneCombo()->setCurrentIndex(2);
        m_dialog->changeButton()->click();
        QCOMPARE(m_controller->document().watchpoints().at(0).lane, std::string("FP16 AMP"));
        m_controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(m_controller->status()->step == 10, patienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(m_controller->status()->state == SessionState::Paused, patienceMs);

        m_dialog->removeButton()->click();
        QCOMPARE(m_dialog->list()->rowCount(), 0);
        QVERIFY(m_controller->document().watchpoints().empty());
        m_controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(m_controller->status()->state == SessionState::Finished, patienceMs);
    }

    void theBoxSwitchesAWatchpointOff()
    {
        m_dialog->conditionField()->setText(QStringLiteral("step == 4"));
        m_dialog->addButton()->click();
        m_dialog->list()->item(0, 0)->setCheckState(Qt::Unchecked);
        QVERIFY(!m_controller->document().watchpoints().at(0).isOn);
        m_controller->run();
        QTRY_VERIFY_WITH_TIMEOUT(m_controller->status()->state == SessionState::Finished, patienceMs);
    }

    void namesAreCompleted()
    {
        WatchField field;
        field.setText(QStringLiteral("loss > 1 and grad_n"));
        QCOMPARE(field.completions(), QStringList({QStringLiteral("grad_norm"), QStringLiteral("grad_norm_clipped")}));
        field.setText(QStringLiteral("ski"));
        QCOMPARE(field.completions(), QStringList({QStringLiteral("skipped"), QStringLiteral("skips(")}));
        field.setText(QStringLiteral("loss > "));
        QVERIFY(field.completions().isEmpty());
    }

    void whatTheFileSaysIsListed()
    {
        Experiment experiment = smallExperiment();
        experiment.watchpoints = {{.when = "loss > 5",
            .action = WatchAction::Set,
            .set = {{"optimizer.lr", 0.01}},
            .lane = "FP32",
            .isOn = false}};
        m_controller->open(ExperimentDocument(experiment));
        QTRY_COMPARE_WITH_TIMEOUT(m_dialog->list()->rowCount(), 1, patienceMs);
        QCOMPARE(m_dialog->list()->item(0, 0)->checkState(), Qt::Unchecked);
        QCOMPARE(m_dialog->list()->item(0, 2)->text(), QStringLiteral("set optimizer.lr=0.01"));
        m_dialog->list()->selectRow(0);
        QCOMPARE(m_dialog->conditionField()->text(), QStringLiteral("loss > 5"));
        QCOMPARE(m_dialog->laneCombo()->currentText(), QStringLiteral("FP32"));
        QVERIFY(m_dialog->settingField()->isEnabled());
    }

private:
    std::unique_ptr<SessionController> m_controller;
    std::unique_ptr<WatchDialog> m_dialog;
};

QTEST_MAIN(TestWatchDialog)
#include "tst_watch_dialog.moc"
